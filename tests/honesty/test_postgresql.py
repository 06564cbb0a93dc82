"""The honesty law over PostgreSQL: its statements are others, and no fact takes part in them that was taken away. What
is left of a contract is compiled, and asked for what is open, as for SQLite: the long run takes out here what is tried
closely (`tests/facts.py`) and writes neither `not shown` nor `none`, which block endpoints; `make honesty` writes both.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.facts import is_tried_closely
from tests.honesty.test_contracts import CASES, ELSEWHERE, FEW_PARTS, is_complete, piece_of, work
from tests.postgresql.remembered import Remembered
from tests.slices import LONG, WHOLE

from ninefold.diff import rehearsal
from ninefold.diff.ablate.ablate import ablate
from ninefold.diff.ablate.facts import REMOVALS, Removal, written
from ninefold.diff.ablate.fixed import rehearse, scripts
from ninefold.diff.ablate.law import Found
from ninefold.diff.ablate.report import report, to_text
from ninefold.pipeline import Loaded, compile_document, compile_tree
from ninefold.syntax.nodes import Document
from ninefold.syntax.parser import read

TOGETHER = (
    "books-that-balance-in-each-currency",
    "clients-of-oauth",
    "readers-that-sign-in",
    "reports-of-a-month",
    "tasks-that-change-all-at-once",
    "written-after-a-podcast-host",
)
"""Cases in which nodes have to count or hold something together, which a rehearsal, being alone, does not do yet."""


def over_postgresql(loaded: Loaded) -> Loaded:
    """A contract whose plan is the one for PostgreSQL."""
    return replace(loaded, planned=cache(lambda: loaded.plan_for("postgresql")))


def compiled(document: Document) -> Loaded:
    return over_postgresql(compile_tree(document))


REMOVED: tuple[Removal, ...] = REMOVALS if WHOLE or not LONG else ("taken out",)


def found(directory: Path, part: int) -> list[Found]:
    own = work(directory)
    loaded = over_postgresql(compile_document(own.name, own.data))
    whole = rehearse(loaded, scripts(own.files), own.operator)
    facts = piece_of(directory.name, written(loaded.document), part)
    closely = [each for each in facts if not LONG or is_tried_closely(directory.name, each)]
    return list(ablate(whole, closely or facts[:1], REMOVED, compiled))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("part", FEW_PARTS)
@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_a_contract_does_nothing_that_it_does_not_state(
    directory: Path, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if directory.name in (*ELSEWHERE, *TOGETHER) or not is_complete(directory):
        return
    monkeypatch.setattr(rehearsal, "Memory", Remembered)
    came = found(directory, part)
    assert came
    told = report(read(work(directory).name, work(directory).data).value, 0, came, ())
    assert not told.breaches, to_text(told)
