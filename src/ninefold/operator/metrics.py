"""What is counted, in the exposition format of Prometheus.

A label's values are bounded by the plan: an endpoint as written or `no such path`, and the methods that HTTP names.
A path, a caller or anything else that a client makes up is never a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from ninefold.operator.audit import Counted
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.store.sqlite import SQLite

NO_SUCH_PATH = "no such path"

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"))
"""RFC 9110 9.1 and RFC 5789; any other is counted as `other`."""

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of one service. `observe` is called once a request."""

    def __init__(self, database: SQLite, misfits: Counted = Counted()) -> None:  # noqa: B008 - frozen
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry(auto_describe=False)
        self._requests = Counter(
            "ninefold_requests", "Requests answered.", ("route", "method", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "ninefold_request_seconds",
            "Time from the request's head to the end of its response.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._registry.register(_DatabaseCollector(database))
        rows = Gauge(
            "ninefold_rows_that_do_not_fit",
            "Rows that were not as the contract says when the service began, by field.",
            ("field",),
            registry=self._registry,
        )
        for each in misfits.fields:
            rows.labels(each.name).set(each.count)
        unfinished = Gauge(
            "ninefold_rows_not_all_counted",
            "Resources of which not all rows were looked at for that.",
            registry=self._registry,
        )
        unfinished.set(len(misfits.unfinished))

    def observe(self, record: Record) -> None:
        route = NO_SUCH_PATH if record.route is None else record.route
        method = record.method if record.method in METHODS else "other"
        status = "disconnected" if record.status is None else str(record.status)
        self._requests.labels(route, method, status).inc()
        self._seconds.labels(route).observe(record.seconds)

    def expose(self, accept: str) -> tuple[bytes, str]:
        """The text of all metrics and its media type, in the format that the Accept header asks for."""
        encode: Callable[[CollectorRegistry], bytes]
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type


class _DatabaseCollector(Collector):
    """Asked when the metrics are read, so that counting costs the writer nothing."""

    def __init__(self, database: SQLite) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        now = self._database.statistics()
        yield GaugeMetricFamily("ninefold_database_waiting", "Works that wait for the writer.", now.waiting)
        yield CounterMetricFamily("ninefold_database_commits", "Commits, each one flush of the disk.", now.batches)
        yield CounterMetricFamily("ninefold_database_works", "Works committed; by commits, the batch size.", now.works)
        yield GaugeMetricFamily(
            "ninefold_database_reading", "Long reads that go on now, each in a thread.", now.reading
        )
        yield CounterMetricFamily(
            "ninefold_database_long_reads", "Reads that were too long for the loop.", now.long_reads
        )
        yield GaugeMetricFamily("ninefold_database_bytes", "Size of the database file and its log.", now.bytes)
