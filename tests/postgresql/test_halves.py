"""What came of works is told while PostgreSQL is at the next ones, and does not depend on what becomes of those."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Callable, Iterator
from contextvars import Context
from pathlib import Path
from threading import Event, Thread, current_thread
from typing import Any, Final, TypeVarTuple

import pytest
from tests.contracts import compiled
from tests.postgresql import server
from tests.postgresql.test_series import single
from tests.waiting import PATIENCE, until

from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_halves import MANY, Turns
from ninefold.runtime.store.postgresql_link import Lost
from ninefold.runtime.store.protocol import Conflicting, Opened, Session, Single, Store, settling
from ninefold.runtime.store.writer import BATCH, Queue, Waiting

Args = TypeVarTuple("Args")

ADD: Final = "UPDATE t SET n = n + CAST(?2 AS bigint) WHERE id = CAST(?1 AS bigint) RETURNING n"
REFER: Final = "INSERT INTO refers VALUES (CAST(? AS bigint)) RETURNING id"

AT_A_LOCK: Final = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


class Loop(asyncio.SelectorEventLoop):
    """`before` is done on a writer's thread before the loop is told what came of its works. `turns`: how many it has
    taken."""

    before: Callable[[], object] | None = None
    turns = 0

    def _run_once(self) -> None:
        self.turns += 1
        super()._run_once()  # type: ignore[misc]

    def call_soon_threadsafe(
        self, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.Handle:
        if self.before is not None and current_thread().name == "ninefold-writer":
            self.before()
        return super().call_soon_threadsafe(callback, *args, context=context)


class Service:
    """A database, the loop of those who write, and connections beside it, of which one holds rows."""

    def __init__(self, url: str, store: Store, runner: asyncio.Runner) -> None:
        loop = runner.get_loop()
        assert isinstance(loop, Loop)
        self.store, self.loop, self._runner = store, loop, runner
        self._asked, self._holding = server.Asked(url), {row: server.Asked(url) for row in (1, 2)}

    def close(self) -> None:
        for each in self._holding.values():
            each.close()
        self.store.close()
        self._asked.close()

    def ask(self, statement: str) -> list[Any]:
        # Also on the writer's thread, while a loop goes on in this one.
        found = list[Any]()
        thread = Thread(target=lambda: found.extend(self._asked.run(statement)))
        thread.start()
        thread.join()
        return found

    def hold(self, row: int) -> None:
        """Who changes it has to wait."""
        self._holding[row].run("BEGIN")
        self._holding[row].run(f"SELECT FROM t WHERE id = {row} FOR UPDATE")

    def let_go(self, row: int) -> None:
        self._holding[row].run("ROLLBACK")

    def waits(self) -> bool:
        """Whether what was asked of PostgreSQL waits for a row."""
        return bool(self.ask(f"SELECT {AT_A_LOCK}"))

    def kill(self) -> None:
        """The connection of who waits for a row, once somebody does."""
        until(self.waits)
        assert [tuple(each) for each in self.ask(f"SELECT pg_terminate_backend(pid, 10000) {AT_A_LOCK}")] == [(True,)]

    def write(self, *works: Single | Callable[[Session], Any]) -> list[Future[Any]]:
        """They are handed to the writer."""

        async def put() -> list[Future[Any]]:
            futures: list[Future[Any]] = [self.loop.create_future() for _ in works]
            for work, future in zip(works, futures, strict=True):
                self.store.write(work, settling(future), again=True)
            await asyncio.sleep(0)
            return futures

        return self._runner.run(put())

    def came(self, futures: list[Future[Any]]) -> list[Any]:
        """What came of them, or the type of what was raised."""

        async def come() -> list[Any]:
            async with asyncio.timeout(PATIENCE):
                return await asyncio.gather(*futures, return_exceptions=True)

        return [type(each) if isinstance(each, Exception) else each for each in self._runner.run(come())]

    def behind(self, *works: Single | Callable[[Session], Any]) -> tuple[list[Future[Any]], list[Future[Any]]]:
        """Some that go on as soon as row 1 is let go, and those that wait for the writer meanwhile."""
        self.hold(1)
        first = self.write(*[single(ADD, 1, 1)] * 2)
        until(self.waits)
        return first, self.write(*works)


@pytest.fixture
def service() -> Iterator[Service]:
    url, plan = server.database(), compiled(Path(__file__).parent / "contract.md").plan_for("postgresql")
    assert plan is not None
    opened = open_database(url, plan)
    assert isinstance(opened, Opened), opened
    server.run(url, "CREATE TABLE t (id bigint PRIMARY KEY, n bigint)", "INSERT INTO t VALUES (1, 0), (2, 0)")
    server.run(url, "CREATE TABLE refers (id bigint REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
    with asyncio.Runner(loop_factory=Loop) as runner:
        found = Service(url, opened.database, runner)
        # Each of what comes later is a call of what is made now.
        for work in (single(ADD, 1, 0), single(REFER, 1)):
            found.came(found.write(work, work))
        yield found
        found.close()


def test_what_came_of_works_is_told_while_postgresql_is_at_the_next(service: Service) -> None:
    first, then = service.behind(*[single(ADD, 2, 1)] * 2)
    service.hold(2)
    service.loop.before = lambda: until(service.waits)
    turns = list[int]()
    for each in first:
        each.add_done_callback(lambda _: turns.append(service.loop.turns))
    service.let_go(1)
    assert service.came(first) == [(1,), (2,)]
    assert turns[0] < turns[1], "between two turns of the loop the writer may go on"
    assert service.waits() and not any(each.done() for each in then)
    service.loop.before = None
    service.let_go(2)
    assert service.came(then) == [(1,), (2,)]


@pytest.mark.parametrize("again", [False, True])
def test_a_connection_that_is_lost_at_the_next_takes_nothing_of_what_was_done(service: Service, again: bool) -> None:
    first, then = service.behind(*[single(ADD, 2, 1)] * 2)
    service.hold(2)
    service.loop.before = service.kill
    service.let_go(1)
    assert service.came(first) == [(1,), (2,)], "it was known before"
    service.loop.before = None
    # They are begun anew, once.
    if again:
        service.kill()
    else:
        until(service.waits)
    service.let_go(2)
    assert service.came(then) == ([Lost, Lost] if again else [(1,), (2,)])
    assert service.ask("SELECT n FROM t WHERE id = 2") == [(0 if again else 2,)]
    assert service.came(service.write(single(ADD, 1, 1))) == [(3,)], "it goes on"


def test_a_commit_that_fails_fails_its_own_works_alone(service: Service) -> None:
    first, then = service.behind(single(REFER, 2), single(REFER, 3))
    told: list[Future[Any]] = []
    for each in (*first, *then):
        each.add_done_callback(told.append)
    service.let_go(1)
    assert service.came(then) == [Conflicting, Conflicting]
    assert service.came(first) == [(1,), (2,)]
    # The second of the first may be told in the turn after the one in which the others are.
    assert told[0] is first[0], "in the order in which it was done"
    assert service.ask("SELECT DISTINCT id FROM refers") == [(1,)]
    assert service.came(service.write(single(REFER, 2))) == [(2,)], "it goes on"


def test_a_service_that_stops_meanwhile_answers_all(service: Service) -> None:
    first, then = service.behind(*[single(ADD, 2, 1)] * 2)
    closing = Thread(target=service.store.close)
    closing.start()
    service.let_go(1)
    closing.join()
    assert service.came([*first, *then]) == [(1,), (2,)] * 2


def test_what_python_does_keeps_nobody_waiting_who_is_answered_already(service: Service) -> None:
    told = Event()
    first, then = service.behind(lambda session: told.wait(PATIENCE))
    service.let_go(1)
    assert service.came(first) == [(1,), (2,)]
    told.set()
    assert service.came(then) == [True]


# ── How many go first ─────────────────────────────────────────────────────────────────────────────────────────────


def taken(turns: Turns, queue: Queue, loop: asyncio.AbstractEventLoop, waiting: int) -> list[int]:
    """How many works of so many that come together each batch has, where none comes anew."""
    told = list[None]()

    async def put() -> None:
        for _ in range(waiting):
            queue.put(Waiting(lambda session: None, True, lambda value, error: told.append(value), loop))
        await asyncio.sleep(0)

    loop.run_until_complete(put())
    sizes = list[int]()
    while sum(sizes) < waiting:
        batch = turns.batch()
        assert batch
        sizes.append(len(batch))
        turns.owe(batch, [(None, None)] * len(batch))
    loop.run_until_complete(asyncio.sleep(0))
    assert len(told) == waiting - sizes[-1], "those before the last are answered"
    return sizes


def test_of_many_the_halves_go_in_turn_where_a_commit_is_short() -> None:
    with asyncio.Runner() as runner:
        loop, queue = runner.get_loop(), Queue()
        turns = Turns(queue, loop)

        def sizes(waiting: int) -> list[int]:
            found = taken(turns, queue, loop, waiting)
            turns.answer()
            return found

        assert sizes(32) == [32], "nobody knows yet how long one takes"
        turns.committed(0.0)
        assert [sizes(each) for each in (MANY, MANY + 1, 32, 1000)] == [[MANY], [9, 8], [16, 16], [500, 500]]
        assert sizes(2 * BATCH + 10)[0] == BATCH
        taken(turns, queue, loop, 1)
        assert sizes(31) == [16, 15], "of those that are owed an answer, and of those that wait"
        sizes(1)
        turns.committed(600.0)
        assert sizes(32) == [32], "to wait twice would be dearer"
