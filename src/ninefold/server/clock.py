"""A clock that the operator has set: for tests and sandboxes, where days have to pass in a moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

ROOM = timedelta(days=366 * 100)
"""How far from the first and the last year a clock stays."""


def _real() -> datetime:
    return datetime.now(UTC)


class Clock:
    """Shows the time that it was set to, and runs on from there as real time passes. `real` gives the real time, with
    its zone; `set_again` are called whenever the clock was set."""

    def __init__(self, time: datetime, real: Callable[[], datetime] = _real) -> None:
        """Raises OverflowError, as `set` does."""
        self.set_again: list[Callable[[], None]] = []
        self._real = real
        self.set(time)

    def __call__(self) -> datetime:
        return self._real() + self._ahead

    def set(self, time: datetime) -> None:
        """Show this time, which has a zone, from now on. Raises OverflowError near the ends of all years: what a
        service reckons ahead of its time has to be a time as well."""
        time + ROOM, time - ROOM
        self._ahead = time - self._real()
        for each in self.set_again:
            each()
