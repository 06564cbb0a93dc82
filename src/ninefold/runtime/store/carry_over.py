"""Rows from a database of one shape to a new one of another, as far as they fit.

Nothing is decided over them: a value is taken along where the new table has a column of that name and type, and a row
where it keeps what the new table demands. What stays behind is said and kept (`left_behind`), and goes back to its
place when a later shape has one for it.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import apsw
import msgspec

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.plan.environment import ENTERED_COLUMN, REVISION_COLUMN
from ninefold.plan.schema import Column, Reference, Schema, Table
from ninefold.runtime.store import beside_rows, left_behind, record, tables
from ninefold.runtime.store.connections import words
from ninefold.runtime.store.left_behind import Cell, Cells, Left, LeftBehind, LeftOfRows, Taken
from ninefold.runtime.store.placing import Make, Place, Placed, Stays
from ninefold.runtime.store.protocol import Stored
from ninefold.sql.fragment import identifier
from ninefold.upgrade import shape
from ninefold.upgrade.changes import changes
from ninefold.upgrade.steps import aside_name
from ninefold.values import Text, Type

_Known: TypeAlias = tuple[str, tuple[Stored, ...]]
"""A row of the new database: its table, and by which values it is known there."""


class NotCarried(Exception):
    """Nothing can be taken from the old database; the message says why."""


class NotMade(Exception):
    """The new database cannot be made; the message says why."""


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """`rows` were carried over. `left` says what was not, and why, a sentence each; `back` what earlier carryings over
    had left behind and is in its place again; `given_up` what was left too long ago to be kept any more, or whose row
    has got another value. `needless`: the shape is the same, and so are all rows; what was left stays where it is."""

    rows: int
    left: tuple[str, ...]
    back: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()
    needless: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """The files of what is left behind: `before`, by earlier carryings over (it need not be there), and `after` this
    one. `now`: seconds of the clock; what was left before `until` is given up."""

    before: Path
    after: Path
    now: float
    until: float


def carry_over(source: Path, target: Path, schema: Schema, make: Make, beside: Beside) -> CarriedOver:
    """Make the database `target`, which is not there yet, with the rows of `source`, which nobody has open, and with
    what was left behind before and fits now.

    Raises NotCarried where `source` cannot be read, and NotMade.
    """
    try:
        old = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error as error:
        raise NotCarried(words(error)) from None
    try:
        stored, key = _stored(old)
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        new = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            with left_behind.opened(beside.after) as after:
                return _Copy(old, new, stored, schema, make, after, beside).all(key)
        finally:
            new.close()
    except apsw.Error as error:
        raise NotMade(words(error)) from error
    except OSError as error:
        raise NotMade((error.strerror or str(error)).lower()) from error
    finally:
        old.close()


def _stored(old: apsw.Connection) -> tuple[Schema, bytes]:
    try:
        found = record.read(old)
        match found:
            case record.Record():
                return shape.decode_shape(found.shape), found.key
            case record.Foreign():
                raise NotCarried(found.words)
            case record.Empty():
                raise NotCarried("it is empty")
    except apsw.Error as error:
        raise NotCarried(words(error)) from None
    except msgspec.DecodeError:
        raise NotCarried("the shape that is stored in it cannot be read") from None


class _Copy:
    """One copy, from the first table to the last reference."""

    def __init__(
        self,
        old: apsw.Connection,
        new: apsw.Connection,
        stored: Schema,
        schema: Schema,
        make: Make,
        after: LeftBehind,
        beside: Beside,
    ) -> None:
        self._old, self._new = old, new
        self._is_same = changes(stored, schema).same
        self._issued = frozenset(stored.credentials) & {table.name for table in stored.tables}
        self._scoped = frozenset(stored.scoped)
        self._stored = {table.name: (table, table.name) for table in stored.tables}
        self._stored |= {table.name: (table, aside_name(table.name)) for table in stored.aside}
        self._hidden = {table.name for table in stored.aside}
        self._schema = schema
        self._wanted = shape.shape(schema)
        self._places = {table.name: Place(new, table, schema, make) for table in self._wanted.tables}
        self._after = after
        self._beside = beside
        self._left: list[str] = []
        self._left_hidden: list[str] = []
        self._rows_back: dict[_Known, float] = {}
        self._values_back: dict[tuple[_Known, str], float] = {}
        self._given_up: Counter[str] = Counter()
        self._overtaken: Counter[str] = Counter()
        self._without_place: Counter[str] = Counter()

    def all(self, key: bytes) -> CarriedOver:
        self._new.pragma("journal_mode", "wal")
        # References are looked after when all rows are there: they may lead in circles.
        self._new.pragma("foreign_keys", False)
        self._new.execute("BEGIN IMMEDIATE")
        record.create(self._new, shape.encode_shape(self._schema), key)
        for statement in tables.create_schema(self._schema):
            self._new.execute(statement)
        before = self._left_before()
        of_rows = defaultdict[str, LeftOfRows](LeftOfRows)
        for left in before:
            if left.key is not None:
                of_rows[left.resource].add(left)
        for name, (table, called) in self._stored.items():
            if name in self._places:
                self._table(table, called, self._places[name], of_rows[name])
            else:
                self._without_table(table, called)
        for left in before:
            if left.key is None:
                self._again(left, self._places.get(left.resource), of_rows[left.resource])
        for left in chain.from_iterable(map(LeftOfRows.rest, of_rows.values())):
            self._keep(left)
        for why, count in self._without_place.items():
            self._leave(count, why, "value")
        self._references()
        for name in self._wanted.credentials:
            if name in self._issued and (table := self._stored[name][0]).key == self._places[name].table.key:
                scoped = name in self._scoped and name in self._schema.scoped
                beside_rows.credentials_go_along(self._old, self._new, table, scoped)
        beside_rows.numbers_go_on(self._old, self._new, {called: name for name, (_, called) in self._stored.items()})
        rows = sum(self._count(self._new, table.name) for table in self._wanted.tables)
        self._new.execute("COMMIT")
        needless = self._is_same and not (self._left or self._rows_back or self._values_back)
        given_up = _counted(self._given_up)
        if needless:
            return CarriedOver(rows, (), (), given_up, needless)
        stays = (*self._left, *self._left_hidden)
        return CarriedOver(rows, stays, tuple(self._back()), given_up + _counted(self._overtaken))

    def _back(self) -> Iterator[str]:
        values = Counter(f"field `{table}.{name}`: {{}} value{{}} {{}} back" for (table, _), name in self._values_back)
        rows = Counter(f"resource `{table}`: {{}} row{{}} {{}} back" for table, _ in self._rows_back)
        return chain(_counted(values), _counted(rows))

    def _leave(self, count: int, why: str, what: str = "row", hidden: bool = False) -> None:
        """`hidden`: in a database of the same shape it would stay where it is."""
        if count:
            stay = "stays" if count == 1 else "stay"
            words = f"{why}: {count:,} {what}{'' if count == 1 else 's'} {stay} behind"
            (self._left_hidden if hidden else self._left).append(words)

    def _count(self, connection: apsw.Connection, table: str, condition: str = "TRUE") -> int:
        [(count,)] = connection.execute(f"SELECT count(*) FROM {identifier(table)} WHERE {condition}").fetchall()
        return int(str(count))

    # ── What the old database has ─────────────────────────────────────────────────────────────────────────────────

    def _table(self, old: Table, called: str, new: Place, of_rows: LeftOfRows) -> None:
        """Every row, with what was left of it before and what is hidden in it."""
        name, now = new.table.name, {column.name: column for column in new.table.columns}
        for column, stored, hidden in _columns(old):
            if not new.has(column.name, column.type):
                why = (
                    f"was {_type(column)} and is {_type(now[column.name])}"
                    if column.name in now
                    else "is not in the contract any more"
                )
                count = self._count(self._old, called, f"{identifier(stored)} IS NOT NULL")
                self._leave(count, f"field `{name}.{column.name}` {why}", "value", hidden)
        reasons: Counter[str] = Counter()
        for cells in _rows(self._old, old, called):
            taken = of_rows.taken(cells, new.fits, self._beside.now, self._hidden_in(old, cells))
            try:
                placed = new.put(cells)
            except Stays as why:
                reasons[str(why)] += 1
                self._after.add(Left(name, None, self._beside.now, cells))
                self._keep_beside(taken, name)
                continue
            for field, since in taken.since.items():
                if field in now and field not in placed.rest:
                    self._values_back[_known(name, placed), field] = since
            self._keep_of(name, placed, taken, self._beside.now)
        for reason, count in reasons.items():
            self._leave(count, reason)

    def _without_table(self, old: Table, called: str) -> None:
        for cells in _rows(self._old, old, called):
            for left in (*self._hidden_in(old, cells), Left(old.name, None, self._beside.now, cells)):
                self._after.add(left)
        words = f"resource `{old.name}` is not in the contract any more"
        self._leave(self._count(self._old, called), words, hidden=old.name in self._hidden)

    def _hidden_in(self, old: Table, cells: Cells) -> list[Left]:
        """What is hidden in a row, taken out of its cells."""
        key = {name: cells[name] for name in old.key}
        hidden = [(each.column.name, cells.pop(each.stored)) for each in old.aside]
        return [Left(old.name, key, self._beside.now, {name: cell}) for name, cell in hidden if cell[1] is not None]

    def _keep_of(self, table: str, placed: Placed, taken: Taken, since: float) -> None:
        """Values of a row that is in its place; of those that were not left before, `since` is when they were."""
        kept = defaultdict[float, Cells](dict)
        for name, cell in placed.rest.items():
            kept[taken.since.get(name, since)][name] = cell
        for then, cells in kept.items():
            self._keep(Left(table, placed.key, then, cells))
        self._keep_beside(taken, table, placed)

    def _keep_beside(self, taken: Taken, table: str, placed: Placed | None = None) -> None:
        for left in taken.kept:
            self._keep(left if placed is None else replace(left, key=placed.key))
        for name in taken.overtaken:
            self._overtaken[f"field `{table}.{name}`: {{}} value{{}} {{}} given up for what the row has now"] += 1

    # ── What was left before ──────────────────────────────────────────────────────────────────────────────────────

    def _left_before(self) -> list[Left]:
        if not self._beside.before.exists():
            return []
        with left_behind.opened(self._beside.before) as before:
            return list(before.all())

    def _again(self, left: Left, place: Place | None, of_rows: LeftOfRows) -> None:
        """A row that stayed behind, with what had been left of it before that."""
        cells = dict(left.cells)
        taken = of_rows.taken(cells, _nowhere if place is None else place.fits, self._beside.now)
        try:
            placed = None if place is None else place.put(cells)
        except Stays:
            placed = None
        if placed is None:
            self._keep(replace(left, cells=cells))
            self._keep_beside(taken, left.resource)
            return
        self._rows_back[_known(left.resource, placed)] = left.since
        for name in placed.rest:
            if name != ENTERED_COLUMN:
                self._without_place[f"field `{left.resource}.{name}` has no place yet"] += 1
        self._keep_of(left.resource, placed, taken, left.since)

    def _keep(self, left: Left) -> None:
        """For the next carrying over, unless it was left too long ago."""
        if left.since >= self._beside.until:
            self._after.add(left)
        else:
            self._given_up[f"resource `{left.resource}`: what was left of {{}} row{{}} {{}} gone"] += 1

    def _references(self) -> None:
        """A reference to a row that stayed behind is cleared where it may be, else its row stays behind as well, and
        then those that refer to that one. What came back for nothing waits on."""
        lost: Counter[str] = Counter()
        changed = True
        while changed:
            changed = False
            for place in self._places.values():
                for reference in place.table.references:
                    changed |= self._dangling(place.table, reference, lost)
        for why, count in lost.items():
            self._leave(count, why, "value" if why.endswith("cleared") else "row")

    def _dangling(self, table: Table, reference: Reference, lost: Counter[str]) -> bool:
        name, column = identifier(table.name), identifier(reference.column)
        target, key = identifier(reference.table), identifier(reference.key)
        dangling = (
            f"{column} IS NOT NULL AND NOT EXISTS"
            f" (SELECT 1 FROM {target} AS target WHERE target.{key} = {name}.{column})"
        )
        field = f"`{table.name}.{reference.column}` refers to a `{reference.table}` that is not there"
        rows = list(_rows(self._new, table, table.name, dangling))
        if reference.column in {column.name for column in table.columns if column.required} | {*table.key}:
            for cells in rows:
                known, _ = self._known(table, cells)
                since = self._rows_back.pop(known, None)
                lost[field] += since is None
                for each in [each for each in self._values_back if each[0] == known]:
                    del self._values_back[each]
                self._keep(Left(table.name, None, self._beside.now if since is None else since, cells))
            self._new.execute(f"DELETE FROM {name} WHERE {dangling}")
        else:
            for cells in rows:
                known, of_row = self._known(table, cells)
                since = self._values_back.pop((known, reference.column), None)
                lost[f"{field}, and is cleared"] += since is None
                cleared = {reference.column: cells[reference.column]}
                self._keep(Left(table.name, of_row, self._beside.now if since is None else since, cleared))
            self._new.execute(f"UPDATE {name} SET {column} = NULL WHERE {dangling}")
        return bool(rows)

    def _known(self, table: Table, cells: Cells) -> tuple[_Known, Cells]:
        key = {name: cells[name] for name in table.key}
        return (table.name, tuple(value for _, value in key.values())), key


def _known(table: str, placed: Placed) -> _Known:
    return table, tuple(value for _, value in placed.key.values())


def _nowhere(name: str, cell: Cell) -> bool:
    return False


def _columns(table: Table) -> Iterator[tuple[Column, str, bool]]:
    """Those of a stored table, with their names there; and whether they are hidden."""
    yield from ((column, column.name, False) for column in table.columns)
    yield from ((each.column, each.stored, True) for each in table.aside)


def _rows(connection: apsw.Connection, table: Table, called: str, condition: str = "TRUE") -> Iterator[Cells]:
    """The rows of a table, which is `called` something there, by the names of its columns there."""
    types: dict[str, Type] = {stored: column.type for column, stored, _ in _columns(table)}
    types |= {REVISION_COLUMN: Text()} | ({ENTERED_COLUMN: Text()} if table.states else {})
    name, listed = identifier(called), ", ".join(map(identifier, types))
    for row in connection.execute(f"SELECT {listed} FROM {name} WHERE {condition} ORDER BY rowid").fetchall():
        yield {column: (type, value) for (column, type), value in zip(types.items(), row, strict=True)}


def _counted(words: Counter[str]) -> tuple[str, ...]:
    return tuple(
        text.format(f"{count:,}", "" if count == 1 else "s", "is" if count == 1 else "are")
        for text, count in words.items()
    )


def _type(column: Column) -> str:
    return shape.type_in_words(column.type)
