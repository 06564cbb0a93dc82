"""Responses that go on: what is sent of them, for as long as the client listens and may.

Nothing is held for a client but its position. While it does not read, nothing is read for it; one that does not read
for too long is cut off, and can resume from what it has.

Those who have all that there is wait, and do nothing. When the log grows one looks for all of them: each audience is
asked once whether it may still listen, and read for once, and what audiences read alike is read once.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Future, Task
from collections.abc import Awaitable, Callable, Hashable, Iterable, MutableMapping, Sequence
from time import perf_counter
from typing import Any, TypeAlias

from ninefold.database.protocol import Database, Row, Stored, Unavailable
from ninefold.server.bell import SOON, Bell
from ninefold.server.fetching import Fetcher
from ninefold.server.flow import Asks, Chunk, Fetch, Follow, Holds, Over, Select
from ninefold.sql.events import LAST

log = logging.getLogger("ninefold.server")

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Reading: TypeAlias = Callable[[Select], Awaitable[list[Row]]]

HEARTBEAT = b":\n"
"""A comment of server-sent events, which nobody is told of (WHATWG HTML 9.2.7)."""

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


class Listener:
    """One response that goes on. `position`: up to where it was told, unless it waits. `told`: done with what is to be
    sent next, or with None when there is nothing more to say; None: it does not wait."""

    __slots__ = ("position", "told", "waits_in")

    def __init__(self, position: int) -> None:
        self.position = position
        self.told: Future[bytes | None] | None = None
        self.waits_in: Group | None = None

    def tell(self, content: bytes | None) -> None:
        if self.told is not None and not self.told.done():
            self.told.set_result(content)


class Group:
    """Those of an audience who wait, and were told up to the same position."""

    __slots__ = ("listeners", "position")

    def __init__(self, position: int) -> None:
        self.position = position
        self.listeners: set[Listener] = set()


class Audience:
    """Those who see the same. `groups`: who waits, by position. `standing` is as of `asked`: how often the bell had
    rung, and when."""

    def __init__(self, of: Follow) -> None:
        self.of = of
        self.listeners = 0
        self.groups: dict[int, Group] = {}
        self.standing: Holds | Over = Over.UNKNOWN
        self.asked: tuple[int, float] = (-1, 0.0)
        self.fetching: Task[None] | None = None

    def waits(self, listener: Listener) -> None:
        group = self.groups.get(listener.position)
        if group is None:
            group = self.groups[listener.position] = Group(listener.position)
        group.listeners.add(listener)
        listener.waits_in = group

    def waits_no_more(self, listener: Listener) -> None:
        group = listener.waits_in
        if group is not None:
            listener.waits_in, listener.position = None, group.position
            group.listeners.discard(listener)
            if not group.listeners and self.groups.get(group.position) is group:
                del self.groups[group.position]

    def moves(self, group: Group, position: int) -> None:
        """There was nothing to tell a group up to a position."""
        if self.groups.get(group.position) is group:
            del self.groups[group.position]
        group.position = position
        there = self.groups.get(position)
        if there is None:
            self.groups[position] = group
            return
        fewer, more = sorted((there, group), key=lambda each: len(each.listeners))
        for listener in fewer.listeners:
            listener.waits_in = more
        more.listeners |= fewer.listeners
        self.groups[position] = more


class Streams:
    """All responses that go on. Belongs to one event loop; to be used on its thread."""

    def __init__(self, database: Database, bell: Bell, fetcher: Fetcher) -> None:
        self._database = database
        self._bell = bell
        self._fetcher = fetcher
        self._audiences: dict[Hashable, Audience] = {}
        self._looked = -1
        """Up to this position those who wait have been told, but for those who could not be."""
        self._silent: dict[Listener, float] = {}
        """Since when nothing was sent, the longest first."""
        self._read_alike: dict[tuple[str, tuple[Stored, ...]], list[Row]] = {}
        self._looking: Task[None] | None = None

    async def follow(self, response: Follow, receive: Receive, send: Send) -> int:
        """Send what there is and what comes, until the client goes away, is too slow or may not listen any more, or the
        service stops. The head has been sent. Gives the bytes sent."""
        audience = self._audiences.get(response.audience)
        if audience is None or audience.standing is Over.ENDED:
            audience = self._audiences[response.audience] = Audience(response)
        audience.listeners += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        listener, sent = Listener(response.position), 0
        gone = asyncio.create_task(_gone(receive))
        gone.add_done_callback(lambda _: listener.tell(None))
        try:
            self._silent[listener] = _now()
            while (content := await self._next(audience, listener, gone)) is not None:
                async with asyncio.timeout(SLOW_SECONDS):
                    await send({"type": "http.response.body", "body": content, "more_body": True})
                sent += len(content)
                del self._silent[listener]
                self._silent[listener] = _now()
            if not gone.done():
                await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            pass  # too slow: whoever runs us closes the connection, since the response has not ended
        except Unavailable:
            pass
        finally:
            gone.cancel()
            self._silent.pop(listener, None)
            audience.listeners -= 1
            if audience.listeners == 0 and self._audiences.get(response.audience) is audience:
                del self._audiences[response.audience]
        return sent

    async def _next(self, audience: Audience, listener: Listener, gone: Task[None]) -> bytes | None:
        """What is to be sent next; None: there is nothing more to say."""
        while not gone.done() and not self._bell.closed and audience.standing is not Over.ENDED:
            # Whoever was told what all who wait were told waits with them, and is told with them what comes.
            last = self._looked if listener.position >= self._looked else await self._last()
            if listener.position >= last or not isinstance(await self._standing(audience), Holds):
                return await self._idle(audience, listener, gone)
            chunk = await self._chunk(audience, listener.position, self._rows)
            listener.position = chunk.position if chunk.more else max(chunk.position, last)
            if chunk.content:
                return chunk.content
            await asyncio.sleep(0)
        return None

    async def _idle(self, audience: Audience, listener: Listener, gone: Task[None]) -> bytes | None:
        if gone.done() or self._bell.closed or audience.standing is Over.ENDED:
            return None
        listener.told = asyncio.get_running_loop().create_future()
        audience.waits(listener)
        try:
            return await listener.told
        finally:
            listener.told = None
            audience.waits_no_more(listener)

    # ── For all who wait ──────────────────────────────────────────────────────────────────────────────────────

    async def _look(self) -> None:
        """Look at the log for all who wait, as long as there is anybody."""
        checked = _now()
        while self._audiences:
            spent = 0.0
            try:
                last = await self._last()
                if last != self._looked:
                    self._looked = last
                    spent += await self._for_each(self._audiences.values(), last)
                if _now() - checked >= CHECK_SECONDS:
                    checked = _now()
                    spent += await self._check(last)
                    await self._beat()
            except Unavailable:
                pass  # it is looked at again soon
            except Exception as error:
                log.error("streams could not be told what there is", exc_info=error)
            if self._bell.closed:
                await self._tell([each for audience in self._audiences.values() for each in _waiting(audience)], None)
                return
            await asyncio.sleep(min(max(SOON, spent / SHARE), CHECK_SECONDS))
            if not self._bell.closed and await self._nothing_new():
                await self._heard()

    async def _nothing_new(self) -> bool:
        try:
            return await self._last() == self._looked
        except Unavailable:
            return True

    async def _heard(self) -> None:
        """Wait until the log may have grown, and not for long."""
        heard = self._bell.heard()
        try:
            await asyncio.wait({heard}, timeout=CHECK_SECONDS)
        finally:
            heard.cancel()

    async def _check(self, last: int) -> float:
        """Ask those again who were asked longest ago, as many as there is time for; and tell those who could not be
        told. Who was asked just now need not be. Gives the seconds spent."""
        long_ago = [each for each in self._audiences.values() if _now() - each.asked[1] >= CHECK_SECONDS / 2]
        oldest = sorted(long_ago, key=lambda each: each.asked[1])
        return await self._for_each(oldest, last, SHARE * CHECK_SECONDS)

    async def _for_each(self, audiences: Iterable[Audience], last: int, most: float | None = None) -> float:
        """Tell each what there is up to `last`, a little at a time. Gives the seconds spent on those for whom there was
        nothing; after `most` the others wait for the next time."""
        began, spent = perf_counter(), 0.0
        for audience in tuple(audiences):
            at = perf_counter()
            try:
                there_was = await self._for_one(audience, last)
            except Unavailable:
                raise
            except Exception as error:
                log.error("a stream could not go on", exc_info=error)
                there_was = await self._over(audience)
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
            return await self._over(audience)
        told = False
        for group in [each for position, each in audience.groups.items() if position < last]:
            content, more = b"", True
            while more and not content and isinstance(await self._standing(audience), Holds):
                chunk = await self._chunk(audience, group.position, self._alike)
                content, more = chunk.content, chunk.more
                audience.moves(group, chunk.position if more else max(chunk.position, last))
                if more:
                    self._read_alike.clear()
                    await asyncio.sleep(0)
            if content:
                told = True
                await self._tell(group.listeners, content)
        return told

    async def _over(self, audience: Audience) -> bool:
        """End it for all who wait; whoever does not will see."""
        audience.standing = Over.ENDED
        await self._tell(_waiting(audience), None)
        return True

    async def _tell(self, listeners: Iterable[Listener], content: bytes | None) -> None:
        for number, listener in enumerate(tuple(listeners), 1):
            listener.tell(content)
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
            listener.tell(HEARTBEAT)
            if number % TOGETHER == 0:
                await asyncio.sleep(SLICE)

    # ── What is read ──────────────────────────────────────────────────────────────────────────────────────────

    async def _standing(self, audience: Audience) -> Holds | Over:
        """Whether an audience may still listen, as of now: of the same moment it is asked once."""
        rung, moment = self._bell.rings, _now()
        if audience.asked[0] == rung and moment - audience.asked[1] < SOON:
            return audience.standing
        found = audience.of.standing()
        while isinstance(found, Asks):
            if isinstance(found.work, Fetch):
                # Nobody else waits for what somebody else has to say.
                if audience.fetching is None or audience.fetching.done():
                    audience.fetching = asyncio.create_task(self._fetched(found.work, found))
                found = Over.UNKNOWN
            else:
                found = found.then(await self._rows(found.work))
        audience.standing, audience.asked = found, (rung, moment)
        return found

    async def _fetched(self, wanted: Fetch, asks: Asks) -> None:
        asks.then(await self._fetcher.fetch(wanted))

    async def _chunk(self, audience: Audience, position: int, rows: Reading) -> Chunk:
        """What an audience is shown behind a position. It is one that may listen."""
        assert isinstance(audience.standing, Holds)
        return audience.of.show(await rows(audience.of.read(audience.standing.env, position)), position)

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
        return int(str(last))


_LAST = Select(LAST, ())


def _waiting(audience: Audience) -> Sequence[Listener]:
    return [listener for group in audience.groups.values() for listener in group.listeners]


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _gone(receive: Receive) -> None:
    """Until the client goes away. What else it sends is not read."""
    while (await receive())["type"] != "http.disconnect":
        pass
