"""What is decided over rows is decided of the rows as they were: of `{set: a, is: old.b}` and `{set: b, is: old.a}` the
second does not see what the first has done, nor does a state go on to where another one is mapped to.

Steps are taken one after another. So what one of them reads that one before it has written is kept meanwhile, in a
column of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from ninefold.expressions.tree import Select, Typed, Variable, walk
from ninefold.upgrade import steps
from ninefold.upgrade.steps import Step

_Column: TypeAlias = tuple[str, str]
"""A table and a column, by the names that they had before the first step."""


def as_it_was(every: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps, each of which reads what was there before the first."""
    names, written, needed = _Names(), set[_Column](), set[_Column]()
    for step in every:
        needed |= written & {names.was(step, column) for column in _read(step)}
        written |= {names.was(step, column) for column in _written(step)}
        names.follow(step)
    return tuple(_kept(every, needed)) if needed else tuple(every)


def _kept(every: Sequence[Step], needed: set[_Column]) -> Iterator[Step]:
    names, kept = _Names(), set[_Column]()
    for step in every:
        for column in _written(step):
            was = names.was(step, column)
            if was in needed - kept:
                yield steps.Keep(_table(step), column, _name(was))
                kept.add(was)
        now = {column: _name(was) for column in _read(step) if (was := names.was(step, column)) in kept}
        yield _reading(step, now) if now else step
        names.follow(step)
    for table, column in sorted(kept):
        yield steps.Forget(names.now(table), _name((table, column)))


def _name(was: _Column) -> str:
    """A name that no field can have."""
    return f"$was {was[1]}"


class _Names:
    """What tables and columns that have other names by now were called before the first step. A column that was added
    was nothing."""

    def __init__(self) -> None:
        self._tables: dict[str, str] = {}
        self._columns: dict[_Column, str | None] = {}

    def was(self, step: Step, column: str) -> _Column:
        table = self._tables.get(_table(step), _table(step))
        name = self._columns.get((table, column), column)
        return table, "" if name is None else name

    def now(self, table: str) -> str:
        return next((name for name, was in self._tables.items() if was == table), table)

    def follow(self, step: Step) -> None:
        match step:
            case steps.RenameTable(old=old, new=new):
                self._tables[new] = self._tables.pop(old, old)
            case steps.RenameColumn(table=table, old=old, new=new):
                self._move(table, old, new)
            case steps.SetAside(table=table, aside=aside):
                self._move(table, aside.column.name, aside.stored)
            case steps.AddColumn(table=table, column=column):
                self._columns[self._tables.get(table.name, table.name), column.name] = None

    def _move(self, table: str, old: str, new: str) -> None:
        was = self._tables.get(table, table)
        self._columns[was, new] = self._columns.pop((was, old), old)


def free_members(typed: Typed, names: Collection[str]) -> set[str]:
    """The members that an expression reads of the row that goes by these names."""
    return {
        each.name
        for each in walk(typed)
        if isinstance(each, Select) and isinstance(each.operand, Variable) and each.operand.name in names
    }


def _table(step: Step) -> str:
    match step:
        case steps.Fill() | steps.MapState() | steps.RemoveRows() | steps.Reissue():
            return step.table
        case _:
            return ""


def _written(step: Step) -> tuple[str, ...]:
    match step:
        case steps.Fill() | steps.MapState() | steps.Reissue():
            return (step.column,)
        case _:
            return ()


def _read(step: Step) -> set[str]:
    """Columns, by the names that they have when the step is taken."""
    match step:
        case steps.MapState():
            return {step.by}
        case steps.Fill() | steps.RemoveRows():
            of = (each for each in (step.where, step.value if isinstance(step, steps.Fill) else None) if each)
            members = set[str]().union(*(free_members(each, ("old", step.table)) for each in of))
            return {step.reads[name][0] for name in members & step.reads.keys()}
        case _:
            return set()


def _reading(step: Step, now: dict[str, str]) -> Step:
    """The step, which reads columns by other names."""
    match step:
        case steps.MapState():
            return replace(step, by=now[step.by])
        case steps.Fill() | steps.RemoveRows():
            reads = {name: (now.get(column, column), type_) for name, (column, type_) in step.reads.items()}
            return replace(step, reads=reads)
        case _:
            return step
