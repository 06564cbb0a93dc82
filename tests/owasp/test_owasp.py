"""The suite, for every complete contract of the repository: for some of them in `make test`, by the slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest
from tests.contracts import ALL, ROOT, compiled, title
from tests.events.process import rows
from tests.owasp import bounds, credentials, objects
from tests.owasp.asking import NOW, Asking, Finding
from tests.owasp.items import ITEMS, Item
from tests.owasp.world import NOBODY, World, made
from tests.server.identity import Answer, Provider, providing
from tests.server.identity import served as answering
from tests.serving import in_a_thread
from tests.slices import some
from tests.waiting import until

from ninefold.checked.service import Checked
from ninefold.diagnostics.codes import LEARNS
from ninefold.pipeline import compile_document
from ninefold.plan.service import ServicePlan
from ninefold.runtime.background.jobs import jobs
from ninefold.runtime.http.app import Application
from ninefold.runtime.request.service import ready
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened

pytestmark = [pytest.mark.serves, pytest.mark.slow]

ALONE = {"line"}
"""Resources of which no row can be added by itself: a line, without which its entry balances."""

CONTRACTS = some(ALL, 24)
OVER_POSTGRESQL = some(ALL, 48)


def of(path: Path) -> tuple[ServicePlan, Checked] | None:
    """The plan of a contract of which everything is shown; None for the others."""
    loaded = compiled(path)
    if loaded.plan is None or loaded.checked is None or loaded.open_questions:
        return None
    return loaded.plan, loaded.checked


def read(text: str) -> tuple[ServicePlan, Checked]:
    loaded = compile_document("contract.md", text.encode())
    assert loaded.plan is not None and loaded.checked is not None
    return loaded.plan, loaded.checked


@dataclass
class Leaping:
    """Time that leaps ahead before each request, by so many seconds: at an hour, no rate is ever reached."""

    leap: int
    seconds: int = 0

    def pass_by(self) -> None:
        self.seconds += self.leap

    def elapsed(self) -> int:
        return self.seconds * 1_000_000_000


def pass_by(time: Leaping, world: World, counts: bool) -> None:
    """What counts over PostgreSQL goes by its clock: as if what was counted were long ago."""
    time.pass_by()
    if counts and world.stored is not None:
        world.stored.run('TRUNCATE "$state"')


@contextmanager
def asked(
    plan: ServicePlan,
    world: World,
    provider: Provider,
    leap: int = 3_600,
    delivers: bool = False,
    at: datetime | None = None,
) -> Iterator[Asking]:
    """Somebody who asks a service of `plan` over a real socket, with the rows of a world. `delivers`: events too. `at`:
    the time stands still there."""
    opened = open_database(world.url or str(world.path), plan)
    assert isinstance(opened, Opened), opened
    time = Leaping(leap)
    sources = Sources(clock=lambda: at or datetime.now(UTC), elapsed=time.elapsed)
    service = ready(plan, opened.database.key("cursors"), world.given, sources)
    beside = jobs(plan, service, opened.database, []) if delivers else ()
    application = Application(service, opened.database, jobs=beside)
    with closing(world), closing(opened.database), in_a_thread(application) as (host, port):
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as http:
            yield Asking(world, http, plan, provider, partial(pass_by, time, world, bool(plan.limits.rates)))


Moved: TypeAlias = Callable[[World], World]


def as_it_is(world: World) -> World:
    return world


def findings(
    stated: tuple[ServicePlan, Checked],
    folder: Path,
    served: ServicePlan | None = None,
    items: Sequence[Item] = ITEMS,
    moved: Moved = as_it_is,
) -> list[Finding]:
    """What the suite finds in a service of `served`, which claims to be of the contract. `moved`: where the world is
    when it is asked for."""
    plan, checked = stated
    found: list[Finding] = []
    with ExitStack() as stack:
        provider = stack.enter_context(providing())
        world = made(plan, checked, folder / "service.db", given(plan, provider), provider)
        assert ALONE.issuperset(world.unmade), world.unmade
        a = stack.enter_context(asked(served or plan, moved(world), provider))
        for item in items:
            found += item(a)
    return list(dict.fromkeys(found))


def given(plan: ServicePlan, provider: Provider) -> dict[str, str]:
    return {each.name: provider.url + ("/keys" if "key" in each.name else "") for each in plan.operator}


def differences(
    stated: tuple[ServicePlan, Checked], folder: Path, served: ServicePlan | None = None, moved: Moved = as_it_is
) -> list[Finding]:
    """What tells a person in a service of `served` that there are rows which they do not see."""
    plan, checked = stated
    found: list[Finding] = []
    with ExitStack() as stack:
        provider = stack.enter_context(providing())
        folder.mkdir(exist_ok=True)
        world = made(plan, checked, folder / "all.db", given(plan, provider), provider)
        others = [
            (each, *world.without(each, folder / f"{i}.db", NOW)) for i, each in enumerate([NOBODY, *world.people])
        ]
        moment = datetime.now(UTC)
        a = stack.enter_context(asked(served or plan, moved(world), provider, at=moment))
        for person, other, away in others:
            if away:
                with asked(served or plan, moved(other), provider, at=moment) as without:
                    found += objects.what_one_does_not_see(a, without, person, away)
    return list(dict.fromkeys(found))


def beyond_rates(stated: tuple[ServicePlan, Checked], folder: Path, served: ServicePlan | None = None) -> list[Finding]:
    """What is found while time stands still."""
    plan, checked = stated
    with providing() as provider:
        world = made(plan, checked, folder / "rates.db", given(plan, provider), provider)
        with asked(served or plan, world, provider, leap=0) as a:
            return list(bounds.requests_beyond_their_rate(a))


def told(found: list[Finding]) -> str:
    return "\n".join(f"{each.item} {each.endpoint}, {each.who}: {each.words}" for each in found[:40])


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_nothing_is_found(path: Path, tmp_path: Path) -> None:
    if (stated := of(path)) is not None:
        found = findings(stated, tmp_path)
        assert not found, told(found)


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_what_one_does_not_see_makes_no_difference(path: Path, tmp_path: Path) -> None:
    """Where it does, `check` has said so: callers may learn of rows which they may not see (meaning "row rules")."""
    if (stated := of(path)) is not None:
        found = differences(stated, tmp_path)
        assert not found or any(each.code is LEARNS for each in compiled(path).diagnostics), told(found)


def test_what_is_told_of_hidden_rows_is_noticed(tmp_path: Path) -> None:
    stated = of(ROOT / "tests" / "cases" / "rooms-whose-bookings-are-hidden" / "contract.md")
    assert stated is not None and differences(stated, tmp_path)


def nothing_is_found_over_postgresql(path: Path, folder: Path) -> None:
    stated, served = of(path), compiled(path).plan_for("postgresql")
    if stated is None or served is None:
        return
    found = findings(stated, folder, served, moved=lambda world: world.moved(path))
    assert not found, told(found)
    found = differences(stated, folder / "without", served, moved=lambda world: world.moved(path))
    assert not found or any(each.code is LEARNS for each in compiled(path).diagnostics), told(found)


def test_nothing_is_found_over_postgresql_either(tmp_path: Path) -> None:
    nothing_is_found_over_postgresql(
        ROOT / "tests" / "cases" / "readings-of-sensors-by-an-api-key" / "contract.md", tmp_path
    )


@pytest.mark.long
@pytest.mark.parametrize("path", OVER_POSTGRESQL, ids=title)
def test_nothing_is_found_over_postgresql(path: Path, tmp_path: Path) -> None:
    nothing_is_found_over_postgresql(path, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_rates_hold(path: Path, tmp_path: Path) -> None:
    if (stated := of(path)) is not None and stated[1].limits.rates:
        found = beyond_rates(stated, tmp_path)
        assert not found, told(found)


def reaches_out(plan: ServicePlan) -> bool:
    """Whether a service asks others for anything: for keys, or to take events."""
    return any(each.signed is not None for each in plan.schemes) or plan.schema.subscriptions


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_nobody_is_asked_for_what_a_client_names(path: Path, tmp_path: Path) -> None:
    """API7 and API10: tokens that name their keys, webhooks to this machine, issuers that misbehave."""
    if (stated := of(path)) is None or not reaches_out(stated[0]):
        return
    plan, checked = stated
    asked_for: list[str] = []

    def elsewhere(path: str) -> Answer:
        asked_for.append(path)
        return Answer(b"{}")

    with providing() as provider, answering(elsewhere) as url:
        world = made(plan, checked, tmp_path / "a.db", given(plan, provider), provider)
        with asked(plan, world, provider, delivers=True) as a:
            found = list(credentials.issuers_that_misbehave(a, provider, url))
            found += credentials.keys_that_a_token_names(a, url)
            found += credentials.webhooks_to_this_machine(a, int(url.rpartition(":")[2]))
            if plan.schema.subscriptions:
                until(lambda: not rows(world.path, 'SELECT 1 FROM "$delivery" WHERE attempts = 0 AND dead IS NULL'))
    assert not found, told(found)
    assert not asked_for
