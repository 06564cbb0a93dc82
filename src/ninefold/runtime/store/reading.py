"""A database that is only looked at, also while a service has it open.

In write-ahead mode a reader sees what was committed when it began, and holds nobody up (https://sqlite.org/wal.html).
It takes no lock of ours: that one is about who writes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import apsw
import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.runtime.store import record, shape
from ninefold.runtime.store.failures import meaning, words
from ninefold.runtime.store.lock import is_held_by_another_name
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.sqlite import Refused, unusable
from ninefold.runtime.store.url import NotBuilt, database_path

_WAIT = 2_000
"""Milliseconds to wait for a program that is bringing the log into the file."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One snapshot of a database (`ninefold.runtime.store.protocol.Session`), to be used in a `with`."""

    connection: apsw.Connection

    def run(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        try:
            return self.connection.execute(text, binds).fetchall()
        except apsw.Error as error:
            raise meaning(error) from error

    def __enter__(self) -> Reading:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()


def open_to_read(url: str, schema: Schema) -> Reading | Refused:
    """Open a database that was made for a schema. Nothing is made and nothing is added: what the schema has and the
    database has not is a refusal."""
    try:
        path = database_path(url)
    except NotBuilt as error:
        return Refused(str(error))
    if not path.exists():
        return Refused(
            f"there is no database {path}",
            help=("`serve` makes it when it starts, `add` with the first row; --database names another file",),
        )
    try:
        if why := unusable(path, "rb"):
            return Refused(f"the database {path} cannot be used: {why}")
        if is_held_by_another_name(path.resolve()):
            return under_another_name(path)
        return _opened(path, schema)
    except apsw.Error as error:
        return Refused(f"the database {path} cannot be used: {words(error)}")
    except OSError as error:
        return Refused(f"the database {path} cannot be used: {(error.strerror or str(error)).lower()}")


def under_another_name(path: Path) -> Refused:
    """What is beside the file belongs to the other name, and with it what has been written last."""
    return Refused(
        f"the database {path} is served under another name of the file",
        help=("name it as the service does: what was written last is found beside that name",),
    )


def _opened(path: Path, schema: Schema) -> Reading | Refused:
    # Opened for writing where that is allowed, and used for reading: whoever closes a database last may then tidy up
    # the log. SQLite itself falls back where the file may only be read.
    connection = apsw.Connection(os.path.realpath(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(_WAIT)
        connection.pragma("query_only", True)
        connection.pragma("trusted_schema", False)
        found = record.read(connection)
        refused = why_not(found, path, schema)
        if refused is None:
            connection.execute("BEGIN")
            return Reading(connection)
    except BaseException:
        connection.close()
        raise
    connection.close()
    return refused


def why_not(found: record.Empty | record.Foreign | record.Record, path: Path, schema: Schema) -> Refused | None:
    """Why a database, which may not be changed, is not one of this schema."""
    match found:
        case record.Foreign(words=why):
            return Refused(f"the database {path} cannot be used: {why}")
        case record.Empty():
            return Refused(f"the database {path} is empty", help=("`serve` makes its tables when it starts",))
    try:
        stored = shape.decode_shape(found.shape)
    except msgspec.DecodeError:
        return Refused(f"the database {path} cannot be used: the shape that is stored in it cannot be read")
    match shape.compare(stored, schema):
        case shape.Same():
            return None
        case shape.Additions(additions=additions):
            return Refused(
                f"the database {path} was made before the contract had what is new in it",
                tuple(f"{addition.words} is not there yet" for addition in additions),
                ("`serve` adds it when it starts, and so does `add`",),
            )
        case shape.Differences(words=details):
            return Refused(
                f"the database {path} was made for another contract",
                details,
                ("name the contract that made it, or another file with --database",),
            )
