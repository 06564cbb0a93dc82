"""`stream event`: the event log as server-sent events (WHATWG HTML 9.2), for as long as the caller listens.

The `id` of an event is its position in the log, sealed as a cursor is: how much happens to others is nobody's to know.
A stream holds nothing but its own position: whoever reads slowly is read for slowly, and a new stream goes on where
another one ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ninefold.plan import environment
from ninefold.plan import operations as plan
from ninefold.plan.events import BATCH, RESUME
from ninefold.runtime.messages.encode import Shape
from ninefold.runtime.messages.message import Response
from ninefold.runtime.messages.problems import invalid
from ninefold.runtime.operations.audience import Concerns
from ninefold.runtime.operations.constraints import Judge, Refusal
from ninefold.runtime.operations.events import Form, Logged
from ninefold.runtime.operations.flow import Chunk, Follow, Holds, Next, Select, Wait
from ninefold.runtime.operations.read import Call
from ninefold.runtime.sources import moved
from ninefold.runtime.store.protocol import Row
from ninefold.runtime.store.statements import Prepared
from ninefold.sql.events import POSITIONS

HEADERS = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"))

_RESUME = RESUME.lower()

BEFORE_ALL = ""
"""What stands before every time, as a text."""

_FIRST = "0"
"""The position before all, which anybody may name."""


class Stream:
    """The log, from a position on."""

    def __init__(self, operation: plan.Stream) -> None:
        self.resource: str | None = None
        self.judge = None if operation.judge is None else Judge(operation.judge)
        self._select = Prepared(operation.select)
        self._shape = Shape(operation.response, operation.select.columns)
        self._concerns = None if operation.concerns is None else Concerns(operation.concerns)

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
        head = Response(made.status, (*HEADERS, *made.headers))
        show = partial(_shown, call.log.form, partial(_sealed, call))
        return Follow(head, position, self._read, show, lambda: Holds(call.env), concerns=self._concerns)

    def _position(self, call: Call, last: int, first: int) -> int:
        """Where the stream begins. What no stream of this caller gave here, or a position from which events are no
        longer kept, is `invalid`: nothing is skipped without a word."""
        if _RESUME not in call.request.headers:
            return last
        text = call.request.headers[_RESUME].strip(" \t")
        position = 0 if text == _FIRST else _opened(call, text)
        if position is None or position > last:
            raise Refusal((invalid("header", RESUME, "format"),))
        if position < first:
            raise Refusal((invalid("header", RESUME, "minimum"),))
        return position

    def _read(self, env: Mapping[str, Any], position: int) -> Select:
        return Select(*self._select.bound({**env, environment.LOG: {"position": position}}))


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


def _shown(form: Form, sealed: Callable[[int], str], rows: Sequence[Row], position: int) -> Chunk:
    """The events that are seen, as they go over the wire; the position of those that are not counts as well."""
    content = []
    for at, seen, id, kind, row, time, payload in rows:
        position = int(str(at))
        if seen:
            event = Logged(str(id), str(kind), str(row), str(time), str(payload))
            lines = (sealed(position).encode(), _line(event.kind), form.body(event))
            content.append(b"id: %s\nevent: %s\ndata: %s\n\n" % lines)
    return Chunk(b"".join(content), position, len(rows) >= BATCH)


def _line(text: str) -> bytes:
    """A name in one line: a line's end would end the field."""
    return " ".join(text.splitlines()).encode()
