"""The timers of a service in a process that only reads: another one sweeps, and says what is due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from ninefold.runtime.operations.flow import Ask, Next, Wait
from ninefold.runtime.operations.timers import Timers


class TimersElsewhere(Timers):
    """`standing`: whether all has happened that was due by a time, as far as rows can be read now; `settling`: waits
    until it has."""

    def __init__(
        self, timers: Timers, standing: Callable[[str], bool], settling: Callable[[str], Awaitable[None]]
    ) -> None:
        super().__init__(timers.timers, timers.env, timers.sources, due=None)
        self._standing = standing
        self._settling = settling

    def is_settled(self, now: str) -> bool:
        return self._standing(now)

    def settled(self, now: str, then: Callable[[], Next]) -> Next:
        if self._standing(now):
            return then()
        return Wait(Ask(partial(self._settling, now)), lambda _: self.settled(now, then))
