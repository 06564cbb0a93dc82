"""A request that was worked out by what is left of its steps (`likewise.py`), and waits: for its transaction or its
rows, and before that, where several processes serve a database, for what all of them know.

It was worked out as if all had happened that is due, and as if its caller were who it was. That is asked first,
together with the row that is read, and then the rates count it. Where anything is otherwise nothing of it holds,
nothing has been done, and the steps are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from ninefold.plan.environment import Environment
from ninefold.runtime.messages.parameters import parse_query
from ninefold.runtime.operations.flow import Ask, Next, Select, SelectAsOne, Share, Wait
from ninefold.runtime.operations.read import Call, Read
from ninefold.runtime.operations.timers import Timers
from ninefold.runtime.request.callers import Recalled
from ninefold.runtime.request.endpoints import Admission, Endpoint
from ninefold.runtime.request.exchange import NOT_TAKEN, Asked, Content, Exchange
from ninefold.runtime.request.rates import Told
from ninefold.runtime.request.routes import Version
from ninefold.runtime.request.schemes import NOBODY, Caller
from ninefold.runtime.request.service import Service
from ninefold.runtime.request.steps import start
from ninefold.runtime.store.protocol import BoundStatement, Row
from ninefold.sql import nodes


class Handed(msgspec.Struct, frozen=True):
    """A request as the steps leave it that wait for its transaction, or for its rows. `counts`: what counts it before;
    None: no rate does, or it is counted."""

    x: Exchange
    step: Wait
    counts: Share | Ask | None = None


def asked_by(
    service: Service,
    call: Call,
    version: Version,
    endpoint: Endpoint,
    values: Sequence[str],
    caller: Caller,
    admission: Admission,
    content: Content = NOT_TAKEN,
) -> Exchange:
    """The request as the steps have it that call its operation."""
    asked, request = Asked(call, None, content), call.request
    return Exchange(
        service,
        request,
        {},
        call.env,
        version,
        endpoint,
        tuple(values),
        caller=caller,
        admission=admission,
        asked=asked,
    )


class First(msgspec.Struct, frozen=True, eq=False):
    """By what a request was worked out: it is asked first. `begun`: what is known without; `before`: who called, and
    was found by what was `recalled`. `timers`: None: nothing falls due."""

    begun: Environment
    before: Caller
    recalled: Recalled
    timers: Timers | None
    reads: tuple[BoundStatement, ...]

    def otherwise(self, now: str, rows: Sequence[list[Row]]) -> Callable[[Exchange], Next] | None:
        """The step that takes the request on from its start, where what was read before (and perhaps more) is not so;
        None: it is."""
        given = iter(rows)
        if len(rows) < len(self.reads):
            return start
        if self.timers is not None and not self.timers.is_settled_by(now, next(given)):
            return start
        if any(recall.make(next(given)) != caller for recall, caller in self.recalled):
            return start
        return None


def first_of(begun: Environment, before: Caller, recalled: Recalled, timers: Timers | None) -> First:
    due = () if timers is None else ((nodes.DUE, ()),)
    return First(begun, before, recalled, timers, (*due, *(recall.read() for recall, _ in recalled)))


def asked_first(handed: Handed, first: First) -> Handed:
    """The same once what it was worked out by is known to be so."""
    x, step, counts, begun = handed.x, handed.step, handed.counts, first.begun
    own, admission, asked = x.env, x.admission, x.asked
    reads, work = [*first.reads], step.work
    if reads and isinstance(work, Select) and admission is not None and isinstance(admission.operation, Read):
        reads.append((work.text, work.binds))
    # Until all is known it has no caller.
    x.env, x.caller, x.admission, x.asked = begun, NOBODY, None, None

    def from_its_start(take: Callable[[Exchange], Next]) -> Next:
        x.env, x.caller, x.admission, x.asked = begun, NOBODY, None, None
        x.query = parse_query(x.request.query)
        return take(x)

    def found(rows: Sequence[list[Row]]) -> Next:
        take = start if len(rows) < len(reads) else first.otherwise(own["now"], rows)
        if take is not None:
            return from_its_start(take)
        x.env, x.caller, x.admission, x.asked = own, first.before, admission, asked
        row = rows[-1] if len(reads) > len(first.reads) else None

        def then() -> Next:
            return step if row is None else step.resume(row)

        def counted(told: tuple[Told, ...]) -> Next:
            # Whom a rate refuses it has not counted.
            if any(each.refused for each in told):
                return from_its_start(start)
            x.told = told
            return then()

        return then() if counts is None else Wait(counts, counted)

    match reads:
        case []:
            return Handed(x, _as_wait(found([])))
        case [(text, binds)]:
            return Handed(x, Wait(Select(text, binds), lambda rows: found([rows])))
        case _:
            return Handed(x, Wait(SelectAsOne(tuple(reads)), found))


def _as_wait(step: Next) -> Wait:
    assert isinstance(step, Wait), "it waits for what counts it, or for what it waited for"
    return step
