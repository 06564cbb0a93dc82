"""The one loop that does what the steps of a request wait for, until there is a response.

What need not be waited for is done at once, in the call that the request came with; else the loop goes on when what is
waited for has come, or when the request has taken too long. What is being committed is committed all the same.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias, assert_never

from ninefold.runtime.http.body import Disconnected, Readable, Stalled
from ninefold.runtime.http.capacity import SAFE, Capacity
from ninefold.runtime.http.deadlines import Deadlines
from ninefold.runtime.http.work import Beside, Callers, Computations, Fetcher, is_much, size_of
from ninefold.runtime.messages.message import Response
from ninefold.runtime.operations import flow
from ninefold.runtime.operations.flow import (
    Ask,
    Fetch,
    Follow,
    Invoke,
    Next,
    ReadBody,
    Recall,
    Select,
    SelectAsOne,
    Share,
    Sweep,
    Transact,
    Wait,
    Work,
)
from ninefold.runtime.request.behind import Behind, places
from ninefold.runtime.request.exchange import Exchange, timed_out
from ninefold.runtime.request.foresight import foreseen
from ninefold.runtime.request.service import Service
from ninefold.runtime.request.steps import recovered, start, taken
from ninefold.runtime.store.bell import Bell
from ninefold.runtime.store.protocol import Database, Row, Stored, TooLong, Unavailable, settling

STALLED = Response(408, ((b"connection", b"close"),))
"""RFC 9110 15.5.9."""


class Works:
    """What requests wait for, and who does it."""

    def __init__(self, service: Service, database: Database, capacity: Capacity) -> None:
        self.service = service
        self.bell = Bell(database)
        self.fetcher = Fetcher()
        self.thread = Beside()
        self.capacity = capacity
        self._database = database
        self._callers = Callers(capacity)
        self._computations = Computations(capacity)
        self.deadlines: Deadlines[Answer] = Deadlines(Answer.too_late)

    def close(self) -> None:
        """End the threads, once nothing is answered any more."""
        self.deadlines.close()
        self._computations.close()
        self.thread.close()
        self._callers.close()

    def write(
        self,
        work: Transact | Sweep,
        now: str,
        done: Callable[[Any, BaseException | None], None],
        places: tuple[int, ...] = (),
    ) -> None:
        """`now`: the time as of which it is done. `places`: of who writes. Raises Unavailable."""

        def written(value: Any, error: BaseException | None) -> None:
            self.bell.ring()
            done(value, error)

        if isinstance(work, Sweep):
            self._database.write(work.work, written, again=True)
        else:
            timers = self.service.timers
            due = None if timers is None else timers.written(now)
            self._database.write(work.work, written, work.again, due, places)

    async def read_behind(self, x: Exchange, behind: Behind, work: Select) -> list[Row]:
        """Read a replica, or, where that cannot be, from now on what it follows. Raises Unavailable."""
        replica = self._database.replica
        rows = None if replica is None else await replica.read(behind.known, work.text, work.binds)
        if rows is not None:
            return rows
        x.behind = None
        found = self._database.select(work.text, work.binds)
        return await found if isinstance(found, Future) else found

    async def beside_requests(self, work: Work, now: str) -> Any:
        """What a timer waits for where no request does."""
        if isinstance(work, Select):
            rows = self._database.select(work.text, work.binds)
            return await rows if isinstance(rows, Future) else rows
        assert isinstance(work, Sweep), "a timer waits for nothing else"
        return await self._swept(work, now)

    def _swept(self, work: Sweep, now: str) -> Future[Any]:
        future: Future[Any] = asyncio.get_running_loop().create_future()
        settle = settling(future)

        def done(value: Any, error: BaseException | None) -> None:
            if error is not None:
                work.given_up()
            settle(value, error)

        try:
            self.write(work, now, done)
        except Unavailable as error:
            done(None, error)
        return future

    def begun(self, work: Work, body: Readable, address: str) -> Any:
        """The result of a work, or what to await for it. `address`: for whom it is done."""
        match work:
            case Select(text, binds):
                # A read that nobody waits for any more is of no use to anybody: its future is not kept.
                return self._database.select(text, binds)
            case SelectAsOne(reads):
                return self._database.select_as_one(reads) or []
            case Recall(kept, key, read, make):
                if kept is None:
                    rows = self._database.select(*read())
                    return _made(rows, make) if isinstance(rows, Future) else make(rows)
                found = kept.get(self._database, key)
                if found is None:
                    found = kept.made(self._database, key, *read(), make)
                return _made(found, make) if isinstance(found, Future) else found
            case ReadBody(limit):
                return body.read(limit)
            case Fetch():
                return self.fetcher.fetch(work)
            case Invoke():
                return self._callers.begun(work)
            case flow.Beside(function):
                return self.thread.begun(function)
            case flow.Compute(function):
                return self._computations.begun(function, address)
            case Share(ask):
                nodes = self._database.nodes
                assert nodes is not None, "nobody shares this database"
                return ask(nodes)
            case Ask(ask_there):
                return ask_there()
            case Transact() | Sweep():
                raise ValueError("who waits for a write is told of it")
            case _:
                assert_never(work)

    def at_once(self, work: Work) -> Any:
        """What a read gives, where that is little and there at once. Raises TooLong where it is not, or Unavailable."""
        if isinstance(work, Select):
            return self.rows_at_once(work.text, work.binds)
        if isinstance(work, Recall):
            return self.recalled_at_once(work)
        raise TooLong

    def recalled_at_once(self, work: Recall) -> Any:
        """The same of what is made of rows."""
        kept = work.kept
        if kept is None:
            return work.make(self.rows_at_once(*work.read()))
        # While a commit goes on nobody can say whether what is kept is as it was: it is read then.
        found = kept.get(self._database, work.key)
        found = kept.made(self._database, work.key, *work.read(), work.make) if found is None else found
        if isinstance(found, Future):
            found.cancel()
            raise TooLong
        return found

    def rows_at_once(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        """The same of the rows of a read."""
        began = perf_counter()
        rows = self._database.select(text, binds)
        if isinstance(rows, Future):
            rows.cancel()
        elif not is_much(rows, perf_counter() - began):
            return rows
        raise TooLong


async def _made(rows: Future[list[Row]], make: Callable[[list[Row]], object]) -> object:
    return make(await rows)


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

    def __init__(self, works: Works, x: Exchange, body: Readable) -> None:
        self.x = x
        self.response: Finished = None
        self.over = False
        self._works = works
        self._body = body
        self._much = False
        self._held = 0
        self._awaited: Future[Any] | None = None
        self._given_up: Callable[[], None] | None = None
        self._deadline: float | None = None
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
        if isinstance(error, Disconnected):
            self._end(None)
        elif error is not None:
            self._go_on(self._failed(error if isinstance(error, Exception) else RuntimeError(error)))
        elif self._is_beside(step.work, awaited.result(), began):
            self._take_much(step.resume, awaited.result())
        else:
            self._go_on(taken(self.x, partial(step.resume, awaited.result())))

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
