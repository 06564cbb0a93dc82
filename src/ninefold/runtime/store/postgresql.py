"""PostgreSQL: one writer in a thread, with a connection of its own, and connections of the event loop that read.

What is written goes through the one writer, which commits together what waits (`ninefold.runtime.store.writer`);
whoever reads sees what is committed. Several processes ("nodes") may serve a database, each with its writer: a
transaction begins with a lock that all of them take, so that they write one after another, as one of them would. All
serve the same contract: each holds a lock that is called after its plan.

A connection that is lost is made again. Where it is lost in the middle of a COMMIT, PostgreSQL is asked what became of
that transaction.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import AbstractEventLoop, Future
from collections.abc import Awaitable, Callable, Collection, Sequence
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, Final, TypeVar

from asyncpg.exceptions import LockNotAvailableError

from ninefold.runtime.store import postgresql_series as series
from ninefold.runtime.store import record
from ninefold.runtime.store.postgresql_link import LOST, PASSING, Broken, Link, Transaction, meaning, words
from ninefold.runtime.store.postgresql_nodes import CHANNEL, Nodes
from ninefold.runtime.store.postgresql_readers import Readers
from ninefold.runtime.store.protocol import Answered, BoundStatement, Row, Session, Statistics, Stored, Unavailable
from ninefold.runtime.store.writer import Queue, Result, Waiting, answer, transacted
from ninefold.sql import nodes
from ninefold.values import LONGEST_SUM

log = logging.getLogger("ninefold.server")

T = TypeVar("T")

PINGS: Final = 5.0
"""Seconds without work after which the writer asks whether its connection is there."""

STALLED_SECONDS: Final = 10
"""How long a node that has begun to write may say nothing, before others write."""

PATIENCE_SECONDS: Final = 2 * STALLED_SECONDS
"""How long a node waits until it may write."""

SETTLING_SECONDS: Final = 3.0
"""How long a process that begins waits for one that served another contract, and has just ended."""

WRITE: Final = (
    "SELECT pg_advisory_xact_lock(hashtextextended('ninefold writes ' || current_schema(), 0)),"
    " pg_current_xact_id()::text"
)
"""Taken until the transaction ends, in the order in which it was asked for. What follows sees all that was committed
before: each statement of a transaction that is READ COMMITTED has a snapshot of its own."""

_SERVED: Final = "hashtext('ninefold serves ' || current_schema())"
_SERVE: Final = f"SELECT pg_advisory_lock_shared({_SERVED}, $1)"
_OTHERS: Final = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    f" AND classid = {_SERVED}::oid AND objid <> $1::oid"
)

_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


class HeldElsewhere(Exception):
    """Another process serves the database, of another contract."""


async def served(link: Link, serves: int) -> bool:
    """Hold, as long as the connection lasts, what is served; False: something else is. Of two that begin at once with
    different contracts at least one sees the other."""
    await link.connection.execute(_SERVE, serves)
    return not await link.connection.fetchval(_OTHERS, serves)


class Writer:
    """The thread that writes, with an event loop that runs while a statement does. `failing`: why the last write
    failed; None: it did not."""

    def __init__(self, url: str, serves: int, tells: bool) -> None:
        """`serves`: a number of 31 bits, of what is served. `tells`: that something was written is told to others."""
        self.batches = 0
        self.works = 0
        self.failing: str | None = None
        self.longest = LONGEST_SUM
        self._url = url
        self._serves = serves
        self._commit = f"NOTIFY {CHANNEL}; COMMIT" if tells else "COMMIT"
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
                made = opening(self._first_connected(), self._loop)
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
                answer(batch, self._committed(batch))
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

    def _first_connected(self) -> Link:
        """The same, with some patience."""
        end = monotonic() + SETTLING_SECONDS
        while True:
            try:
                return self._connected()
            except HeldElsewhere:
                if monotonic() > end:
                    raise
            self._await(asyncio.sleep(0.1))

    def _connected(self) -> Link:
        """Raises HeldElsewhere, or an error of asyncpg."""
        if self._link is None or self._link.is_lost:
            bounds = {
                "idle_in_transaction_session_timeout": f"{STALLED_SECONDS}s",
                "lock_timeout": f"{PATIENCE_SECONDS}s",
            }
            link = self._await(Link.open(self._url, bounds))
            if not self._await(served(link, self._serves)):
                self._await(link.close())
                raise HeldElsewhere
            self._link = link
        return self._link

    def begun(self) -> tuple[Link, int]:
        """A transaction that alone may write, and its number. A connection that was lost since the last one is made
        again, once. To be called on the writer's thread."""
        for last in (False, True):
            link = self._connected()
            try:
                self._await(link.connection.execute(_BEGIN))
                [(_, number)], _ = self._await(link.run(WRITE, ()))
                return link, int(str(number))
            except PASSING as error:
                link.connection.terminate()
                if last or isinstance(error, LockNotAvailableError):
                    raise
        raise AssertionError("one of two attempts ends it")

    def _committed(self, batch: list[Waiting]) -> list[Result]:
        """The results, in the order of the works. If the commit fails, none of them was done."""
        try:
            works = series.alike(batch, self.longest)
            if works:
                self._await(series.made(self._connected(), works))
            link, number = self.begun()
            try:
                results = self._done(link, batch, works)
                if results is None:
                    self._await(link.connection.execute("ROLLBACK"))
                    link, number = self.begun()
                    results = [self._alone(link, each) for each in batch]
                if all(error is not None for _, error in results):
                    self._await(link.connection.execute("ROLLBACK"))
                else:
                    self._note_due(link, batch, results)
                    self._end_of(link, number)
            except BaseException:
                if not link.is_lost:
                    self._await(link.connection.execute("ROLLBACK"))
                raise
        except HeldElsewhere:
            self.failing = "another process serves the database, of another contract"
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

    def _end_of(self, link: Link, number: int) -> None:
        """Commit. Where the connection is lost meanwhile, PostgreSQL says whether it was."""
        try:
            self._await(link.connection.execute(self._commit))
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

    def _done(self, link: Link, batch: list[Waiting], works: series.Alike) -> list[Result] | None:
        """The results, in the order of the works, which nobody else has: those that are alike are done first, then what
        else can be done once more, without savepoints. None: what they did has to be undone."""
        if len(batch) == 1 and batch[0].again:
            return self._by_itself(link, batch[0])
        done = self._await(series.done(link, works)) if works else {}
        if done is None:
            return None
        left = [number for number, each in enumerate(batch) if each.again and number not in done]
        together = self._together(link, [batch[number] for number in left])
        if together is None:
            return None
        done |= zip(left, together, strict=True)
        return [done[number] if number in done else self._alone(link, each) for number, each in enumerate(batch)]

    def _note_due(self, link: Link, batch: list[Waiting], results: list[Result]) -> None:
        """Other nodes read from when on something may be due of what was written."""
        due = [each.due for each, (_, error) in zip(batch, results, strict=True) if each.due and error is None]
        if due:
            self._await(link.run(nodes.WRITTEN, (min(due),)))

    def _together(self, link: Link, batch: list[Waiting]) -> list[Result] | None:
        """The results of works without savepoints. None: one that failed had changed something already, or left a
        transaction that cannot go on."""
        results: list[Result] = []
        for waiting in batch:
            session = Transaction(link, self._loop, self.longest, guarded=False)
            result = self._tried(link, waiting, session)
            if result is None or (result[1] is not None and session.changed):
                return None
            results.append(result)
        return results

    def _by_itself(self, link: Link, waiting: Waiting) -> list[Result] | None:
        """The same of one that has the transaction alone: where it is refused, that is undone."""
        result = self._tried(link, waiting, Transaction(link, self._loop, self.longest, guarded=False))
        return None if result is None else [result]

    def _tried(self, link: Link, waiting: Waiting, session: Transaction) -> Result | None:
        """None: it left a transaction that cannot go on."""
        try:
            return waiting.work(session), None
        except Broken:
            return None
        except BaseException as error:
            if isinstance(error, Unavailable) and link.is_lost:
                raise
            return None, error

    def _alone(self, link: Link, waiting: Waiting) -> Result:
        """One work in its savepoint; and where a statement of it fails, done once more with one for each of them."""
        result: Result = None, None
        self._await(link.connection.execute("SAVEPOINT work"))
        for guarded in (False, True) if waiting.again else (True,):
            try:
                result = waiting.work(Transaction(link, self._loop, self.longest, guarded)), None
                break
            except BaseException as error:
                if link.is_lost:
                    raise Unavailable("the connection was lost") from error
                self._await(link.connection.execute("ROLLBACK TO work"))
                result = None, error
                if not isinstance(error, Broken):
                    break
        self._await(link.connection.execute("RELEASE work"))
        return result


