"""A database file as a whole: used by nobody else, known to be sound, copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import apsw
import msgspec

from ninefold.plan.schema import Schema
from ninefold.runtime.store import record
from ninefold.runtime.store.changing import ONCE_MENDED, NotUpgraded
from ninefold.runtime.store.connections import STATEMENTS, WAIT, words
from ninefold.runtime.store.file import WORKED_ON, Held, Lock, NotBuilt, database_path, lock
from ninefold.upgrade.shape import decode_shape

ROOM = 2.2
"""How many times the size of a database has to be free: its backup, and what a transaction over all of it writes."""


def there(url: str) -> Path:
    try:
        path = database_path(url)
    except NotBuilt as error:
        raise NotUpgraded(str(error)) from None
    if not path.is_file():
        raise NotUpgraded(f"there is no database {path}", help=("--database names another file",))
    return Path(os.path.realpath(path))


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """While nobody serves the database. Raises NotUpgraded where somebody does."""
    try:
        held: Lock = lock(path, WORKED_ON)
    except Held as error:
        raise NotUpgraded(f"the database {path} is {error}", help=("stop that one first, or wait for it",)) from None
    except OSError as error:
        raise NotUpgraded(f"{path} cannot be locked: {(error.strerror or str(error)).lower()}") from None
    try:
        yield
    finally:
        held.release()


@contextmanager
def connected(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(
        str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI, statementcachesize=STATEMENTS
    )
    try:
        connection.set_busy_timeout(WAIT)
        connection.pragma("synchronous", "full")
        connection.pragma("fullfsync", True)
        connection.pragma("trusted_schema", False)
        yield connection
    finally:
        with suppress(apsw.Error):
            connection.close()


def shape_of(connection: apsw.Connection, path: Path) -> Schema:
    found = record.read(connection)
    if isinstance(found, record.Foreign):
        raise NotUpgraded(f"the database {path} cannot be used: {found.words}")
    if isinstance(found, record.Empty):
        raise NotUpgraded(f"the database {path} is empty", help=("`serve` makes its tables when it starts",))
    try:
        return decode_shape(found.shape)
    except msgspec.DecodeError:
        raise NotUpgraded(f"the shape that is stored in {path} cannot be read") from None


def contract_of(url: str) -> tuple[str, str]:
    """The name and the text of the contract that a database was last served with, also while it is served. Raises
    NotUpgraded."""
    path = there(url)
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(WAIT)
            shape_of(connection, path)
            found = record.contract(connection)
        finally:
            connection.close()
    except apsw.Error as error:
        raise NotUpgraded(f"the database {path} cannot be read: {words(error)}") from None
    if found is None:
        raise NotUpgraded(f"the database {path} keeps no contract", help=("`serve` notes it when it starts",))
    return found


def check_sound(connection: apsw.Connection, path: Path) -> None:
    """The file is whole, and there is room for its backup and for the transaction."""
    [(said,)] = connection.execute("PRAGMA quick_check(1)").fetchall()
    if said != "ok":
        raise NotUpgraded(f"the database {path} is damaged: {said}", help=("restore it from a backup first",))
    size = sum(each.stat().st_size for each in (path, Path(f"{path}-wal")) if each.exists())
    free = shutil.disk_usage(path.parent).free
    if free < ROOM * size:
        raise NotUpgraded(
            f"the upgrade needs {ROOM * size:,.0f} bytes of disk, and {free:,} are free", then=(ONCE_MENDED,)
        )


def beside(path: Path, what: str) -> Path:
    """A name beside a database that nothing has, with the time in it: `orders.db.before-20261122T030000Z`. Whoever asks
    is alone with the database."""
    first = path.with_name(f"{path.name}.{what}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    names = (first if number == 1 else first.with_name(f"{first.name}.{number}") for number in count(1))
    return next(each for each in names if not os.path.lexists(each))


def copy_of(path: Path, copy: Path) -> None:
    """A consistent copy, of mode 0600, while others may write (https://sqlite.org/backup.html). One that is cut short
    is not left."""
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as source:
            source.set_busy_timeout(WAIT)
            with closing(apsw.Connection(str(copy))) as target, target.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(4096)
    except BaseException:
        copy.unlink(missing_ok=True)
        copy.with_name(f"{copy.name}-journal").unlink(missing_ok=True)
        raise


def flush(path: Path) -> None:
    for each in (path, path.parent):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
