"""The writer of a database in PostgreSQL: a thread with a connection of its own, which commits together what waits
(`ninefold.runtime.store.writer`). Of several nodes one writes at a time: a transaction begins with a lock that all of
them take.

Each transaction leaves a mark (`postgresql_marks.py`). Where the connection is lost in the middle of a COMMIT, the mark
says whether it was committed: the number of a transaction would not, since one that a crash took is given again.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from operator import attrgetter, itemgetter
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from ninefold.runtime.loops import new_event_loop
from ninefold.runtime.store import postgresql_series as series
from ninefold.runtime.store import writer
from ninefold.runtime.store.postgresql_halves import Turns
from ninefold.runtime.store.postgresql_leases import Lease, writing
from ninefold.runtime.store.postgresql_link import CONNECTING_SECONDS, Link, Lost, meaning, meaning_to_a_work, words
from ninefold.runtime.store.postgresql_marks import WRITE, Marks
from ninefold.runtime.store.postgresql_nodes import CHANNEL
from ninefold.runtime.store.postgresql_servers import Servers
from ninefold.runtime.store.postgresql_serving import HeldElsewhere, Noted, Others, at_once, beside, served
from ninefold.runtime.store.postgresql_tried import each_alone, in_one
from ninefold.runtime.store.protocol import Unavailable, Yielded
from ninefold.runtime.store.writer import LEFT, Queue, Result, Waiting
from ninefold.sql import nodes
from ninefold.values import LONGEST_SUM

log = logging.getLogger("ninefold.server")

T = TypeVar("T")

PINGS: Final = 5.0
"""Seconds after which the writer asks whether its connection is there, and what time it is."""

AWAY_PINGS: Final = 0.5
"""The same while it is not."""

STALLED_SECONDS: Final = 10
"""How long a node that has begun to write may say nothing, before others write."""

PATIENCE_SECONDS: Final = 2 * STALLED_SECONDS
"""How long a node waits until it may write."""

ASKING: Final = 10
ASKING_SECONDS: Final = 0.5
"""How often, and after how many seconds, it is asked what became of a COMMIT that was not answered."""

NOTHING: Final[series.Alike] = MappingProxyType({})

_due = attrgetter("due")
_error = itemgetter(1)

Ended: TypeAlias = str | Lost
"""What a COMMIT says of itself, or that nobody heard it."""

_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


class Writer:
    """The thread that writes, with an event loop that runs while a statement does. `failing`: why the last write
    failed; None: it did not. `undone`: works that were for another's sake."""

    def __init__(
        self, servers: Servers, serves: int, tells: bool, notes: bool = False, lease: Lease | None = None
    ) -> None:
        """`serves`: a number of 31 bits, of what is served. `tells`: that something was written is told to others.
        `notes`: it is noted who has written. `lease`: what is held without a session."""
        self.batches = 0
        self.works = 0
        self.undone = 0
        self.failing: str | None = None
        self.longest = LONGEST_SUM
        self._servers = servers
        self._serves = serves
        self._noted = Noted(serves)
        self._commit = f"NOTIFY {CHANNEL}; COMMIT" if tells else "COMMIT"
        self.notes = notes
        self._lease = lease
        # A lease is looked at after all locks were given, by a statement of its own snapshot.
        self._begin = _BEGIN + "{}" + ("" if lease is None else f"; {WRITE}; {writing(serves)}")
        self._loop = new_event_loop()
        self._link: Link | None = None
        self._opened = False
        self._held: frozenset[str] = frozenset()
        self._marks = Marks(servers, lease)
        self._chained: Link | None = None
        """Where the next transaction has begun with the end of the last."""
        self._asked = 0.0
        self.queue = Queue()
        self._turns = Turns(self.queue, self._loop)
        self._thread: Thread | None = None

    def begin(self, opening: Callable[[Link, AbstractEventLoop], T], waits: bool = True) -> T:
        """Connect, and do what opens the database, then live. `waits`: for who was lost and may come back. Raises what
        that raises, and HeldElsewhere."""
        # In a thread of its own, since the caller may be within an event loop.
        found: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

        def live() -> None:
            try:
                made = opening(self._first_connected(waits), self._loop)
            except BaseException as error:
                self._close()
                found.put((None, error))
                return
            self._opened = True
            found.put((made, None))
            self._live()

        self._thread = Thread(target=live, name="ninefold-writer", daemon=True)
        self._thread.start()
        made, error = found.get()
        if error is not None:
            raise error
        return made  # type: ignore[no-any-return]

    def hold_back(self, names: Iterable[str]) -> None:
        """What is refused for the sake of another contract (`Link.held`) is unavailable."""
        self._held = frozenset(names)
        self._connected().held = self._held

    def stop(self) -> None:
        """Do what was accepted, then end, unless PostgreSQL says nothing for so long."""
        self.queue.end()
        if self._thread is not None:
            self._thread.join(CONNECTING_SECONDS)

    def _live(self) -> None:
        yielding: list[Waiting] = []
        until = 0.0
        while yielding or not self.queue.ended:
            batch = yielding or self._turns.batch()
            if batch:
                until = until if yielding else monotonic() + PATIENCE_SECONDS
                yielding = self._answered(batch, monotonic() < until)
            elif batch is None:
                self._unchain()
            if not self.queue.ended:
                self._look()
        self._turns.answer()
        self._close()

    def _answered(self, batch: list[Waiting], may_yield: bool) -> list[Waiting]:
        """Those that have yielded to another transaction, and are to be done once more; to the rest it is owed what
        came of it."""
        results = self._committed(batch)
        if Yielded not in set(map(type, map(_error, results))):
            self._turns.owe(batch, results)
            return []
        settled: list[tuple[Waiting, Result]] = []
        yielding: list[Waiting] = []
        for waiting, result in zip(batch, results, strict=True):
            error = result[1]
            self.undone += isinstance(error, Yielded)
            if not waiting.again or not isinstance(error, Yielded):
                settled.append((waiting, result))
            elif may_yield:
                yielding.append(waiting)
            else:
                settled.append((waiting, (None, Unavailable(str(error)))))
        self._turns.owe([waiting for waiting, _ in settled], [result for _, result in settled])
        return yielding

    def _close(self) -> None:
        if (link := self._link) is not None:
            self._loop.run_until_complete(self._leave(link))
        self._loop.close()

    async def _leave(self, link: Link) -> None:
        if self._opened and self._lease is None:
            with suppress(Exception):  # who begins with another contract waits for it then
                async with link.within(CONNECTING_SECONDS):
                    await link.execute("COMMIT; " * (self._chained is link) + at_once(self._noted.ends()))
        await link.close()

    def _look(self) -> None:
        """Whether the connection is there, and what time it is there, now and then."""
        if monotonic() - self._asked < (PINGS if self.failing is None else AWAY_PINGS):
            return
        try:
            link = self._connected()
            try:
                self._await(self._servers.look_at_clock(link))
            except BaseException:
                link.drop()
                raise
        except Exception as error:
            self.failing = words(error)
        else:
            self.failing = None
        self._asked = monotonic()

    def _await(self, waited: Awaitable[T]) -> T:
        """What comes of it. Nobody to whom an answer is owed waits for it."""
        self._turns.answer()
        return self._loop.run_until_complete(waited)

    def _first_connected(self, waits: bool) -> Link:
        """The same, with some patience."""
        since: dict[bool, float] = {}
        while True:
            try:
                return self._connected()
            except HeldElsewhere as error:
                if error.lost and error.lost not in since and waits:
                    log.warning("%s: it is waited for", error)
                if monotonic() > since.setdefault(error.lost, monotonic()) + error.patience(waits):
                    raise
            self._await(asyncio.sleep(0.1))

    def _connected(self) -> Link:
        """Raises HeldElsewhere, or what a `Link` does."""
        if self._link is None or self._link.is_lost:
            bounds = {
                "idle_in_transaction_session_timeout": f"{STALLED_SECONDS}s",
                "lock_timeout": f"{PATIENCE_SECONDS}s",
            }
            link = self._await(self._servers.open(bounds))
            try:
                if (others := self._await(self._beside(link))) is not None:
                    raise HeldElsewhere(others)
            except BaseException:
                self._await(link.close())
                raise
            link.held = self._held
            self._link = link
        return self._link

    async def _beside(self, link: Link) -> Others | None:
        """Those who keep this one from serving."""
        if self._lease is not None:
            return None if self._lease.node else await beside(link, self._serves)
        others = await served(link, self._serves, self._opened)
        if others is None and self._opened:
            await link.execute(at_once(self._noted.begins()))
        return others

    def note(self, ask: Callable[..., list[Any]]) -> None:
        """That this process serves: in the transaction that opens the database, at its end."""
        if self._lease is None:
            ask(self._noted.begins())
        else:
            self._lease.take(ask)

    def begun(self, marked: Sequence[Waiting] | None = None, works: series.Alike = NOTHING) -> Link:
        """A transaction that alone may write. `marked`: the works of one that says so once it is committed. `works`:
        those that are done first, by which it is said. A connection that was lost since the last one is made again,
        once. To be called on the writer's thread."""
        for last in (False, True):
            link = self._connected()
            try:
                if self._chained is not link:
                    self._await(link.execute(self._begin.format(link.local)))
                self._chained = None
                if marked is None:
                    self._await(link.run(WRITE, ()))
                    return link
                places = sorted({place for each in marked for place in each.places}) if self.notes else []
                if not self._marks.begin(link, works, places):
                    self._await(self._marks.leave(link, places))
                return link
            except Exception as error:
                link.drop()
                if last or not isinstance(error, Lost):
                    raise
        raise AssertionError("one of two attempts ends it")

    def _committed(self, batch: list[Waiting]) -> list[Result]:
        """The results, in the order of the works. If the commit fails, none of them was done."""
        end = monotonic() + writer.COMMIT_SECONDS
        try:
            link, done, ended = self._called(batch)
            try:
                known: dict[int, Result] = {}
                results = None if done is None else in_one(link, self._loop, self.longest, batch, done, known, end)
                if results is None:
                    self._await(link.execute("ROLLBACK"))
                    link = self.begun(batch)
                    end = monotonic() + writer.COMMIT_SECONDS
                    results = each_alone(link, self._loop, self.longest, batch, known, end)
                if all(error is not None for _, error in results):
                    self._await(link.execute("ROLLBACK"))
                else:
                    if ended is None:
                        self._note_due(link, batch, results)
                        ended = self._await(self._end(link))
                    self._ended(link, ended)
            except BaseException:
                if not link.is_lost:
                    self._await(link.execute("ROLLBACK"))
                raise
        except HeldElsewhere as error:
            self.failing = str(error)
            return [(None, Unavailable(self.failing))] * len(batch)
        except Exception as error:
            found = meaning_to_a_work(error)
            self.failing = str(found)
            return [(None, found)] * len(batch)
        self.batches += 1
        self.works += len(batch) - results.count(LEFT)
        self.failing = None
        return results

    def _alike(self, batch: list[Waiting]) -> series.Alike:
        """The works that are done by calls."""
        link = self._connected()
        works = series.alike(batch, link)
        if lacking := series.to_make(link, works):
            self._unchain()
            self._await(series.made(link, lacking))
        return works

    def _unchain(self) -> None:
        """A transaction that has begun with the end of the last one, and in which nothing was done, is over."""
        link, self._chained = self._chained, None
        if link is not None and not link.is_lost:
            with suppress(Exception):  # it is lost then, and another one will be made
                self._await(link.execute("COMMIT"))

    def _called(self, batch: list[Waiting]) -> tuple[Link, dict[int, Result] | None, Ended | None]:
        """A transaction that alone may write, in which those works are done that are calls, and what came of them; and
        of its end, where that is all of it. One that began with the end of the last is asked nothing before: that a
        connection was lost meanwhile the first call finds, and it is made again, once."""
        for last in (False, True):
            works, chained = self._alike(batch), self._chained
            link = self.begun(batch, works)
            try:
                done = self._loop.run_until_complete(self._calls(link, batch, works)) if works else ({}, None)
                return link, *done
            except Exception as error:
                link.drop()
                if last or chained is not link or not isinstance(error, Lost):
                    raise
        raise AssertionError("one of two attempts ends it")

    async def _calls(
        self, link: Link, batch: list[Waiting], works: series.Alike
    ) -> tuple[dict[int, Result] | None, Ended | None]:
        """What is owed is answered while PostgreSQL is at the first of them."""
        self._turns.answer_behind()
        done = await series.done(link, works, self._marks.to_leave, self.longest)
        if done is None or len(done) < len(batch) or any(map(_due, batch)):
            return done, None
        return done, await self._end(link)

    async def _end(self, link: Link) -> Ended:
        """Commit. The next transaction begins with it, and holds nothing until something comes; a pooler may give that
        another connection."""
        began = monotonic()
        try:
            ended = await link.execute(self._commit + " AND CHAIN" * (not link.pooled))
        except Lost as error:
            return error
        self._turns.committed(monotonic() - began)
        return ended

    def _ended(self, link: Link, ended: Ended) -> None:
        """What came of a COMMIT. Where the connection was lost meanwhile, what the transaction has left says whether it
        was committed. Raises Lost."""
        if isinstance(ended, Lost):
            if not self._was_committed():
                raise ended
        elif ended != "COMMIT":
            # That is all that PostgreSQL says where a statement of it had failed.
            raise RuntimeError("a transaction that could not go on was to be committed")
        else:
            self._chained = None if link.pooled else link

    def _was_committed(self) -> bool:
        """Whether the last transaction was, as far as it can be found out."""
        for _ in range(ASKING):
            try:
                link = self.begun()
                found = self._await(self._marks.is_left(link))
                self._await(link.execute("COMMIT"))
            except Exception as error:
                if not isinstance(error, HeldElsewhere) and not isinstance(meaning(error), Unavailable):
                    raise
                self._await(asyncio.sleep(ASKING_SECONDS))
            else:
                return found
        log.error("it is not known whether what was written last was committed")
        return False

    def _note_due(self, link: Link, batch: list[Waiting], results: list[Result]) -> None:
        """Other nodes read from when on something may be due of what was written."""
        due = [each.due for each, (_, error) in zip(batch, results, strict=True) if each.due and error is None]
        if due:
            self._await(link.run(nodes.WRITTEN, (min(due),)))
