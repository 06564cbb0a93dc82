"""Group commit: each work for itself, all of them durable before any is answered."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.waiting import until

from ninefold.plan.schema import Column, Reference, Schema, Table
from ninefold.runtime.store import checkpoints, sqlite, writer
from ninefold.runtime.store.protocol import Conflicting, Row, Session, Unavailable
from ninefold.runtime.store.sqlite import Opened, SQLite, open_sqlite
from ninefold.runtime.store.writer import LEFT, Queue, Waiting, answer
from ninefold.upgrade.shape import encode_shape
from ninefold.values import Integer, Text
from ninefold.values import Row as RowType

SCHEMA = Schema(
    (
        Table("a", (Column("id", Integer(), True, serial=True), Column("text", Text())), ("id",)),
        Table("b", (Column("a", RowType(resource="a"), True),), ("a",), (Reference("a", "a", "id"),)),
    )
)
INSERT = "INSERT INTO a VALUES (?, ?, 'r') RETURNING id"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SQLite]:
    opening = open_sqlite(str(tmp_path / "a.db"), SCHEMA)
    assert isinstance(opening, Opened)
    yield opening.database
    opening.database.close()


def insert(id: int | None, text: str = "") -> Callable[[Session], list[Row]]:
    return lambda session: session.run(INSERT, (id, text))


def ids(database: SQLite) -> list[Any]:
    return [row[0] for row in database.select("SELECT id FROM a ORDER BY id", ())]


async def outcomes(database: SQLite, *works: Callable[[Session], Any]) -> list[Any]:
    return await asyncio.gather(*map(database.transact, works), return_exceptions=True)


def test_a_failing_work_leaves_the_others(database: SQLite) -> None:
    def fails(session: Session) -> None:
        session.run(INSERT, (1000, ""))
        raise LookupError("of the work's own")

    works = [insert(number) for number in range(1, 101)]
    works[50:50] = [fails, insert(7), lambda session: session.run("no such text", ())]  # type: ignore[list-item]
    results = asyncio.run(outcomes(database, *works))
    errors = results[50:53]
    assert [type(error) for error in errors] == [LookupError, Conflicting, apsw.SQLError]
    assert results[:50] + results[53:] == [[(number,)] for number in range(1, 101)]
    assert ids(database) == list(range(1, 101))
    assert database.statistics().works == 103
    assert database.statistics().batches == 1, "what comes in one turn of a loop is committed together"


def test_works_that_can_be_done_again_are_undone_alone(database: SQLite) -> None:
    """Whether one that fails had changed something or not."""
    runs: list[int] = []

    def work(number: int) -> Callable[[Session], list[Row]]:
        def run(session: Session) -> list[Row]:
            runs.append(number)
            rows = session.run(INSERT, (number, "")) if number % 5 else []
            if number % 7 == 0 or not number % 5:
                raise LookupError(number)
            return rows

        return run

    async def written(numbers: range) -> list[object]:
        answered: dict[int, object] = {}
        whole = asyncio.Event()

        def done(number: int, value: object, error: BaseException | None) -> None:
            answered[number] = error or value
            if len(answered) == len(numbers):
                whole.set()

        for number in numbers:
            database.write(work(number), partial(done, number), again=True)
        await whole.wait()
        return [answered[number] for number in numbers]

    good = asyncio.run(written(range(1, 5)))
    assert (good, ids(database), sorted(runs)) == ([[(1,)], [(2,)], [(3,)], [(4,)]], [1, 2, 3, 4], [1, 2, 3, 4])
    found = asyncio.run(written(range(5, 100)))
    fails = {number for number in range(5, 100) if number % 5 == 0 or number % 7 == 0}
    assert ids(database) == [number for number in range(1, 100) if number not in fails]
    assert {number for number, each in enumerate(found, 5) if isinstance(each, LookupError)} == fails


def test_what_takes_long_is_committed_by_and_by(database: SQLite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in its place, whether one that fails had changed something or not, and to the last before an end."""
    monkeypatch.setattr(writer, "COMMIT_SECONDS", -1.0)

    def refused(session: Session) -> None:
        session.run(INSERT, (500, ""))
        raise LookupError

    works = [refused if number % 5 == 0 else insert(number) for number in range(1, 41)]
    answered: list[object] = []

    async def stopped() -> None:
        for each in works[:20]:
            database.write(each, lambda value, error: answered.append(error or value), again=True)
        await outcomes(database, *works[20:])

    asyncio.run(stopped())
    assert ids(database) == [number for number in range(1, 41) if number % 5]
    assert [isinstance(each, LookupError) for each in answered] == [number % 5 == 0 for number in range(1, 21)]
    assert (database.statistics().batches, database.statistics().works) == (40, 40)


