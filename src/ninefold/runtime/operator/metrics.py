"""What a service counts. How it is told, and under which names, stands in `ninefold.runtime.operator.exposition`.

A label's values are bounded by the plan: an endpoint as written or `no such path`, and the methods that HTTP names. A
path, a caller or anything else that a client makes up is no label.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from itertools import repeat
from operator import attrgetter
from typing import Literal, TypeAlias, get_args

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.operator.audit import Counted
from ninefold.runtime.store.protocol import Store

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"))
"""RFC 9110 9.1 and RFC 5789; any other is counted as `other`."""

_KIND, _SECONDS = attrgetter("route", "method", "status"), attrgetter("seconds")

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


Renewal: TypeAlias = Literal["taken", "put off", "refused"]
"""What comes of a contract that is read anew: requests that take long put it off, and it is tried again."""


class Metrics:
    """The counters of one service. `observe` is called once a request. `anew`: how often the contract was read anew, by
    what came of it; `not_taken`: what was read last is not served. `readers`: how many processes take requests beside
    this one, where any are to. `gather`: counts what has yet to be counted; to be called before they are told."""

    def __init__(self, database: Store, misfits: Counted = Counted()) -> None:  # noqa: B008 - frozen
        self.requests = Requests()
        self.observe = self.requests.observe
        self.add = self.requests.add
        self.elsewhere = Elsewhere()
        self.anew: dict[Renewal, int] = dict.fromkeys(get_args(Renewal), 0)
        self.not_taken = False
        self.readers: int | None = None
        self.gather: Callable[[], None] = lambda: None
        self.follow(database, misfits)

    def renewed(self, outcome: Renewal) -> None:
        """The contract was read anew."""
        self.anew[outcome] += 1
        self.not_taken = outcome != "taken"

    def follow(self, database: Store, misfits: Counted) -> None:
        """Another contract is served: what was counted goes on, and this is what there is now."""
        self.database, self.misfits = database, misfits


class Tally(msgspec.Struct, array_like=True):
    """What was counted of requests, by route, method and status, as `Durations` has it."""

    answered: list[tuple[str | None, str, int | None, list[int], float]] = []


class Requests:
    """Counts requests, on the event loop's thread alone: no lock is needed."""

    def __init__(self) -> None:
        self.answered: dict[tuple[str | None, str, int | None], Durations] = {}

    def observe(self, record: Record) -> None:
        self.count((record,))

    def count(self, records: Sequence[Record]) -> None:
        """The same of many, which costs each of them next to nothing."""
        kinds = [*map(_KIND, records)]
        seconds = [*map(_SECONDS, records)]
        of = {kind: self._of(*kind) for kind in set(kinds)}
        places = map(bisect_left, repeat(SECONDS), seconds)
        for (kind, place), number in Counter(zip(kinds, places, strict=True)).items():
            of[kind].counts[place] += number
        for kind, each in zip(kinds, seconds, strict=True):
            of[kind].sum += each

    def _of(self, route: str | None, method: str, status: int | None) -> Durations:
        """Where it counts. A method may be made up by anybody."""
        method = method if method in METHODS else "other"
        return self.answered.setdefault((route, method, status), Durations())

    def taken(self) -> Tally:
        """What was counted since the last time, which is counted here no more."""
        tally = Tally([(*answered, each.counts, each.sum) for answered, each in self.answered.items()])
        self.answered = {}
        return tally

    def add(self, tally: Tally) -> None:
        """Count what was counted elsewhere."""
        for route, method, status, counts, total in tally.answered:
            self.answered.setdefault((route, method, status), Durations()).add(counts, total)

    def by_route(self) -> dict[str | None, Durations]:
        """How long all took, by route."""
        found: dict[str | None, Durations] = {}
        for (route, _method, _status), each in self.answered.items():
            found.setdefault(route, Durations()).add(each.counts, each.sum)
        return found


class Durations:
    """`counts`: of those up to each bound of `SECONDS` and beyond the one before; the last is of those beyond all."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.sum = 0.0

    def add(self, counts: list[int], total: float) -> None:
        self.counts = [one + other for one, other in zip(self.counts, counts, strict=True)]
        self.sum += total


@dataclass
class Elsewhere:
    """Long reads of other processes: how many go on in each, and how many there were in all."""

    reading: dict[Hashable, int] = field(default_factory=dict)
    long_reads: int = 0
