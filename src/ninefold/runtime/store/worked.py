"""Expressions of an upgrade, worked out row by row as those of requests are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from ninefold.expressions.evaluate import SOURCES, EvaluationError, compile
from ninefold.expressions.tree import Typed, words
from ninefold.plan.environment import REVISION_COLUMN
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.changing import Failed
from ninefold.runtime.store.protocol import Stored
from ninefold.sql.fragment import identifier
from ninefold.upgrade.as_it_was import free_members
from ninefold.upgrade.sources import Kept
from ninefold.upgrade.steps import Fill, Reads, Remake, Said
from ninefold.values import Type, Value
from ninefold.values.stored import from_sqlite, to_sqlite

Worked: TypeAlias = tuple[tuple[str, ...], Callable[[Sequence[Stored]], Stored]]
"""The columns that a value is worked out of, and how: of what they hold, each in the form that SQLite stores. Raises
Failed."""


def worked(
    value: Typed, type_: Type, reads: Reads, resource: str = "old", whole: bool = False, said: Said | None = None
) -> Worked:
    """The row is `old`, and goes by the name of its resource in what the contract gives. `whole`: there has to be a
    value."""
    key = () if said is None else said.key
    known = sorted({*free_members(value, ("old", resource)), *key} & reads.keys())
    types = [(name, reads[name][1]) for name in known]
    work = compile(value)

    def given(stored: Sequence[Stored]) -> Stored:
        old = {name: from_sqlite(held, each) for (name, held), each in zip(types, stored, strict=True)}
        try:
            sources = Sources()
            found = work({"old": old, resource: old, "now": sources.now(), SOURCES: sources.of_expressions()})
        except EvaluationError as error:
            raise Failed(_why(value, str(error), old, said)) from None
        if found is None and whole:
            raise Failed(_why(value, "it has no value", old, said))
        return None if found is None else to_sqlite(type_, found)

    return tuple(reads[name][0] for name in known), given


def _why(value: Typed, error: str, old: Mapping[str, Value], said: Said | None) -> str:
    """Of which row, and what of it cannot be: both are the operator's to look at."""
    if said is None:
        return f"{words(value)}: {error}"
    row = ", ".join(f"{name} {old[name]!s}" for name in said.key if old.get(name) is not None)
    of = f", of the row with {row}" if row else ""
    return f"{said.at}{of}: {words(value)}: {error}"


def filled(step: Fill, emptied: Counter[str]) -> Worked:
    """What a column is given; a value in whose place none is given is counted."""
    columns, given = worked(step.value, step.type, step.reads, step.table, step.whole, step.said)

    def counted(stored: Sequence[Stored]) -> Stored:
        found = given(stored[:-1])
        if found is None and stored[-1] is not None:
            emptied[f"{step.table}.{step.column}"] += 1
        return found

    return (*columns, step.column), counted


_REVISION: Final = identifier(REVISION_COLUMN)
_REVISED: Final = f"{_REVISION} || '~'"
"""The revision of a row that an upgrade gives other values: who has read it before has an entity tag of something else.
What it was is known without what stands behind it, since to undo an upgrade loses nothing of its own."""

ANEW: Final = f"{_REVISION} = {_REVISED}"
"""What an update sets besides that gives rows other values."""


def revision_of(step: Remake) -> str:
    """What rows of a table that is made anew have for their revision: another one, where one of their values is."""
    kept = all(isinstance(each, Kept) for each in step.values.values())
    return _REVISION if kept else _REVISED