def test_a_read_after_the_answer_sees_what_was_written(database: SQLite) -> None:
    async def both() -> None:
        for number in range(1, 50):
            await database.transact(insert(number))
            assert ids(database)[-1] == number

    asyncio.run(both())


def test_a_work_sees_the_works_before_it(database: SQLite) -> None:
    count: Callable[[Session], list[Row]] = lambda session: session.run("SELECT count(*) FROM a", ())  # noqa: E731
    results = asyncio.run(outcomes(database, insert(1), count, insert(2), count))
    assert (results[1], results[3]) == ([(1,)], [(2,)])


def test_numbers_are_not_given_again(database: SQLite) -> None:
    delete: Callable[[Session], list[Row]] = lambda session: session.run("DELETE FROM a", ())  # noqa: E731
    results = asyncio.run(outcomes(database, insert(None), insert(None), delete, insert(None)))
    assert results[3] == [(3,)]


def test_rows_that_refer_to_each_other_conflict(database: SQLite) -> None:
    refer: Callable[[Session], list[Row]] = lambda session: session.run("INSERT INTO b VALUES (?, 'r')", (1,))  # noqa: E731
    delete: Callable[[Session], list[Row]] = lambda session: session.run("DELETE FROM a WHERE id = 1", ())  # noqa: E731
    results = asyncio.run(outcomes(database, refer, insert(1), refer, delete))
    assert [type(result) for result in results] == [Conflicting, list, list, Conflicting]


def test_the_reader_cannot_write(database: SQLite) -> None:
    with pytest.raises(Unavailable):
        database.select(INSERT, (1, ""))


def test_a_full_disk_is_unavailable_and_passes(database: SQLite) -> None:
    connection = database._connections[2]

    async def fill() -> None:
        await database.transact(insert(1))
        pages = connection.pragma("page_count")
        connection.pragma("max_page_count", pages + 4)
        results = await outcomes(database, *(insert(number, "x" * 3000) for number in range(2, 40)))
        assert any(isinstance(result, Unavailable) for result in results)
        acknowledged = [result[0][0] for result in results if not isinstance(result, BaseException)]
        assert all(isinstance(result, Unavailable) for result in results if isinstance(result, BaseException))
        assert ids(database) == [1, *acknowledged]
        connection.pragma("max_page_count", 1_000_000)
        await database.transact(insert(100, "x" * 3000))
        assert ids(database) == [1, *acknowledged, 100]

    asyncio.run(fill())


def test_another_programs_lock_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "WAIT", 20)
    opening = open_sqlite(str(tmp_path / "a.db"), SCHEMA)
    assert isinstance(opening, Opened)
    other = apsw.Connection(str(tmp_path / "a.db"))
    other.execute("BEGIN IMMEDIATE")
    [first] = asyncio.run(outcomes(opening.database, insert(1)))
    other.execute("ROLLBACK")
    [second] = asyncio.run(outcomes(opening.database, insert(1)))
    other.close()
    opening.database.close()
    assert isinstance(first, Unavailable) and second == [(1,)]


def test_a_failed_commit_fails_all_of_its_works(database: SQLite) -> None:
    """A commit hook that says no makes COMMIT itself fail, as a broken disk would."""
    connection = database._connections[2]
    connection.set_commit_hook(lambda: True)
    results = asyncio.run(outcomes(database, insert(1), insert(2)))
    connection.set_commit_hook(None)
    assert all(isinstance(result, Exception) for result in results) and ids(database) == []
    assert asyncio.run(outcomes(database, insert(1))) == [[(1,)]]


def test_a_queue_that_is_full_refuses(database: SQLite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "QUEUE", 3)
    results = asyncio.run(outcomes(database, *(insert(number) for number in range(1, 2000))))
    assert any(isinstance(result, Unavailable) for result in results)
    assert ids(database) == [number for number, result in enumerate(results, 1) if isinstance(result, list)]


