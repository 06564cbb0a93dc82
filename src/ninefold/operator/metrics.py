"""What a service counts, in the exposition format of Prometheus.

A label's values are bounded by the plan: an endpoint as written or `no such path`, and the methods that HTTP names. A
path, a caller or anything else that a client makes up is no label.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from dataclasses import field
from itertools import accumulate
from typing import Literal, TypeAlias, get_args

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from ninefold.diagnostics.frozen import dataclass
from ninefold.operator.audit import Counted
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.store.protocol import Standing, Store

NO_SUCH_PATH = "no such path"

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"))
"""RFC 9110 9.1 and RFC 5789; any other is counted as `other`."""

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


Renewal: TypeAlias = Literal["taken", "put off", "refused"]
"""What comes of a contract that is read anew: requests that take long put it off, and it is tried again."""


class Metrics:
    """The counters of one service. `observe` is called once a request."""

    def __init__(self, database: Store, misfits: Counted = Counted()) -> None:  # noqa: B008 - frozen
        self._registry = CollectorRegistry(auto_describe=False)
        self._requests = Requests()
        self._registry.register(self._requests)
        self._database = _DatabaseCollector(database)
        self._registry.register(self._database)
        self.observe = self._requests.observe
        self.add = self._requests.add
        self._rows = Gauge(
            "ninefold_rows_that_do_not_fit",
            "Rows that were not as the contract says when the service began, by field.",
            ("field",),
            registry=self._registry,
        )
        self._unfinished = Gauge(
            "ninefold_rows_not_all_counted",
            "Resources of which not all rows were looked at for that.",
            registry=self._registry,
        )
        self._anew = Counter(
            "ninefold_contracts_read_anew",
            "How often the contract was read anew while it was served, by what came of it.",
            ("outcome",),
            registry=self._registry,
        )
        self._not_taken = Gauge(
            "ninefold_contract_not_taken",
            "1 as long as what was last read anew is not served: it was put off, or refused.",
            registry=self._registry,
        )
        self.elsewhere = self._database.elsewhere
        self._readers: Gauge | None = None
        for outcome in get_args(Renewal):
            self._anew.labels(outcome)
        self.follow(database, misfits)

    def renewed(self, outcome: Renewal) -> None:
        """The contract was read anew."""
        self._anew.labels(outcome).inc()
        self._not_taken.set(outcome != "taken")

    def readers(self, number: int) -> None:
        """So many processes take requests beside this one."""
        if self._readers is None:
            self._readers = Gauge(
                "ninefold_readers", "Processes that take requests beside the one that writes.", registry=self._registry
            )
        self._readers.set(number)

    def follow(self, database: Store, misfits: Counted) -> None:
        """Another contract is served: what was counted goes on, and this is what there is now."""
        self._database.database = database
        self._rows.clear()
        for each in misfits.fields:
            self._rows.labels(each.name).set(each.count)
        self._unfinished.set(len(misfits.unfinished))

    def expose(self, accept: str) -> tuple[bytes, str]:
        """The text of all metrics and its media type, in the format that the Accept header asks for."""
        encode: Callable[[CollectorRegistry], bytes]
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type


class Tally(msgspec.Struct, array_like=True):
    """What was counted of requests. `answered`: by route, method and status; `durations`: by route, as `_Durations` has
    them."""

    answered: list[tuple[str | None, str, int | None, int]] = []
    durations: list[tuple[str | None, list[int], float]] = []


class Requests(Collector):
    """Counts requests, on the event loop's thread alone: no lock is needed."""

    def __init__(self) -> None:
        self._answered: dict[tuple[str | None, str, int | None], int] = {}
        self._durations: dict[str | None, _Durations] = {}

    def observe(self, record: Record) -> None:
        route, method, seconds = record.route, record.method, record.seconds
        answered = route, method if method in METHODS else "other", record.status
        self._answered[answered] = self._answered.get(answered, 0) + 1
        durations = self._durations.get(route)
        if durations is None:
            durations = self._durations[route] = _Durations()
        durations.counts[bisect_left(SECONDS, seconds)] += 1
        durations.sum += seconds

    def taken(self) -> Tally:
        """What was counted since the last time, which is counted here no more."""
        tally = Tally(
            [(*answered, number) for answered, number in self._answered.items()],
            [(route, each.counts, each.sum) for route, each in self._durations.items()],
        )
        self._answered, self._durations = {}, {}
        return tally

    def add(self, tally: Tally) -> None:
        """Count what was counted elsewhere."""
        for route, method, status, number in tally.answered:
            answered = route, method, status
            self._answered[answered] = self._answered.get(answered, 0) + number
        for route, counts, total in tally.durations:
            durations = self._durations.setdefault(route, _Durations())
            durations.counts = [one + other for one, other in zip(durations.counts, counts, strict=True)]
            durations.sum += total

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily("ninefold_requests", "Requests answered.", labels=("route", "method", "status"))
        for (route, method, status), number in self._answered.items():
            requests.add_metric((_named(route), method, "disconnected" if status is None else str(status)), number)
        yield requests
        seconds = HistogramMetricFamily(
            "ninefold_request_seconds", "Time from the request's head to the end of its response.", labels=("route",)
        )
        bounds = (*map(str, SECONDS), "+Inf")
        for route, durations in self._durations.items():
            buckets = list(zip(bounds, accumulate(durations.counts), strict=True))
            seconds.add_metric((_named(route),), buckets, durations.sum)
        yield seconds


