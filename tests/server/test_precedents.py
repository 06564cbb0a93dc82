"""A request that is like an earlier one is answered as it would be if there had been none.

Every recorded request of a case is asked as its file has it, then again by who notes what comes of it, and then by who
has noted it; also at the first moment of all, when hardly a row is there, and at the last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.contracts import ROOT, SERVED, compiled, contract_of, operator_of
from tests.slices import LONG, some

from ninefold.diff.ablate.fixed import rehearse, scripts
from ninefold.diff.rehearsal import Told
from ninefold.runtime.messages.notes import NOTES, Notes

ORDERS = ROOT / "examples" / "orders.md"


def _is_quick(directory: Path) -> bool:
    """A password that is asked for eight times takes as many tenths of a second."""
    return "secret: password" not in contract_of(directory).read_text(encoding="utf-8")


COMPLETE = [each for each in SERVED if each.name != "orders"]
"""The case of orders is told without what its operator gives."""
CASES = [each for each in some(COMPLETE, 24) if LONG or _is_quick(each)]


@pytest.mark.long
@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_a_precedent_changes_no_answer(directory: Path) -> None:
    _told_twice(contract_of(directory), sorted((directory / "http").glob("*.http")), operator_of(directory))


def test_a_precedent_changes_no_answer_of_the_example() -> None:
    notes = _told_twice(ORDERS, [ORDERS.with_suffix(".http")], {})
    assert len([each for each in notes.values() if each]) > 10
    assert all(len(each) <= NOTES for each in notes.values())


def _told_twice(contract: Path, paths: list[Path], given: Mapping[str, str]) -> dict[object, Notes]:
    files = [(each.name, each.read_text(encoding="utf-8")) for each in paths]
    whole = rehearse(compiled(contract), scripts(files), given)
    rehearsal = whole.rehearsal(whole.plan)
    rehearsal.opened()
    notes: dict[object, Notes] = defaultdict(lambda: Notes())
    moments = [each.moment for each in whole.asked]
    for asked in whole.asked:
        own = notes[_head(asked.told)]
        for moment in (asked.moment, moments[0], moments[-1], asked.moment):
            rehearsal.put(moment)
            alone = rehearsal.ask(asked.told, moment)
            rehearsal.put(moment)
            among = rehearsal.ask(asked.told, moment, own)
            assert (among, among.trace) == (alone, alone.trace), asked.where
    rehearsal.close()
    return notes


def _head(told: Told) -> object:
    return told.method, tuple(told.headers.items())
