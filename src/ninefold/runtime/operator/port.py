"""The operator's port as an ASGI application: health and metrics, GET and HEAD, nothing that changes anything; and of
a service whose clock was set, the clock.

    curl -X PUT --data 2026-03-01T12:00:00Z http://127.0.0.1:8081/clock

Programs that know its address are let in, and no web page that has found it. A page may let its own name point here
(DNS rebinding), and its requests then carry that name as `Host`; or it may ask across origins, and its requests then
say so. Neither is answered, whatever the path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from ipaddress import ip_address

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.http.cycle import Asgi, Message, Receive, Send
from ninefold.runtime.operator.metrics import Metrics
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
            from ninefold.runtime.operator.exposition import exposed

            return Answer(200, *exposed(metrics, accept))


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
