"""How requests are counted: three algorithms, each a few functions over the state of one key.

A state is None until the first request is counted. Times are nanoseconds of one clock that never goes back. A request
that is refused is not counted, so whoever keeps trying is not kept out for longer.

What each promises of the requests that it takes, `per` being the length of time stated:

| algorithm        | at most                                                                          |
|------------------|----------------------------------------------------------------------------------|
| `fixed window`   | `allow` in a window; a window begins with the first request that finds none open |
| `sliding window` | `allow` in any stretch of length `per`                                           |
| `token bucket`   | `burst + allow * t / per` in any stretch of length `t`                           |

All arithmetic is on integers, so that no request is lost or won by rounding.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from ninefold.diagnostics.frozen import dataclass

FINEST = 1024
"""Times that a sliding window keeps of one key. A rate that allows more counts those in a stretch of
`per / FINEST` as one time, the latest of them: it takes back late, never early."""


class Standing(Struct, frozen=True, gc=False):
    """How a key stands. `remaining`: requests that would be taken now. `wait`: nanoseconds until one would be, 0 where
    some remain. `reset`: nanoseconds until all is as if nothing had been counted."""

    remaining: int
    wait: int
    reset: int


class Algorithm(Protocol):
    @property
    def grows(self) -> bool:
        """Whether the state of one key may hold more numbers than that of another."""

    def standing(self, state: Any, now: int) -> Standing:
        """How a key with this state stands, which stays as it is."""

    def taken(self, state: Any, now: int) -> tuple[Any, Standing] | None:
        """The state after one more request, and how it stands then. The old state is not used again. None: none
        remained, and all is as it was."""

    def size(self, state: Any) -> int:
        """How many numbers the state holds."""

    def numbers_of(self, state: Any) -> Sequence[int]:
        """The state as numbers."""

    def state_of(self, numbers: Sequence[int]) -> Any:
        """The state again."""


class Pair:
    """An algorithm whose state is two numbers."""

    __slots__ = ()
    grows = False

    def size(self, state: Any) -> int:
        return 2

    def numbers_of(self, state: tuple[int, int]) -> Sequence[int]:
        return state

    def state_of(self, numbers: Sequence[int]) -> tuple[int, int]:
        first, second = numbers
        return first, second


@dataclass(frozen=True, slots=True)
class FixedWindow(Pair):
    """The state: when the window began, and how many were counted in it."""

    allow: int
    per: int

    def standing(self, state: tuple[int, int] | None, now: int) -> Standing:
        if state is None or now - state[0] >= self.per:
            return Standing(self.allow, 0, 0)
        began, count = state
        left = began + self.per - now
        return Standing(self.allow - count, 0 if count < self.allow else left, left)

    def taken(self, state: tuple[int, int] | None, now: int) -> tuple[tuple[int, int], Standing] | None:
        began, count = (now, 0) if state is None or now - state[0] >= self.per else state
        if count >= self.allow:
            return None
        state = began, count + 1
        return state, self.standing(state, now)


class Log:
    """The times of the requests in a window, oldest first: `counts[i]` requests, the last of them at `ends[i]`; the
    first of the newest entry was at `opened`."""

    __slots__ = ("counts", "ends", "opened", "total")

    def __init__(self) -> None:
        self.ends = array("q")
        self.counts = array("L")
        self.opened = 0
        self.total = 0


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """The state: a `Log`."""

    grows = True

    allow: int
    per: int

    def standing(self, state: Log | None, now: int) -> Standing:
        if state is None or not state.ends or now - state.ends[-1] >= self.per:
            return Standing(self.allow, 0, 0)
        past = self._past(state, now)
        remaining = self.allow - state.total + (sum(state.counts[:past]) if past else 0)
        wait = 0 if remaining > 0 else state.ends[past] + self.per - now
        return Standing(remaining, wait, state.ends[-1] + self.per - now)

    def taken(self, state: Log | None, now: int) -> tuple[Log, Standing] | None:
        if self.standing(state, now).remaining < 1:
            return None
        log = Log() if state is None else state
        past = self._past(log, now)
        if past:
            log.total -= sum(log.counts[:past])
            del log.ends[:past], log.counts[:past]
        together = 0 if self.allow <= FINEST else self.per // FINEST
        if log.ends and now - log.opened < together:
            log.ends[-1] = now
            log.counts[-1] += 1
        else:
            log.opened = now
            log.ends.append(now)
            log.counts.append(1)
        log.total += 1
        return log, self.standing(log, now)

    def size(self, state: Log) -> int:
        return 2 * len(state.ends) + 2

    def numbers_of(self, state: Log) -> Sequence[int]:
        return (state.opened, *state.ends, *state.counts)

    def state_of(self, numbers: Sequence[int]) -> Log:
        log, half = Log(), len(numbers) // 2
        log.opened = numbers[0]
        log.ends.extend(numbers[1 : half + 1])
        log.counts.extend(numbers[half + 1 :])
        log.total = sum(log.counts)
        return log

    def _past(self, log: Log, now: int) -> int:
        """How many of its entries are in the window no more."""
        return bisect_right(log.ends, now - self.per)


@dataclass(frozen=True, slots=True)
class TokenBucket(Pair):
    """The state: what was in the bucket, and when. A token is `per` parts; each nanosecond brings `allow` parts, so
    that `allow` tokens come in `per` nanoseconds. It begins full, with `burst` tokens."""

    allow: int
    per: int
    burst: int

    def _level(self, state: tuple[int, int] | None, now: int) -> int:
        full = self.burst * self.per
        return full if state is None else min(full, state[0] + (now - state[1]) * self.allow)

    def standing(self, state: tuple[int, int] | None, now: int) -> Standing:
        level, per, allow = self._level(state, now), self.per, self.allow
        wait = 0 if level >= per else -((level - per) // allow)
        return Standing(level // per, wait, -((level - self.burst * per) // allow))

    def taken(self, state: tuple[int, int] | None, now: int) -> tuple[tuple[int, int], Standing] | None:
        per, allow = self.per, self.allow
        full = self.burst * per
        # As it stands before and after; most requests are counted so, and a call more would cost as much as all of it.
        level = full if state is None else state[0] + (now - state[1]) * allow
        level = (full if level > full else level) - per
        if level < 0:
            return None
        wait = 0 if level >= per else -((level - per) // allow)
        return (level, now), Standing(level // per, wait, -((level - full) // allow))
