"""Rows from a database of one shape to a new one of another, as far as they fit.

Nothing is decided over them: a value is taken along where the new table has a column of that name and type, and a row
where it keeps what the new table demands. What stays behind is said. This is for databases whose rows may be lost.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import apsw
import msgspec

from ninefold.database import record, shape, tables
from ninefold.database.failures import words
from ninefold.database.protocol import Stored
from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.schema import Column, Schema, Table
from ninefold.sql import credentials
from ninefold.sql.fragment import identifier

Make: TypeAlias = Callable[[str, str, Mapping[str, Stored]], Stored]
"""The value of a new column that has to have one: of a table, a column, and the row that is carried over, by column.
None: there is none."""


class NotCarried(Exception):
    """Nothing can be taken from the old database; the message says why."""


class NotMade(Exception):
    """The new database cannot be made; the message says why."""


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """`rows` were carried over. `left` says what was not, and why, a sentence each."""

    rows: int
    left: tuple[str, ...]


def carry_over(source: Path, target: Path, schema: Schema, make: Make) -> CarriedOver:
    """Make the database `target`, which is not there yet, with the rows of `source`, which nobody has open.

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
            return _Copy(old, new, stored, schema, make).all(key)
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

    def __init__(self, old: apsw.Connection, new: apsw.Connection, stored: Schema, schema: Schema, make: Make) -> None:
        self._old, self._new = old, new
        self._stored = {table.name: table for table in stored.tables}
        self._issued = frozenset(stored.credentials)
        self._scoped = frozenset(stored.scoped)
        self._schema = schema
        self._make = make
        self._left: list[str] = []

    def all(self, key: bytes) -> CarriedOver:
        self._new.pragma("journal_mode", "wal")
        # References are looked after when all rows are there: they may lead in circles.
        self._new.pragma("foreign_keys", False)
        self._new.execute("BEGIN IMMEDIATE")
        record.create(self._new, shape.encode_shape(self._schema), key)
        for statement in tables.create_schema(self._schema):
            self._new.execute(statement)
        wanted = shape.shape(self._schema)
        for table in wanted.tables:
            if table.name in self._stored:
                self._table(self._stored[table.name], table)
        for name in self._stored.keys() - {table.name for table in wanted.tables}:
            self._leave(self._count(self._old, name), f"resource `{name}` is not in the contract any more")
        self._references(wanted)
        for name in wanted.credentials:
            if name in self._issued and name in self._stored:
                self._credentials(name)
        rows = sum(self._count(self._new, table.name) for table in wanted.tables)
        self._new.execute("COMMIT")
        return CarriedOver(rows, tuple(self._left))

    def _leave(self, count: int, why: str, what: str = "row") -> None:
        if count:
            stay = "stays" if count == 1 else "stay"
            self._left.append(f"{why}: {count:,} {what}{'' if count == 1 else 's'} {stay} behind")

    def _count(self, connection: apsw.Connection, table: str, condition: str = "TRUE") -> int:
        [(count,)] = connection.execute(f"SELECT count(*) FROM {identifier(table)} WHERE {condition}").fetchall()
        return int(str(count))

    def _table(self, old: Table, new: Table) -> None:
        columns = {column.name: column for column in new.columns}
        kept = [column for column in old.columns if _fits(column, columns.get(column.name))]
        for column in old.columns:
            if column not in kept:
                now = columns.get(column.name)
                field = f"field `{new.name}.{column.name}`"
                why = "is not in the contract any more" if now is None else f"was {_type(column)} and is {_type(now)}"
                count = self._count(self._old, old.name, f"{identifier(column.name)} IS NOT NULL")
                self._leave(count, f"{field} {why}", "value")
        names = [column.name for column in kept]
        made = [each for each in new.columns if each.name not in names and each.required and not each.serial]
        self._rows(new, names, made)

    def _rows(self, table: Table, kept: list[str], made: list[Column]) -> None:
        name = identifier(table.name)
        listed = ", ".join(map(identifier, (*kept, REVISION_COLUMN)))
        targets = ", ".join(map(identifier, (*kept, REVISION_COLUMN, *(column.name for column in made))))
        places = ", ".join("?" * (len(kept) + 1 + len(made)))
        insert = f"INSERT INTO {name} ({targets}) VALUES ({places})"
        reasons: Counter[str] = Counter()
        machine = next(each.machine for each in self._schema.tables if each.name == table.name)
        for row in self._old.execute(f"SELECT {listed} FROM {name} ORDER BY rowid"):
            state = None if machine is None else dict(zip(kept, row, strict=False)).get(machine.column)
            if machine is not None and state is not None and state not in machine.states:
                reasons[f"`{table.name}.{machine.column}` is `{state}`, which is no state any more"] += 1
                continue
            try:
                more = list(self._made(table, dict(zip(kept, row, strict=False)), made))
                self._new.execute(insert, (*row, *more))
            except _WithoutValue as error:
                reasons[f"field `{table.name}.{error}` has to have a value, and nothing gives it one"] += 1
            except apsw.ConstraintError as error:
                reasons[_reason(error, table)] += 1
        for why, count in reasons.items():
            self._leave(count, why)

    def _made(self, table: Table, row: Mapping[str, Stored], made: list[Column]) -> Iterator[Stored]:
        for column in made:
            value = self._make(table.name, column.name, row)
            if value is None:
                raise _WithoutValue(column.name)
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
                        self._new.execute(f"DELETE FROM {name} WHERE {dangling}")
                        why = field
                    else:
                        self._new.execute(f"UPDATE {name} SET {column} = NULL WHERE {dangling}")
                        why = field + ", and is cleared"
                    lost[why] += self._new.changes()
                    changed += self._new.changes()
            if not changed:
                break
        for why, count in lost.items():
            self._leave(count, why, "value" if why.endswith("cleared") else "row")


class _WithoutValue(Exception):
    """A column has to have a value, and nothing gives one."""


def _fits(old: Column, new: Column | None) -> bool:
    return new is not None and old.type == new.type


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
