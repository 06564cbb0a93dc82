"""A database in memory whose whole state is a value: it can be taken out, and put back.

For services that are run over and over from the same rows. It waits for nothing, and nobody shares it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias, TypeVar

import apsw

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.runtime.store import record, tables
from ninefold.runtime.store.connections import meaning
from ninefold.runtime.store.protocol import Row, Session, Stored, Unavailable
from ninefold.runtime.store.writer import Transaction, what_comes
from ninefold.sql.fragment import identifier
from ninefold.upgrade.shape import encode_shape
from ninefold.values import Anything, Digest, Integer, Number, Text, Type, json_text, optional

T = TypeVar("T")

State = bytes
"""All rows of a database, as a SQLite file."""

_OWN = "$ninefold"
"""What a database notes of itself (`ninefold.runtime.store.record`)."""

_SECRET = bytes(range(32))
"""The same for every such database, so that what is made with it compares."""


_SEEN = frozenset(("$event", "$delivery"))
"""Tables of our own whose rows leave the service."""


Changes: TypeAlias = tuple[int, int]


class Memory:
    """A database of a schema, with no rows at first."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._connection = apsw.Connection(":memory:", statementcachesize=1_000)
        self._connection.execute("BEGIN")
        self._shape = encode_shape(schema)
        record.create(self._connection, self._shape, _SECRET)
        for statement in tables.create_schema(schema):
            self._connection.execute(statement)
        self._connection.execute("COMMIT")
        self._begin()
        self._columns = _columns(self._connection)
        self._counts = _counts(self._connection)

    def _begin(self) -> None:
        self._connection.pragma("foreign_keys", True)
        self._connection.pragma("trusted_schema", False)

    def has_shape_of(self, schema: Schema) -> bool:
        return schema is self.schema or encode_shape(schema) == self._shape

    def key(self, name: str) -> bytes:
        """32 bytes for one use, those of every database in memory."""
        return record.derive(_SECRET, name)

    def select(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        """Raises Unavailable."""
        try:
            return self._connection.execute(text, binds).fetchall()
        except apsw.Error as error:
            raise meaning(error) from error

    def transact(self, work: Callable[[Session], T]) -> T:
        """What `work` gives; if it raises, nothing of it remains."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            result = what_comes(work, Transaction(self._connection))
            self._connection.execute("COMMIT")
        except apsw.Error as error:
            raise Unavailable("the transaction was rolled back") from error
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        return result

    @property
    def changes(self) -> Changes:
        """The same, the same state: how many rows were changed since it was made, and how far rows are numbered. An
        insert that makes no row (`ON CONFLICT`) may have taken a number all the same."""
        numbered = 0
        if self._counts:
            numbered = self._connection.execute("SELECT coalesce(sum(seq), 0) FROM sqlite_sequence").get
        return self._connection.total_changes(), numbered

    def state(self) -> State:
        return self._connection.serialize("main")

    def restore(self, state: State) -> None:
        """Put back a state of a database of this schema."""
        self._connection.deserialize("main", state)
        self._begin()

    def carry(self, state: State, of: Schema) -> None:
        """Take over the rows, as far as they fit, of a state of a database of another schema: a value where there is a
        column of its name and type, or one that takes any JSON, a row where it keeps what its table demands. Rows are
        numbered on from where they were."""
        old = apsw.Connection(":memory:")
        try:
            old.deserialize("main", state)
            there = _columns(old)
            carried = {
                table.name: _Carried(_types(of, table.name), _types(self.schema, table.name)) for table in of.tables
            }
            self._connection.pragma("foreign_keys", False)
            self._connection.execute("BEGIN")
            for table, columns in self._columns.items():
                how = carried.get(table, _Carried({}, {}))
                shared = [name for name in there.get(table, ()) if name in columns and how.fits(name)]
                if table != _OWN:
                    self._connection.execute(f"DELETE FROM {identifier(table)}")
                    if shared:
                        self._copy(old, table, {name: how.carried(name) for name in shared})
            if self._counts and _counts(old):
                self._connection.execute("DELETE FROM sqlite_sequence")
                counted = old.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
                self._connection.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", counted)
            self._connection.execute("COMMIT")
        finally:
            old.close()
            self._begin()

    def _copy(self, old: apsw.Connection, table: str, columns: Mapping[str, Callable[[Stored], Stored]]) -> None:
        """`columns`: those that both have, and what becomes of their values."""
        names, places = ", ".join(map(identifier, columns)), ", ".join("?" * len(columns))
        insert = f"INSERT INTO {identifier(table)} ({names}) VALUES ({places})"
        for row in old.execute(f"SELECT {names} FROM {identifier(table)} ORDER BY rowid"):
            values = [carried(value) for value, carried in zip(row, columns.values(), strict=True)]
            with suppress(apsw.ConstraintError):
                self._connection.execute(insert, values)

    def tables(self) -> dict[str, list[dict[str, Stored]]]:
        """All rows, by table, each by column: those of the contract's resources, and the events."""
        found: dict[str, list[dict[str, Stored]]] = {}
        for table, columns in self._columns.items():
            if not table.startswith("$") or table in _SEEN:
                kept = [name for name in columns if not name.startswith("$")]
                names = ", ".join(map(identifier, kept))
                rows = self._connection.execute(f"SELECT {names} FROM {identifier(table)}").fetchall()
                found[table] = [dict(zip(kept, row, strict=True)) for row in rows]
        return found

    def close(self) -> None:
        self._connection.close()


@dataclass(frozen=True, slots=True)
class _Carried:
    """The types of a table's columns, as they were and as they are."""

    old: Mapping[str, Type]
    new: Mapping[str, Type]

    def fits(self, column: str) -> bool:
        old, new = self.old.get(column), self.new.get(column)
        return old is None or new is None or optional(old) == optional(new) or self.carried(column) is not _as_it_is

    def carried(self, column: str) -> Callable[[Stored], Stored]:
        """What becomes of a value: what was stored as it is is stored as JSON now, and what was hidden may be read."""
        match self.old.get(column), self.new.get(column):
            case Text() | Integer() | Number(), Anything():
                return json_text
            case Digest(), Text():
                return _as_text
            case _:
                return _as_it_is


def _as_it_is(value: Stored) -> Stored:
    return value


def _as_text(value: Stored) -> Stored:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _types(schema: Schema, table: str) -> dict[str, Type]:
    return {column.name: column.type for each in schema.tables if each.name == table for column in each.columns}


def _counts(connection: apsw.Connection) -> bool:
    """Whether some table of it numbers its rows, and never anew (https://www.sqlite.org/autoinc.html)."""
    return bool(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").fetchall())


def _columns(connection: apsw.Connection) -> dict[str, tuple[str, ...]]:
    """The columns of each table."""
    found = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    )
    tables = [str(name) for (name,) in found]
    listed = "SELECT name FROM pragma_table_info(?)"
    return {table: tuple(str(name) for (name,) in connection.execute(listed, (table,))) for table in tables}
