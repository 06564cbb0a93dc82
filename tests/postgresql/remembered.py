"""A database in PostgreSQL whose whole state is a value: what `ninefold.runtime.store.memory` is in SQLite. Each has a
schema of its own in one database, which is dropped when it is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, Final, TypeVar

from asyncpg.exceptions import IntegrityConstraintViolationError
from tests.postgresql import server

from ninefold.plan.schema import Schema
from ninefold.runtime.store import record
from ninefold.runtime.store.memory import _SECRET, _SEEN, _Carried, _types
from ninefold.runtime.store.postgresql_link import FAILED, Link, Transaction, meaning
from ninefold.runtime.store.postgresql_servers import Servers
from ninefold.runtime.store.postgresql_tables import create_references, create_tables
from ninefold.runtime.store.protocol import Row, Session, Stored
from ninefold.runtime.store.writer import what_comes
from ninefold.sql.fragment import identifier
from ninefold.upgrade.shape import encode_shape
from ninefold.values import LONGEST_SUM

T = TypeVar("T")

State = Mapping[str, tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]]
"""By table its columns, and its rows."""

_NUMBERS: Final = count()
_TABLES: Final = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"


@cache
def _database() -> str:
    return server.database()


class Remembered:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.changes = 0
        self._known: tuple[int, State] | None = None
        self._runner = asyncio.Runner()
        self._name = f"remembered_{next(_NUMBERS)}"
        self._link: Link = self._runner.run(Servers(_database()).open())
        # A row that others refer to may go, and come back.
        self._do(f"CREATE SCHEMA {self._name}; SET search_path TO {self._name}; SET client_min_messages TO error")
        self._do(";\n".join((*create_tables(schema), *create_references(schema))))
        self._tables = sorted(str(name) for (name,) in self._runner.run(self._link.fetch(_TABLES)))

    def _do(self, text: str) -> None:
        self._runner.run(self._link.execute(text))

    def has_shape_of(self, schema: Schema) -> bool:
        return schema is self.schema or encode_shape(schema) == encode_shape(self.schema)

    def key(self, name: str) -> bytes:
        return record.derive(_SECRET, name)

    def select(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        try:
            return self._runner.run(self._link.run(text, binds))[0]
        except FAILED as error:
            raise meaning(error) from error

    def transact(self, work: Callable[[Session], T]) -> T:
        session = Transaction(self._link, self._runner.get_loop(), LONGEST_SUM, guarded=True)
        self._do("BEGIN")
        try:
            result = what_comes(work, session)  # type: ignore[arg-type]
            self._do("COMMIT")
        except BaseException:
            self._do("ROLLBACK")
            raise
        self.changes += session.changed
        return result

    def state(self) -> State:
        if self._known is None or self._known[0] != self.changes:
            self._known = self.changes, {table: self._rows(table) for table in self._tables}
        return dict(self._known[1])

    def _rows(self, table: str) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
        statement = self._runner.run(self._link.prepare(f"SELECT * FROM {identifier(table)}")).statement
        columns = tuple(each.name for each in statement.get_attributes())
        return columns, tuple(tuple(each) for each in self._runner.run(statement.fetch()))

    def restore(self, state: State) -> None:
        """Put back a state of a database of this schema."""
        now = self.state()
        with self._unguarded():
            for table in self._tables:
                if now[table] != state[table]:
                    self._do(f"DELETE FROM {identifier(table)}")
                    columns, rows = state[table]
                    self._runner.run(self._link.copy(table, columns, rows))
        self._known = self.changes, state

    @contextmanager
    def _unguarded(self) -> Iterator[None]:
        """Where rows need not refer to others that are there. What is known of rows is forgotten."""
        self._do("BEGIN; SET LOCAL session_replication_role = replica")
        yield
        self._do("COMMIT")
        self.changes += 1

    def carry(self, state: State, of: Schema) -> None:
        """As of `Memory`."""
        carried = {table.name: _Carried(_types(of, table.name), _types(self.schema, table.name)) for table in of.tables}
        now = self.state()
        with self._unguarded():
            for table in self._tables:
                how, (names, rows) = carried.get(table, _Carried({}, {})), state.get(table, ((), ()))
                self._do(f"DELETE FROM {identifier(table)}")
                columns = [name for name in names if name in now[table][0] and how.fits(name)]
                for row in rows if columns else ():
                    values = {
                        name: how.carried(name)(value)
                        for name, value in zip(names, row, strict=True)
                        if name in columns
                    }
                    self._insert(table, values)

    def _insert(self, table: str, values: Mapping[str, Any]) -> None:
        """A row, if it keeps what its table demands."""
        self._do("SAVEPOINT one")
        try:
            self._runner.run(self._link.copy(table, [*values], [tuple(values.values())]))
        except IntegrityConstraintViolationError:
            self._do("ROLLBACK TO one")
        self._do("RELEASE one")

    def tables(self) -> dict[str, list[dict[str, Stored]]]:
        return {
            table: [
                {name: value for name, value in zip(columns, row, strict=True) if not name.startswith("$")}
                for row in rows
            ]
            for table, (columns, rows) in self.state().items()
            if not table.startswith("$") or table in _SEEN
        }

    def close(self) -> None:
        self._do(f"DROP SCHEMA {self._name} CASCADE")
        self._runner.run(self._link.close())
        self._runner.close()
