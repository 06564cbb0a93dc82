"""A database in SQLite as a side of a move (`ninefold.runtime.store.move`).

What is written is a file beside the one that is asked for, with `.moving` at its end, which is given its name when all
has arrived.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec

from ninefold.plan.schema import Schema
from ninefold.runtime.store import record, tables
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.connections import WAIT, configure, words
from ninefold.runtime.store.file import NotBuilt, database_path
from ninefold.runtime.store.move import Notes, NotMoved, Table, last_key, made_of, page
from ninefold.runtime.store.protocol import Row
from ninefold.runtime.store.sqlite import unusable
from ninefold.runtime.store.whole import alone, flush, there
from ninefold.runtime.store.writer import Transaction
from ninefold.sql.fragment import identifier
from ninefold.upgrade.shape import decode_shape, encode_shape

_OF_FILE = ("$ninefold", "$ninefold_upgrades")
"""What a file knows of itself: `Notes`."""


_UNIQUE = (
    "SELECT part.name FROM pragma_index_list(?) AS of JOIN pragma_index_info(of.name) AS part"
    " WHERE of.origin = 'u' ORDER BY of.seq, part.seqno"
)
_PRIMARY = "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk"
"""The columns of a constraint, in its order."""


class Side:
    """A file. Everything raises apsw.Error."""

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        self.name = name
        self._connection = connection

    def _ask(self, text: str, *binds: Any) -> list[Row]:
        return list(self._connection.execute(text, binds))

    def tables(self) -> tuple[Table, ...]:
        found = (
            str(name) for (name,) in self._ask("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
        )
        return tuple(self._table(name) for name in found if name not in _OF_FILE and not name.startswith("sqlite_"))

    def _table(self, name: str) -> Table:
        columns = tuple(str(column) for (column,) in self._ask("SELECT name FROM pragma_table_info(?)", name))
        # Where the service numbers rows besides, their number is what SQLite calls the primary key (`create_table`).
        key = next(filter(None, (self._ask(of, name) for of in (_UNIQUE, _PRIMARY))), [])
        return Table(name, columns, tuple(str(column) for (column,) in key))

    def count(self, table: str) -> int:
        [(found,)] = self._ask(f"SELECT count(*) FROM {identifier(table)}")
        return int(str(found))

    def rows(self, table: Table, after: Row | None) -> list[Row]:
        text, binds = page(table, identifier, after)
        return self._ask(text, *binds)


class Source(Side):
    def __init__(self, connection: apsw.Connection, name: str, schema: Schema) -> None:
        super().__init__(connection, name)
        self.schema = schema

    def notes(self) -> Notes:
        found = record.read(self._connection)
        assert isinstance(found, record.Record)
        numbers = {str(name): int(str(last)) for name, last in self._sequences()}
        upgrades = tuple(record.upgrades(self._connection))
        kept = record.kept_contract(self._connection)
        fit, decided = (record.value(Transaction(self._connection), name) for name in ("fit", record.DECIDED))
        return Notes(found.key, kept, fit, numbers, upgrades, decided)

    def _sequences(self) -> list[Row]:
        there = self._ask("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'")
        return self._ask("SELECT name, seq FROM sqlite_sequence") if there else []


@contextmanager
def source(url: str, schema: Schema) -> Iterator[Source]:
    """While nobody serves it. Raises NotMoved."""
    try:
        path = there(url)
        with alone(path):
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                connection.set_busy_timeout(WAIT)
                connection.pragma("query_only", True)
                yield Source(connection, str(path), _made_of(connection, path, schema))
            finally:
                connection.close()
    except NotUpgraded as error:
        raise NotMoved(str(error), error.details, error.help) from None
    except apsw.Error as error:
        raise NotMoved(f"the database {url} cannot be used: {words(error)}") from error


def _made_of(connection: apsw.Connection, path: Path, schema: Schema) -> Schema:
    found = record.read(connection)
    if isinstance(found, record.Empty):
        raise NotMoved(f"the database {path} is empty")
    if isinstance(found, record.Foreign):
        raise NotMoved(f"the database {path} cannot be used: {found.words}")
    try:
        stored = decode_shape(found.shape)
    except msgspec.DecodeError:
        raise NotMoved(f"the database {path} cannot be used: the shape that is stored in it cannot be read") from None
    return made_of(stored, schema, str(path))


class Target(Side):
    """A file that is being made."""

    def __init__(self, connection: apsw.Connection, made: Path, path: Path, has_all: bool) -> None:
        super().__init__(connection, str(path))
        self._made, self._path, self.has_all = made, path, has_all

    def last(self, table: Table) -> Row | None:
        return next(iter(self._ask(last_key(table, identifier))), None)

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        columns, places = ", ".join(map(identifier, table.columns)), ", ".join("?" * len(table.columns))
        with self._connection:
            self._connection.executemany(f"INSERT INTO {identifier(table.name)} ({columns}) VALUES ({places})", rows)

    def finish(self, notes: Notes) -> None:
        if dangling := self._ask('SELECT DISTINCT "table" FROM pragma_foreign_key_check'):
            raise NotMoved("rows refer to rows that are not there", [f"`{name!s}`" for (name,) in dangling])
        with self._connection:
            for name, last in notes.numbers.items():
                self._ask("DELETE FROM sqlite_sequence WHERE name = ?", name)
                self._ask("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, last)
            if notes.contract is not None:
                record.keep_contract(self._connection, notes.contract)
            for name, value in (("fit", notes.fit), (record.DECIDED, notes.decided)):
                if value is not None:
                    record.note(Transaction(self._connection), name, value)
            if notes.upgrades:
                record.note_upgrades(self._connection, notes.upgrades)
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._connection.close()
        os.rename(self._made, self._path)
        flush(self._path)


@contextmanager
def target(url: str, schema: Schema, key: bytes) -> Iterator[Target]:
    """`key`: the secret of the database that is moved, by which a move that was begun is known again. Raises
    NotMoved."""
    try:
        path = Path(os.path.realpath(database_path(url)))
        if path.exists() and (why := unusable(path)):
            raise _not_made(path, why)
        made = path.with_name(path.name + ".moving")
        with alone(path), alone(made):
            has_all = path.exists() and _has_all(path, schema, key)
            if not has_all and path.exists() and path.stat().st_size:
                raise _not_made(path, "there is something in it")
            connection = _making(path if has_all else made, schema, key)
            try:
                yield Target(connection, made, path, has_all)
            finally:
                connection.close()
    except NotBuilt as error:
        raise NotMoved(str(error)) from None
    except NotUpgraded as error:
        raise NotMoved(str(error), error.details, error.help) from None
    except apsw.Error as error:
        raise NotMoved(f"the database {url} cannot be made: {words(error)}") from error
    except OSError as error:
        raise NotMoved(f"the database {url} cannot be made: {(error.strerror or str(error)).lower()}") from None


def _not_made(path: Path, why: str) -> NotMoved:
    return NotMoved(f"the database {path} cannot be made: {why}", help=("name a file that is not there yet",))


def _has_all(path: Path, schema: Schema, key: bytes) -> bool:
    """Whether a move into it has come to its end before."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return _is_of(record.read(connection), schema, key)
    finally:
        connection.close()


def _is_of(found: record.Empty | record.Foreign | record.Record, schema: Schema, key: bytes) -> bool:
    return isinstance(found, record.Record) and (found.key, found.shape) == (key, encode_shape(schema))


def _making(made: Path, schema: Schema, key: bytes) -> apsw.Connection:
    connection = apsw.Connection(str(made), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(WAIT)
        if mode := configure(connection):
            raise NotMoved(f"the database {made} cannot be made: its file system admits no write-ahead log ({mode})")
        # A row may refer to one that arrives after it; at the end all references are looked at.
        connection.pragma("foreign_keys", False)
        found = record.read(connection)
        if isinstance(found, record.Empty):
            with connection:
                record.create(connection, encode_shape(schema), key)
                for statement in tables.create_schema(schema):
                    connection.execute(statement)
        elif not _is_of(found, schema, key):
            raise NotMoved(
                f"{made} is of another move", help=("end that one, or remove the file: nobody serves from it",)
            )
        return connection
    except BaseException:
        connection.close()
        raise
