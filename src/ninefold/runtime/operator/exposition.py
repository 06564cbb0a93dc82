"""What a service counts, in the exposition format of Prometheus: loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from ninefold.runtime.operator.metrics import SECONDS, Metrics
from ninefold.runtime.store.protocol import Pool, Standing

NO_SUCH_PATH = "no such path"


def exposed(metrics: Metrics, accept: str) -> tuple[bytes, str]:
    """The text of all metrics and its media type, in the format that the Accept header asks for."""
    encode: Callable[[CollectorRegistry], bytes]
    encode, media_type = choose_encoder(accept)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Told(metrics))
    return encode(registry), media_type


class _Told(Collector):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        yield from _requests(self._metrics)
        yield from _database(self._metrics)
        yield from _contract(self._metrics)


def _requests(metrics: Metrics) -> Iterator[Metric]:
    metrics.gather()
    counted = metrics.requests
    requests = CounterMetricFamily("ninefold_requests", "Requests answered.", labels=("route", "method", "status"))
    for (route, method, status), durations in counted.answered.items():
        told = "disconnected" if status is None else str(status)
        requests.add_metric((_named(route), method, told), sum(durations.counts))
    yield requests
    seconds = HistogramMetricFamily(
        "ninefold_request_seconds", "Time from the request's head to the end of its response.", labels=("route",)
    )
    bounds = (*map(str, SECONDS), "+Inf")
    for route, durations in counted.by_route().items():
        buckets = list(zip(bounds, accumulate(durations.counts), strict=True))
        seconds.add_metric((_named(route),), buckets, durations.sum)
    yield seconds


def _named(route: str | None) -> str:
    return NO_SUCH_PATH if route is None else route


def _database(metrics: Metrics) -> Iterator[Metric]:
    """Asked when the metrics are read, so that counting costs the writer nothing."""
    now, elsewhere = metrics.database.statistics(), metrics.elsewhere
    reading, long_reads = now.reading + sum(elsewhere.reading.values()), now.long_reads + elsewhere.long_reads
    answers = metrics.database.reachable()
    yield GaugeMetricFamily("ninefold_database_answers", "1 as long as the database can be read and written.", answers)
    yield GaugeMetricFamily("ninefold_database_waiting", "Works that wait for the writer.", now.waiting)
    yield CounterMetricFamily("ninefold_database_commits", "Commits, each one flush of the disk.", now.batches)
    yield CounterMetricFamily("ninefold_database_works", "Works committed; by commits, the batch size.", now.works)
    yield GaugeMetricFamily("ninefold_database_reading", "Long reads that go on now, each in a thread.", reading)
    yield CounterMetricFamily("ninefold_database_long_reads", "Reads that were too long for the loop.", long_reads)
    yield GaugeMetricFamily("ninefold_database_bytes", "Size of the database file and its log.", now.bytes)
    if (pool := metrics.database.pool()) is not None:
        yield from _of_pool(pool)
    if metrics.database.replica is not None:
        yield from _of_replica(metrics.database.replica.standing())


def _of_pool(pool: Pool) -> Iterator[Metric]:
    links = GaugeMetricFamily("ninefold_pool_connections", "Connections that read, by state.", labels=("state",))
    links.add_metric(("busy",), pool.busy)
    links.add_metric(("idle",), pool.idle)
    yield links
    yield GaugeMetricFamily("ninefold_pool_waiting", "Reads that wait for a connection.", pool.waiting)
    yield CounterMetricFamily("ninefold_works_undone", "Works undone for another's sake, and done again.", pool.undone)
    if pool.lease is not None:
        yield GaugeMetricFamily("ninefold_lease_seconds", "What is left of the lease of a pooled node.", pool.lease)


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


def _contract(metrics: Metrics) -> Iterator[Metric]:
    rows = GaugeMetricFamily(
        "ninefold_rows_that_do_not_fit",
        "Rows that were not as the contract says when the service began, by field.",
        labels=("field",),
    )
    for each in metrics.misfits.fields:
        rows.add_metric((each.name,), each.count)
    yield rows
    yield GaugeMetricFamily(
        "ninefold_rows_not_all_counted",
        "Resources of which not all rows were looked at for that.",
        len(metrics.misfits.unfinished),
    )
    anew = CounterMetricFamily(
        "ninefold_contracts_read_anew",
        "How often the contract was read anew while it was served, by what came of it.",
        labels=("outcome",),
    )
    for outcome, number in metrics.anew.items():
        anew.add_metric((outcome,), number)
    yield anew
    yield GaugeMetricFamily(
        "ninefold_contract_not_taken",
        "1 as long as what was last read anew is not served: it was put off, or refused.",
        metrics.not_taken,
    )
    if metrics.readers is not None:
        yield GaugeMetricFamily(
            "ninefold_readers", "Processes that take requests beside the one that writes.", metrics.readers
        )
