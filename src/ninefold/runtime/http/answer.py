"""The one loop that does what the steps of a request wait for, until there is a response.

What need not be waited for is done at once, in the call that the request came with; else the loop goes on when what is
waited for has come, or when the request has taken too long. What is being committed is committed all the same.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias

from ninefold.runtime.http.body import Disconnected, Readable, Stalled
from ninefold.runtime.http.capacity import SAFE
from ninefold.runtime.http.work import is_much, size_of
from ninefold.runtime.http.works import Works
from ninefold.runtime.messages.message import Response
from ninefold.runtime.operations import flow
from ninefold.runtime.operations.flow import (
    Follow,
    Next,
    Select,
    Sweep,
    Transact,
    Wait,
    Work,
)
from ninefold.runtime.request.behind import places
from ninefold.runtime.request.exchange import Exchange, timed_out
from ninefold.runtime.request.foresight import foreseen
from ninefold.runtime.request.steps import recovered, start, taken
from ninefold.runtime.store.protocol import Unavailable

STALLED = Response(408, ((b"connection", b"close"),))
"""RFC 9110 15.5.9."""

Finished: TypeAlias = Response | Follow | None
"""None: the client went away before there was a response."""


class Answer:
    """The steps of one request, taken until there is a response. `over`: there is one, or nobody waits for it."""

    __slots__ = (
        "_awaited",
        "_body",
        "_deadline",
        "_given_up",
        "_held",
        "_much",
        "_told",
        "_waits",
        "_works",
        "over",
        "response",
        "x",
    )

    def __init__(self, works: Works, x: Exchange, body: Readable, deadline: float | None = None) -> None:
        """`deadline`: a time of the event loop; None: the timeout begins with what is waited for first."""
        self.x = x
        self.response: Finished = None
        self.over = False
        self._works = works
        self._body = body
        self._much = False
        self._held = 0
        self._awaited: Future[Any] | None = None
        self._given_up: Callable[[], None] | None = None
        self._deadline = deadline
        self._waits = False
        self._told: Callable[[], object] | None = None

    def begin(self, step: Next | None = None) -> None:
        """`step`: how far the request has come already; None: it is at its start."""
        self._go_on(taken(self.x, partial(start, self.x)) if step is None else step)

    def tell(self, told: Callable[[], object]) -> None:
        """Call this once it is over, which it is not yet."""
        self._told = told

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        self._told = None
        self._end(None)

    def _end(self, response: Finished) -> None:
        self.over, self.response = True, response
        self._wait_no_more()
        if self._awaited is not None:
            self._awaited.cancel()
            self._awaited = None
        if self._held:
            self._works.capacity.release(self._held)
            self._held = 0
        if self._given_up is not None:
            given_up, self._given_up = self._given_up, None
            given_up()
        # Nobody who is told once is kept: who waits for it keeps it, and a circle is found late, and at a price.
        if self._told is not None:
            told, self._told = self._told, None
            told()

    def _go_on(self, step: Next) -> None:
        x, works = self.x, self._works
        while isinstance(step, Wait):
            behind = x.behind
            if behind is not None:
                step = behind.noting(step)
            work, resume = step.work, step.resume
            began = perf_counter()
            try:
                if isinstance(work, (Transact, Sweep)):
                    x.foreseen = {}
                    self._given_up = work.given_up if isinstance(work, Sweep) else None
                    own = places(x.caller, x.request.address) if x.service.replicated else ()
                    works.write(work, x.env["now"], partial(self._written, resume), own)
                    self._wait()
                    return
                result = foreseen(x, work)
                if result is None and behind is not None and behind.reads and isinstance(work, Select):
                    result = works.read_behind(x, behind, work)
                elif result is None:
                    result = works.begun(work, self._body, x.request.address)
            except Disconnected:
                self._end(None)
                return
            except Exception as error:
                step = self._failed(error)
                continue
            if hasattr(type(result), "__await__"):
                self._await(result, partial(self._came, step, began))
                return
            if self._is_beside(work, result, began):
                self._take_much(resume, result)
                return
            try:
                step = resume(result)
            except Exception as error:
                step = recovered(x, error)
        self._end(step)

    def _failed(self, error: Exception) -> Next:
        """What comes next where a work raises."""
        if self._given_up is not None:
            given_up, self._given_up = self._given_up, None
            given_up()
        return STALLED if isinstance(error, Stalled) else recovered(self.x, error)

    # ── What has come ─────────────────────────────────────────────────────────────────────────────────────────────

    def _written(self, resume: Callable[[Any], Next], value: Any, error: BaseException | None) -> None:
        if self.over:
            return
        if error is None:
            self._given_up = None
            if self._much:
                self._deadline = None  # it is done, and told so
                self._take_beside(resume, value)
            else:
                self._go_on(taken(self.x, partial(resume, value)))
        else:
            self._go_on(self._failed(error if isinstance(error, Exception) else RuntimeError(error)))

    def _came(self, step: Wait, began: float, awaited: Future[Any]) -> None:
        if self.over:
            return
        self._awaited = None
        if awaited.cancelled():
            self._end(timed_out(self.x))
            return
        error = awaited.exception()
        self.found(step, began, None if error is not None else awaited.result(), error)

    def found(self, step: Wait, began: float, value: Any, error: BaseException | None) -> None:
        """What a step has waited for since `began` has come, or has failed."""
        if isinstance(error, Disconnected):
            self._end(None)
        elif error is not None:
            self._go_on(self._failed(error if isinstance(error, Exception) else RuntimeError(error)))
        elif self._is_beside(step.work, value, began):
            self._take_much(step.resume, value)
        else:
            self._go_on(taken(self.x, partial(step.resume, value)))

    def _is_beside(self, work: Work, result: object, began: float) -> bool:
        """Whether the steps from here on are taken beside the others. Up to its call a request counts, and is counted:
        all of that is done on one thread."""
        if not self._much and self.x.asked is not None:
            at_once = self.x.endpoint.body_at_once
            self._much = isinstance(work, flow.Beside) or is_much(result, perf_counter() - began, at_once)
        return self._much

    def _take_much(self, resume: Callable[[Any], Next], result: Any) -> None:
        """The same with what was found, which counts until there is a response: where many ask for much at once, it is
        found sooner than anything is made of it."""
        size, capacity = size_of(result), self._works.capacity
        if size and self.x.request.method in SAFE and not capacity.has_room_for(size):
            self._go_on(self._failed(Unavailable("too many rows wait to be shown")))
            return
        capacity.bytes += size
        self._held += size
        self._take_beside(resume, result)

    def _take_beside(self, resume: Callable[[Any], Next], result: Any) -> None:
        """They are taken to their end once they have begun."""
        self._wait()
        deadline = self._deadline
        self._wait_no_more()
        take = partial(taken, self.x, partial(resume, result))
        self._awaited = asyncio.ensure_future(self._works.thread.taken(take, deadline))
        self._awaited.add_done_callback(self._taken_beside)

    def _taken_beside(self, awaited: Future[Next]) -> None:
        if self.over:
            return
        self._awaited = None
        error = TimeoutError() if awaited.cancelled() else awaited.exception()
        if isinstance(error, TimeoutError):
            self._end(timed_out(self.x))
        elif error is not None:
            self._go_on(recovered(self.x, error if isinstance(error, Exception) else RuntimeError(error)))
        else:
            self._go_on(awaited.result())

    # ── While it is waited for ────────────────────────────────────────────────────────────────────────────────────

    def _await(self, awaitable: Awaitable[Any], came: Callable[[Future[Any]], None]) -> None:
        self._awaited = asyncio.ensure_future(awaitable)
        self._awaited.add_done_callback(came)
        self._wait()

    def _wait(self) -> None:
        """The timeout counts from the first time that something is waited for."""
        seconds = self.x.service.seconds
        if seconds is not None and not self._waits:
            self._waits, loop = True, asyncio.get_running_loop()
            if self._deadline is None:
                self._deadline = loop.time() + seconds
            self._works.deadlines.put(self, self._deadline, loop)

    def _wait_no_more(self) -> None:
        if self._waits:
            self._waits = False
            self._works.deadlines.lift(self)

    def too_late(self) -> None:
        self._waits = False
        if not self.over:
            self._end(timed_out(self.x))
