"""Connections to a database file: how those of ours behave, what SQLite's errors mean to a request, and which tables a
statement reads and the writer has changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from mmap import PROT_READ, mmap
from pathlib import Path

import apsw

from ninefold.runtime.store.checkpoints import KEPT
from ninefold.runtime.store.protocol import Conflicting, NoValue, Stored, TooLong, Unavailable

STATEMENTS = 1_000
"""Prepared statements that are kept; a plan has a fixed list of texts."""

WAIT = 2_000
"""Milliseconds that the writer waits for another program's lock."""


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=STATEMENTS)
    connection.set_busy_timeout(WAIT)
    configure(connection)
    return connection


def bound(connection: apsw.Connection, size: int) -> None:
    """What would be longer raises `TooLong`: it takes the writer some hundredths of a second for each MiB."""
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, size)


def connect_to_read(path: Path, longest: int) -> apsw.Connection:
    connection = connect(path)
    bound(connection, longest)
    connection.pragma("query_only", True)
    # What reads much at a time gains little from what it has read before.
    connection.pragma("cache_size", -4 * 1024)
    return connection


def configure(connection: apsw.Connection) -> str | None:
    """How a connection of ours behaves. Gives the journal mode if it is not the one that is needed.

    `synchronous` FULL: a commit returns when its pages are on the disk; macOS flushes only when asked (`fullfsync`).
    `trusted_schema` off: a file that somebody else has edited runs no functions of ours. QPSG: how a statement is run
    does not depend on what is bound; else one with a `LIMIT ?` is prepared anew each time.
    """
    mode = str(connection.pragma("journal_mode", "wal"))
    connection.pragma("synchronous", "full")
    connection.pragma("fullfsync", True)
    connection.pragma("foreign_keys", True)
    connection.pragma("temp_store", "memory")
    connection.pragma("trusted_schema", False)
    connection.pragma("cache_size", -32 * 1024)
    connection.pragma("journal_size_limit", KEPT)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.wal_autocheckpoint(0)
    return None if mode == "wal" else mode


CONSTRAINTS = frozenset(
    (
        apsw.SQLITE_CONSTRAINT_UNIQUE,
        apsw.SQLITE_CONSTRAINT_PRIMARYKEY,
        apsw.SQLITE_CONSTRAINT_ROWID,
        apsw.SQLITE_CONSTRAINT_FOREIGNKEY,
        # ON DELETE RESTRICT is kept by a trigger of SQLite's own, and ours are the only tables here.
        apsw.SQLITE_CONSTRAINT_TRIGGER,
    )
)
"""The constraints that other rows can make a statement break: another has the value, another refers to it."""

PASSING = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.BusyError, apsw.LockedError)
"""Errors of the machine and not of the work: the same work may succeed later."""


def meaning(error: apsw.Error) -> Exception:
    """Conflicting, NoValue, TooLong, Unavailable, or the error itself, which is then our fault."""
    if isinstance(error, apsw.ConstraintError):
        match getattr(error, "extendedresult", None):
            case apsw.SQLITE_CONSTRAINT_NOTNULL:
                return NoValue("a field that has to have a value would have none")
            case constraint if constraint in CONSTRAINTS:
                return Conflicting()
    if isinstance(error, apsw.TooBigError):
        return TooLong()
    if isinstance(error, PASSING):
        return Unavailable(words(error))
    return error


def words(error: apsw.Error) -> str:
    """What happened to the file, for the operator. Texts of SQLite that may hold names or values stay inside."""
    match error:
        case apsw.FullError():
            return "the disk is full"
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return "it may not be written"
        case apsw.CantOpenError():
            return "it cannot be opened"
        case apsw.BusyError() | apsw.LockedError():
            return "another program has it locked"
        case apsw.NotADBError():
            return "it is not a SQLite database"
        case apsw.CorruptError() | apsw.FormatError():
            return "it is damaged"
        case apsw.IOError():
            return "it cannot be read or written (input/output error)"
        case _:
            return f"SQLite reports {type(error).__name__}"


