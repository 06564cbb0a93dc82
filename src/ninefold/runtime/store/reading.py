"""Reading a database file: on the event loop where that is brief, in threads where it is long; and the database that a
process has which only reads it, while another one writes."""

from __future__ import annotations

import asyncio
import os
from asyncio import Future
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

import apsw

from ninefold.runtime.store.connections import LogIndex, bound, connect, connect_to_read, tables_read
from ninefold.runtime.store.file import database_path
from ninefold.runtime.store.protocol import Answered, BoundStatement, Row, Session, Stored, Unavailable
from ninefold.runtime.store.reads import Brief, BrokenOff, Long
from ninefold.values import LONGEST_SUM

T = TypeVar("T")

READ_LONGER = 4
"""How many times longer what is shown may be than what is written."""


class Reading:
    """The connections of one process that read. `long`: its long reads."""

    def __init__(self, path: Path) -> None:
        """Raises apsw.Error."""
        self._longest = LONGEST_SUM
        self._reader = connect(path)
        bound(self._reader, READ_LONGER * self._longest)
        self._reader.pragma("query_only", True)
        # The event loop does not wait for others; in write-ahead mode a reader hardly ever has to.
        self._reader.set_busy_timeout(100)
        self._index = LogIndex(path)
        self.commits = self._index.commits
        self._brief = Brief(self._reader, self._index.commits)
        self.long = Long(lambda: connect_to_read(path, READ_LONGER * self._longest))

    def admit(self, size: int) -> None:
        """What is read may be made of a value or a row of so many bytes, if that is more than usual."""
        self._longest = max(LONGEST_SUM, size)
        bound(self._reader, READ_LONGER * self._longest)

    def select(self, text: str, binds: Sequence[Stored]) -> list[Row] | Future[list[Row]]:
        """Rows in a snapshot of what is committed: at once, or a future where that takes long (`store.reads`). Where no
        event loop runs, nobody is kept waiting by it. Raises Unavailable."""
        try:
            return self._brief.run(text, binds)
        except BrokenOff:
            if _is_on_a_loop():
                return self.long.read(text, binds)
            return self.read(text, binds)

    def read(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        """The same where nobody waits, before anything is served. Raises Unavailable."""
        return self._brief.run(text, binds, to_its_end=True)

    def select_as_one(self, reads: Sequence[BoundStatement]) -> None:
        return None

    def tables(self, text: str, binds: Sequence[Stored]) -> frozenset[str]:
        return tables_read(self._reader, text, binds)


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Beside(Reading):
    """A database file that another process serves and writes (`ninefold.runtime.store.protocol.Database`). What is
    committed can be read here at once; nothing is written, and no lock is taken."""

    nodes = None
    replica = None

    def __init__(self, path: str) -> None:
        """`path`: a path or URL of a database that is open elsewhere. Raises apsw.Error or OSError."""
        file = Path(os.path.realpath(database_path(path)))
        super().__init__(file)
        # Whoever writes brings the log into the file.
        self._reader.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def state(self, tables: Collection[str]) -> int | None:
        """Which tables the other process has changed is not known here, and how often it has committed is."""
        return self._index.commits()

    def transact(self, work: Callable[[Session], T]) -> Future[T]:
        raise Unavailable(_ELSEWHERE)

    def write(
        self,
        work: Callable[[Session], Any],
        done: Answered,
        again: bool = False,
        due: str | None = None,
        places: tuple[int, ...] = (),
    ) -> None:
        """Raises Unavailable."""
        raise Unavailable(_ELSEWHERE)

    def close(self) -> None:
        self.long.stop()
        self._brief.close()
        self._reader.close()
        self._index.close()


_ELSEWHERE = "another process writes"
