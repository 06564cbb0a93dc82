"""The operator's port as an ASGI application: health and metrics, GET and HEAD, nothing that changes anything; and of
a service whose clock was set, the clock.

    curl -X PUT --data 2026-03-01T12:00:00Z http://127.0.0.1:8081/clock

Who may ask at all, `guard.py` says.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from datetime import datetime
from typing import Any, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.operator.metrics import Metrics
from ninefold.runtime.sources import Clock
from ninefold.runtime.store.sqlite import SQLite
from ninefold.values import Invalid, timestamp

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

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


def application(
    database: SQLite, metrics: Metrics, stopping: Callable[[], bool], clock: Clock | None = None
) -> Application:
    """`stopping` tells whether the service takes no new work any more: then it is live and not ready. `clock`: that of
    the service, where the operator has set it."""

    async def answer_request(scope: Scope, receive: Receive, send: Send) -> None:
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
    method: str, path: str, accept: str, database: SQLite, metrics: Metrics, stopping: Callable[[], bool]
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
