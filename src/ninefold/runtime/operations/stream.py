"""`stream event`: the event log as server-sent events (WHATWG HTML 9.2) or over WebSocket (RFC 6455), as long as the
caller listens.

The `id` of an event is its position in the log, sealed as a cursor is: how much happens to others is nobody's to know.
A stream holds nothing but its own position: whoever reads slowly is read for slowly, and a new stream goes on where
another one ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from ninefold.plan import environment
from ninefold.plan import operations as plan
from ninefold.plan.events import BATCH, RESUME, RESUMED_BY
from ninefold.runtime.messages import conditional
from ninefold.runtime.messages.encode import Shape
from ninefold.runtime.messages.message import Request, Response, joined
from ninefold.runtime.messages.parameters import parse_query
from ninefold.runtime.messages.problems import Failure, invalid
from ninefold.runtime.operations.audience import Concerns
from ninefold.runtime.operations.constraints import Judge, Refusal
from ninefold.runtime.operations.events import Form, Logged
from ninefold.runtime.operations.flow import Chunk, Follow, Holds, Next, Select, Wait
from ninefold.runtime.operations.read import Call
from ninefold.runtime.sources import moved
from ninefold.runtime.store.protocol import Row
from ninefold.runtime.store.statements import Prepared
from ninefold.sql.events import POSITIONS

_HEADERS = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"))

_NOT_UPGRADED = Response(
    426,
    ((b"upgrade", b"websocket"), (b"connection", b"Upgrade"), (b"sec-websocket-version", b"13")),
)
"""The stream is had over WebSocket alone (RFC 9110 15.5.22, RFC 6455 4.4)."""

_RESUME = RESUME.lower()

BEFORE_ALL = ""
"""What stands before every time, as a text."""

FIRST = "0"
"""The position before all, which anybody may name."""


CHUNK_BYTES = 256 * 1024
"""Bytes of events that are told together; of one alone, all. They are held until the client has taken them."""


class Stream:
    """The log, from a position on. `names`: of the query parameters that it knows."""

    names = frozenset((RESUMED_BY,))

    def __init__(self, operation: plan.Stream) -> None:
        self.resource: str | None = None
        self.judge = None if operation.judge is None else Judge(operation.judge)
        self._select = Prepared(operation.select)
        self._shape = Shape(operation.response, operation.select.columns)
        self.filters = operation.filters
        self.websocket = operation.websocket
        self._lines = operation.lines
        self._origins = operation.origins
        self._concerns = None if operation.concerns is None else Concerns(operation.concerns)

    def admits(self, request: Request) -> bool:
        """Whether the page that a request comes from, if one does, may open what it asks for."""
        origin = request.headers.get("origin") if request.websocket and self.websocket else None
        return origin is None or self._origins is None or origin in self._origins

    def prepare(self, call: Call) -> None:
        """Nothing is made."""

    def perform(self, call: Call) -> Next:
        if self.judge is None:
            return self._begun(call)
        return Wait(Select(*self.judge.bound(call.env, False)), partial(self._judged, call, self.judge))

    def _judged(self, call: Call, judge: Judge, rows: Sequence[Row]) -> Next:
        refusal = judge.refusal(rows, call.env)
        if refusal is not None:
            raise refusal
        return self._begun(call)

    def _begun(self, call: Call) -> Next:
        assert call.log is not None
        since = BEFORE_ALL if call.log.kept is None else moved(call.env["now"], -call.log.kept)
        return Wait(Select(POSITIONS, [since]), partial(self._from, call))

    def _from(self, call: Call, rows: Sequence[Row]) -> Next:
        assert call.log is not None
        [(last, first)] = rows
        position = self._position(call, int(str(last)), int(str(first)))
        made = self._shape.filled((), (), call.env)
        if call.request.websocket and self.websocket:
            head, told = Response(101, made.headers), _message
        elif self._lines:
            changed = conditional.is_changed(call.request, joined(made.headers).get("etag"))
            if changed is None:
                raise Refusal((Failure("precondition failed"),))
            head, told = Response(made.status, (*_HEADERS, *made.headers)), _lines
            if not changed:
                return conditional.not_modified(head)
        else:
            return _NOT_UPGRADED
        show = partial(_shown, partial(told, call.log.form), partial(_sealed, call))
        return Follow(head, position, self._read, show, lambda: Holds(call.env), concerns=self._concerns)

    def _position(self, call: Call, last: int, first: int) -> int:
        """Where the stream begins. What no stream of this caller gave here, or a position from which events are no
        longer kept, is `invalid`: nothing is skipped without a word."""
        # A browser that reconnects names what it saw last in the header; its URL is still that of the first time.
        text, wrong = call.request.headers.get(_RESUME), partial(invalid, "header", RESUME)
        if text is None:
            text, wrong = _parameter(call.request), partial(invalid, "query", RESUMED_BY)
        if text is None:
            return last
        text = text.strip(" \t")
        position = 0 if text == FIRST else _opened(call, text)
        if position is None or position > last:
            raise Refusal((wrong("format"),))
        if position < first:
            raise Refusal((wrong("minimum"),))
        return position

    def _read(self, env: Mapping[str, Any], position: int) -> Select:
        switches = frozenset(f"filter {name}" for name in env[environment.FILTER])
        return Select(*self._select.bound({**env, environment.LOG: {"position": position}}, switches))


def _sealed(call: Call, position: int) -> str:
    """The same for the same event, as often as this caller is told of it here; and as long as any other, since a length
    tells something too."""
    return call.cursors.seal((position.to_bytes(8),), *_bound_to(call))


def _opened(call: Call, text: str) -> int | None:
    """None: it is not ours, or was given to somebody else, or elsewhere."""
    opened = call.cursors.open(text, *_bound_to(call))
    return None if opened is None or not isinstance(opened[0], bytes) else int.from_bytes(opened[0])


def _bound_to(call: Call) -> tuple[str, ...]:
    return ("stream", call.route, call.who, call.identity or "")


def _parameter(request: Request) -> str | None:
    """None: it is not given. What is given twice is no position."""
    given = parse_query(request.query).get(RESUMED_BY)
    return None if given is None else ",".join(given)


def _shown(
    told: Callable[[str, Logged], bytes], sealed: Callable[[int], str], rows: Sequence[Row], position: int
) -> Chunk:
    """The events that are seen, as they go over the wire, up to so many bytes; the position of those that are not seen
    counts as well."""
    events, size = [], 0
    for at, seen, id, kind, row, time, payload in rows:
        position = int(str(at))
        if seen:
            event = told(sealed(position), Logged(str(id), str(kind), str(row), str(time), str(payload)))
            events.append(event)
            size += len(event)
            if size >= CHUNK_BYTES:
                return Chunk(tuple(events), position, True)
    return Chunk(tuple(events), position, len(rows) >= BATCH)


def _lines(form: Form, id: str, event: Logged) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (id.encode(), _line(event.kind), form.body(event))


def _message(form: Form, id: str, event: Logged) -> bytes:
    return _encode({"id": id, "event": event.kind, "data": msgspec.Raw(form.body(event))})


_encode = msgspec.json.Encoder().encode


def _line(text: str) -> bytes:
    """A name in one line: a line's end would end the field."""
    return " ".join(text.splitlines()).encode()
