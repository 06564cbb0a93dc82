"""Connections to a database file, and how those of ours behave."""

from __future__ import annotations

from pathlib import Path

import apsw

from ninefold.runtime.store.checkpoints import KEPT

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
    `trusted_schema` off: a file that somebody else has edited runs no functions of ours.
    """
    mode = str(connection.pragma("journal_mode", "wal"))
    connection.pragma("synchronous", "full")
    connection.pragma("fullfsync", True)
    connection.pragma("foreign_keys", True)
    connection.pragma("temp_store", "memory")
    connection.pragma("trusted_schema", False)
    connection.pragma("cache_size", -32 * 1024)
    connection.pragma("journal_size_limit", KEPT)
    connection.wal_autocheckpoint(0)
    return None if mode == "wal" else mode
