"""A service answers over PostgreSQL as it does over SQLite, to the byte: what each case asks, and mutants of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contracts import SERVED, contract_of
from tests.postgresql.alike import told
from tests.slices import LONG, some

from ninefold.pipeline import compile_document
from ninefold.sql.postgresql import PostgreSQL

pytestmark = pytest.mark.serves

MUTANTS = 20 if LONG else 2
"""Of each request."""

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, 40), ids=lambda path: path.name)
def test_both_databases_answer_alike(directory: Path) -> None:
    beside = told(directory, MUTANTS)
    assert beside.told and not beside.differences, "\n".join(beside.differences)


def json_is_compared_as_text(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PostgreSQL, "same_json", PostgreSQL.same)


def a_number_more_is_there(patch: pytest.MonkeyPatch) -> None:
    total = PostgreSQL.total
    patch.setattr(PostgreSQL, "total", lambda self, *of: "SELECT 1 + (" + total(self, *of) + ")")


NOTICES = {
    "json_is_compared_as_text": "wishes-that-are-there-or-not",
    "a_number_more_is_there": "an-invariant-of-a-change",
}
"""The case that notices it."""


@pytest.mark.parametrize("plant", [json_is_compared_as_text, a_number_more_is_there])
def test_what_one_database_does_otherwise_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    (directory,) = (each for each in SERVED if each.name == NOTICES[plant.__name__])
    path = contract_of(directory)
    plant(monkeypatch)
    assert told(directory, 0, loaded=compile_document(path.name, path.read_bytes())).differences
