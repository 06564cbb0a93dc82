"""The honesty law over PostgreSQL: its statements are others, and no fact takes part in them that was taken away."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.honesty.test_contracts import CASES, ELSEWHERE, FEW_PARTS, STRIDE, is_complete, work
from tests.postgresql.remembered import Remembered

from ninefold.diff import rehearsal
from ninefold.diff.ablate.ablate import Work, ablate
from ninefold.diff.ablate.facts import REMOVALS, written
from ninefold.diff.ablate.fixed import rehearse, scripts
from ninefold.diff.ablate.law import Found
from ninefold.diff.ablate.report import report, to_text
from ninefold.pipeline import Loaded, compile_document, compile_tree
from ninefold.syntax.nodes import Document

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


def found(work: Work, share: int, of: int) -> list[Found]:
    loaded = over_postgresql(compile_document(work.name, work.data))
    whole = rehearse(loaded, scripts(work.files), work.operator)
    facts = list(written(loaded.document))
    return list(ablate(whole, facts[share % min(of, len(facts)) :: of], REMOVALS, compiled))


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
    came = found(work(directory), (part + len(directory.name)) % STRIDE, STRIDE)
    assert came
    told = report(compile_document(work(directory).name, work(directory).data).source, 0, came, ())
    assert not told.breaches, to_text(told)
