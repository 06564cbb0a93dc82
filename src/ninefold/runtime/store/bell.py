"""What wakes those who wait for the event log to grow.

It is rung after every commit of the service, and looks by itself now and then, for what others have written to the
database. However many wait and however much is committed, the log is looked at once in a while, and by one.
"""

from __future__ import annotations

import asyncio
from asyncio import Future, TimerHandle
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from ninefold.runtime.store.protocol import Database, Row, Unavailable
from ninefold.sql.events import LAST

SOON = 0.01
"""Seconds from a commit to the look at the log: commits that follow each other are looked at together."""

BY_ITSELF = 0.5
"""Seconds between two looks where nothing rings."""


class Bell:
    """Belongs to one event loop. To be used on its thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last: object = None
        self._waiting: set[Future[None]] = set()
        self._timer: TimerHandle | None = None
        self._rung = False
        self.rings = 0
        """How often it was rung."""
        self.closed = False

    def ring(self) -> None:
        """Something was committed, which may be an event."""
        self.rings += 1
        if self._waiting and not self._rung:
            self._rung = True
            self._look_in(SOON)

    def heard(self) -> Future[None]:
        """Done when the log has grown, or when there is nothing more to wait for."""
        loop = asyncio.get_running_loop()
        future: Future[None] = loop.create_future()
        if self.closed:
            future.set_result(None)
            return future
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        # Whoever waits has read the log after the last look at it, or is woken by the next one for nothing.
        if self._timer is None:
            self._look_in(BY_ITSELF)
        return future

    def close(self) -> None:
        """Wake everyone: the service is stopping."""
        self.closed = True
        self._wake()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        self._timer, self._rung = None, False
        if not self._waiting:
            return
        try:
            rows = self._database.select(LAST, ())
        except Unavailable:
            self._seen(self._last)
            return
        if isinstance(rows, Future):
            rows.add_done_callback(self._came)
        else:
            self._seen(rows)

    def _came(self, rows: Future[list[Row]]) -> None:
        """The position, where it is not read at once."""
        failed = rows.cancelled() or rows.exception() is not None
        if not self.closed:
            self._seen(self._last if failed else rows.result())

    def _seen(self, position: object) -> None:
        if position != self._last:
            self._last = position
            self._wake()
        elif self._timer is None:
            self._look_in(BY_ITSELF)

    def _wake(self) -> None:
        for future in tuple(self._waiting):
            if not future.done():
                future.set_result(None)
        self._waiting.clear()


Job: TypeAlias = Callable[[Bell], Coroutine[Any, Any, None]]
"""Something that a service does by itself, until it is cancelled."""
