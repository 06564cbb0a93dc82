"""Reads that take longer than the event loop may wait for one.

A read begins on the loop's own connection, where a prepared row takes microseconds. One that has not ended within
BUDGET is broken off there and begins anew in a thread, on a connection of its own. It sees what is committed when it
begins, as every read does; the others go on meanwhile. SQLite asks a progress handler now and then whether to go on
(https://sqlite.org/c3ref/progress_handler.html): that is how both are ended, there by the time and here because nobody
waits for the rows any more.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import islice
from queue import SimpleQueue
from threading import Event, Lock, Thread, get_native_id
from time import perf_counter

import apsw

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store.connections import meaning
from ninefold.runtime.store.protocol import Row, Stored, Unavailable
from ninefold.runtime.store.snapshot import Snapshot

BUDGET = 0.005
"""Seconds that one read may hold the event loop."""

STEPS = 1_000
"""Instructions of SQLite's machine between two questions whether to go on: some 20 to 100 microseconds. A read that has
no more of them than that is never asked."""

ROWS = 8
"""Rows between two such questions: a row is few instructions, however large it is."""

STEPS_ELSEWHERE = 100_000
"""The same in a thread: each question takes the interpreter's lock."""

LESS_URGENT = 10
"""By how much the threads that read are nicer than the rest of the process."""

THREADS = 8
"""Long reads at a time. They begin as they are needed."""

TAKEN_SECONDS = 0.1
"""Seconds between two looks whether the service is to stop, while the loop has not taken what was read."""

WAITING = 1_000
"""Long reads that may wait for a thread. Beyond it a client is better told at once than kept waiting."""


class BrokenOff(Exception):
    """A read was broken off: it is to be done elsewhere."""


class Brief:
    """A connection on which no read takes longer than BUDGET, for the thread of the event loop."""

    def __init__(self, connection: apsw.Connection, commits: Callable[[], int]) -> None:
        """`commits`: how many there were, by whatever program."""
        self._connection = connection
        self._cursor = connection.cursor()
        self._commits = commits
        self._snapshot = Snapshot(connection, commits)
        self._until: float | None = None
        connection.set_progress_handler(self._is_over, STEPS)

    def _is_over(self) -> bool:
        return self._until is not None and perf_counter() > self._until

    def run(self, text: str, binds: Sequence[Stored], to_its_end: bool = False) -> list[Row]:
        """Raises BrokenOff, unless it may go on `to_its_end`, or Unavailable."""
        try:
            if self._commits() != self._snapshot.held_at:
                self._snapshot.hold()
            if not to_its_end:
                self._until = perf_counter() + BUDGET
            found = self._cursor.execute(text, binds)
            rows: list[Row] = list(islice(found, ROWS))
            if len(rows) == ROWS:
                self._go_on(found, rows)
            return rows
        except apsw.InterruptError:
            raise BrokenOff from None
        except apsw.Error as error:
            raise meaning(error) from error
        finally:
            self._until = None  # what ends the snapshot is not broken off

    def close(self) -> None:
        """Before its connection is."""
        self._snapshot.end()

    def _go_on(self, found: Iterator[Row], rows: list[Row]) -> None:
        """Read what comes behind so many rows."""
        size = ROWS
        while len(rows) == size:
            if self._is_over():
                # What it has begun is no longer open, and sees no longer what it saw.
                self._cursor.close(True)
                self._cursor = self._connection.cursor()
                raise BrokenOff
            rows += islice(found, ROWS)
            size += ROWS


@dataclass(slots=True, eq=False)
class _Asked:
    text: str
    binds: Sequence[Stored]
    future: Future[list[Row]]
    loop: AbstractEventLoop
    given_up: bool = False
    taken: Event = field(default_factory=Event)

    def left(self, future: Future[list[Row]]) -> None:
        self.given_up = self.given_up or future.cancelled()


@dataclass(slots=True, eq=False)
class Long:
    """Threads that read, each with a connection that `connect` gives. `running`: how many of them are at it; `begun`:
    how many reads were theirs."""

    connect: Callable[[], apsw.Connection]
    running: int = 0
    begun: int = 0
    _queue: SimpleQueue[_Asked | None] = field(default_factory=SimpleQueue)
    _threads: list[Thread] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _stopping: bool = False

    def read(self, text: str, binds: Sequence[Stored]) -> Future[list[Row]]:
        """To be called on the event loop. Who cancels the future ends the read. Raises Unavailable."""
        if self._stopping:
            raise Unavailable("the service is stopping")
        if self._queue.qsize() >= WAITING:
            raise Unavailable("too many long reads wait")
        loop = asyncio.get_running_loop()
        asked = _Asked(text, binds, loop.create_future(), loop)
        asked.future.add_done_callback(asked.left)
        self.begun += 1
        with self._lock:
            if self.running + self._queue.qsize() >= len(self._threads) < THREADS:
                thread = Thread(target=self._live, name="ninefold-long-read", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put(asked)
        return asked.future

    def stop(self) -> None:
        """Break off what is read. To those who wait for it the service is unavailable."""
        self._stopping = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _live(self) -> None:
        _give_way()
        connection: apsw.Connection | None = None
        while (asked := self._queue.get()) is not None:
            if not asked.given_up:
                connection = self._done(connection, asked)
            del asked  # while the next one is waited for, what this one found is nobody's
        if connection is not None:
            connection.close()

    def _done(self, connection: apsw.Connection | None, asked: _Asked) -> apsw.Connection | None:
        """The connection on which it was read. None: there is none yet, and none could be had."""
        with self._lock:
            self.running += 1
        try:
            if connection is None:
                connection = self.connect()
            result = self._rows(connection, asked)
        except apsw.Error as error:
            result = meaning(error)
        except Exception as error:
            result = error
        with self._lock:
            self.running -= 1
        # A closed loop has nobody who could be told.
        with suppress(RuntimeError):
            asked.loop.call_soon_threadsafe(_resolve, asked, result)
            # What is read is held: while the loop is busy with what was read before, no more of it is.
            while not (asked.taken.wait(TAKEN_SECONDS) or self._stopping):
                pass
        return connection

    def _rows(self, connection: apsw.Connection, asked: _Asked) -> list[Row] | Exception:
        connection.set_progress_handler(lambda: asked.given_up or self._stopping, STEPS_ELSEWHERE)
        try:
            return connection.execute(asked.text, asked.binds).fetchall()
        except apsw.InterruptError:
            return Unavailable("the service is stopping")
        finally:
            connection.set_progress_handler(None)


def _give_way() -> None:
    """Whoever answers others has the processor first. Only Linux knows priorities of threads."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, get_native_id(), LESS_URGENT)


def _resolve(asked: _Asked, result: list[Row] | Exception) -> None:
    asked.taken.set()
    future = asked.future
    if future.done():
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
