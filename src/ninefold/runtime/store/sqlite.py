"""SQLite: one writer in a thread, one reader on the event loop's thread, and threads for reads that take long.

Reading a prepared row takes microseconds, less than handing it to a thread; a commit waits for the disk, so it is
handed over. In write-ahead mode neither waits for the other.
"""

from __future__ import annotations

import asyncio
import os
from asyncio import Future
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import apsw

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.runtime.store import protocol, record, tables
from ninefold.runtime.store.checkpoints import Checkpoints
from ninefold.runtime.store.connections import (
    STATEMENTS,
    WAIT,
    Atomic,
    bound,
    configure,
    connect,
    words,
)
from ninefold.runtime.store.file import Held, Lock, NotBuilt, database_path, lock
from ninefold.runtime.store.protocol import (
    Answered,
    Begin,
    Judge,
    NotBegun,
    Refused,
    Session,
    Statistics,
    Unavailable,
)
from ninefold.runtime.store.reading import Reading
from ninefold.runtime.store.writer import Transaction, Waiting, Writer, transacted
from ninefold.upgrade.shape import encode_shape
from ninefold.values import LONGEST_SUM

T = TypeVar("T")

_MAGIC = b"SQLite format 3\0"
_TRIED_SECONDS = 5.0
"""How long the disk may take for one write."""


@dataclass(frozen=True, slots=True)
class Opened(protocol.Opened):
    database: SQLite


Opening: TypeAlias = Opened | Refused


class SQLite(Reading):
    """A database that is open (`ninefold.runtime.store.protocol.Database`)."""

    nodes = None
    replica = None
    clock = None

    def __init__(self, path: Path, key: bytes, held: Lock, writer: apsw.Connection) -> None:
        """Takes over the lock and the connection. Raises apsw.Error."""
        self._path = path
        self._key = key
        self._lock = held
        super().__init__(path)
        background = connect(path)
        self._connections = (self._reader, background, writer)
        self._checkpoints = Checkpoints(background, held.database)
        self._checkpoints.watch(writer)
        self._writer = Writer(writer, self._checkpoints, self._index)
        self.state = self._writer.changes.state
        self._open = True

    def admit(self, size: int) -> None:
        """A value or a row of so many bytes can be written, if that is more than usual."""
        bound(self._connections[2], max(LONGEST_SUM, size))
        super().admit(size)

    def transact(self, work: Callable[[Session], T]) -> Future[T]:
        """Run `work` in a transaction of its own; to be called on the event loop's thread."""
        return transacted(self, work)

    def write(
        self,
        work: Callable[[Session], Any],
        done: Answered,
        again: bool = False,
        due: str | None = None,
        places: tuple[int, ...] = (),
    ) -> None:
        """The same without a future. Raises Unavailable."""
        self._writer.queue.put(Waiting(work, again, done, asyncio.get_running_loop()))

    def close(self) -> None:
        """Finish what was accepted, then close. Futures are resolved when the loop runs again."""
        if not self._open:
            return
        self._open = False
        self.long.stop()
        self._writer.stop()
        self._checkpoints.stop()
        self._brief.close()
        for connection in self._connections:
            connection.close()
        self._index.close()
        self._lock.release()

    def key(self, name: str) -> bytes:
        """32 secret bytes for one use, the same as long as the database lives."""
        return record.derive(self._key, name)

    def reachable(self) -> bool:
        """Whether the file can be read."""
        try:
            return self._open and bool(self.read("SELECT count(*) FROM sqlite_schema", ()))
        except (apsw.Error, Unavailable):
            return False

    async def unwritable(self) -> str | None:
        """Why nothing can be written now, in words; None: it can. Where the last write failed, or the file system has
        no room or is read-only, one is tried; otherwise nothing is: a service at rest writes nothing."""
        if self._writer.failing is None and not _is_full(self._path):
            return None
        try:
            async with asyncio.timeout(_TRIED_SECONDS):
                await asyncio.shield(self.transact(record.take_room))
                await asyncio.shield(self.transact(record.give_room_back))
        except TimeoutError:
            return "the disk does not answer"
        except Unavailable as error:
            return self._writer.failing or str(error)
        return None

    def pool(self) -> None:
        return None

    def statistics(self) -> Statistics:
        size = sum(_size(f"{self._path}{ending}") for ending in ("", "-wal"))
        long = self.long
        return Statistics(
            self._writer.queue.waiting, self._writer.batches, self._writer.works, size, long.running, long.begun
        )


