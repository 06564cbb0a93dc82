"""The one writer: takes all the work that waits, commits once, then answers all.

A commit is a flush of the disk, whatever it holds. Work that waits while a flush goes on shares the next one, so
throughput grows with load and nobody waits for more than two flushes. Nothing is answered before its commit.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from operator import attrgetter
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, Final, TypeAlias, TypeVar

import apsw
from msgspec import Struct

from ninefold.runtime.store.checkpoints import Checkpoints
from ninefold.runtime.store.connections import Changes, LogIndex, meaning, words
from ninefold.runtime.store.protocol import Answered, Database, Row, Session, Single, Stored, Unavailable, settling

log = logging.getLogger("ninefold.server")

T = TypeVar("T")

QUEUE = 10_000
"""Works that may wait. Beyond it a client is better told at once than kept waiting."""

BATCH = 512
"""Works in one commit: bounds how long the first of them waits for the last."""

COMMIT_SECONDS = 1.0
"""After that a transaction takes up no more works. What is left goes with the next one, and others write between."""

CACHE = 8 * 1024
"""KiB of pages that the writer keeps. After each commit that has sorted pages of an index SQLite looks at all of them:
with four times as many that took half of its own time for a row made, and what is not there costs less to read."""

IDLE = 0.5
"""Seconds without work after which the log is brought into the database file."""


class Waiting(Struct, frozen=True, gc=False):
    """`again`: it can be done once more where it was undone. `done` is told on the loop's thread what it gave, or what
    it raised. `due`: nothing of what it writes is due before. `places`: see `Database.write`."""

    work: Callable[[Session], Any]
    again: bool
    done: Answered
    loop: AbstractEventLoop
    due: str | None = None
    places: tuple[int, ...] = ()


_again = attrgetter("again")
_done = attrgetter("done")
_loop = attrgetter("loop")

Result: TypeAlias = tuple[Any, BaseException | None]
"""What a work gave, or what it raised."""

LEFT: Final[Result] = None, TimeoutError("left for the next transaction")
"""Of a work that was not begun."""


class Transaction:
    """The session of one work."""

    __slots__ = ("_execute",)

    def __init__(self, connection: apsw.Connection) -> None:
        self._execute = connection.cursor().execute

    def run(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        try:
            return self._execute(text, binds).fetchall()
        except apsw.Error as error:
            raise meaning(error) from error


def what_comes(work: Callable[[Session], T], transaction: Transaction) -> T:
    """What a work gives."""
    return work.plainly(transaction) if isinstance(work, Single) else work(transaction)


class Queue:
    """What waits for a writer. What comes in one turn of an event loop is handed to it together, at the end of that:
    a writer that woke for the first of them would commit that alone, and all the others behind it. `ended`: all of it
    was taken, and nothing more will come; of the writer's thread."""

    def __init__(self) -> None:
        self.ended = False
        self._gathered: dict[AbstractEventLoop, list[Waiting]] = {}
        self._handed: SimpleQueue[list[Waiting] | None] = SimpleQueue()
        self._closed = False
        # Several loops may count; the writer's thread alone takes.
        self._counter = count(1)
        self._put = 0
        self._taken = 0
        self._left: deque[Waiting] = deque()
        self._last = False

    @property
    def waiting(self) -> int:
        """How many works wait for the writer."""
        return self._put - self._taken

    def put(self, waiting: Waiting) -> None:
        """On its loop. Raises Unavailable."""
        if self._closed:
            raise Unavailable("the service is stopping")
        if self._put - self._taken >= QUEUE:
            raise Unavailable("too much is waiting to be written")
        loop = waiting.loop
        gathered = self._gathered.get(loop)
        if gathered is None:
            gathered = self._gathered[loop] = []
            loop.call_soon(self._hand_over, loop)
        gathered.append(waiting)
        self._put = next(self._counter)

    def _hand_over(self, loop: AbstractEventLoop) -> None:
        gathered = self._gathered.pop(loop, None)
        if gathered is not None:
            self._handed.put(gathered)

    def end(self) -> None:
        """Take nothing more in."""
        if not self._closed:
            self._closed = True
            for loop in list(self._gathered):
                self._hand_over(loop)
            self._handed.put(None)

    def batch(self) -> list[Waiting] | None:
        """All that waits now, up to BATCH. None: nothing came for IDLE seconds."""
        return None if (waiting := self.gathered(IDLE)) is None else self.take(waiting)

    def gathered(self, seconds: float) -> int | None:
        """How many wait now; of those beyond BATCH not all may be counted. None: nothing came for so many seconds."""
        if not self._left and not self._takes(seconds):
            return None
        while len(self._left) < BATCH and self._takes(0):
            pass
        return len(self._left)

    def take(self, number: int) -> list[Waiting]:
        """The first of those that were counted, up to BATCH."""
        if number >= len(self._left) <= BATCH:
            batch = list(self._left)
            self._left.clear()
        else:
            batch = [self._left.popleft() for _ in range(min(number, BATCH))]
        self._taken += len(batch)
        self.ended = self._last and not self._left
        return batch

    def give_back(self, works: list[Waiting]) -> None:
        """What was not begun is taken before all else."""
        self._left.extendleft(reversed(works))
        self._taken -= len(works)
        self.ended = self._last and not self._left

    def _takes(self, seconds: float) -> bool:
        """Whether something was handed over."""
        try:
            handed = self._handed.get(timeout=seconds) if seconds else self._handed.get_nowait()
        except Empty:
            return False
        if handed is None:
            self._last = True
        else:
            self._left.extend(handed)
        return True


def transacted(database: Database, work: Callable[[Session], T]) -> Future[T]:
    """`Database.transact`, by its `write`."""
    future: Future[T] = asyncio.get_running_loop().create_future()
    try:
        database.write(work, settling(future), again=True)
    except Unavailable as error:
        future.set_exception(error)
    return future


