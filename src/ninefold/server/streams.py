"""`stream events`: the event log as server-sent events (WHATWG HTML 9.2), for as long as the caller listens.

The `id` of an event is its position in the log. A stream holds nothing but its own position: whoever reads slowly is
read for slowly, and a new stream goes on where another one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from ninefold.database.protocol import Row
from ninefold.plan import environment
from ninefold.plan import operations as plan
from ninefold.plan.events import BATCH
from ninefold.server.encode import Shape
from ninefold.server.events import Form, Logged
from ninefold.server.execute import Call
from ninefold.server.flow import Chunk, Follow, Next, Select, Wait
from ninefold.server.judge import Judge, Refusal
from ninefold.server.messages import Response
from ninefold.server.problems import invalid
from ninefold.server.statements import Prepared
from ninefold.sql.events import POSITIONS

HEADERS = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"))

_LARGEST = 2**63 - 1


class Stream:
    """The log, from a position on."""

    def __init__(self, operation: plan.Stream) -> None:
        self.resource: str | None = None
        self.judge: Judge | None = None
        self._select = Prepared(operation.select)
        self._shape = Shape(operation.response, operation.select.columns)
        self._resume = operation.resume

    def prepare(self, call: Call) -> None:
        """Nothing is made."""

    def perform(self, call: Call) -> Next:
        assert call.log is not None
        return Wait(Select(POSITIONS, [_before(call.env["now"], call.log.kept)]), partial(self._from, call))

    def _from(self, call: Call, rows: Sequence[Row]) -> Next:
        assert call.log is not None
        [(last, first)] = rows
        position = self._position(call, int(str(last)), int(str(first)))
        made = self._shape.filled((), (), call.env)
        head = Response(made.status, (*HEADERS, *made.headers))
        return Follow(head, position, partial(self._read, call), partial(_shown, call.log.form))

    def _position(self, call: Call, last: int, first: int) -> int:
        """Where the stream begins. A position that the log never gave, or from which events are no longer kept, is
        `invalid`: nothing is skipped without a word."""
        if self._resume is None or self._resume.lower() not in call.request.headers:
            return last
        text = call.request.headers[self._resume.lower()].strip(" \t")
        if not (text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) <= _LARGEST):
            raise Refusal((invalid("header", self._resume, "format"),))
        position = int(text)
        if position > last:
            raise Refusal((invalid("header", self._resume, "maximum"),))
        if position < first:
            raise Refusal((invalid("header", self._resume, "minimum"),))
        return position

    def _read(self, call: Call, position: int) -> Select:
        env = {**call.env, "now": call.sources.now(), environment.LOG: {"position": position}}
        return Select(*self._select.bound(env))


def _shown(form: Form, rows: Sequence[Row], position: int) -> Chunk:
    """The events that are seen, as they go over the wire; the position of those that are not counts as well."""
    content = []
    for at, seen, id, kind, row, time, payload in rows:
        position = int(str(at))
        if seen:
            event = Logged(str(id), str(kind), str(row), str(time), str(payload))
            content.append(b"id: %d\nevent: %s\ndata: %s\n\n" % (position, _line(event.kind), form.body(event)))
    return Chunk(b"".join(content), position, len(rows) >= BATCH)


def _line(text: str) -> bytes:
    """A name in one line: a line's end would end the field."""
    return " ".join(text.splitlines()).encode()


def _before(now: str, kept: timedelta) -> str:
    """The time before which nothing is kept. A time beyond the calendar's beginning is its beginning."""
    try:
        time = datetime.fromisoformat(now) - kept
    except OverflowError:
        return ""
    return time.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
