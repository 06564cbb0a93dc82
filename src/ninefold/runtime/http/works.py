"""What requests wait for, and who does it."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Protocol, assert_never

from msgspec import Struct

from ninefold.runtime.http.body import Readable
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.deadlines import Deadlines
from ninefold.runtime.http.work import Beside, Callers, Computations, Fetcher, are_much
from ninefold.runtime.operations import flow
from ninefold.runtime.operations.flow import (
    Ask,
    Fetch,
    Invoke,
    ReadBody,
    Recall,
    Select,
    SelectAsOne,
    Share,
    Sweep,
    Transact,
    Work,
)
from ninefold.runtime.request.behind import Behind
from ninefold.runtime.request.exchange import Exchange
from ninefold.runtime.request.service import Service
from ninefold.runtime.store.bell import Bell
from ninefold.runtime.store.protocol import Database, Row, Stored, Telling, Told, TooLong, Unavailable, settling
from ninefold.runtime.store.statements import Again


class Waiting(Protocol):
    def too_late(self) -> None:
        """It has waited as long as it may."""


class Works:
    """What requests wait for, and who does it."""

    def __init__(self, service: Service, database: Database, capacity: Capacity) -> None:
        self.service = service
        self.bell = Bell(database)
        self.fetcher = Fetcher()
        self.thread = Beside()
        self.capacity = capacity
        self._database = database
        self._telling = database if isinstance(database, Telling) else None
        self._callers = Callers(capacity)
        self._computations = Computations(capacity)
        self._begun: _Begun | None = None
        self.deadlines: Deadlines[Waiting] = Deadlines(lambda waiting: waiting.too_late())

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

    def tell(self, work: Select | SelectAsOne, told: Told) -> None:
        """Tell somebody what is read, at once or later. Raises Unavailable."""
        reads = ((work.text, work.binds),) if isinstance(work, Select) else work.reads
        if self._telling is not None:
            self._telling.tell(reads, told)
            return
        found = self._select(*reads[0]) if isinstance(work, Select) else self._database.select_as_one(reads)
        if isinstance(found, Future):
            found.add_done_callback(partial(_tell, told))
        else:
            told.set_result(found or [])

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
                return self._select(text, binds)
            case SelectAsOne(reads):
                return self._database.select_as_one(reads) or []
            case Recall(kept, key, read, make):
                if kept is None:
                    rows = self._database.select(*read())
                    return _made(rows, make) if isinstance(rows, Future) else make(rows)
                found = kept.recalled(self._database, key, read, make)
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
        found = kept.recalled(self._database, work.key, work.read, work.make)
        if isinstance(found, Future):
            found.cancel()
            raise TooLong
        return found

    def again(self, work: Recall) -> Again:
        """What tells whether what was recalled, and kept, holds still."""
        assert work.kept is not None, "it depends on more than rows"
        return Again(work.kept, work.key, self._database)

    def rows_at_once(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        """The same of the rows of a read. Who then asks for what was too much gets what was begun."""
        commits, began = self._database.commits(), perf_counter()
        rows = self._database.select(text, binds)
        if type(rows) is list and not are_much(rows, perf_counter() - began):
            return rows
        self._give_up()
        self._begun = _Begun(commits, text, binds, rows)
        asyncio.get_running_loop().call_soon(self._give_up)
        raise TooLong

    def _select(self, text: str, binds: Sequence[Stored]) -> list[Row] | Future[list[Row]]:
        """What the database gives, or has begun to give. Raises Unavailable."""
        begun = self._begun
        if begun is not None and (begun.text, begun.binds) == (text, binds):
            if begun.commits is not None and begun.commits == self._database.commits():
                self._begun = None
                return begun.rows
        return self._database.select(text, binds)

    def _give_up(self) -> None:
        """Nobody asks any more for what was begun."""
        begun, self._begun = self._begun, None
        if begun is not None and isinstance(begun.rows, Future):
            begun.rows.cancel()


class _Begun(Struct, frozen=True):
    """A read that was too much at once. `commits`: how many there were before it began; None: nobody can say."""

    commits: int | None
    text: str
    binds: Sequence[Stored]
    rows: list[Row] | Future[list[Row]]


def _tell(told: Told, found: Future[Any]) -> None:
    if found.cancelled():
        return
    error = found.exception()
    if error is None:
        told.set_result(found.result())
    else:
        told.set_exception(error)


async def _made(rows: Future[list[Row]], make: Callable[[list[Row]], object]) -> object:
    return make(await rows)