class Writer:
    """A thread with a connection of its own. `batches` and `works` count what was committed. `failing`: why the last
    write failed; None: it did not, or something was written since."""

    def __init__(self, connection: apsw.Connection, checkpoints: Checkpoints, index: LogIndex) -> None:
        self.changes = Changes(connection, index)
        self.batches = 0
        self.works = 0
        self.failing: str | None = None
        self._connection = connection
        connection.pragma("cache_size", -CACHE)
        self._checkpoints = checkpoints
        self._transaction = Transaction(connection)
        self.queue = Queue()
        self._thread = Thread(target=self._live, name="ninefold-writer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Do what was accepted, then end. The results are on their way to the loop when this returns."""
        self.queue.end()
        self._thread.join()

    def _live(self) -> None:
        while not self.queue.ended:
            batch = self.queue.batch()
            if batch is None:
                self.changes.begun()
                self._checkpoints.when_idle(self._connection)
                continue
            if batch:
                results = self._commit(batch)
                self.changes.settled()
                answer(self.queue, batch, results)
            self._checkpoints.after_commit(self._connection)

    def _commit(self, batch: list[Waiting]) -> list[Result]:
        """The results, in the order of the works. If the commit fails, none of them was done."""
        changes = self._connection.total_changes()
        try:
            self._begin()
            results = self._together(batch) if all(map(_again, batch)) else self._each(batch)
            if results is None:
                self._connection.execute("ROLLBACK")
                self._begin()
                results = self._each(batch)
            commits = self._checkpoints.commits
            self._connection.execute("COMMIT")
            if self._checkpoints.commits != commits:
                self.changes.committed()
        except (apsw.Error, Unavailable) as error:
            self._roll_back()
            self.failing = _why(error)
            return [(None, meaning(error) if isinstance(error, apsw.Error) else error)] * len(batch)
        self.batches += 1
        self.works += len(batch) - results.count(LEFT)
        unavailable = [error for _, error in results if isinstance(error, Unavailable)]
        if unavailable:
            self.failing = _why(unavailable[-1])
        elif self._connection.total_changes() != changes:
            self.failing = None
        return results

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self.changes.begun()

    def _together(self, batch: list[Waiting]) -> list[Result] | None:
        """The results of works without savepoints, which take longer than most works. None: one that failed had changed
        something already, and that cannot be undone alone."""
        results: list[Result] = []
        end = monotonic() + COMMIT_SECONDS
        for waiting in batch:
            if results and monotonic() > end:
                return [*results, *[LEFT] * (len(batch) - len(results))]
            changes = self._connection.total_changes()
            try:
                results.append((what_comes(waiting.work, self._transaction), None))
            except BaseException as error:
                self._is_whole(error)
                if self._connection.total_changes() != changes:
                    return None
                results.append((None, error))
        return results

    def _each(self, batch: list[Waiting]) -> list[Result]:
        end = monotonic() + COMMIT_SECONDS
        return [LEFT if number and monotonic() > end else self._run(each.work) for number, each in enumerate(batch)]

    def _is_whole(self, error: BaseException) -> None:
        """A full disk or a broken one makes SQLite roll back everything: there is nothing to go back to. Raises
        Unavailable where a work's failure took the whole transaction with it."""
        if not self._connection.in_transaction:
            raise Unavailable("the transaction was rolled back") from error

    def _run(self, work: Callable[[Session], Any]) -> Result:
        """One work in its savepoint. Raises Unavailable where its failure took the whole transaction with it."""
        self._connection.execute("SAVEPOINT work")
        try:
            result: Result = what_comes(work, self._transaction), None
        except BaseException as error:
            self._is_whole(error)
            self._connection.execute("ROLLBACK TO work")
            result = None, error
        self._connection.execute("RELEASE work")
        return result

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except apsw.Error:
                # Nothing is left to do with this transaction; the next BEGIN tells whether the connection lives.
                pass


def _why(error: BaseException) -> str:
    """What happened to the file, behind what was made of it."""
    while error.__cause__ is not None and not isinstance(error, apsw.Error):
        error = error.__cause__
    return words(error) if isinstance(error, apsw.Error) else str(error)


def answer(queue: Queue, batch: Sequence[Waiting], results: Sequence[Result], in_two: bool = False) -> None:
    """Wakes each loop once for all its works: to wake it costs a system call. Those that are LEFT wait on. `in_two`: in
    two turns of it."""
    if LEFT in results:
        queue.give_back([each for each, result in zip(batch, results, strict=True) if result is LEFT])
        done = [(each, result) for each, result in zip(batch, results, strict=True) if result is not LEFT]
        batch, results = [each for each, _ in done], [result for _, result in done]
    answers = [*zip(map(_done, batch), results, strict=True)]
    loops = {*map(_loop, batch)}
    for loop in loops:
        own = answers
        if len(loops) > 1:
            own = [told for each, told in zip(batch, answers, strict=True) if each.loop is loop]
        # The loop may be closed: nobody is left to be told.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_tell_in_two if in_two else _tell, own)


def _tell_in_two(answers: list[tuple[Answered, Result]]) -> None:
    """Between two turns of a loop a thread that waits for Python's lock gets it. The second half comes before what the
    first one asks anew, which is handed over together."""
    middle = (len(answers) + 1) // 2
    asyncio.get_running_loop().call_soon(_tell, answers[middle:])
    _tell(answers[:middle])


def _tell(answers: list[tuple[Answered, Result]]) -> None:
    for done, (value, error) in answers:
        try:
            done(value, error)
        except Exception as failed:
            log.error("what was written could not be answered", exc_info=failed)
