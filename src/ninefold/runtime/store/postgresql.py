"""PostgreSQL: one writer in a thread, with a connection of its own, and connections of the event loop that read.

One process serves a database at a time, as with SQLite: an advisory lock of the writer's session says so. What is
written goes through the one writer, which commits together what waits (`ninefold.runtime.store.writer`); whoever reads
sees what is committed. A connection that is lost is made again. Where it is lost in the middle of a COMMIT, PostgreSQL
is asked what became of that transaction.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, Final, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store import record
from ninefold.runtime.store.postgresql_link import LOST, PASSING, Broken, Link, Transaction, meaning, words
from ninefold.runtime.store.protocol import Answered, Row, Session, Statistics, Stored, Unavailable
from ninefold.runtime.store.writer import Queue, Result, Waiting, answer, transacted
from ninefold.values import LONGEST_SUM

log = logging.getLogger("ninefold.server")

T = TypeVar("T")

READERS: Final = 10
"""Connections that read at a time."""

WAITING: Final = 1_000
"""Reads that may wait for one of them."""

PINGS: Final = 5.0
"""Seconds without work after which the writer asks whether its connection is there."""

LOCK: Final = int.from_bytes(b"ninefold", "big", signed=True)
"""The advisory lock of the process that serves a database."""


class HeldElsewhere(Exception):
    """Another process serves the database."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A read that waits for a connection."""

    text: str
    binds: Sequence[Stored]
    future: Future[list[Row]]


