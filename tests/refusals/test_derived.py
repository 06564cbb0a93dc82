"""Each refusal that is derived arises: of every served case and example, the requests of the case and those that are
made from the contract (`tests/refusals/asking.py`) meet it, or it stands in `unmet.txt` with its reason.

That each refusal that arises is derived, `tests/refusals_met.py` holds of every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from tests import refusals_met
from tests.contracts import SERVED, compiled, contract_of
from tests.owasp.test_owasp import asked, given
from tests.owasp.world import made
from tests.refusals.asking import provoke
from tests.server.identity import providing
from tests.slices import by_name
from tests.test_cases import exchanged

from ninefold.language.conditions import BY_NAME, Step
from ninefold.pipeline import Loaded
from ninefold.plan.routes import Served
from ninefold.runtime.messages.problems import Failure
from ninefold.trace.refusal import Refusal
from ninefold.trace.refusals import refusals

UNMET: Final = Path(__file__).with_name("unmet.txt")
"""`CASE | ENDPOINT | CONDITION`, in blocks, each under its reason; it may only get shorter (NINEFOLD_BLESS=1)."""

OF_ANYTHING: Final = {name for name, each in BY_NAME.items() if set(each.steps) <= {Step.ROUTE, Step.RATES, Step.ANY}}
"""What has nothing to do with the endpoint: `tests/faults/test_conditions.py` provokes each."""

WIDE: Final = ("invalid", "unauthenticated", "check")
"""The conditions that are derived as wide as they are (`tests/laws/test_refusals_are_told_alike.py`)."""


def named(refusal: Refusal) -> str:
    """As `unmet.txt` has it."""
    subject = None if refusal.condition in WIDE else refusal.subject
    words = f"{refusal.condition} {subject}" if subject else refusal.condition
    return words if refusal.code is None else f"{words} ({refusal.code})"


def is_met(refusal: Refusal, met: set[Failure]) -> bool:
    wide = refusal.condition in WIDE or refusal.subject is None
    return any(
        (each.condition, each.code) == (refusal.condition, refusal.code)
        and (wide or each.subject == refusal.subject or f"{each.subject}".startswith(f"{refusal.subject}."))
        for each in met
    )


def met_by_requests(directory: Path, loaded: Loaded, folder: Path) -> dict[str, set[Failure]]:
    """What the requests of a case and those made of its contract are refused for, by the endpoint's key."""
    assert loaded.plan is not None and loaded.checked is not None
    refusals_met.met()
    exchanged(directory, loaded.plan, folder / "case.db", trace=False)
    with ExitStack() as stack:
        provider = stack.enter_context(providing())
        world = made(loaded.plan, loaded.checked, folder / "world.db", given(loaded.plan, provider), provider)
        provoke(stack.enter_context(asked(loaded.plan, world, provider)))
    found: dict[str, set[Failure]] = {}
    for key, failure in refusals_met.met():
        found.setdefault(key, set()).add(failure)
    return found


def unmet(directory: Path, loaded: Loaded, folder: Path) -> Iterator[str]:
    assert loaded.plan is not None
    met = met_by_requests(directory, loaded, folder)
    for route in loaded.plan.routes:
        for each in refusals(route, loaded.plan) if isinstance(route, Served) else ():
            if each.condition not in OF_ANYTHING and not is_met(each, met.get(route.key, set())):
                yield f"{directory.name} | {route.key} | {named(each)}"


def listed() -> list[str]:
    return [line for line in UNMET.read_text(encoding="utf-8").splitlines() if line.count(" | ") == 2]


def is_asked(directory: Path) -> bool:
    """Whether the list tells of a case at all: those that have not been asked yet stand at its end."""
    return f"{directory.name} | not asked" not in UNMET.read_text(encoding="utf-8").splitlines()


@pytest.mark.long
@pytest.mark.serves
@pytest.mark.slow
@pytest.mark.parametrize(
    "directory", by_name([each for each in SERVED if is_asked(each)], 24), ids=lambda path: path.name
)
def test_each_derived_refusal_arises(directory: Path, tmp_path: Path) -> None:
    loaded = compiled(contract_of(directory))
    found = dict.fromkeys(unmet(directory, loaded, tmp_path))
    known = dict.fromkeys(each for each in listed() if each.startswith(f"{directory.name} | "))
    better = [each for each in known if each not in found]
    if better and os.environ.get("NINEFOLD_BLESS"):
        text = UNMET.read_text(encoding="utf-8").splitlines()
        UNMET.write_text("\n".join(each for each in text if each not in better) + "\n", encoding="utf-8", newline="\n")
    print("\n".join(f"unmet.txt can be shorter: {each}" for each in better))
    others = [each for each in found if each not in known]
    print("\n".join(f"not met: {each}" for each in others))
    assert others == []
