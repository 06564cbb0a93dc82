"""Writes of several rows at once: the statements of a write of one, over a table of what is known of each.

The planner of each verb names two tables where an endpoint acts on several rows: `$wanted`, with the primary key of
each row and the values that it is to have, and `$written`, with the primary keys of those that were written. Here these
become common table expressions over one JSON array each, so that one statement does for all rows what it does for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec.structs import replace

from ninefold.checked.operations import Mutation
from ninefold.checked.resources import Resource
from ninefold.compile import inputs
from ninefold.compile.perspective import Perspective
from ninefold.compile.which_rows import WANTED, WRITTEN
from ninefold.expressions.tree import Select, Typed, Variable, free_variables
from ninefold.plan.environment import AS_WANTED, EACH, NEW, POSITION
from ninefold.plan.events import Event
from ninefold.plan.held import Upheld
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import (
    Bulk,
    Create,
    Effects,
    Occurrences,
    ReadBack,
    Step,
    Update,
    WithValues,
    given_values,
)
from ninefold.sql.fragment import PLACEHOLDER, Fragment, bind, identifier, join
from ninefold.values import Boolean, Integer, Type

AS_IT_WAS = "as it was"
"""The switch of what asks for the revision that was read: here all is read in the transaction."""


def of_several(write: Bulk, operation: Mutation, perspective: Perspective) -> Bulk:
    """The write with its tables; unchanged where it is of one row."""
    if not operation.several:
        return write
    tables = _Tables(write, perspective.checked.resources[write.resource], perspective)
    behind = replace(
        write,
        several=True,
        statement=tables.within(write.statement),
        judge=replace(write.judge, statement=tables.within(write.judge.statement)),
        upholds=tuple(map(tables.within_upheld, write.upholds)),
        follows=tuple(map(tables.within_step, write.follows)),
    )
    if not isinstance(behind, Create) and behind.was is not None:
        behind = replace(behind, was=tables.within(behind.was))
    if isinstance(behind, WithValues):
        behind = replace(behind, of_item=(*tables.of_item,))
    return replace(behind, current=None) if isinstance(behind, Update) else behind


def read_of_each(write: Bulk) -> tuple[ResultColumn, ...]:
    """What is read of each row that is there, beside its primary key, to make its values."""
    return write.current.columns if isinstance(write, Update) and write.current is not None else ()


def by_its_rows(statement: Statement, write: Bulk, perspective: Perspective) -> Statement:
    """A statement that reads the tables of a write of several rows."""
    return _Tables(write, perspective.checked.resources[write.resource], perspective).within(statement)


def chosen_items(condition: Fragment, perspective: Perspective) -> tuple[Statement, tuple[Typed, ...]]:
    """Which items a condition holds for; and what it reads of one of them."""
    return _of_items(f"SELECT {WANTED}." + identifier(POSITION) + f" FROM {WANTED} WHERE " + condition, perspective)


def named_by_items(
    name: str, cells: Fragment, which: Fragment, same: Fragment, told: Sequence[ResultColumn], perspective: Perspective
) -> tuple[Statement, tuple[Typed, ...]]:
    """The rows that items name, in the order of these, each with its `cells`; and what is read of one item."""
    position = f"{WANTED}." + identifier(POSITION)
    select = "SELECT " + cells + f", {position} AS {identifier(POSITION)}, (" + same + f") AS {identifier(AS_WANTED)}"
    select = select + f" FROM {WANTED} JOIN {identifier(name)} AS {identifier(name)} ON " + which
    found, read = _of_items(select + f" ORDER BY {position}", perspective)
    columns = (*told, ResultColumn(POSITION, Integer()), ResultColumn(AS_WANTED, Boolean()))
    return replace(found, columns=columns), read


def _of_items(select: Fragment, perspective: Perspective) -> tuple[Statement, tuple[Typed, ...]]:
    """What is asked of all items at once: what a select reads is a table with a row for each; and what it reads of one
    of them."""
    columns = [(f"read {number}", perspective.stored(value.type)) for number, value in enumerate(select.binds)]
    titles = [identifier(title) for title, _ in columns]
    texts = select.text.split(PLACEHOLDER)
    asked = texts[0] + "".join(f"{WANTED}.{title}{text}" for title, text in zip(titles, texts[1:], strict=True))
    table = f"WITH {WANTED} (" + ", ".join((identifier(POSITION), *titles)) + ") AS ("
    text = table + perspective.dialect.rows(bind(inputs.WANTED), columns) + ") " + asked
    return Statement((Piece(text.text, text.binds),), ()), select.binds


class _Tables:
    """The tables of one write. The columns of `$wanted` are the primary key, where the row is there, what is made
    beforehand, in the order of its `assigns`, and what statements read of the item that the row is made of."""

    def __init__(self, write: Bulk, resource: Resource, perspective: Perspective) -> None:
        self._dialect = perspective.dialect
        stored = perspective.stored
        self._keys = [(f"key {name}", stored(resource.fields[name].type)) for name in resource.primary_key]
        new = [(f"new {each.field}", stored(each.type)) for each in given_values(write) if not each.in_statement]
        self._wanted = new if isinstance(write, Create) else [*self._keys, *new]
        self._stored = stored
        self.of_item: list[Typed] = []

    def within(self, statement: Statement) -> Statement:
        """A statement behind the tables that it reads. What it stores of a row is that of the row's own."""
        switched = [(piece.when, self._of_rows(piece)) for piece in statement.pieces if piece.when != AS_IT_WAS]
        pieces: list[Piece] = []
        for when, alike in groupby(switched, key=lambda piece: piece[0]):
            text = join("", [each for _, each in alike])
            pieces.append(Piece(text.text, text.binds, when))
        whole = "".join(each.text for each in pieces)
        tables = Fragment("")
        for name, array, columns in ((WANTED, inputs.WANTED, self._wanted), (WRITTEN, inputs.WRITTEN, self._keys)):
            if name in whole:
                tables = tables + (", " if tables.text else "WITH ") + self._table(name, array, columns)
        if tables.text:
            first = pieces[0]
            pieces[0] = replace(first, text=tables.text + " " + first.text, binds=(*tables.binds, *first.binds))
        return replace(statement, pieces=tuple(pieces))

    def _table(self, name: str, array: Typed, columns: Sequence[tuple[str, Type]]) -> Fragment:
        titles = ", ".join(identifier(title) for title in ("$n", *(title for title, _ in columns)))
        return f"{name} ({titles}) AS (" + self._dialect.rows(bind(array), columns) + ")"

    def within_upheld(self, upheld: Upheld) -> Upheld:
        before = None if upheld.before is None else self.within(upheld.before)
        return replace(upheld, failing=self.within(upheld.failing), before=before)

    def within_event(self, event: Event) -> Event:
        versions = tuple(
            each if each.select is None else replace(each, select=self.within(each.select)) for each in event.versions
        )
        return replace(event, select=self.within(event.select), versions=versions)

    def within_step(self, step: Step) -> Step:
        match step:
            case Effects():
                return replace(step, acted_on=self.within(step.acted_on))
            case Occurrences():
                return replace(step, events=tuple(map(self.within_event, step.events)))
            case ReadBack():
                return replace(step, select=self.within(step.select))
            case _:
                return step

    def _of_rows(self, piece: Piece) -> Fragment:
        """What is stored of a row, `$new`, is in its row of `$wanted`; what the statement makes is not there yet."""
        texts, known = piece.text.split(PLACEHOLDER), {title for title, _ in self._wanted}
        found = Fragment(texts[0])
        for bound, text in zip(piece.binds, texts[1:], strict=True):
            match bound:
                case Select(operand=Variable(name=name), name=field) if name == NEW:
                    title = f"new {field}"
                    found = found + (f"{WANTED}.{identifier(title)}" if title in known else "NULL") + text
                case _ if EACH in free_variables(bound):
                    found = found + f"{WANTED}.{identifier(self._of_item(bound))}" + text
                case _:
                    found = found + bind(bound) + text
        return found

    def _of_item(self, read: Typed) -> str:
        """The column that has what is read of the item: columns are added behind those that statements know already."""
        if read not in self.of_item:
            self.of_item.append(read)
            self._wanted.append((f"item {len(self.of_item)}", self._stored(read.type)))
        return f"item {self.of_item.index(read) + 1}"
