"""Where the time and everything random come from: one place, so that tests can say both."""

from __future__ import annotations

import os
import threading
import time
from binascii import b2a_base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions import functions


def _clock() -> datetime:
    return datetime.now(UTC)


KEPT_BYTES = 4_096
"""Random bytes that a thread asks the machine for at once: a call for each takes longer than what they are for."""


class _Kept(threading.local):
    """What reads those that are left of them. No two threads have the same."""

    def __init__(self) -> None:
        self.read = BytesIO().read


_kept = _Kept()


def _forget() -> None:
    """Who was forked takes others than whom it was forked from."""
    global _kept
    _kept = _Kept()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def random_bytes(size: int) -> bytes:
    """So many random bytes of the machine's, for secrets. Each byte is given once."""
    found = _kept.read(size)
    if len(found) == size:
        return found
    if size > KEPT_BYTES:
        return os.urandom(size)
    _kept.read = BytesIO(os.urandom(KEPT_BYTES)).read
    return _kept.read(size)


_URL_SAFE = bytes.maketrans(b"+/", b"-_")
"""RFC 4648, 5."""


@dataclass(frozen=True, slots=True)
class Sources:
    """`clock` gives the time with its zone, `random_bytes` as many bytes as asked for. `elapsed` gives nanoseconds that
    only ever grow, from any beginning: how long ago something was is measured by it, since a clock can be set."""

    clock: Callable[[], datetime] = _clock
    random_bytes: Callable[[int], bytes] = random_bytes
    elapsed: Callable[[], int] = time.monotonic_ns

    def now(self) -> str:
        """The time as a timestamp value (see `ninefold.values`)."""
        if self.clock is _clock:
            return _now()
        if isinstance(self.clock, Followed):
            return _told(self.clock.nanoseconds())
        return self.clock().astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"

    @property
    def telling(self) -> Callable[[], str]:
        """What says `now`, for whoever asks again and again."""
        return _now if self.clock is _clock else self.now

    def microseconds(self) -> int:
        """The time, since 1970."""
        if self.clock is _clock:
            return time.time_ns() // 1000
        return (self.clock() - EPOCH) // MICROSECOND

    def following(self, clock: Callable[[], datetime] | None) -> Sources:
        """The same by a clock that others have as well, unless there is none, or a time was set."""
        return self if clock is None or self.clock is not _clock else replace(self, clock=clock)

    def of_expressions(self) -> functions.Sources:
        """What `uuid()`, `token()` and `random(n)` take their bytes from."""
        return functions.Sources(self.random_bytes)

    def revision(self) -> str:
        """What tells one state of a row from another: 96 random bits, URL-safe."""
        return b2a_base64(self.random_bytes(12), newline=False).translate(_URL_SAFE).decode("ascii")


_second: tuple[int, str] = (0, "")
"""The last second that was asked for, and its text up to the fraction: of one second there are many requests."""


def _told(nanoseconds: int) -> str:
    global _second
    second, microseconds = divmod(nanoseconds // 1000, 1_000_000)
    known, text = _second
    if known != second:
        text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S.")
        _second = second, text
    return f"{text}{microseconds:06d}Z"


def _now() -> str:
    return _told(time.time_ns())


class Followed:
    """The clock of another machine, as far as it is known here: what it showed when it was last asked, and what has
    really passed since. Until it was asked it is that of this machine. May be asked on any thread."""

    def __init__(self, elapsed: Callable[[], int] = time.monotonic_ns) -> None:
        self._elapsed = elapsed
        self._began = time.time_ns() - elapsed()

    def __call__(self) -> datetime:
        return EPOCH + timedelta(microseconds=self.nanoseconds() // 1000)

    def nanoseconds(self) -> int:
        return self._began + self._elapsed()

    def showed(self, nanoseconds: int, since: int) -> None:
        """It has shown this time at some moment after `since`, as `elapsed` has it, and before now. What is known is
        changed only as far as that contradicts it."""
        self._began = min(max(self._began, nanoseconds - self._elapsed()), nanoseconds - since)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


EVER = ""
"""Before every time: a time is compared as text (`ninefold.values`)."""


def moved(time: str, microseconds: int) -> str:
    """A timestamp so much later. Before the first year there is no time, and after the last none that comes."""
    if time == EVER:
        return EVER
    try:
        found = datetime.fromisoformat(time.removesuffix("Z")) + timedelta(microseconds=microseconds)
    except OverflowError:
        return EVER if microseconds < 0 else "9999-12-31T23:59:59.999999Z"
    return found.isoformat(timespec="microseconds") + "Z"


ROOM = timedelta(days=366 * 100)
"""How far from the first and the last year a clock stays."""


def _real() -> datetime:
    return datetime.now(UTC)


class Clock:
    """Shows the time that it was set to, and runs on from there as real time passes. `real` gives the real time, with
    its zone; `set_again` are called whenever the clock was set. `ahead`: of the real time."""

    def __init__(self, time: datetime, real: Callable[[], datetime] = _real) -> None:
        """Raises OverflowError, as `set` does."""
        self.set_again: list[Callable[[], None]] = []
        self._real = real
        self.set(time)

    def __call__(self) -> datetime:
        return self._real() + self.ahead

    def set(self, time: datetime) -> None:
        """Show this time, which has a zone, from now on. Raises OverflowError near the ends of all years: what a
        service reckons ahead of its time has to be a time as well."""
        time + ROOM, time - ROOM
        self.ahead = time - self._real()
        for each in self.set_again:
            each()
