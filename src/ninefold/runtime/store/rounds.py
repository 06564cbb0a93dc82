"""What the processes that serve one database ask of a server together: all that waits is one round, and of states that
all count on each round is one way there and back, as long as nobody else has changed what it changes."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop, Future
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from time import monotonic_ns
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.cache import Cache
from ninefold.runtime.store.protocol import Changes, Unavailable

MOST: Final = 10_000
"""What may wait for a round."""

KNOWN: Final = 100_000
"""States that are remembered: more than those of a round, which could else push each other out for ever."""

ANSWER_SECONDS: Final = 10.0
"""How long a server may take for what is no work. After that the connection counts as lost."""


class Connected(Protocol):
    """A connection to a server."""

    @property
    def is_lost(self) -> bool: ...

    def within(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Where what is asked takes longer, it is lost. Raises Unavailable then."""

    def drop(self) -> None:
        """End it at once."""


C = TypeVar("C", bound=Connected)
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Asked(Generic[T]):
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


class Rounds(Generic[C, T]):
    """All that is asked for while one round goes on is the next. Belongs to one event loop."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[C]],
        loop: AbstractEventLoop,
        make: Callable[[C, list[Asked[T]]], Awaitable[None]],
        meaning: Callable[[Exception], Exception],
    ) -> None:
        """`meaning`: of what is raised, to those who have asked."""
        self.loop = loop
        self._connect = connect
        self._make = make
        self._meaning = meaning
        self._waiting: list[Asked[T]] = []
        self._woken = asyncio.Event()
        self._task = loop.create_task(self._live())

    def ask(self, of: T) -> Future[Any]:
        """Raises Unavailable."""
        if len(self._waiting) >= MOST:
            raise Unavailable("too many wait for what nodes have together")
        future: Future[Any] = self.loop.create_future()
        self._put(Asked(of, future))
        return future

    def tell(self, of: T) -> None:
        """The same where nobody waits for it."""
        self._put(Asked(of, None))

    def _put(self, asked: Asked[T]) -> None:
        self._waiting.append(asked)
        self._woken.set()

    async def _live(self) -> None:
        """A loop that ends cancels this: connections end with their loop."""
        link: C | None = None
        try:
            while True:
                await self._woken.wait()
                self._woken.clear()
                asked, self._waiting = self._waiting, []
                try:
                    if link is None or link.is_lost:
                        link = await self._connect()
                    async with link.within(ANSWER_SECONDS):
                        await self._make(link, asked)
                except Exception as error:
                    for each in asked:
                        each.give(None, self._meaning(error))
        finally:
            if link is not None:
                link.drop()

    def close(self) -> None:
        if not self.loop.is_closed():
            # Whoever closes may be another thread.
            self.loop.call_soon_threadsafe(self._task.cancel)


# ── States that all count on ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Change:
    names: tuple[bytes, ...]
    work: Changes[Any]


@dataclass(frozen=True, slots=True)
class Swapped:
    """`moment`: the server's time, in nanoseconds since 1970. `held`: the states of what was asked, where these were
    not as they were said to be; None: they were."""

    moment: int
    held: Mapping[bytes, bytes] | None


Swap: TypeAlias = Callable[[C, Mapping[bytes, bytes | None], Mapping[bytes, tuple[bytes, int]]], Awaitable[Swapped]]
"""Writes some states, each with the time until which it is kept, where those are as they are said to be."""


class States(Generic[C]):
    """States that a server keeps by their names (`ninefold.runtime.store.protocol.Nodes.change`)."""

    def __init__(
        self, connect: Callable[[], Awaitable[C]], swap: Swap[C], meaning: Callable[[Exception], Exception]
    ) -> None:
        self._connect, self._swap, self._meaning = connect, swap, meaning
        self._rounds: Rounds[C, _Change] | None = None
        self._ahead: int | None = None
        """Nanoseconds from this machine's monotonic clock to the server's; None: nobody knows yet."""
        self._known: Cache[bytes, bytes | None] = Cache(KNOWN)

    def change(self, names: Sequence[bytes], work: Changes[T]) -> Future[T]:
        loop = asyncio.get_running_loop()
        if self._rounds is None or self._rounds.loop is not loop:
            self._rounds = Rounds(self._connect, loop, self._changed, self._meaning)
        return self._rounds.ask(_Change(tuple(names), work))

    def close(self) -> None:
        if self._rounds is not None:
            self._rounds.close()

    async def _changed(self, link: C, asked: list[Asked[_Change]]) -> None:
        """Each round one node at least comes to its end: what is found changed was changed by one that has."""
        if self._ahead is None:
            await self._swapped(link, {}, {})
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
            if await self._swapped(link, before, changed):
                break
        for each, (result, failed) in zip(asked, results, strict=True):
            each.give(result, failed)

    async def _swapped(
        self, link: C, before: Mapping[bytes, bytes | None], changed: Mapping[bytes, tuple[bytes, int]]
    ) -> bool:
        """Write what was changed, where everything is as it was before. Else it is known how it is."""
        found = await self._swap(link, before, changed)
        self._ahead = found.moment - monotonic_ns()
        if found.held is None:
            for name, (value, _) in changed.items():
                self._known.keep(name, value)
            return True
        for name in before:
            self._known.keep(name, found.held.get(name))
        return False
