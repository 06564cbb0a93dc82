"""The suite, for every complete contract of the repository."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import sleep

import httpx
import pytest
from tests.owasp import bounds, credentials, objects
from tests.owasp.asking import NOW, Asking, Finding
from tests.owasp.items import ITEMS, Item
from tests.owasp.world import NOBODY, World, made
from tests.server.identity import Answer, Provider, providing
from tests.server.identity import served as answering

from ninefold.checked.service import Checked
from ninefold.checks.codes import LEARNS
from ninefold.database.sqlite import Opened, open_sqlite
from ninefold.delivery.jobs import jobs
from ninefold.pipeline import compile_document
from ninefold.plan.service import ServicePlan
from ninefold.server.app import Application
from ninefold.server.run import Stop, serve
from ninefold.server.service import ready
from ninefold.server.sources import Sources

pytestmark = [pytest.mark.serves, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


@cache
def complete() -> Mapping[str, Path]:
    """The contracts of which everything is shown, by name."""
    found = {}
    for path in (*sorted(ROOT.glob("examples/*.md")), *sorted(ROOT.glob("tests/cases/*/contract.*"))):
        loaded = compile_document(path.name, path.read_bytes())
        if loaded.plan is not None and loaded.checked is not None and not loaded.open_questions:
            found[path.stem if path.parent.name == "examples" else path.parent.name] = path
    return found


def of(name: str) -> tuple[ServicePlan, Checked]:
    path = complete()[name]
    return compiled(path.read_bytes(), path.name)


def reaches_out(name: str) -> bool:
    """Whether the service asks others for anything: for keys, or to take events."""
    plan = of(name)[0]
    return any(each.signed is not None for each in plan.schemes) or plan.delivery is not None


def compiled(document: bytes, name: str = "contract.md") -> tuple[ServicePlan, Checked]:
    loaded = compile_document(name, document)
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
    opened = open_sqlite(str(world.path), plan.schema)
    assert isinstance(opened, Opened), opened
    listening = socket.create_server(("127.0.0.1", 0))
    host, port = listening.getsockname()
    time = Leaping(leap)
    sources = Sources(clock=lambda: at or datetime.now(UTC), elapsed=time.elapsed)
    service = ready(plan, opened.database.key("cursors"), world.given, sources)
    beside = jobs(plan, service, opened.database, []) if delivers else ()
    application = Application(service, opened.database, jobs=beside)
    stop = Stop()
    thread = threading.Thread(target=lambda: asyncio.run(serve(application, [listening], stop=stop)))
    thread.start()
    try:
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=20) as http:
            yield Asking(world, http, plan, provider, time.pass_by)
    finally:
        stop.request()
        thread.join()
        opened.database.close()


def findings(
    stated: tuple[ServicePlan, Checked], folder: Path, served: ServicePlan | None = None, items: Sequence[Item] = ITEMS
) -> list[Finding]:
    """What the suite finds in a service of `served`, which claims to be of the contract."""
    plan, checked = stated
    found: list[Finding] = []
    with ExitStack() as stack:
        provider = stack.enter_context(providing())
        world = made(plan, checked, folder / "service.db", given(plan, provider), provider)
        assert not world.unmade, world.unmade
        a = stack.enter_context(asked(served or plan, world, provider))
        for item in items:
            found += item(a)
    return list(dict.fromkeys(found))


def given(plan: ServicePlan, provider: Provider) -> dict[str, str]:
    return {each.name: provider.url + ("/keys" if "key" in each.name else "") for each in plan.operator}


def differences(stated: tuple[ServicePlan, Checked], folder: Path, served: ServicePlan | None = None) -> list[Finding]:
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
        a = stack.enter_context(asked(served or plan, world, provider, at=moment))
        for person, other, away in others:
            if away:
                with asked(served or plan, other, provider, at=moment) as without:
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


@pytest.mark.parametrize("name", complete())
def test_nothing_is_found(name: str, tmp_path: Path) -> None:
    found = findings(of(name), tmp_path)
    assert not found, told(found)


@cache
def tells_of_hidden_rows() -> frozenset[str]:
    """The contracts that let callers learn of rows which they may not see (fixed meaning 17): `check` says by what."""
    return frozenset(
        name
        for name, path in complete().items()
        if any(each.code is LEARNS for each in compile_document(path.name, path.read_bytes()).diagnostics)
    )


@pytest.mark.parametrize("name", complete())
def test_what_one_does_not_see_makes_no_difference(name: str, tmp_path: Path) -> None:
    """Where it does, `check` has said so."""
    found = differences(of(name), tmp_path)
    assert not found or name in tells_of_hidden_rows(), told(found)
    assert found or name != "rooms-whose-bookings-are-hidden", "what is told there is told no more"


@pytest.mark.parametrize("name", [name for name in complete() if of(name)[1].limits.rates])
def test_rates_hold(name: str, tmp_path: Path) -> None:
    found = beyond_rates(of(name), tmp_path)
    assert not found, told(found)


@pytest.mark.parametrize("name", [name for name in complete() if reaches_out(name)])
def test_nobody_is_asked_for_what_a_client_names(name: str, tmp_path: Path) -> None:
    """API7 and API10: tokens that name their keys, webhooks to this machine, issuers that misbehave."""
    plan, checked = of(name)
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
            sleep(1.5 if plan.delivery is not None else 0)
    assert not found, told(found)
    assert not asked_for
