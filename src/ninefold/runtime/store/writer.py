"""The one writer: takes all the work that waits, commits once, then answers all.

A commit is a flush of the disk, whatever it holds. Work that waits while a flush goes on shares the next one, so
throughput grows with load and nobody waits for more than two flushes. Nothing is answered before its commit.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

import apsw

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store.checkpoints import Checkpoints
from ninefold.runtime.store.connections import Changes, LogIndex, meaning, words
from ninefold.runtime.store.protocol import Row, Session, Stored, Unavailable

QUEUE = 10_000
"""Works that may wait. Beyond it a client is better told at once than kept waiting."""

BATCH = 512
"""Works in one commit: bounds how long the first of them waits for the last."""

IDLE = 0.5
"""Seconds without work after which the log is brought into the database file."""


@dataclass(frozen=True, slots=True)
class Waiting:
    work: Callable[[Session], Any]
    future: Future[Any]


@dataclass(frozen=True, slots=True)
class Done:
    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    error: BaseException


Result: TypeAlias = Done | Failed


@dataclass(frozen=True, slots=True)
class Transaction:
    """The session of one work: statements run inside its savepoint."""

    connection: apsw.Connection

    def run(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        try:
            return self.connection.execute(text, binds).fetchall()
        except apsw.Error as error:
            raise meaning(error) from error


class Writer:
    """A thread with a connection of its own. `batches` and `works` count what was committed. `failing`: why the last
    write failed; None: it did not, or something was written since."""

    def __init__(self, connection: apsw.Connection, checkpoints: Checkpoints, index: LogIndex) -> None:
        self.changes = Changes(connection, index)
        self.batches = 0
        self.works = 0
        self.failing: str | None = None
        self._connection = connection
        self._checkpoints = checkpoints
        self._transaction = Transaction(connection)
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._stopping = False
        self._thread = Thread(target=self._live, name="ninefold-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many works wait for the writer."""
        return self._queue.qsize()

    def submit(self, work: Callable[[Session], Any], future: Future[Any]) -> None:
        if self._stopping:
            future.set_exception(Unavailable("the service is stopping"))
        elif self._queue.qsize() >= QUEUE:
            future.set_exception(Unavailable("too much is waiting to be written"))
        else:
            self._queue.put(Waiting(work, future))

    def stop(self) -> None:
        """Do what was accepted, then end. The results are on their way to the loop when this returns."""
        if not self._stopping:
            self._stopping = True
            self._queue.put(None)
        self._thread.join()

    def _live(self) -> None:
        ended = False
        while not ended:
            try:
                first = self._queue.get(timeout=IDLE)
            except Empty:
                self.changes.begun()
                self._checkpoints.when_idle(self._connection)
                continue
            batch, ended = self._gather(first)
            if batch:
                results = self._commit(batch)
                self.changes.settled()
                _answer(batch, results)
            self._checkpoints.after_commit(self._connection)

    def _gather(self, first: Waiting | None) -> tuple[list[Waiting], bool]:
        """All that waits now, up to BATCH, and whether the end was among it."""
        batch: list[Waiting] = []
        waiting = first
        while waiting is not None:
            batch.append(waiting)
            if len(batch) == BATCH:
                return batch, False
            try:
                waiting = self._queue.get_nowait()
            except Empty:
                return batch, False
        return batch, True

    def _commit(self, batch: list[Waiting]) -> list[Result]:
        """The results, in the order of the works. If the commit fails, none of them was done."""
        results: list[Result] = []
        changes = self._connection.total_changes()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self.changes.begun()
            for waiting in batch:
                results.append(self._run(waiting.work))
            commits = self._checkpoints.commits
            self._connection.execute("COMMIT")
            if self._checkpoints.commits != commits:
                self.changes.committed()
        except (apsw.Error, Unavailable) as error:
            self._roll_back()
            self.failing = _why(error)
            return [Failed(meaning(error) if isinstance(error, apsw.Error) else error)] * len(batch)
        self.batches += 1
        self.works += len(batch)
        failed = [result.error for result in results if isinstance(result, Failed)]
        unavailable = [error for error in failed if isinstance(error, Unavailable)]
        if unavailable:
            self.failing = _why(unavailable[-1])
        elif self._connection.total_changes() != changes:
            self.failing = None
        return results

    def _run(self, work: Callable[[Session], Any]) -> Result:
        """One work in its savepoint. Raises Unavailable where its failure took the whole transaction with it."""
        self._connection.execute("SAVEPOINT work")
        try:
            result: Result = Done(work(self._transaction))
        except BaseException as error:
            # A full disk or a broken one makes SQLite roll back everything: there is no savepoint to go back to.
            if not self._connection.in_transaction:
                raise Unavailable("the transaction was rolled back") from error
            self._connection.execute("ROLLBACK TO work")
            result = Failed(error)
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


def _answer(batch: list[Waiting], results: list[Result]) -> None:
    """Wakes each loop once for all its futures: to wake it costs a system call."""
    loops: dict[AbstractEventLoop, list[tuple[Future[Any], Result]]] = {}
    for waiting, result in zip(batch, results, strict=True):
        loops.setdefault(waiting.future.get_loop(), []).append((waiting.future, result))
    for loop, answers in loops.items():
        try:
            loop.call_soon_threadsafe(_resolve, answers)
        except RuntimeError:
            # The loop is closed: nobody is left to be told.
            pass


def _resolve(answers: list[tuple[Future[Any], Result]]) -> None:
    for future, result in answers:
        if future.done():
            continue
        match result:
            case Done(value):
                future.set_result(value)
            case Failed(error):
                future.set_exception(error)