def _is_full(path: Path) -> bool:
    """Whether the file system of a database looks as if nothing could be added to it."""
    try:
        now = os.statvfs(path)
    except OSError:
        return True
    return bool(now.f_flag & os.ST_RDONLY) or now.f_bavail * now.f_frsize < record.ROOM


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size
    except OSError:
        return 0


def open_sqlite(url: str, schema: Schema, begin: Begin | None = None, judge: Judge | None = None) -> Opening:
    """Open the database for a schema: make it, take it as it is, add what can be added, or refuse.

    `url` is `sqlite:///PATH` or a bare path. What was made by another program is not changed. `judge` looks at the rows
    once they are stored as the schema says; None: nobody does.
    """
    try:
        path = database_path(url)
    except NotBuilt as error:
        return Refused(str(error))
    try:
        if why := unusable(path):
            return Refused(f"the database {path} cannot be used: {why}")
        return _open_locked(Path(os.path.realpath(path)), path, schema, begin, judge)
    except NotBegun as error:
        return Refused(str(error))
    except Held as error:
        return Refused(
            f"the database {path} is already {error}",
            help=("stop that one, or name another file with --database",),
            held=True,
        )
    except apsw.Error as error:
        return Refused(f"the database {path} cannot be used: {words(error)}")
    except OSError as error:
        return Refused(f"the database {path} cannot be used: {(error.strerror or str(error)).lower()}")


def unusable(path: Path, mode: Literal["r+b", "rb"] = "r+b") -> str | None:
    """Why a file is no database, told from its name and first bytes, before anything is made beside it."""
    if path.is_dir():
        return "it is a directory"
    if not path.exists():
        return None if Path(os.path.realpath(path)).parent.is_dir() else f"there is no directory {path.parent}"
    if not path.is_file():
        return "it is not a file"
    # Opened for writing: SQLite would fall back to reading, and leave files beside it that are not its owner's.
    with path.open(mode) as file:
        start = file.read(len(_MAGIC))
    return None if start in (b"", _MAGIC) else "it is not a SQLite database"


def _open_locked(path: Path, name: Path, schema: Schema, begin: Begin | None, judge: Judge | None) -> Opening:
    """`name` is what the operator calls `path`. On the way out, what is not handed over is closed."""
    with ExitStack() as undo:
        held = lock(path)
        undo.callback(held.release)
        # The first connection reads before it writes: another program's file keeps its journal mode.
        connection = apsw.Connection(str(path), statementcachesize=STATEMENTS)
        undo.callback(connection.close)
        connection.set_busy_timeout(WAIT)
        bound(connection, LONGEST_SUM)
        found = record.read(connection)
        if isinstance(found, record.Foreign):
            return Refused(
                f"the database {name} cannot be used: {found.words}", help=("name another file with --database",)
            )
        if mode := configure(connection):
            return Refused(f"the database {name} cannot be used: its file system admits no write-ahead log ({mode})")
        prepared = _prepare(connection, found, name, schema, judge)
        if isinstance(prepared, Refused):
            return prepared
        key, additions, hidden = prepared
        began: tuple[str, ...] = ()
        if begin is not None:
            with Atomic(connection):
                began = begin(Transaction(connection))
        database = SQLite(path, key, held, connection)
        undo.pop_all()
        return Opened(database, str(name), isinstance(found, record.Empty), additions, began, hidden)


def _prepare(
    connection: apsw.Connection,
    found: record.Empty | record.Record,
    name: Path,
    schema: Schema,
    judge: Judge | None,
) -> tuple[bytes, tuple[str, ...], tuple[str, ...]] | Refused:
    """Make the tables, or those that are missing, in one transaction, and judge the rows: the key, what was added, in
    words, and what is hidden since an earlier start."""
    if isinstance(found, record.Empty):
        with Atomic(connection):
            made = record.create(connection, encode_shape(schema))
            for statement in tables.create_schema(schema):
                connection.execute(statement)
            if judge is not None:
                judge(Transaction(connection), ())
        return made.key, (), ()
    # Whoever begins anew has no need of what compares two schemas, and makes one of the other.
    from ninefold.runtime.store.adapted import adapted

    return adapted(connection, found, name, schema, judge)
