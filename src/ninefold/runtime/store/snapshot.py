"""One snapshot for the reads of one turn of the event loop: to take the locks of one, and to give them back, costs as
much as the row of a short read.

Nobody can tell it from a snapshot for each read: before each it is asked whether anything was committed since, by
whatever program, and if so this one is over. Where somebody writes, none is begun: of the log, no more is copied into
the file than all who read have seen.
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress

import apsw

_UNKNOWN = -1


class Snapshot:
    """Of a connection that one thread alone uses. `held_at`: there is one, which is of so many commits; None: there is
    none."""

    def __init__(self, connection: apsw.Connection, commits: Callable[[], int]) -> None:
        """`commits`: how many there were, ever."""
        self.held_at: int | None = None
        self._connection = connection
        self._commits = commits
        self._loop: AbstractEventLoop | None = None
        self._before = self._at = _UNKNOWN

    def hold(self) -> None:
        """To be called before each read, unless there is a snapshot of as many commits as there are. From the second
        read of a turn on there is one, unless something was committed in this turn, or since the last one."""
        if self._loop is None or not self._loop.is_running():
            self._begin()
            return
        commits = self._commits()
        if commits != self._at:
            self._release()
            self._at = _UNKNOWN
        elif self.held_at is None and commits == self._before:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN")
            self.held_at = commits

    def _begin(self) -> None:
        """The first read of a turn, or one beside all loops."""
        self.end()
        # It asks the machine which process this is, so it is asked once a turn.
        with suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()
            self._before, self._at = self._at, self._commits()
            self._loop.call_soon(self.end)

    def end(self) -> None:
        """The turn is over."""
        self._loop = None
        self._release()

    def _release(self) -> None:
        if self.held_at is not None:
            self.held_at = None
            if self._connection.in_transaction:  # which an error may have ended
                self._connection.execute("COMMIT")
