"""A database that a service may have open, used beside it: looked at, or changed a little in one short transaction.

In write-ahead mode a reader sees what was committed when it began, and holds nobody up (https://sqlite.org/wal.html).
The lock of ours (`file.py`) says who writes rows, since the service knows of every row that it has written; what the
service reads anew each time, such as what is to be delivered, may be changed beside it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

import apsw
import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.runtime.store import record
from ninefold.runtime.store.connections import meaning, words
from ninefold.runtime.store.file import NotBuilt, database_path, is_held_by_another_name
from ninefold.runtime.store.protocol import Command, Refused, Row, Stored, Unavailable
from ninefold.runtime.store.sqlite import unusable
from ninefold.upgrade.changes import changes
from ninefold.upgrade.shape import decode_shape
from ninefold.upgrade.words import sentence

_READER_WAITS = 2_000
"""Milliseconds to wait for a program that is bringing the log into the file."""

_WRITER_WAITS = 5_000
"""Milliseconds to wait for the service's own transaction."""


@dataclass(frozen=True, slots=True)
class Guest:
    """One transaction (`protocol.Guest`), which has begun."""

    connection: apsw.Connection
    secret: bytes

    def run(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        try:
            return self.connection.execute(text, binds).fetchall()
        except apsw.Error as error:
            raise meaning(error) from error

    def key(self, name: str) -> bytes:
        return record.derive(self.secret, name)

    def __enter__(self) -> Guest:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.run("COMMIT", ())
        finally:
            self.connection.close()


def open_to_read(url: str, schema: Schema) -> Guest | Refused:
    """Open a database that was made for a schema, as it is now. Nothing is made and nothing is added: what the schema
    has and the database has not is a refusal."""
    # Opened for writing where that is allowed, and used for reading: whoever closes a database last may then tidy up
    # the log. SQLite itself falls back where the file may only be read.
    made = "`serve` makes it when it starts, `add` with the first row; "
    return _opened(url, schema, made, "rb", {"busy_timeout": _READER_WAITS, "query_only": True}, "BEGIN")


def open_beside(url: str, schema: Schema) -> Guest | Refused:
    """Open a database that was made for a schema, and keep others from writing. Nothing is made and nothing is added.
    Raises Unavailable."""
    settings: _Settings = {"busy_timeout": _WRITER_WAITS, "foreign_keys": True, "synchronous": "full"}
    return _opened(url, schema, "", "r+b", settings, "BEGIN IMMEDIATE")


_Settings: TypeAlias = dict[str, bool | int | str]


def _opened(
    url: str,
    schema: Schema,
    made: str,
    mode: Literal["r+b", "rb"],
    settings: _Settings,
    begin: str,
) -> Guest | Refused:
    """`made`: what makes a database that is not there. `mode`: in which the file must be usable."""
    try:
        path = database_path(url)
    except NotBuilt as error:
        return Refused(str(error))
    if not path.exists():
        return Refused(f"there is no database {path}", help=(f"{made}--database names another file",))
    try:
        if why := unusable(path, mode):
            return Refused(f"the database {path} cannot be used: {why}")
        if is_held_by_another_name(path.resolve()):
            # What is beside the file belongs to the other name, and with it what has been written last.
            return Refused(
                f"the database {path} is served under another name of the file",
                help=("name it as the service does: what was written last is found beside that name",),
            )
        return _connected(path, schema, settings, begin)
    except apsw.Error as error:
        return Refused(f"the database {path} cannot be used: {words(error)}")
    except OSError as error:
        return Refused(f"the database {path} cannot be used: {(error.strerror or str(error)).lower()}")


def _connected(path: Path, schema: Schema, settings: _Settings, begin: str) -> Guest | Refused:
    connection = apsw.Connection(os.path.realpath(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        for name, value in {**settings, "trusted_schema": False}.items():
            connection.pragma(name, value)
        found = record.read(connection)
        refused = _why_not(found, path, schema)
        if refused is None and isinstance(found, record.Record):
            guest = Guest(connection, found.key)
            guest.run(begin, ())
            return guest
    except BaseException:
        connection.close()
        raise
    connection.close()
    if refused is None:
        raise Unavailable("what the database notes of itself is not there")
    return refused


def _why_not(found: record.Empty | record.Foreign | record.Record, path: Path, schema: Schema) -> Refused | None:
    """Why a database, which may not be changed, is not one of this schema."""
    match found:
        case record.Foreign(words=why):
            return Refused(f"the database {path} cannot be used: {why}")
        case record.Empty():
            return Refused(f"the database {path} is empty", help=("`serve` makes its tables when it starts",))
    try:
        stored = decode_shape(found.shape)
    except msgspec.DecodeError:
        return Refused(f"the database {path} cannot be used: the shape that is stored in it cannot be read")
    return why_not(stored, schema, str(path))


def why_not(stored: Schema, schema: Schema, name: str) -> Refused | None:
    """The same of one that has a shape."""
    differing = changes(stored, schema).told
    if not differing:
        return None
    if all(each.words.startswith("new") for each in differing):
        return Refused(
            f"the database {name} was made before the contract had what is new in it",
            tuple(f"{change.about} is not there yet" for change in differing),
            ("`serve` adds it when it starts, and so does `add`",),
        )
    return Refused(
        f"the database {name} was made for another contract",
        tuple(sentence(change) for change in differing),
        ("name the contract that made it, or another file with --database",),
        then=(Command("to see what becomes of it", "upgrade"),),
    )
