"""What the processes that serve one file see of each other at once: a few numbers in memory that they share.

One process writes them, the others read. Each is eight bytes where they are aligned, which a machine of 64 bits writes
and reads as one.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from mmap import mmap

from ninefold.runtime.sources import EPOCH, EVER, MICROSECOND

_DUE, _AHEAD = range(2)
_BYTES = 16
_EVER, _NEVER = -(2**63), 2**63 - 1


class Page:
    """`descriptor`: of the file that is mapped, which is handed to the other processes; -1: there are none."""

    def __init__(self, descriptor: int = -1) -> None:
        self.descriptor = descriptor
        self._map = mmap(descriptor, _BYTES)
        self._numbers = memoryview(self._map).cast("q")

    def is_due(self, due: str | None) -> None:
        """Nothing is due before this time; None: nothing is in sight. Before a row can be read that may be due earlier,
        that is said."""
        self._numbers[_DUE] = _NEVER if due is None else _EVER if due == EVER else _microseconds(due)

    def is_settled(self, now: str) -> bool:
        """Whether all has happened that is due by `now`, in the rows that can be read."""
        return _microseconds(now) < self._numbers[_DUE]

    def set_ahead(self, ahead: timedelta) -> None:
        """How far the clock of the service is ahead of the machine's."""
        self._numbers[_AHEAD] = ahead // MICROSECOND

    def clock(self) -> datetime:
        """The time of the service."""
        return datetime.now(UTC) + timedelta(microseconds=self._numbers[_AHEAD])


def new(shared: bool) -> Page:
    """One of which nobody knows yet what is due. Raises OSError where it is to be shared and cannot."""
    page = Page()
    if shared:
        import tempfile  # whoever is alone shares nothing

        with tempfile.TemporaryFile(buffering=0) as file:
            file.write(bytes(_BYTES))
            page = Page(os.dup(file.fileno()))
    page.is_due(EVER)
    return page


def _microseconds(time: str) -> int:
    return (datetime.fromisoformat(time) - EPOCH) // MICROSECOND
