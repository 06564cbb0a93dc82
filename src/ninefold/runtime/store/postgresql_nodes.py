"""What the processes that serve one database in PostgreSQL, its nodes, have together beside its rows: work that one of
them does, names that one of them holds, states that all of them count on.

A node that dies holds nothing any more: what it held are advisory locks of its connections. Those of one loop ask
together, so that however many wait, one statement is under way.
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop, Future, Task
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from hashlib import sha256
from time import monotonic_ns
from typing import Any, Final, Generic, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.cache import Cache
from ninefold.runtime.store.postgresql_link import Link, meaning
from ninefold.runtime.store.postgresql_servers import Servers
from ninefold.runtime.store.protocol import Changes, Unavailable

T = TypeVar("T")

MOST: Final = 10_000
"""What may wait for a round."""

KNOWN: Final = 100_000
"""States that are remembered: more than those of a round, which could else push each other out for ever."""

TURN_SECONDS: Final = 1.0
"""After so many a node asks again whether it may do what another does; and whether its connection is there."""

ANSWER_SECONDS: Final = 10.0
"""How long PostgreSQL may take for what is no work. After that the connection counts as lost."""

ATTEMPTS: Final = 10
PAUSE_SECONDS: Final = 0.02
"""How often, and after how many seconds, it is asked whether a name is held that was held."""

CHANNEL: Final = "ninefold"
"""On which whoever listens is told of each commit that may have made the log longer."""

_ALONE: Final = "SELECT pg_try_advisory_lock(hashtextextended('ninefold ' || $1 || ' ' || current_schema(), 0))"
_HOLD: Final = "SELECT each, pg_try_advisory_lock(each) FROM unnest($1::bigint[]) AS wanted(each)"
_FREE: Final = "SELECT pg_advisory_unlock(each) FROM unnest($1::bigint[]) AS held(each)"
_SWAP: Final = 'SELECT * FROM "$swap"($1, $2, $3, $4, $5)'

_KEPT_ALIVE: Final = {"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3"}
"""A node that the network has lost is given up after some ten seconds, and others take its work."""

Job = Callable[[], Coroutine[Any, Any, None]]


@dataclass(slots=True, eq=False)
class _Asked(Generic[T]):
    """What waits for a round. `future` None: nobody waits for it."""

    of: T
    future: Future[Any] | None

    def give(self, result: object, error: Exception | None = None) -> None:
        if self.future is None or self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class _Rounds(Generic[T]):
    """All that is asked for while one round goes on is the next. Belongs to one event loop."""

    def __init__(
        self,
        servers: Servers,
        loop: AbstractEventLoop,
        make: Callable[[Link, list[_Asked[T]]], Awaitable[None]],
    ) -> None:
        self.loop = loop
        self._servers = servers
        self._make = make
        self._waiting: list[_Asked[T]] = []
        self._woken = asyncio.Event()
        self._task = loop.create_task(self._live())

    def ask(self, of: T) -> Future[Any]:
        """Raises Unavailable."""
        if len(self._waiting) >= MOST:
            raise Unavailable("too many wait for what nodes have together")
        future: Future[Any] = self.loop.create_future()
        self._put(_Asked(of, future))
        return future

    def tell(self, of: T) -> None:
        """The same where nobody waits for it."""
        self._put(_Asked(of, None))

    def _put(self, asked: _Asked[T]) -> None:
        self._waiting.append(asked)
        self._woken.set()

    async def _live(self) -> None:
        """A loop that ends cancels this: connections end with their loop."""
        link: Link | None = None
        try:
            while True:
                await self._woken.wait()
                self._woken.clear()
                asked, self._waiting = self._waiting, []
                try:
                    if link is None or link.is_lost:
                        link = await self._servers.open(_KEPT_ALIVE)
                    async with link.within(ANSWER_SECONDS):
                        await self._make(link, asked)
                except Exception as error:
                    for each in asked:
                        each.give(None, meaning(error))
        finally:
            if link is not None:
                link.drop()

    def close(self) -> None:
        if not self.loop.is_closed():
            # Whoever closes may be another thread.
            self.loop.call_soon_threadsafe(self._task.cancel)


@dataclass(frozen=True, slots=True)
class _Change:
    names: tuple[bytes, ...]
    work: Changes[Any]


@dataclass(frozen=True, slots=True)
class _Holding:
    key: int
    takes: bool


class Nodes:
    """`ninefold.runtime.store.protocol.Nodes`."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._states: _Rounds[_Change] | None = None
        self._names: _Rounds[_Holding] | None = None
        self._ahead: int | None = None
        """Nanoseconds from this machine's monotonic clock to PostgreSQL's; None: nobody knows yet."""
        self._known: Cache[bytes, bytes | None] = Cache(KNOWN)
        self._holds: tuple[Link | None, set[int]] = (None, set())

    def close(self) -> None:
        for rounds in (self._states, self._names):
            if rounds is not None:
                rounds.close()

    # ── Work that one node does ───────────────────────────────────────────────────────────────────────────────

    async def share(self, ring: Callable[[], None], jobs: Mapping[str, Job]) -> None:
        try:
            await self._share(await self._servers.open(_KEPT_ALIVE), ring, jobs)
        except Exception as error:
            raise meaning(error) from error

    async def _share(self, link: Link, ring: Callable[[], None], jobs: Mapping[str, Job]) -> None:
        running: dict[str, Task[None]] = {}
        try:
            await link.listen(CHANNEL, ring)
            while True:
                async with link.within(ANSWER_SECONDS):
                    for name in jobs.keys() - running.keys():
                        if await link.value(_ALONE, name):
                            running[name] = asyncio.create_task(jobs[name]())
                    await link.value("SELECT 1")
                for task in running.values():
                    if task.done():
                        task.result()
                        raise RuntimeError("what goes on until it is cancelled has ended")
                await asyncio.sleep(TURN_SECONDS)
        finally:
            # What holds the locks ends after what they are for.
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)
            await link.close()

    # ── Names that one node holds ─────────────────────────────────────────────────────────────────────────────

    async def hold(self, name: bytes, patient: bool = False) -> Callable[[], None] | None:
        loop = asyncio.get_running_loop()
        if self._names is None or self._names.loop is not loop:
            self._names = _Rounds(self._servers, loop, self._held)
        names, key = self._names, int.from_bytes(sha256(name).digest()[:8], signed=True)

        def let_go() -> None:
            names.tell(_Holding(key, takes=False))

        for _ in range(ATTEMPTS if patient else 1):
            asked = names.ask(_Holding(key, takes=True))
            try:
                if await asyncio.shield(asked):
                    return let_go
            except asyncio.CancelledError:
                # Nobody waits for it any more, and it may come all the same.
                asked.add_done_callback(lambda done: let_go() if _has_come(done) else None)
                raise
            await asyncio.sleep(PAUSE_SECONDS if patient else 0)
        return None

    async def _held(self, link: Link, asked: list[_Asked[_Holding]]) -> None:
        before, held = self._holds
        if link is not before:
            held = set()
            self._holds = link, held
        freed = [each.of.key for each in asked if not each.of.takes and each.of.key in held]
        if freed:
            held.difference_update(freed)
            await link.execute(_FREE, freed)
        wanted = [each for each in asked if each.of.takes]
        if wanted:
            found = dict(await link.fetch(_HOLD, [each.of.key for each in wanted]))
            held.update(key for key, taken in found.items() if taken)
            for each in wanted:
                each.give(found[each.of.key])

    # ── States that all count on ──────────────────────────────────────────────────────────────────────────────

    def change(self, names: Sequence[bytes], work: Changes[T]) -> Future[T]:
        loop = asyncio.get_running_loop()
        if self._states is None or self._states.loop is not loop:
            self._states = _Rounds(self._servers, loop, self._changed)
        return self._states.ask(_Change(tuple(names), work))

    async def _changed(self, link: Link, asked: list[_Asked[_Change]]) -> None:
        """Each round one node at least comes to its end: what is found changed was changed by one that has."""
        if self._ahead is None:
            await self._swap(link, {}, {})
        while True:
            assert self._ahead is not None
            now = self._ahead + monotonic_ns()
            before = {name: self._known.get(name) for each in asked for name in each.of.names}
            states, changed = dict(before), dict[bytes, tuple[bytes, int]]()
            results: list[tuple[object, Exception | None]] = []
            for each in asked:
                try:
                    new, result = each.of.work({name: states[name] for name in each.of.names}, now)
                except Exception as error:
                    results.append((None, error))
                    continue
                changed |= new
                states |= {name: value for name, (value, _) in new.items()}
                results.append((result, None))
            if await self._swap(link, before, changed):
                break
        for each, (result, failed) in zip(asked, results, strict=True):
            each.give(result, failed)

    async def _swap(
        self, link: Link, before: Mapping[bytes, bytes | None], changed: Mapping[bytes, tuple[bytes, int]]
    ) -> bool:
        """Write what was changed, where everything is as it was before. Else it is known how it is."""
        values, untils = [value for value, _ in changed.values()], [until // 1000 for _, until in changed.values()]
        [found] = await link.records(_SWAP, list(before), list(before.values()), list(changed), values, untils)
        self._ahead = int(found["moment"]) * 1000 - monotonic_ns()
        if found["swapped"]:
            for name, (value, _) in changed.items():
                self._known.keep(name, value)
            return True
        there = dict(zip(found["names"] or (), found["held"] or (), strict=True))
        for name in before:
            self._known.keep(name, there.get(name))
        return False


def _has_come(done: Future[Any]) -> bool:
    return not done.cancelled() and done.exception() is None and bool(done.result())
