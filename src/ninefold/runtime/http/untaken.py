"""What was written to a connection and is not taken: nobody is waited for without end who takes nothing of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

LOOK_SECONDS = 0.5
"""Seconds between two looks."""


class Untaken:
    """Of one connection. `over` is called once nothing has been taken for as long as there is `patience`. To be used on
    the event loop's thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.WriteTransport,
        patience: Callable[[], float],
        over: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._patience = patience
        self._over = over
        self._said = 0
        self._taken = -1
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def wrote(self, size: int) -> None:
        """So many bytes were written."""
        self._said += size
        if self._timer is None and self._transport.get_write_buffer_size():
            self._taken, self._since = -1, self._loop.time()
            self._look_again()

    def begin_again(self) -> None:
        """What was written last may still be taken: there is all patience for it."""
        self._since = self._loop.time()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look_again(self) -> None:
        self._timer = self._loop.call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Whether something was taken since the last look, of what was written."""
        self._timer = None
        size, now = self._transport.get_write_buffer_size(), self._loop.time()
        if size == 0:
            return
        if self._said - size != self._taken:
            self._taken, self._since = self._said - size, now
        if now - self._since >= self._patience():
            self._over()
        else:
            self._look_again()
