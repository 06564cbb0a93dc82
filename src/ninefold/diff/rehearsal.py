"""A service run in process, from a moment that is the same each time: the same rows, the same time, the same random
bytes, the same tokens, and the same counts of what callers have asked for before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, assert_never

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.messages.notes import Notes
from ninefold.runtime.operations.credentials import of_nobody
from ninefold.runtime.operations.flow import (
    Ask,
    Asks,
    Beside,
    Compute,
    Failed,
    Fetch,
    Fetched,
    Follow,
    Holds,
    Invoke,
    Next,
    ReadBody,
    Recall,
    Select,
    SelectAsOne,
    Share,
    Sweep,
    TooLarge,
    Transact,
    Unreachable,
    Wait,
    Work,
)
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.request.exchange import Exchange, arrived, finished, only, open_to_origins, timed_out
from ninefold.runtime.request.review import followed
from ninefold.runtime.request.service import ready
from ninefold.runtime.request.steps import recovered, start, taken
from ninefold.runtime.request.tracing import Tracer
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.memory import Changes, Memory, State
from ninefold.runtime.store.protocol import NotBegun, Unavailable
from ninefold.trace.identifier import HEADER

BEGINNING = datetime(2026, 7, 1, 12, 0, 0, tzinfo=UTC)
"""When the first request comes. Each further one comes a millisecond later."""

TRACE = HEADER.lower().encode("ascii")

BETWEEN = 1_000
"""Microseconds."""

ADDRESS = "192.0.2.1"
"""The client's (RFC 5737)."""

Fetching: TypeAlias = Callable[[str], Fetched | Unreachable]
"""What another service answers, by URL."""


