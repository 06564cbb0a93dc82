"""A database that is changed a little while a service may have it open: in one short transaction.

The lock of ours (`ninefold.runtime.store.lock`) says who writes rows, since the service knows of every row that it has
written. This is for what the service reads anew each time: what is to be delivered.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import apsw

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.runtime.store import record
from ninefold.runtime.store.failures import meaning, words
from ninefold.runtime.store.lock import is_held_by_another_name
from ninefold.runtime.store.protocol import Row, Stored, Unavailable
from ninefold.runtime.store.reading import under_another_name, why_not
from ninefold.runtime.store.sqlite import Refused, unusable
from ninefold.runtime.store.url import NotBuilt, database_path

_WAIT = 5_000
"""Milliseconds to wait for the service's own transaction."""


@dataclass(frozen=True, slots=True)
class Beside:
    """One transaction (`protocol.Session`), to be used in a `with`; undone where the block raises."""

    connection: apsw.Connection
    secret: bytes

    def run(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        try:
            return self.connection.execute(text, binds).fetchall()
        except apsw.Error as error:
            raise meaning(error) from error

    def key(self, name: str) -> bytes:
        """What `SQLite.key` gives."""
        return record.derive(self.secret, name)

    def __enter__(self) -> Beside:
        self.run("BEGIN IMMEDIATE", ())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.run("COMMIT", ())
        finally:
            self.connection.close()


def open_beside(url: str, schema: Schema) -> Beside | Refused:
    """Open a database that was made for a schema. Nothing is made and nothing is added."""
    try:
        path = database_path(url)
    except NotBuilt as error:
        return Refused(str(error))
    if not path.exists():
        return Refused(f"there is no database {path}", help=("--database names another file",))
    try:
        if why := unusable(path):
            return Refused(f"the database {path} cannot be used: {why}")
        if is_held_by_another_name(path.resolve()):
            return under_another_name(path)
        return _opened(path, schema)
    except apsw.Error as error:
        return Refused(f"the database {path} cannot be used: {words(error)}")
    except OSError as error:
        return Refused(f"the database {path} cannot be used: {(error.strerror or str(error)).lower()}")


def _opened(path: Path, schema: Schema) -> Beside | Refused:
    connection = apsw.Connection(os.path.realpath(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(_WAIT)
        connection.pragma("foreign_keys", True)
        connection.pragma("synchronous", "full")
        connection.pragma("trusted_schema", False)
        found = record.read(connection)
        refused = why_not(found, path, schema)
        if refused is None and isinstance(found, record.Record):
            return Beside(connection, found.key)
    except BaseException:
        connection.close()
        raise
    connection.close()
    if refused is None:
        raise Unavailable("what the database notes of itself is not there")
    return refused