class _Durations:
    """`counts`: of those up to each bound of `SECONDS` and beyond the one before; the last is of those beyond all."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.sum = 0.0


def _named(route: str | None) -> str:
    return NO_SUCH_PATH if route is None else route


@dataclass
class Elsewhere:
    """Long reads of other processes: how many go on in each, and how many there were in all."""

    reading: dict[Hashable, int] = field(default_factory=dict)
    long_reads: int = 0


class _DatabaseCollector(Collector):
    """Asked when the metrics are read, so that counting costs the writer nothing."""

    def __init__(self, database: Store) -> None:
        self.database = database
        self.elsewhere = Elsewhere()

    def collect(self) -> Iterator[Metric]:
        now, elsewhere = self.database.statistics(), self.elsewhere
        reading, long_reads = now.reading + sum(elsewhere.reading.values()), now.long_reads + elsewhere.long_reads
        yield GaugeMetricFamily("ninefold_database_waiting", "Works that wait for the writer.", now.waiting)
        yield CounterMetricFamily("ninefold_database_commits", "Commits, each one flush of the disk.", now.batches)
        yield CounterMetricFamily("ninefold_database_works", "Works committed; by commits, the batch size.", now.works)
        yield GaugeMetricFamily(
            "ninefold_database_reading",
            "Long reads that go on now, each in a thread.",
            reading,
        )
        yield CounterMetricFamily(
            "ninefold_database_long_reads",
            "Reads that were too long for the loop.",
            long_reads,
        )
        yield GaugeMetricFamily("ninefold_database_bytes", "Size of the database file and its log.", now.bytes)
        if self.database.replica is not None:
            yield from _of_replica(self.database.replica.standing())


def _of_replica(standing: Standing) -> Iterator[Metric]:
    yield GaugeMetricFamily("ninefold_replica_is_read", "1 as long as the replica is near and there.", standing.is_near)
    if standing.seconds is not None:
        seconds = standing.seconds
        yield GaugeMetricFamily("ninefold_replica_lag_seconds", "What was written before, the replica has.", seconds)
    if standing.bytes is not None:
        yield GaugeMetricFamily("ninefold_replica_lag_bytes", "Log that the replica has yet to do.", standing.bytes)
    reads = CounterMetricFamily("ninefold_replica_reads", "Reads that a replica may do, by who did.", labels=("by",))
    reads.add_metric(("replica",), standing.reads)
    reads.add_metric(("primary",), standing.others)
    yield reads