class PostgreSQL:
    """A database that is open (`ninefold.runtime.store.protocol.Store`)."""

    def __init__(self, url: str, key: bytes, writer: Writer) -> None:
        self._url = url
        self._key = key
        self._writer = writer
        self.nodes = Nodes(url)
        self._readers: Readers | None = None
        self._reads = 0
        self._open = True

    def admit(self, size: int) -> None:
        self._writer.longest = max(LONGEST_SUM, size)

    def select(self, text: str, binds: Sequence[Stored]) -> Future[list[Row]]:
        """Rows of what is committed. To be called on an event loop. Raises Unavailable."""
        return self._reading().read(text, binds)

    def select_as_one(self, reads: Sequence[BoundStatement]) -> Future[list[list[Row]]]:
        return self._reading().read_as_one(reads)

    def _reading(self) -> Readers:
        loop = asyncio.get_running_loop()
        if not self._open:
            raise Unavailable("the service is stopping")
        if self._readers is None or self._readers.loop is not loop:
            self._readers = Readers(self._url, loop)
        self._reads += 1
        return self._readers

    def tables(self, text: str, binds: Sequence[Stored]) -> frozenset[str]:
        return frozenset()

    def state(self, tables: Collection[str]) -> int | None:
        """Nobody can say: others may write to the same tables."""
        return None

    def transact(self, work: Callable[[Session], T]) -> Future[T]:
        return transacted(self, work)

    def write(
        self, work: Callable[[Session], Any], done: Answered, again: bool = False, due: str | None = None
    ) -> None:
        self._writer.queue.put(Waiting(work, again, done, asyncio.get_running_loop(), due))

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._writer.stop()
        self.nodes.close()
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