def test_closing_finishes_what_was_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opening = open_sqlite(str(path), SCHEMA)
    assert isinstance(opening, Opened)

    async def accepted() -> list[Any]:
        futures = [opening.database.transact(insert(number)) for number in range(1, 51)]
        opening.database.close()
        refused = opening.database.transact(insert(51))
        return await asyncio.gather(*futures, refused, return_exceptions=True)

    results = asyncio.run(accepted())
    assert results[:50] == [[(number,)] for number in range(1, 51)]
    assert isinstance(results[50], Unavailable)
    again = open_sqlite(str(path), SCHEMA)
    assert isinstance(again, Opened)
    assert ids(again.database) == list(range(1, 51))
    again.database.close()


def test_the_log_does_not_grow_without_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "SOON", 50)
    monkeypatch.setattr(checkpoints, "LATEST", 200)
    opening = open_sqlite(str(tmp_path / "a.db"), SCHEMA)
    assert isinstance(opening, Opened)

    async def write() -> None:
        for start in range(0, 4000, 40):
            await outcomes(opening.database, *(insert(start + number, "x" * 2000) for number in range(1, 41)))

    asyncio.run(write())
    log = (tmp_path / "a.db-wal").stat().st_size
    opening.database.close()
    assert log < 1500 * 4096, "4,000 rows fill 2,000 pages, and each batch writes more than its own"


@pytest.mark.parametrize("rows", [3, 3000])
def test_a_service_at_rest_has_nothing_to_recover(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether few pages are in the log, which the writer copies, or many, which it is spared."""
    monkeypatch.setattr(writer, "IDLE", 0.05)
    opening = open_sqlite(str(tmp_path / "a.db"), SCHEMA)
    assert isinstance(opening, Opened)
    asyncio.run(outcomes(opening.database, *(insert(number, "x" * 2000) for number in range(1, rows + 1))))
    # The file without its log, as another program would find it. To open it here would end the service's locks.
    program = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM a').fetchone())"

    def is_whole() -> bool:
        subprocess.run(["cp", str(tmp_path / "a.db"), str(tmp_path / "copy.db")], check=True)
        looked = subprocess.run([sys.executable, "-c", program, str(tmp_path / "copy.db")], capture_output=True)
        return looked.stdout.decode().strip() == str(rows)

    until(is_whole)
    opening.database.close()


def test_what_was_acknowledged_survives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opening = open_sqlite(str(path), SCHEMA)
    assert isinstance(opening, Opened)
    opening.database.close()
    program = f"""
import asyncio, os, sys
from ninefold.runtime.store import checkpoints
from ninefold.runtime.store.sqlite import open_sqlite
from ninefold.upgrade.shape import decode_shape
checkpoints.SOON = 20
database = open_sqlite(sys.argv[1], decode_shape(sys.argv[2])).database
async def client():
    while True:
        [(id,)] = await database.transact(lambda session: session.run({INSERT!r}, (None, "x" * 500)))
        os.write(1, b"%d\\n" % id)
async def clients():
    await asyncio.gather(*(client() for _ in range(8)))
asyncio.run(clients())
"""
    schema = encode_shape(SCHEMA).decode()
    with subprocess.Popen([sys.executable, "-c", program, str(path), schema], stdout=subprocess.PIPE) as child:
        assert child.stdout
        told = [child.stdout.readline() for _ in range(3000)]
        child.kill()
        told += child.stdout.readlines()
    acknowledged = {int(line) for line in told if line.endswith(b"\n")}
    again = open_sqlite(str(path), SCHEMA)
    assert isinstance(again, Opened) and len(acknowledged) >= 3000
    assert acknowledged <= set(ids(again.database))
    again.database.close()


def test_each_loop_is_told_of_its_own_works_and_what_is_left_waits_on() -> None:
    queue, told = Queue(), list[tuple[str, object]]()

    async def put(names: str) -> None:
        loop = asyncio.get_running_loop()
        for name in names:
            queue.put(Waiting(lambda session: None, True, partial(tell, name, loop), loop))
        await asyncio.sleep(0)

    def tell(name: str, loop: object, value: object, error: BaseException | None) -> None:
        assert asyncio.get_running_loop() is loop and error is None
        told.append((name, value))

    with asyncio.Runner() as one, asyncio.Runner() as other:
        one.run(put("abc"))
        other.run(put("de"))
        batch = queue.batch()
        assert batch is not None and queue.waiting == 0
        answer(queue, batch, [(1, None), LEFT, (2, None), (3, None), LEFT])
        other.run(asyncio.sleep(0))
        assert told == [("d", 3)]
        one.run(asyncio.sleep(0))
        assert told == [("d", 3), ("a", 1), ("c", 2)]
        assert queue.waiting == 2 and queue.batch() == [batch[1], batch[4]]
