"""The operator's port as an ASGI application: health and metrics, GET and HEAD, nothing that changes anything; and of
a service whose clock was set, the clock.

    curl -X PUT --data 2026-03-01T12:00:00Z http://127.0.0.1:8081/clock

Programs that know its address are let in, and no web page that has found it. A page may let its own name point here
(DNS rebinding), and its requests then carry that name as `Host`; or it may ask across origins, and its requests then
say so. Neither is answered, whatever the path.

Metrics are in the exposition format of Prometheus. A label's values are bounded by the plan: an endpoint as written or
`no such path`, and the methods that HTTP names. A path, a caller or anything else that a client makes up is no label.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from ipaddress import ip_address
from itertools import accumulate
from typing import Literal, TypeAlias, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from ninefold.diagnostics.frozen import dataclass
from ninefold.operator.audit import Counted
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.http.cycle import Asgi, Message, Receive, Send
from ninefold.runtime.sources import Clock
from ninefold.runtime.store.protocol import Store
from ninefold.values import Invalid, timestamp

_TEXT = "text/plain; charset=utf-8"
_READY = "/health/ready"
_PATHS = ("/health/live", _READY, "/metrics")
_CLOCK = "/clock"
_LONGEST = 100
"""Bytes of a time."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    media_type: str = _TEXT
    headers: tuple[tuple[bytes, bytes], ...] = ()


def application(database: Store, metrics: Metrics, stopping: Callable[[], bool], clock: Clock | None = None) -> Asgi:
    """`stopping` tells whether the service takes no new work any more: then it is live and not ready. `clock`: that of
    the service, where the operator has set it."""

    async def answer_request(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"the operator's port speaks HTTP, not {scope['type']}")
        accept = b", ".join(value for name, value in scope["headers"] if name == b"accept").decode("latin-1")
        if clock is not None and scope["path"] == _CLOCK:
            reply = await _time(scope["method"], receive, clock)
        else:
            reply = _answer(scope["method"], scope["path"], accept, database, metrics, stopping)
            if scope["path"] == _READY and reply.status == 200 and (why := await database.unwritable()) is not None:
                reply = Answer(503, f"not ready: the database cannot be written: {why}\n".encode())
        headers = [
            (b"content-type", reply.media_type.encode("ascii")),
            (b"content-length", str(len(reply.body)).encode("ascii")),
            *reply.headers,
        ]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else reply.body})

    return answer_request


async def _time(method: str, receive: Receive, clock: Clock) -> Answer:
    """The service's time; PUT sets it to that of its body (RFC 3339)."""
    if method == "PUT":
        try:
            clock.set(datetime.fromisoformat(timestamp((await _body(receive)).decode("ascii").strip())))
        except (Invalid, OverflowError, UnicodeDecodeError) as error:
            return Answer(422, f"not set: {error}\n".encode())
    elif method not in ("GET", "HEAD"):
        return Answer(405, b"", headers=((b"allow", b"GET, HEAD, PUT"),))
    return Answer(200, (clock().isoformat(timespec="microseconds").replace("+00:00", "Z") + "\n").encode())


async def _body(receive: Receive) -> bytes:
    content = b""
    while len(content) <= _LONGEST:
        message = await receive()
        content += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return content[:_LONGEST]


def _answer(
    method: str, path: str, accept: str, database: Store, metrics: Metrics, stopping: Callable[[], bool]
) -> Answer:
    if path not in _PATHS:
        return Answer(404, ("here are: " + ", ".join(_PATHS) + "\n").encode())
    if method not in ("GET", "HEAD"):
        return Answer(405, b"", headers=((b"allow", b"GET, HEAD"),))
    match path:
        case "/health/live":
            return Answer(200, b"live\n")
        case path if path == _READY:
            if stopping():
                return Answer(503, b"not ready: stopping\n")
            if not database.reachable():
                return Answer(503, b"not ready: the database cannot be read\n")
            return Answer(200, b"ready\n")
        case _:
            return Answer(200, *metrics.expose(accept))


# ── Who is let in ─────────────────────────────────────────────────────────────────────────────────────────────

PROBED = frozenset(("/health/live", "/health/ready", "/metrics"))
"""Paths that are asked for by whatever address the machine has: a page that lets its name point here comes with a name,
and never with an address."""

HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Of every answer: whatever is shown is shown to its own pages, and kept nowhere."""

_AUTHORITY = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<host>[^:/@\[\]\s]+))(?::(?P<port>\d+))?")
_NAMES_OF_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORT = 80
"""Which a client leaves out of `Host`."""


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    why: str


@dataclass(frozen=True, slots=True)
class Guard:
    """`hosts`: the values of `Host` that are this port's, in lower case."""

    hosts: frozenset[str]

    def refusal(self, path: str, headers: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
        """Why a request is not answered; None: it is."""
        found: dict[bytes, list[str]] = {}
        for name, value in headers:
            found.setdefault(name, []).append(value.decode("latin-1").lower())
        match found.get(b"host", []):
            case [host] if host in self.hosts or (path in PROBED and _is_address(host)):
                pass
            case _:
                return Refusal(421, "this is not the host that was asked for; --operator-name adds a name")
        if any(origin not in (f"http://{host}", f"https://{host}") for origin in found.get(b"origin", [])):
            return Refusal(403, "no page of another origin is answered")
        if any(site not in ("same-origin", "none") for site in found.get(b"sec-fetch-site", [])):
            return Refusal(403, "no page of another origin is answered")
        return None

    def before(self, application: Asgi) -> Asgi:
        """The application behind the guard, with the headers of every answer."""

        async def answer_request(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await application(scope, receive, send)
                return

            async def send_guarded(message: Message) -> None:
                if message["type"] == "http.response.start":
                    own = {name for name, _ in HEADERS}
                    others = [field for field in message.get("headers", ()) if field[0] not in own]
                    message = {**message, "headers": [*others, *HEADERS]}
                await send(message)

            refusal = self.refusal(scope["path"], scope["headers"])
            if refusal is None:
                await application(scope, receive, send_guarded)
                return
            body = f"{refusal.why}\n".encode()
            headers = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(body)).encode("ascii")),
            ]
            await send_guarded({"type": "http.response.start", "status": refusal.status, "headers": headers})
            await send_guarded({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

        return answer_request


def guard(host: str, port: int, names: Sequence[str] = ()) -> Guard:
    """Of a port that is bound to an address. `names`: further ones, with a port where it is another one, as behind a
    proxy. Raises ValueError for what is no name."""
    bound = ip_address(host.partition("%")[0])
    shown = f"[{host}]" if bound.version == 6 else host
    own = [shown, *(_NAMES_OF_LOOPBACK if bound.is_loopback or bound.is_unspecified else ())]
    hosts = {value for each in own for value in _values(each, port)}
    for name in names:
        found = _AUTHORITY.fullmatch(name)
        if found is None:
            raise ValueError(f"{name} is no name")
        hosts |= {name.lower()} if found["port"] else {name.lower(), *_values(name, port)}
    return Guard(frozenset(hosts))


def _values(name: str, port: int) -> tuple[str, ...]:
    """`Host` of a client that asks a name at a port."""
    value = f"{name.lower()}:{port}"
    return (value, name.lower()) if port == _DEFAULT_PORT else (value,)


def _is_address(host: str) -> bool:
    found = _AUTHORITY.fullmatch(host)
    try:
        return found is not None and ip_address(found["six"] or found["host"]) is not None
    except ValueError:
        return False


# ── What is counted ───────────────────────────────────────────────────────────────────────────────────────────

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
        self._requests = _Requests()
        self._registry.register(self._requests)
        self._database = _DatabaseCollector(database)
        self._registry.register(self._database)
        self.observe = self._requests.observe
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
        for outcome in get_args(Renewal):
            self._anew.labels(outcome)
        self.follow(database, misfits)

    def renewed(self, outcome: Renewal) -> None:
        """The contract was read anew."""
        self._anew.labels(outcome).inc()
        self._not_taken.set(outcome != "taken")

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


class _Requests(Collector):
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


class _DatabaseCollector(Collector):
    """Asked when the metrics are read, so that counting costs the writer nothing."""

    def __init__(self, database: Store) -> None:
        self.database = database

    def collect(self) -> Iterator[Metric]:
        now = self.database.statistics()
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
