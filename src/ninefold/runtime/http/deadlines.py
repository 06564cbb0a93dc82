"""Ends of patience that are put off, or come to nothing, many thousand times for each time that one is met: a timer of
the event loop for each would cost more than most of what it is for. What is kept is when it would be over; one timer
looks then, and again when it is to be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

W = TypeVar("W")


class Deadline:
    """One that is put off again and again. `at`: a time of the event loop; None: there is none now."""

    __slots__ = ("_looks_at", "_loop", "_over", "_timer", "at")

    def __init__(self, loop: asyncio.AbstractEventLoop, over: Callable[[], None]) -> None:
        self.at: float | None = None
        self._loop = loop
        self._over = over
        self._looks_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def put(self, seconds: float) -> None:
        """It is over in so many seconds from now, instead of when it would have been."""
        self.at = at = self._loop.time() + seconds
        if self._timer is None or at < self._looks_at:
            self._look_at(at)

    def close(self) -> None:
        """It is never over."""
        self.at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_at(self, time: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._looks_at = time
        self._timer = self._loop.call_at(time, self._look)

    def _look(self) -> None:
        self._timer = None
        if self.at is None:
            return
        if self._loop.time() < self.at:
            self._look_at(self.at)
        else:
            self.at = None
            self._over()


class Deadlines(Generic[W]):
    """Those of all who wait for something. `over` is told of each who has waited too long."""

    def __init__(self, over: Callable[[W], None]) -> None:
        self._over = over
        self._at: dict[W, float] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._looks_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def put(self, who: W, at: float, loop: asyncio.AbstractEventLoop) -> None:
        """`at`: a time of the event loop. To be called on it."""
        self._at[who] = at
        if self._timer is None or at < self._looks_at or self._loop is not loop:
            self._look_at(at, loop)

    def lift(self, who: W) -> None:
        """It waits no more."""
        self._at.pop(who, None)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_at(self, time: float, loop: asyncio.AbstractEventLoop) -> None:
        self.close()
        self._loop, self._looks_at = loop, time
        self._timer = loop.call_at(time, self._look)

    def _look(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        late = [who for who, at in self._at.items() if at <= now]
        for who in late:
            del self._at[who]
        if self._at:
            self._look_at(min(self._at.values()), loop)
        for who in late:
            self._over(who)