class Readers:
    """The connections that read, of one event loop."""

    def __init__(self, url: str, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self.busy = 0
        self._url = url
        self._idle: list[Link] = []
        self._waiting: deque[Asked] = deque()
        self._tasks = {loop.create_task(self._until_the_end())}

    async def _until_the_end(self) -> None:
        """A loop that ends cancels what goes on in it: connections end with their loop."""
        try:
            await self.loop.create_future()
        finally:
            for link in self._idle:
                link.connection.terminate()
            self._idle.clear()

    def read(self, text: str, binds: Sequence[Stored]) -> Future[list[Row]]:
        """Raises Unavailable."""
        if len(self._waiting) >= WAITING:
            raise Unavailable("too many reads wait")
        asked = Asked(text, binds, self.loop.create_future())
        self._waiting.append(asked)
        if self.busy < READERS:
            self.busy += 1
            task = self.loop.create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return asked.future

    async def _work(self) -> None:
        """Reads what waits, one after another, then gives the connection back."""
        link: Link | None = self._idle.pop() if self._idle else None
        try:
            while self._waiting:
                asked = self._waiting.popleft()
                if asked.future.done():
                    continue
                try:
                    if link is None or link.is_lost:
                        link = await Link.open(self._url)
                    rows, _ = await link.run(asked.text, asked.binds)
                except Exception as error:
                    if not asked.future.done():
                        asked.future.set_exception(meaning(error))
                else:
                    if not asked.future.done():
                        asked.future.set_result(rows)
        finally:
            self.busy -= 1
            if link is not None and not link.is_lost:
                self._idle.append(link)

    def close(self) -> None:
        """To be called where nobody waits any more. The loop may have ended."""
        if not self.loop.is_closed():
            for task in self._tasks:
                # Whoever closes may be another thread.
                self.loop.call_soon_threadsafe(task.cancel)


class Writer:
    """The thread that writes, with an event loop that runs while a statement does. `failing`: why the last write
    failed; None: it did not."""

    def __init__(self, url: str) -> None:
        self.batches = 0
        self.works = 0
        self.failing: str | None = None
        self.longest = LONGEST_SUM
        self._url = url
        self._loop = asyncio.new_event_loop()
        self._link: Link | None = None
        self._asked = 0.0
        self.queue = Queue()
        self._thread: Thread | None = None

    def begin(self, opening: Callable[[Link, AbstractEventLoop], T]) -> T:
        """Connect, and do what opens the database, then live. Raises what that raises, and HeldElsewhere."""
        # In a thread of its own, since the caller may be within an event loop.
        found: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

        def live() -> None:
            try:
                made = opening(self._connected(), self._loop)
            except BaseException as error:
                self._end()
                found.put((None, error))
                return
            found.put((made, None))
            self._live()

        self._thread = Thread(target=live, name="ninefold-writer", daemon=True)
        self._thread.start()
        made, error = found.get()
        if error is not None:
            raise error
        return made  # type: ignore[no-any-return]

    def stop(self) -> None:
        """Do what was accepted, then end."""
        self.queue.end()
        if self._thread is not None:
            self._thread.join()

    def _live(self) -> None:
        while not self.queue.ended:
            batch = self.queue.batch()
            if batch is None:
                self._look()
            elif batch:
                answer(batch, self._commit(batch))
        self._end()

    def _end(self) -> None:
        if self._link is not None:
            self._loop.run_until_complete(self._link.close())
        self._loop.close()

    def _look(self) -> None:
        """Whether the connection is there, now and then."""
        if monotonic() - self._asked < PINGS:
            return
        try:
            self._await(self._connected().connection.execute("SELECT 1"))
        except Exception as error:
            self.failing = words(error)
        else:
            self.failing = None
        self._asked = monotonic()

    def _await(self, waited: Awaitable[T]) -> T:
        return self._loop.run_until_complete(waited)

    def _connected(self) -> Link:
        """Raises HeldElsewhere, or an error of asyncpg."""
        if self._link is None or self._link.is_lost:
            link = self._await(Link.open(self._url))
            if not self._await(link.connection.fetchval(f"SELECT pg_try_advisory_lock({LOCK})")):
                self._await(link.close())
                raise HeldElsewhere
            self._link = link
        return self._link

    def _commit(self, batch: list[Waiting]) -> list[Result]:
        """The results, in the order of the works. If the commit fails, none of them was done."""
        try:
            link, number = self._begun()
            try:
                results = self._together(link, batch) if all(each.again for each in batch) else None
                if results is None:
                    if all(each.again for each in batch):
                        self._await(link.connection.execute("ROLLBACK"))
                        link, number = self._begun()
                    results = [self._alone(link, each) for each in batch]
                self._end_of(link, number)
            except BaseException:
                if not link.is_lost:
                    self._await(link.connection.execute("ROLLBACK"))
                raise
        except HeldElsewhere:
            self.failing = "another process serves the database"
            return [(None, Unavailable(self.failing))] * len(batch)
        except Exception as error:
            found = error if isinstance(error, Unavailable) else meaning(error)
            self.failing = str(found)
            return [(None, found)] * len(batch)
        self.batches += 1
        self.works += len(batch)
        self.failing = None
        self._asked = monotonic()
        return results

    def _begun(self) -> tuple[Link, int]:
        """A transaction, and its number. A connection that was lost since the last one is made again, once."""
        for last in (False, True):
            link = self._connected()
            try:
                self._await(link.connection.execute("BEGIN"))
                return link, int(self._await(link.connection.fetchval("SELECT pg_current_xact_id()::text")))
            except PASSING:
                link.connection.terminate()
                if last:
                    raise
        raise AssertionError("one of two attempts ends it")

    def _end_of(self, link: Link, number: int) -> None:
        """Commit. Where the connection is lost meanwhile, PostgreSQL says whether it was."""
        try:
            self._await(link.connection.execute("COMMIT"))
        except LOST:
            link.connection.terminate()
            status = f"SELECT pg_xact_status('{number}'::xid8)"
            for _ in range(10):
                try:
                    found = self._await(self._connected().connection.fetchval(status))
                except (*PASSING, HeldElsewhere):
                    self._await(asyncio.sleep(0.5))
                    continue
                if found == "committed":
                    return
                if found == "aborted":
                    raise
            log.error("it is not known whether transaction %s was committed", number)
            raise

    def _together(self, link: Link, batch: list[Waiting]) -> list[Result] | None:
        """The results of works without savepoints. None: one that failed had changed something already, or left a
        transaction that cannot go on."""
        results: list[Result] = []
        for waiting in batch:
            session = Transaction(link, self._loop, self.longest, guarded=False)
            try:
                results.append((waiting.work(session), None))
            except Broken:
                return None
            except BaseException as error:
                if isinstance(error, Unavailable) and link.is_lost:
                    raise
                if session.changed:
                    return None
                results.append((None, error))
        return results

    def _alone(self, link: Link, waiting: Waiting) -> Result:
        """One work in its savepoint."""
        self._await(link.connection.execute("SAVEPOINT work"))
        try:
            result: Result = waiting.work(Transaction(link, self._loop, self.longest, guarded=True)), None
        except BaseException as error:
            if link.is_lost:
                raise Unavailable("the connection was lost") from error
            self._await(link.connection.execute("ROLLBACK TO work"))
            result = None, error
        self._await(link.connection.execute("RELEASE work"))
        return result


class PostgreSQL:
    """A database that is open (`ninefold.runtime.store.protocol.Store`)."""

    def __init__(self, url: str, key: bytes, writer: Writer) -> None:
        self._url = url
        self._key = key
        self._writer = writer
        self._readers: Readers | None = None
        self._reads = 0
        self._open = True

    def admit(self, size: int) -> None:
        self._writer.longest = max(LONGEST_SUM, size)

    def select(self, text: str, binds: Sequence[Stored]) -> Future[list[Row]]:
        """Rows of what is committed. To be called on an event loop. Raises Unavailable."""
        loop = asyncio.get_running_loop()
        if not self._open:
            raise Unavailable("the service is stopping")
        if self._readers is None or self._readers.loop is not loop:
            self._readers = Readers(self._url, loop)
        self._reads += 1
        return self._readers.read(text, binds)

    def tables(self, text: str, binds: Sequence[Stored]) -> frozenset[str]:
        return frozenset()

    def state(self, tables: Collection[str]) -> int | None:
        """Nobody can say: others may write to the same tables."""
        return None

    def transact(self, work: Callable[[Session], T]) -> Future[T]:
        return transacted(self, work)

    def write(self, work: Callable[[Session], Any], done: Answered, again: bool = False) -> None:
        self._writer.queue.put(Waiting(work, again, done, asyncio.get_running_loop()))

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._writer.stop()
        if self._readers is not None:
            self._readers.close()

    def key(self, name: str) -> bytes:
        """32 secret bytes for one use, the same as long as the database lives."""
        return record.derive(self._key, name)

    def reachable(self) -> bool:
        """Whether the connection that writes was there when it was last asked."""
        return self._open and self._writer.failing is None

    async def unwritable(self) -> str | None:
        return self._writer.failing

    def statistics(self) -> Statistics:
        busy = 0 if self._readers is None else self._readers.busy
        return Statistics(self._writer.queue.waiting, self._writer.batches, self._writer.works, 0, busy, self._reads)
