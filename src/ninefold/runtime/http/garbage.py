"""When garbage is looked for: not as long as a large document is there.

A document has no cycles. But whoever looks for some goes through all that came since the last time, in one piece of
work in which no thread has a turn: half a megabyte of brackets are half a million arrays, and half a second.
"""

from __future__ import annotations

import asyncio
import gc
from asyncio import TimerHandle
from typing import Final

MANY: Final = 100_000
"""Objects that have come since garbage was last looked for, and not gone: those of a document. So many are gone through
in some 10 ms."""

LONGEST_SECONDS: Final = 10.0
"""After which it is looked for all the same: what came may be there to stay."""

PAUSE_SECONDS: Final = 0.05


class Garbage:
    """Of one event loop, on which all of this is called."""

    def __init__(self) -> None:
        self._since: float | None = None
        """The time of the loop since when it is not looked for; None: it is, or others have said that it is not."""
        self._working = 0
        self._next: TimerHandle | None = None

    def begin(self) -> None:
        """Something begins that may make a large document."""
        self._working += 1
        if gc.isenabled():
            gc.disable()
            self._since = asyncio.get_running_loop().time()

    def end(self, _done: object = None) -> None:
        """It has ended, and what it has made may still be there."""
        self._working -= 1
        if self._next is None:
            self._look()

    def _look(self) -> None:
        self._next = None
        if self._since is None:
            return
        loop = asyncio.get_running_loop()
        if (self._working or gc.get_count()[0] > MANY) and loop.time() < self._since + LONGEST_SECONDS:
            self._next = loop.call_later(PAUSE_SECONDS, self._look)
        else:
            self.close()

    def close(self) -> None:
        """It is looked for again."""
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._since is not None:
            self._since = None
            gc.enable()
