"""Responses that go on: what is sent of them, for as long as the client listens and may.

Nothing is held for a client but its position. While it does not read, nothing is read for it; one that does not read
for too long is cut off, and can resume from what it has.

Those who have all that there is wait, and do nothing. When the log grows one looks for all of them, and finds whom it
may concern (`operations/audience.py`): each such audience is asked once whether it may still listen, and read for once,
and what audiences read alike is read once. The others have been told all that there is without being asked.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Future, Task
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable
from itertools import chain, takewhile
from time import perf_counter
from typing import TypeAlias

from ninefold.runtime.http.audiences import NOT_YET, Audience, Listener, Waiting
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.wire import End, Wire
from ninefold.runtime.http.work import Fetcher
from ninefold.runtime.operations.audience import Concerns, Index
from ninefold.runtime.operations.flow import Asks, Chunk, Fetch, Fetched, Follow, Holds, Over, Select, Unreachable
from ninefold.runtime.store.bell import SOON, Bell
from ninefold.runtime.store.protocol import Database, Row, Stored, Unavailable
from ninefold.sql.events import LAST

log = logging.getLogger("ninefold.server")

Reading: TypeAlias = Callable[[Select], Awaitable[list[Row]]]

HEARTBEAT_SECONDS = 15.0
"""Without anything sent for so long, proxies close a connection."""

SLOW_SECONDS = 30.0
"""How long a client may leave what was sent unread."""

CHECK_SECONDS = 1.0
"""How long somebody is still listened to who may not listen any more, and how long a look is put off at most."""

SHARE = 0.005
"""Of the time, what may be spent on those for whom nothing may have happened."""

SLICE = 0.005
"""Seconds after which others have their turn."""

TOGETHER = 100
"""Clients who are sent something before others have their turn."""

AT_ONCE = 1_000
"""Events of which is found at once whom they may concern."""


class Streams:
    """All responses that go on. Belongs to one event loop; to be used on its thread."""

    def __init__(self, database: Database, bell: Bell, fetcher: Fetcher, capacity: Capacity) -> None:
        self._database = database
        self._capacity = capacity
        self._bell = bell
        self._fetcher = fetcher
        self._audiences: dict[Hashable, Audience] = {}
        self._index = Index[Audience]()
        self._waiting = Waiting()
        self._by_asked: OrderedDict[Audience, None] = OrderedDict()
        """Those who were asked longest ago first."""
        self._tables: dict[str, frozenset[str]] = {}
        """Those that a statement reads."""
        self._tables_alike: dict[Concerns | None, frozenset[str]] = {}
        """Those in which callers of one kind were found last."""
        self._silent: dict[Listener, float] = {}
        """Since when nothing was sent, the longest first."""
        self._read_alike: dict[tuple[str, tuple[Stored, ...]], list[Row]] = {}
        self._looking: Task[None] | None = None
        self._seen = 0.0
        """When the log was last looked at: who may listen to what it held then is asked later than that."""

    async def follow(self, response: Follow, wire: Wire) -> int:
        """Tell what there is and what comes, until the client goes away, is too slow or may not listen any more, or the
        service stops. It has begun. Gives the bytes sent."""
        audience = self._audiences.get(response.audience)
        if audience is None or audience.is_over:
            audience = self._audiences[response.audience] = Audience(response)
            audience.tables = self._tables_alike.get(response.concerns)
            self._index.know_nothing(audience)
            self._by_asked[audience] = None
            self._by_asked.move_to_end(audience, last=False)
        audience.listeners += 1
        if self._looking is None or self._looking.done():
            self._waiting.looked = NOT_YET
            self._looking = asyncio.create_task(self._look())
        listener = Listener(audience, response.position, wire.beat_at_once)
        gone = asyncio.create_task(wire.left())
        gone.add_done_callback(lambda _: self._waiting.tell(listener, None))
        try:
            self._silent[listener] = _now()
            while await self._told(audience, listener, gone, wire):
                pass
            await wire.end(gone.result() if gone.done() else self._why(audience))
        except TimeoutError:
            await wire.end(End.SLOW)
        except Unavailable:
            await wire.end(End.UNAVAILABLE)
        finally:
            gone.cancel()
            self._silent.pop(listener, None)
            audience.listeners -= 1
            if audience.listeners == 0:
                self._index.forget(audience)
                self._waiting.apart.pop(audience, None)
                self._by_asked.pop(audience, None)
                if self._audiences.get(response.audience) is audience:
                    del self._audiences[response.audience]
        return listener.sent

    async def _told(self, audience: Audience, listener: Listener, gone: Task[End], wire: Wire) -> bool:
        """Tell of what comes next, and hold nothing of it afterwards. False: there is nothing more to say."""
        events = await self._next(audience, listener, gone)
        if events is None:
            return False
        listener.sent += await self._said(wire, events)
        self._was_sent(listener)
        return True

    async def _said(self, wire: Wire, events: tuple[bytes, ...]) -> int:
        """Tell of events, or give a sign of life, and wait until it is taken: the bytes of it, which count until then.
        Raises TimeoutError, or Unavailable where there is no room: whoever is told little always has some."""
        size = sum(map(len, events))
        self._capacity.hold_of_stream(size)
        try:
            async with asyncio.timeout(SLOW_SECONDS):
                return await (wire.say(events) if events else wire.beat())
        finally:
            self._capacity.release(size)

    def _was_sent(self, listener: Listener) -> None:
        del self._silent[listener]
        self._silent[listener] = _now()

    def _why(self, audience: Audience) -> End:
        if audience.standing is Over.FAILED:
            return End.FAILED
        return End.REFUSED if audience.is_over else End.STOPPING

    async def _next(self, audience: Audience, listener: Listener, gone: Task[End]) -> tuple[bytes, ...] | None:
        """The events to be told next; None: there is nothing more to say."""
        while not gone.done() and not self._bell.closed and not audience.is_over:
            # Whoever was told what all who wait were told waits with them, and is told with them what comes.
            last = self._waiting.looked if listener.position >= self._waiting.looked else await self._last()
            if listener.position >= last or not isinstance(await self._standing(audience), Holds):
                return await self._idle(audience, listener, gone)
            chunk = await self._chunk(audience, listener.position, last, self._rows)
            listener.position = chunk.position if chunk.more else max(chunk.position, last)
            if chunk.events:
                return chunk.events
            await asyncio.sleep(0)
        return None

    async def _idle(self, audience: Audience, listener: Listener, gone: Task[End]) -> tuple[bytes, ...] | None:
        if gone.done() or self._bell.closed or audience.is_over:
            return None
        listener.told = asyncio.get_running_loop().create_future()
        self._waiting.wait(listener)
        try:
            return await listener.told
        finally:
            listener.told = None
            self._waiting.wait_no_more(listener)

    # ── For all who wait ──────────────────────────────────────────────────────────────────────────────────────

    async def _look(self) -> None:
        """Look at the log for all who wait, as long as there is anybody. What comes soon is waited for, and read at
        once with what came before it; where nothing did, the bell is waited for."""
        checked = _now()
        while self._audiences:
            spent: float | None = None
            try:
                if _now() - checked >= CHECK_SECONDS:
                    checked = _now()
                    await self._check()
                    await self._beat()
                last = await self._last()
                if last != self._waiting.looked:
                    spent = await self._go_on(last)
            except Unavailable:
                pass  # it is looked at again soon
            except Exception as error:
                log.error("streams could not be told what there is", exc_info=error)
            if self._bell.closed:
                await self._tell([each for audience in self._audiences.values() for each in audience.waiting], None)
                return
            if spent is None:
                await self._heard()
            else:
                await asyncio.sleep(min(max(SOON, spent / SHARE), CHECK_SECONDS))

    async def _go_on(self, last: int) -> float:
        """Tell those whom it may concern what there is up to a position, or up to one before it. Gives the seconds
        spent on those for whom there was nothing."""
        spent, rows = 0.0, dict[Concerns, list[Row]]()
        if self._waiting.looked != NOT_YET:
            last = min(last, self._waiting.looked + AT_ONCE)
            for audience in self._index.doubt(self._database.state):
                audience.asked = (-1, audience.asked[1])
            # Who may not be what they were is asked first: most of them are.
            doubted = [each for each in self._index.unknown if each.of.concerns is not None]
            spent = await self._for_each(doubted, self._waiting.looked)
            for concerns in self._index.concerns:
                rows[concerns] = await self._rows(Select(*concerns.bound(self._waiting.looked, last)))
        # From here on until the position is moved nobody else has a turn: whoever comes to wait is asked, or told.
        concerned = dict.fromkeys((*self._waiting.apart, *self._index.concerned(rows)))
        if self._waiting.looked != NOT_YET:
            for audience in concerned:
                self._waiting.stay(audience)
        self._waiting.looked = last
        return spent + await self._for_each(concerned, last)

    async def _heard(self) -> None:
        """Wait until the log may have grown, and not for long."""
        heard = self._bell.heard()
        try:
            await asyncio.wait({heard}, timeout=CHECK_SECONDS)
        finally:
            heard.cancel()

    async def _check(self) -> float:
        """Ask those again who were asked longest ago, as many as there is time for; and tell those who could not be
        told. Who was asked just now need not be. Gives the seconds spent."""
        before = _now() - CHECK_SECONDS / 2
        behind = [each for each in self._waiting.apart if each.asked[1] <= before]
        oldest = takewhile(lambda each: each.asked[1] <= before, tuple(self._by_asked))
        return await self._for_each(chain(behind, oldest), self._waiting.looked, SHARE * CHECK_SECONDS)

    async def _for_each(self, audiences: Iterable[Audience], last: int, most: float | None = None) -> float:
        """Tell each what there is up to `last`, a little at a time. Gives the seconds spent on those for whom there was
        nothing; after `most` the others wait for the next time."""
        began, spent = perf_counter(), 0.0
        for audience in audiences:
            at = perf_counter()
            try:
                there_was = await self._for_one(audience, last)
            except Unavailable:
                raise
            except Exception as error:
                log.error("a stream could not go on", exc_info=error)
                there_was = await self._over(audience, Over.FAILED)
            if not there_was:
                spent += perf_counter() - at
                if most is not None and spent >= most:
                    break
            if perf_counter() - began >= SLICE:
                # What others write meanwhile is not as it was read.
                self._read_alike.clear()
                await asyncio.sleep(0)
                began = perf_counter()
        self._read_alike.clear()
        return spent

    async def _for_one(self, audience: Audience, last: int) -> bool:
        """Whether there was something to tell."""
        if await self._standing(audience) is Over.ENDED:
            return await self._over(audience, Over.ENDED)
        told = False
        while (position := min(audience.groups, default=last)) < last:
            if not isinstance(await self._standing(audience), Holds):
                break
            chunk = await self._chunk(audience, position, last, self._alike)
            group = audience.groups.get(position)
            if group is None:
                continue  # they have all left
            listeners = tuple(group.listeners)
            self._waiting.move(audience, group, chunk.position if chunk.more else max(chunk.position, last))
            if chunk.events:
                told = True
                await self._tell(listeners, chunk.events)
            if chunk.more:
                self._read_alike.clear()
                await asyncio.sleep(0)
        if self._waiting.looked in audience.groups:
            self._waiting.move(audience, audience.groups[self._waiting.looked], self._waiting.looked)
        return told

    async def _over(self, audience: Audience, why: Over) -> bool:
        """End it for all who wait; whoever does not will see."""
        audience.standing = why
        await self._tell(audience.waiting, None)
        return True

    async def _tell(self, listeners: Iterable[Listener], events: tuple[bytes, ...] | None) -> None:
        for number, listener in enumerate(tuple(listeners), 1):
            self._waiting.tell(listener, events)
            if number % TOGETHER == 0:
                self._read_alike.clear()
                await asyncio.sleep(0)

    async def _beat(self) -> None:
        """Send a sign of life to those who were sent nothing for long."""
        due = []
        for listener, since in self._silent.items():
            if _now() - since < HEARTBEAT_SECONDS:
                break
            due.append(listener)
        for number, listener in enumerate(due, 1):
            if listener in self._silent and self._waiting.beat(listener):
                self._was_sent(listener)
            else:
                self._waiting.tell(listener, ())
            if number % TOGETHER == 0:
                await asyncio.sleep(SLICE)

    # ── What is read ──────────────────────────────────────────────────────────────────────────────────────────

    async def _standing(self, audience: Audience) -> Holds | Over:
        """Whether an audience may still listen, as of now: of the same moment it is asked once, and not before the log
        was looked at. What it may not hear of was committed, by whomever, before what it is not to hear.

        Two may ask at once, and the earlier question may be answered later: the answer to the later one counts for
        both. What is over stays over."""
        rung, moment = self._bell.rings, _now()
        if audience.is_over:
            return audience.standing
        if audience.asked[0] == rung and moment - audience.asked[1] < SOON and self._seen <= audience.asked[1]:
            return audience.standing
        state = None if audience.tables is None else self._database.state(audience.tables)
        audience.questions += 1
        question = audience.questions
        found, tables = audience.of.standing(), set[str]()
        while isinstance(found, Asks):
            if isinstance(found.work, Fetch):
                # Nobody else waits for what somebody else has to say.
                if audience.fetching is None or audience.fetching.done():
                    audience.fetching = asyncio.create_task(_fetched(self._fetcher.fetch(found.work), found))
                found = Over.UNKNOWN
            else:
                tables |= self._tables_of(found.work)
                found = found.then(await self._rows(found.work))
        if audience.is_over or question < audience.answered:
            return audience.standing
        audience.standing, audience.asked, audience.answered = found, (rung, moment), question
        if audience in self._by_asked:  # somebody still listens
            self._by_asked.move_to_end(audience)
            self._know(audience, frozenset(tables), state)
        return found

    def _know(self, audience: Audience, tables: frozenset[str], state: int | None) -> None:
        """Keep what an audience has turned out to be. `state`: of the tables in which it was found before."""
        concerns, standing = audience.of.concerns, audience.standing
        found_there = tables == audience.tables and state is not None
        audience.tables = self._tables_alike[concerns] = tables
        if found_there and state is not None and concerns is not None and isinstance(standing, Holds):
            self._index.know(audience, concerns, concerns.of_caller(standing.env), tables, state)
        else:
            self._index.know_nothing(audience)

    def _tables_of(self, select: Select) -> frozenset[str]:
        tables = self._tables.get(select.text)
        if tables is None:
            tables = self._tables[select.text] = self._database.tables(select.text, select.binds)
        return tables

    async def _chunk(self, audience: Audience, position: int, last: int, rows: Reading) -> Chunk:
        """What an audience is shown behind a position, up to the last that was there before it was found out that it
        may listen."""
        assert isinstance(audience.standing, Holds)
        found = await rows(audience.of.read(audience.standing.env, position))
        return audience.of.show([row for row in found if int(str(row[0])) <= last], position)

    async def _alike(self, select: Select) -> list[Row]:
        """The rows, which were read already for somebody else."""
        alike = (select.text, tuple(select.binds))
        rows = self._read_alike.get(alike)
        if rows is None:
            rows = self._read_alike[alike] = await self._rows(select)
        return rows

    async def _rows(self, select: Select) -> list[Row]:
        rows = self._database.select(select.text, select.binds)
        return await rows if isinstance(rows, Future) else rows

    async def _last(self) -> int:
        """The last position of the log."""
        [(last,)] = await self._rows(_LAST)
        self._seen = _now()
        return int(str(last))


_LAST = Select(LAST, ())


async def _fetched(fetching: Awaitable[Fetched | Unreachable], asks: Asks) -> None:
    asks.then(await fetching)


def _now() -> float:
    return asyncio.get_running_loop().time()