@dataclass(frozen=True, slots=True)
class Told:
    """A request as it goes over the wire. `headers` have names in lower case. `happening`: what befalls it; "again" is
    that the same one was answered before, by so many microseconds (`since`)."""

    method: str
    path: bytes
    query: bytes
    headers: Mapping[str, str]
    body: bytes
    happening: str | None = None
    since: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """What comes of a request: the response, and what it leaves behind. `rows` are those that are there after it and
    were not before it, or are not there any more, each with its table, as JSON. `endpoint` is its key; None: the
    request reached none."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    rows: tuple[tuple[str, str], ...]
    gone: tuple[tuple[str, str], ...]
    endpoint: str | None
    trace: str = field(default="", compare=False)
    """The identifier of its causes (`ninefold.trace`)."""


@dataclass(frozen=True, slots=True)
class Moment:
    """All that a service knows before a request. `number` is the request's; `passed` are microseconds since the
    beginning; `counted`: what each rate, by its name, has counted."""

    number: int
    passed: int
    state: State
    schema: Schema
    counted: Mapping[str, Any] = field(default_factory=dict)


_OF_DIGITS = bytes(byte for byte in range(252) if byte % 36 >= 26)
"""The bytes of which `random(n)` makes digits (`ninefold.expressions.operations.random_text`)."""


@dataclass
class _Sources:
    """The time, and bytes that depend on nothing but the request, how many are asked for and how often. What
    `random(n)` makes of them has no letters: they would be nobody's words, and look like somebody's."""

    number: int = 0
    passed: int = 0
    _asked: dict[int, int] = field(default_factory=dict)

    def at(self, number: int, passed: int) -> None:
        self.number, self.passed = number, passed
        self._asked.clear()

    def clock(self) -> datetime:
        return BEGINNING + timedelta(microseconds=self.passed)

    def elapsed(self) -> int:
        return self.passed * 1_000

    def random_bytes(self, count: int) -> bytes:
        times = self._asked[count] = self._asked.get(count, 0) + 1
        drawn = hashlib.shake_128(f"{self.number} {count} {times}".encode()).digest(count)
        return bytes(_OF_DIGITS[byte % len(_OF_DIGITS)] for byte in drawn)


class Rehearsal:
    """A plan that can be asked. `given`: what the operator gives. Raises `issuers.Unusable`."""

    def __init__(self, plan: ServicePlan, given: Mapping[str, str], fetch: Fetching) -> None:
        self.plan = plan
        self._fetch = fetch
        self._sources = _Sources()
        self._memory = Memory(plan.schema)
        self.sources = sources = Sources(self._sources.clock, self._sources.random_bytes, self._sources.elapsed)
        self.service = ready(plan, self._memory.key("cursors"), given, sources)
        self._rates = {rate.name: rate for rate in self.service.rates}
        self._tracer = Tracer(plan)
        self._given = given
        self._carried: dict[int, State] = {}
        self._due: Moment | None = None
        self._before: tuple[Changes, frozenset[tuple[str, str]]] | None = None
        self._there: tuple[int, Changes] | None = None
        self._known: tuple[int, frozenset[tuple[str, str]]] | None = None

    @property
    def database(self) -> Memory:
        """As it is at the moment that was put last: it is put back when somebody looks, as most refusals do not."""
        if self._due is not None:
            moment, self._due = self._due, None
            self._put_back(moment)
        return self._memory

    def opened(self) -> tuple[tuple[str, str], ...]:
        """The rows that are there before any request: those that the contract states."""
        begin = stated_rows(self.plan, Caller(dict(self._given), self.sources))
        if begin is not None:
            try:
                self.database.transact(begin)
            except NotBegun as refused:
                return (("", str(refused)),)
        return tuple(sorted(self._rows()))

    def moment(self, number: int, passed: int) -> Moment:
        """As it is now."""
        return Moment(number, passed, self.database.state(), self.plan.schema, self.counted())

    def counted(self) -> dict[str, Any]:
        """What each rate has counted, by its name."""
        return {name: rate.counts() for name, rate in self._rates.items()}

    def stored(self) -> tuple[str, ...]:
        """The rows that there are, as JSON."""
        return tuple(sorted(row for _, row in self._rows()))

    def put(self, moment: Moment) -> None:
        """Be as it was at a moment of this service, or of another one of much the same contract."""
        self._due = moment
        self.at(moment)
        if self.service.timers is not None:
            self.service.timers.wake()

    def _put_back(self, moment: Moment) -> None:
        state, memory = id(moment.state), self._memory
        if self._there == (state, memory.changes):
            return
        if not memory.has_shape_of(moment.schema):
            if state not in self._carried:
                memory.carry(moment.state, moment.schema)
                self._carried[state] = memory.state()
            else:
                memory.restore(self._carried[state])
        else:
            memory.restore(moment.state)
        self._there = (state, memory.changes)

    def at(self, moment: Moment) -> None:
        """The same time, the same bytes by chance, and the same counts: the next request comes then."""
        self._sources.at(moment.number, moment.passed)
        for name, rate in self._rates.items():
            rate.resume(moment.counted.get(name))

    def ask(self, told: Told, moment: Moment, notes: Notes | None = None) -> Seen:
        """Put a request at a moment, as which everything already is (`put`). `notes`: what was noted of requests with
        the same head (`ninefold.runtime.request.precedents`)."""
        if told.happening == "again":
            earlier = replace(moment, number=-moment.number, passed=moment.passed - told.since)
            self.ask(replace(told, happening=None), earlier)
        self._sources.at(moment.number, moment.passed)
        if self.service.timers is not None:
            self.service.timers.wake()
        self._before = None
        first = self._begun(told) if told.happening == "in progress" else None
        headers = dict(told.headers)
        x = arrived(self.service, Request(told.method, told.path, told.query, headers, ADDRESS, notes=notes))
        try:
            response = open_to_origins(x, finished(x, self._answer(x, told, told.happening)))
            if isinstance(response, Follow):
                response = followed(x, response)
        finally:
            x.release()
            if first is not None:
                first.release()
        head, content = (response.head, self._stream(response)) if isinstance(response, Follow) else (response, None)
        traced = self._tracer.traced(x, head)
        assert isinstance(traced, Response)
        before = after = frozenset[tuple[str, str]]()
        if self._before is not None and self._before[0] != self.database.changes:
            before, after = self._before[1], self._rows()
        return Seen(
            status=head.status,
            headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers),
            body=b"" if told.method == "HEAD" else head.body if content is None else content,
            rows=tuple(sorted(after - before)),
            gone=tuple(sorted(before - after)),
            endpoint=x.route,
            trace=dict(traced.headers)[TRACE].decode("ascii"),
        )

    def close(self) -> None:
        self.database.close()

    # The loop of `ninefold.runtime.http.app`, where nothing is waited for.

    def _answer(self, x: Exchange, told: Told, happening: str | None) -> Response | Follow:
        step = taken(x, lambda: start(x))
        while isinstance(step, Wait):
            if isinstance(step.work, Select | Recall | Transact | Sweep):
                match happening:
                    case "timed out" if self.service.seconds is not None:
                        return timed_out(x)
                    case "internal":
                        return only(x, "internal")
            try:
                if happening == "unavailable" and isinstance(step.work, Select | Recall | Transact | Sweep):
                    raise Unavailable("so it is asked for")
                result = self._done(step.work, told)
            except Exception as error:
                step = recovered(x, error)
            else:
                resume = step.resume
                step = taken(x, lambda resume=resume, result=result: resume(result))  # type: ignore[misc]
        return step

    def _done(self, work: Work, told: Told) -> Any:
        match work:
            case Select(text, binds):
                return self.database.select(text, binds)
            case Recall(read=read, make=make):
                return make(self.database.select(*read()))
            case Transact(function) | Sweep(function, _):
                if self._before is None:
                    self._before = self.database.changes, self._rows()
                return self.database.transact(function)
            case ReadBody(limit):
                return told.body if len(told.body) <= limit else TooLarge.TOO_LARGE
            case Compute(function) | Beside(function):
                with of_nobody():
                    return function()
            case Fetch(url, take):
                result = self._fetch(url)
                take(result)
                return result
            case Invoke():
                return Failed(LookupError("a rehearsal is given no functions"))
            case SelectAsOne() | Share() | Ask():
                raise ValueError("a rehearsal shares its database with nobody")
            case _:
                assert_never(work)

    def _begun(self, told: Told) -> Exchange:
        """The same request, which has come as far as its idempotency key and no further."""
        x = arrived(self.service, Request(told.method, told.path, told.query, dict(told.headers), ADDRESS))
        step: Next = taken(x, lambda: start(x))
        while isinstance(step, Wait) and not (x.asked is not None and x.asked.holds):
            step = step.resume(self._done(step.work, told))
        return x

    def _stream(self, response: Follow) -> bytes:
        """All that there is to say at once."""
        content, position, more = b"", response.position, True
        while more:
            standing = response.standing()
            while isinstance(standing, Asks):
                standing = standing.then(self._done(standing.work, _NOTHING))
            if not isinstance(standing, Holds):
                return content
            select = response.read(standing.env, position)
            chunk = response.show(self.database.select(select.text, select.binds), position)
            content, position, more = content + b"".join(chunk.events), chunk.position, chunk.more
        return content

    def _rows(self) -> frozenset[tuple[str, str]]:
        """Those of a moment are known from the last time that it was put back, as long as nothing is written."""
        if self._there is None or self._there[1] != self.database.changes:
            return frozenset(_written(self.database.tables()))
        state = self._there[0]
        if self._known is None or self._known[0] != state:
            self._known = state, frozenset(_written(self.database.tables()))
        return self._known[1]


_NOTHING = Told("", b"", b"", {}, b"")


def _written(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
    for table, rows in tables.items():
        for row in rows:
            yield table, json.dumps({name: _told(value) for name, value in row.items()}, default=bytes.hex)


def _told(value: Any) -> Any:
    """The hash of a password is another one each time, whoever's it is."""
    return "a password" if isinstance(value, bytes) and value.startswith(b"$argon2") else value