class LogIndex:
    """How many transactions were ever committed to a database, by whatever program: what its write-ahead log's index,
    which all of them share, begins with (https://sqlite.org/walformat.html#the_wal_index_header, `iChange`)."""

    def __init__(self, path: Path) -> None:
        """Of a database that is open, in write-ahead mode. Raises OSError."""
        self._file = os.open(f"{path}-shm", os.O_RDONLY)
        try:
            self._index = mmap(self._file, _INDEX_BYTES, prot=PROT_READ)
        except BaseException:
            os.close(self._file)
            raise
        self._numbers = memoryview(self._index).cast("I")
        self.commits: Callable[[], int] = partial(self._numbers.__getitem__, _CHANGE)
        """How many there are. Asked several times a request, so it is no method of ours."""

    def close(self) -> None:
        """To be called when no connection of ours is open any more: closing a file ends the locks that this process has
        on it."""
        self._numbers.release()
        self._index.close()
        os.close(self._file)


_INDEX_BYTES = 48
_CHANGE = 2
"""The third number of four bytes, in the order of bytes of the machine."""


class Changes:
    """Counts by table. Whoever reads a table, and finds the same number before a later read as before this one, would
    read the same again: a table counts as being changed from its first change on until that is committed, or undone,
    and counted. SQLite tells of each row (https://sqlite.org/c3ref/update_hook.html), in the writer's thread. What
    other programs commit counts for all tables: by the `index` there are more commits than ours."""

    def __init__(self, connection: apsw.Connection, index: LogIndex) -> None:
        self._counts: Counter[str] = Counter()
        self._changing: set[str] = set()
        self._index = index
        self._expected = index.commits()
        self._others = 0
        connection.set_update_hook(self._changes)

    def _changes(self, kind: int, database: str, table: str, row: int) -> None:
        self._changing.add(table)

    def begun(self) -> None:
        """Nobody else commits from here on, in the writer's thread: a transaction has begun, or none is asked for."""
        found = self._index.commits()
        if found != self._expected:
            self._others += 1
            self._expected = found

    def committed(self) -> None:
        """One commit more is ours."""
        self._expected = (self._expected + 1) % 2**32

    def settled(self) -> None:
        """What was changed is committed, or undone."""
        for table in self._changing:
            self._counts[table] += 1
        self._changing.clear()

    def state(self, tables: Collection[str]) -> int | None:
        """A number that is another one once one of these tables has changed. None: one of them is being changed, or
        another program has changed something, and the writer has not seen that yet."""
        if (self._changing and not self._changing.isdisjoint(tables)) or self._index.commits() != self._expected:
            return None
        number, counts = self._others, self._counts
        for each in tables:
            number += counts.get(each, 0)
        return number


def tables_read(connection: apsw.Connection, text: str, binds: Sequence[Stored]) -> frozenset[str]:
    """The tables that a statement reads, as SQLite itself tells (https://sqlite.org/c3ref/set_authorizer.html). It is
    not run. Raises Unavailable."""
    found: set[str] = set()

    def reads(action: int, table: str | None, *_: object) -> int:
        if action == apsw.SQLITE_READ and table is not None:
            found.add(table)
        return apsw.SQLITE_OK

    connection.authorizer = reads
    try:
        connection.execute("EXPLAIN " + text, binds).fetchall()
    except apsw.Error as error:
        raise meaning(error) from error
    finally:
        connection.authorizer = None
    return frozenset(found)


@contextmanager
def foreign_keys_off(connection: apsw.Connection, off: bool) -> Iterator[None]:
    """Inside a transaction SQLite does not heed this."""
    connection.pragma("foreign_keys", not off)
    try:
        yield
    finally:
        connection.pragma("foreign_keys", True)


class Atomic:
    """A transaction that is kept unless the block raises or sets `keep` to False."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.keep = True
        self._connection = connection

    def __enter__(self) -> Atomic:
        self._connection.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self.keep:
            self._connection.execute("COMMIT")
        elif self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
