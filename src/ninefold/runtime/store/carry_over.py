"""Rows from a database of one shape to a new one of another, as far as they fit.

Nothing is decided over them: a value is taken along where the new table has a column of that name and type, and a row
where it keeps what the new table demands. What stays behind is said and kept (`left_behind`), and goes back to its
place when a later shape has one for it.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import apsw
import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.schema import Column, Schema, Table
from ninefold.runtime.store import left_behind, record, tables
from ninefold.runtime.store.connections import words
from ninefold.runtime.store.left_behind import Cells, Left, LeftBehind, LeftOfRows
from ninefold.runtime.store.protocol import Stored
from ninefold.sql import credentials
from ninefold.sql.fragment import identifier
from ninefold.upgrade import shape
from ninefold.upgrade.changes import changes
from ninefold.values import Text, Type

Make: TypeAlias = Callable[[str, str, Mapping[str, Stored]], Stored]
"""The value of a new column that has to have one: of a table, a column, and the row that is carried over, by column.
None: there is none."""


class NotCarried(Exception):
    """Nothing can be taken from the old database; the message says why."""


class NotMade(Exception):
    """The new database cannot be made; the message says why."""


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """`rows` were carried over. `left` says what was not, and why, a sentence each; `back` what earlier carryings over
    had left behind and is in its place again; `given_up` what was left too long ago to be kept any more."""

    rows: int
    left: tuple[str, ...]
    back: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Beside:
    """The files of what is left behind: `before`, by earlier carryings over (it need not be there), and `after` this
    one. `now`: seconds of the clock; what was left before `until` is given up."""

    before: Path
    after: Path
    now: float
    until: float


def has_another_shape(source: Path, schema: Schema) -> bool:
    """Whether the database `source` was made for another shape than that of the schema. Raises NotCarried."""
    try:
        connection = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error as error:
        raise NotCarried(words(error)) from None
    try:
        return not changes(_stored(connection)[0], schema).same
    finally:
        connection.close()


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
        self._stored = {table.name: table for table in stored.tables}
        self._issued = frozenset(stored.credentials)
        self._scoped = frozenset(stored.scoped)
        self._schema = schema
        self._machines = {table.name: table.machine for table in schema.tables}
        self._make = make
        self._after = after
        self._beside = beside
        self._left: list[str] = []
        self._back: Counter[str] = Counter()
        self._given_up: Counter[str] = Counter()
        self._without_place: Counter[str] = Counter()

    def all(self, key: bytes) -> CarriedOver:
        self._new.pragma("journal_mode", "wal")
        # References are looked after when all rows are there: they may lead in circles.
        self._new.pragma("foreign_keys", False)
        self._new.execute("BEGIN IMMEDIATE")
        record.create(self._new, shape.encode_shape(self._schema), key)
        for statement in tables.create_schema(self._schema):
            self._new.execute(statement)
        wanted = shape.shape(self._schema)
        before = self._left_before()
        of_rows = defaultdict[str, LeftOfRows](LeftOfRows)
        for left in before:
            if left.key:
                of_rows[left.resource].add(left)
        for table in wanted.tables:
            if table.name in self._stored:
                self._table(self._stored[table.name], table, of_rows[table.name])
        for name in self._stored.keys() - {table.name for table in wanted.tables}:
            self._without_table(self._stored[name])
        for left in before:
            if not left.key:
                now = next((table for table in wanted.tables if table.name == left.resource), None)
                self._again(left, now, of_rows[left.resource])
        for left in chain.from_iterable(map(LeftOfRows.rest, of_rows.values())):
            self._keep(left)
        for why, count in self._without_place.items():
            self._leave(count, why, "value")
        self._references(wanted)
        for name in wanted.credentials:
            if name in self._issued and name in self._stored:
                self._credentials(name)
        rows = sum(self._count(self._new, table.name) for table in wanted.tables)
        self._new.execute("COMMIT")
        return CarriedOver(rows, tuple(self._left), _counted(self._back), _counted(self._given_up))

    def _leave(self, count: int, why: str, what: str = "row") -> None:
        if count:
            stay = "stays" if count == 1 else "stay"
            self._left.append(f"{why}: {count:,} {what}{'' if count == 1 else 's'} {stay} behind")

    def _count(self, connection: apsw.Connection, table: str, condition: str = "TRUE") -> int:
        [(count,)] = connection.execute(f"SELECT count(*) FROM {identifier(table)} WHERE {condition}").fetchall()
        return int(str(count))

    # ── What the old database has ─────────────────────────────────────────────────────────────────────────────────

    def _table(self, old: Table, new: Table, of_rows: LeftOfRows) -> None:
        """Every row, with what was left of it before."""
        columns = {column.name: column for column in new.columns}
        for column in old.columns:
            now = columns.get(column.name)
            if not _fits(column.type, now):
                field = f"field `{new.name}.{column.name}`"
                why = "is not in the contract any more" if now is None else f"was {_type(column)} and is {_type(now)}"
                count = self._count(self._old, old.name, f"{identifier(column.name)} IS NOT NULL")
                self._leave(count, f"{field} {why}", "value")
        reasons: Counter[str] = Counter()
        for cells in _rows(self._old, old):
            of_row = of_rows.taken(cells)
            since = min((each.since for each in of_row), default=self._beside.now)
            more = {name for each in of_row for name in each.cells if name not in each.key}
            try:
                rest = self._placed(new, cells)
            except _Stays as why:
                reasons[str(why)] += 1
                self._after.add(Left(new.name, (), self._beside.now, cells))
                continue
            for name in more - rest.keys():
                self._back[f"field `{new.name}.{name}`: {{}} value{{}} {{}} back"] += 1
            self._leave_of(new, cells, rest, since)
        for reason, count in reasons.items():
            self._leave(count, reason)

    def _without_table(self, old: Table) -> None:
        for cells in _rows(self._old, old):
            self._after.add(Left(old.name, (), self._beside.now, cells))
        self._leave(self._count(self._old, old.name), f"resource `{old.name}` is not in the contract any more")

    def _placed(self, table: Table, cells: Cells) -> Cells:
        """Put a row into its new table: those of its values that have no place there. Raises _Stays."""
        columns = {column.name: column for column in table.columns}
        fitting = {
            name: value
            for name, (type, value) in cells.items()
            if name == REVISION_COLUMN or _fits(type, columns.get(name))
        }
        machine = self._machines[table.name]
        state = None if machine is None else fitting.get(machine.column)
        if machine is not None and state is not None and state not in machine.states:
            raise _Stays(f"`{table.name}.{machine.column}` is `{state!s}`, which is no state any more")
        wanted = [each for each in table.columns if each.name not in fitting and each.required and not each.serial]
        known = {name: value for name, value in fitting.items() if name != REVISION_COLUMN}
        fitting |= dict(zip((each.name for each in wanted), self._made(table, known, wanted), strict=True))
        names, places = ", ".join(map(identifier, fitting)), ", ".join("?" * len(fitting))
        try:
            self._new.execute(
                f"INSERT INTO {identifier(table.name)} ({names}) VALUES ({places})", tuple(fitting.values())
            )
        except apsw.ConstraintError as error:
            raise _Stays(_reason(error, table)) from None
        return {name: cell for name, cell in cells.items() if name not in fitting and cell[1] is not None}

    def _leave_of(self, table: Table, cells: Cells, rest: Cells, since: float) -> None:
        """Keep values of a row that is in its place in this table."""
        if rest:
            key = {name: cells[name] for name in table.key if name in cells}
            self._after.add(Left(table.name, tuple(key), since, rest | key))

    # ── What was left before ──────────────────────────────────────────────────────────────────────────────────────

    def _left_before(self) -> list[Left]:
        if not self._beside.before.exists():
            return []
        with left_behind.opened(self._beside.before) as before:
            return list(before.all())

    def _again(self, left: Left, table: Table | None, of_rows: LeftOfRows) -> None:
        """A row that stayed behind, with what had been left of it before that."""
        cells = dict(left.cells)
        since = min([left.since, *(each.since for each in of_rows.taken(cells))])
        rest = None
        if table is not None:
            with suppress(_Stays):
                rest = self._placed(table, cells)
        if rest is None or table is None:
            self._keep(Left(left.resource, (), since, cells))
            return
        self._back[f"resource `{table.name}`: {{}} row{{}} {{}} back"] += 1
        for name in rest:
            self._without_place[f"field `{table.name}.{name}` has no place yet"] += 1
        self._leave_of(table, cells, rest, since)

    def _keep(self, left: Left) -> None:
        """For the next carrying over, unless it was left too long ago."""
        if left.since >= self._beside.until:
            self._after.add(left)
        else:
            self._given_up[f"resource `{left.resource}`: what was left of {{}} row{{}} {{}} gone"] += 1

    def _made(self, table: Table, row: Mapping[str, Stored], made: list[Column]) -> Iterator[Stored]:
        for column in made:
            value = self._make(table.name, column.name, row)
            if value is None:
                raise _Stays(f"field `{table.name}.{column.name}` has to have a value, and nothing gives it one")
            yield value

    def _credentials(self, resource: str) -> None:
        """Those that were issued to rows which came along, as long as these are known by the same fields."""
        new = next(table for table in self._schema.tables if table.name == resource)
        if self._stored[resource].key != new.key:
            return
        columns = (credentials.DIGEST, credentials.SCHEME, credentials.EXPIRES, *map(identifier, new.key))
        name, listed = credentials.table_of(resource), ", ".join(columns)
        same = " AND ".join(f"row.{identifier(key)} = ?{3 + n}" for n, key in enumerate(new.key, start=1))
        keep = (
            f"INSERT INTO {name} ({listed}) SELECT {', '.join(f'?{n}' for n in range(1, len(columns) + 1))}"
            f" WHERE EXISTS (SELECT 1 FROM {identifier(resource)} AS row WHERE {same})"
        )
        for row in self._old.execute(f"SELECT {listed} FROM {name}"):
            self._new.execute(keep, row)
        if resource in self._scoped and resource in self._schema.scoped:
            digest, scopes, table = credentials.DIGEST, credentials.SCOPES, credentials.scopes_of(resource)
            along = (
                f"INSERT INTO {table} ({digest}, {scopes}) SELECT ?1, ?2"
                f" WHERE EXISTS (SELECT 1 FROM {name} WHERE {digest} = ?1)"
            )
            for row in self._old.execute(f"SELECT {digest}, {scopes} FROM {table}"):
                self._new.execute(along, row)

    def _references(self, schema: Schema) -> None:
        """A reference to a row that stayed behind is cleared where it may be, else its row stays behind as well, and
        then those that refer to that one."""
        lost: Counter[str] = Counter()
        while True:
            changed = 0
            for table in schema.tables:
                required = {column.name for column in table.columns if column.required} | set(table.key)
                for reference in table.references:
                    name, column = identifier(table.name), identifier(reference.column)
                    target, key = identifier(reference.table), identifier(reference.key)
                    dangling = (
                        f"{column} IS NOT NULL AND NOT EXISTS"
                        f" (SELECT 1 FROM {target} AS target WHERE target.{key} = {name}.{column})"
                    )
                    field = f"`{table.name}.{reference.column}` refers to a `{reference.table}` that is not there"
                    if reference.column in required:
                        why = field
                        for cells in _rows(self._new, table, dangling):
                            self._after.add(Left(table.name, (), self._beside.now, cells))
                        self._new.execute(f"DELETE FROM {name} WHERE {dangling}")
                    else:
                        why = field + ", and is cleared"
                        for cells in _rows(self._new, table, dangling):
                            rest = {reference.column: cells[reference.column]}
                            self._leave_of(table, cells, rest, self._beside.now)
                        self._new.execute(f"UPDATE {name} SET {column} = NULL WHERE {dangling}")
                    lost[why] += self._new.changes()
                    changed += self._new.changes()
            if not changed:
                break
        for why, count in lost.items():
            self._leave(count, why, "value" if why.endswith("cleared") else "row")


class _Stays(Exception):
    """A row has no place in its new table; the message says why."""


def _rows(connection: apsw.Connection, table: Table, condition: str = "TRUE") -> Iterator[Cells]:
    types = {column.name: column.type for column in table.columns} | {REVISION_COLUMN: Text()}
    name, listed = identifier(table.name), ", ".join(map(identifier, types))
    for row in connection.execute(f"SELECT {listed} FROM {name} WHERE {condition} ORDER BY rowid").fetchall():
        yield {column: (type, value) for (column, type), value in zip(types.items(), row, strict=True)}


def _counted(words: Counter[str]) -> tuple[str, ...]:
    return tuple(
        text.format(f"{count:,}", "" if count == 1 else "s", "is" if count == 1 else "are")
        for text, count in words.items()
    )


def _fits(type: Type, new: Column | None) -> bool:
    return new is not None and type == new.type


def _type(column: Column) -> str:
    return shape.type_in_words(column.type)


def _reason(error: apsw.ConstraintError, table: Table) -> str:
    """Which demand of the table a row does not keep. SQLite names the columns (`order.number`)."""
    about = ", ".join(f"`{name.strip()}`" for name in str(error).partition(": ")[2].split(",")) or f"`{table.name}`"
    match getattr(error, "extendedresult", None):
        case apsw.SQLITE_CONSTRAINT_NOTNULL:
            return f"{about} has to have a value, and has none"
        case apsw.SQLITE_CONSTRAINT_UNIQUE | apsw.SQLITE_CONSTRAINT_PRIMARYKEY | apsw.SQLITE_CONSTRAINT_ROWID:
            return f"{about} is unique, and another row has the same"
        case _:
            return f"a value of `{table.name}` is not of its field's type"
