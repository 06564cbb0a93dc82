"""The access log: one line a request.

It says which endpoint, not which URL, and who by identifier: no path or query value, no credential, no body and no
other field of a row is in it, whatever the contract calls secret. A client may have chosen its identifier, and chooses
the method: neither makes a line long, ends one, or is obeyed by a terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Literal, Protocol, TypeAlias

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.render import visible

LONGEST_METHOD = 32
"""Characters of a method that are written."""

LONGEST_CALLER = 256
"""Characters of an identifier that are written."""


@dataclass(frozen=True, slots=True)
class Reason:
    """`condition` as the language calls it, and the lines of the contract that say so."""

    condition: str
    lines: tuple[int, ...] = ()


class Record(msgspec.Struct, frozen=True):
    """`time` is when the request came (RFC 3339). `route` is the endpoint as written; None: no endpoint has the path.
    `status` None: the client went away before there was an answer. `scheme` and `caller` are who called, if known,
    `caller` by the row's identifier. `bytes` are those of the response's body.
    `reasons`: why it was refused, if it was and it is known. `method` is empty where what came was no request."""

    time: str
    method: str
    route: str | None
    status: int | None
    bytes: int
    seconds: float
    scheme: str | None
    caller: str | None
    address: str
    reasons: tuple[Reason, ...] = ()


Observe: TypeAlias = Callable[[Record], None]
Count: TypeAlias = Callable[[Sequence[Record]], None]


def lines(form: Literal["text", "json"], document: str = "line") -> Callable[[Record], str]:
    """What writes a record as a line. `document`: what the contract is called where a line of it is named."""
    return _json if form == "json" else partial(_text, document)


def _text(document: str, record: Record) -> str:
    who = "anyone" if record.scheme is None else _who(record.scheme, record.caller)
    reasons = "; ".join(_reasons(document, record)) if record.reasons else ""
    return (
        f"{record.time} {record.address} {who} {_route(record.method, record.route)} {record.status or 'gone'}"
        f" {record.bytes} B {record.seconds * 1000:.1f} ms{reasons}"
    )


def _reasons(document: str, record: Record) -> Iterator[str]:
    for number, reason in enumerate(record.reasons):
        lines = ", ".join(f"{document}:{line}" for line in reason.lines)
        yield f"{'' if number else ' '}{reason.condition}{f' [{lines}]' if lines else ''}"


@lru_cache(256)
def _route(sent: str, route: str | None) -> str:
    """`GET /orders/{id}`; a HEAD or OPTIONS request says its own method before it."""
    if not sent:
        return "(no request)"
    method = _begin(sent, LONGEST_METHOD)
    if route is None:
        return f"{method} (no such path)"
    return route if route.startswith(method + " ") else f"{method} {route}"


@lru_cache(4096)
def _who(scheme: str, caller: str | None) -> str:
    """`key:ada`, in one word."""
    named = "-" if caller is None else _begin(caller, LONGEST_CALLER)
    return visible(f"{scheme}:{named}").replace(" ", "\N{SYMBOL FOR SPACE}")


def _begin(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def _json(record: Record) -> str:
    return msgspec.json.encode(
        {
            "time": record.time,
            "address": record.address,
            "scheme": record.scheme,
            "caller": None if record.caller is None else _begin(record.caller, LONGEST_CALLER),
            "method": _begin(record.method, LONGEST_METHOD),
            "route": record.route,
            "status": record.status,
            "bytes": record.bytes,
            "milliseconds": round(record.seconds * 1000, 3),
            "reasons": [{"condition": each.condition, "lines": each.lines} for each in record.reasons],
        }
    ).decode()


TOGETHER_SECONDS = 0.05
"""How long a line waits for others."""


class Stream(Protocol):
    """Where lines are written to; raises OSError where nobody takes them."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


class Lines:
    """Records, counted and written together. To be used on the event loop's thread. When the reader has gone away, what
    is written is dropped: a service does not end because nobody reads its log. `count` is told of records before they
    are written."""

    def __init__(self, stream: Stream, line: Callable[[Record], str], count: Count | None = None) -> None:
        self.count = count
        self._stream = stream
        self._line = line
        self._waiting: list[Record] = []

    def write(self, record: Record) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_later(TOGETHER_SECONDS, self.flush)
        self._waiting.append(record)

    def flush(self) -> None:
        if not self._waiting:
            return
        records, self._waiting = self._waiting, []
        if self.count is not None:
            self.count(records)
        self.pass_on("\n".join([*map(self._line, records), ""]))

    def pass_on(self, text: str) -> None:
        """Write lines that are put into words already."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            pass
