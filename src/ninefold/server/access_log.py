"""The access log: one line a request.

It says which endpoint, not which URL, and who by identifier: no path or query value, no credential, no body and no
field of a row is in it, whatever the contract calls secret.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec


@dataclass(frozen=True, slots=True)
class Record:
    """`time` is when the request came (RFC 3339). `route` is the endpoint as written; None: no endpoint has the path.
    `status` None: the client went away before there was an answer. `scheme` and `caller` are who called, if known,
    `caller` by the row's identifier. `bytes` are those of the response's body."""

    time: str
    method: str
    route: str | None
    status: int | None
    bytes: int
    seconds: float
    scheme: str | None
    caller: str | None
    address: str


Observe: TypeAlias = Callable[[Record], None]


def access_log(form: Literal["text", "json"], write: Callable[[str], object]) -> Observe:
    """`write` takes a line with its line break."""
    line = _json if form == "json" else _text

    def observe(record: Record) -> None:
        write(line(record) + "\n")

    return observe


def _text(record: Record) -> str:
    who = "anyone" if record.scheme is None else f"{record.scheme}:{record.caller or '-'}"
    return (
        f"{record.time} {record.address} {who} {_route(record)} {record.status or 'gone'}"
        f" {record.bytes} B {record.seconds * 1000:.1f} ms"
    )


def _route(record: Record) -> str:
    """`GET /orders/{id}`; a HEAD or OPTIONS request says its own method before it."""
    if record.route is None:
        return f"{record.method} (no such path)"
    return record.route if record.route.startswith(record.method + " ") else f"{record.method} {record.route}"


def _json(record: Record) -> str:
    return msgspec.json.encode(
        {
            "time": record.time,
            "address": record.address,
            "scheme": record.scheme,
            "caller": record.caller,
            "method": record.method,
            "route": record.route,
            "status": record.status,
            "bytes": record.bytes,
            "milliseconds": round(record.seconds * 1000, 3),
        }
    ).decode()
