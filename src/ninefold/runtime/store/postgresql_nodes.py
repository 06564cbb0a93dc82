"""What the processes that serve one database in PostgreSQL, its nodes, have together beside its rows: work that one of
them does, names that one of them holds, states that all of them count on.

A node that dies holds nothing any more: what it held are advisory locks of its connections. Those of one loop ask
together, so that however many wait, one statement is under way.
"""

from __future__ import annotations

import asyncio
from asyncio import Future, Task
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store.postgresql_link import Link, meaning
from ninefold.runtime.store.postgresql_servers import Servers
from ninefold.runtime.store.protocol import Changes
from ninefold.runtime.store.rounds import ANSWER_SECONDS, Asked, Rounds, States, Swapped

T = TypeVar("T")

TURN_SECONDS: Final = 1.0
"""After so many a node asks again whether it may do what another does; and whether its connection is there."""

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


@dataclass(frozen=True, slots=True)
class _Holding:
    key: int
    takes: bool


class Nodes:
    """`ninefold.runtime.store.protocol.Nodes`."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._states = States(self._connected, _swap, meaning)
        self._names: Rounds[Link, _Holding] | None = None
        self._holds: tuple[object, set[int]] = (None, set())

    def close(self) -> None:
        self._states.close()
        if self._names is not None:
            self._names.close()

    async def _connected(self) -> Link:
        return await self._servers.open(_KEPT_ALIVE)

    # ── Work that one node does ───────────────────────────────────────────────────────────────────────────────

    async def share(self, ring: Callable[[], None], jobs: Mapping[str, Job]) -> None:
        try:
            await self._share(await self._servers.open(_KEPT_ALIVE), ring, jobs)
        except Exception as error:
            raise meaning(error) from error

    async def _share(self, link: Link, ring: Callable[[], None], jobs: Mapping[str, Job]) -> None:
        running: dict[str, Task[None]] = {}
        try:
            await self._hear(link, ring)
            while True:
                async with link.within(ANSWER_SECONDS):
                    for name in jobs.keys() - running.keys():
                        if await self._alone(link, name):
                            running[name] = asyncio.create_task(jobs[name]())
                    await self._look(link, running.keys())
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

    async def _hear(self, link: Link, ring: Callable[[], None]) -> None:
        await link.listen(CHANNEL, ring)

    async def _alone(self, link: Link, name: str) -> bool:
        return bool(await link.value(_ALONE, name))

    async def _look(self, link: Link, names: Collection[str]) -> None:
        """Whether this node still holds what it works for. Raises Unavailable."""
        await link.value("SELECT 1")

    # ── Names that one node holds ─────────────────────────────────────────────────────────────────────────────

    async def hold(self, name: bytes, patient: bool = False) -> Callable[[], None] | None:
        loop = asyncio.get_running_loop()
        if self._names is None or self._names.loop is not loop:
            self._names = Rounds(self._connected, loop, self._held, meaning)
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

    async def _held(self, link: Link, asked: list[Asked[_Holding]]) -> None:
        before, held = self._holds
        if (holder := self._holder(link)) != before:
            held = set()
            self._holds = holder, held
        freed = [each.of.key for each in asked if not each.of.takes and each.of.key in held]
        if freed:
            held.difference_update(freed)
            await self._free(link, freed)
        wanted = [each for each in asked if each.of.takes]
        if wanted:
            found = await self._taken(link, [each.of.key for each in wanted])
            held.update(found)
            for each in wanted:
                each.give(each.of.key in found)

    def _holder(self, link: Link) -> object:
        """What is held is held as long as this is the same."""
        return link

    async def _free(self, link: Link, keys: list[int]) -> None:
        await link.records(_FREE, keys)

    async def _taken(self, link: Link, keys: list[int]) -> Collection[int]:
        """Those that this node holds now."""
        return {key for key, taken in await link.records(_HOLD, keys) if taken}

    # ── States that all count on ──────────────────────────────────────────────────────────────────────────────

    def change(self, names: Sequence[bytes], work: Changes[T]) -> Future[T]:
        return self._states.change(names, work)


async def _swap(
    link: Link, before: Mapping[bytes, bytes | None], changed: Mapping[bytes, tuple[bytes, int]]
) -> Swapped:
    values, untils = [value for value, _ in changed.values()], [until // 1000 for _, until in changed.values()]
    [found] = await link.records(_SWAP, list(before), list(before.values()), list(changed), values, untils)
    moment = int(found["moment"]) * 1000
    if found["swapped"]:
        return Swapped(moment, None)
    return Swapped(moment, dict(zip(found["names"] or (), found["held"] or (), strict=True)))


def _has_come(done: Future[Any]) -> bool:
    return not done.cancelled() and done.exception() is None and bool(done.result())
