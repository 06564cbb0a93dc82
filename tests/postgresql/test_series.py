"""Works of one statement that wait together are one call; what comes of each is what would have come of it alone."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Callable, Iterator
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from threading import Event
from typing import Any, Final

import pytest
from tests.contracts import compiled
from tests.postgresql import server
from tests.postgresql.test_trips import asked

from ninefold.runtime.store import writer
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_halves import MANY
from ninefold.runtime.store.protocol import (
    Conflicting,
    Opened,
    Row,
    Session,
    Single,
    Store,
    Stored,
    TooLong,
    Unbound,
    settling,
)
from ninefold.values import LONGEST_SUM

NUMBERED: Final = (
    'INSERT INTO "u" ("n") SELECT "u"."n" FROM (SELECT CAST(? AS bigint) AS "n", CAST(NULL AS bigint) AS "id") AS "u"'
    ' WHERE "u"."n" <> 0 ON CONFLICT DO NOTHING RETURNING "u"."id", "u"."n"'
)
INSERT: Final = "INSERT INTO t VALUES (CAST(? AS bigint), CAST(? AS bigint)) ON CONFLICT DO NOTHING RETURNING id, 't'"
ADD: Final = "UPDATE t SET n = n + CAST(?2 AS bigint) WHERE id = CAST(?1 AS bigint) RETURNING n"


class Refused(Exception):
    pass


def single(text: str, *binds: Stored) -> Single:
    """Gives the row, or is refused where there is none."""

    def work(session: Session) -> Row:
        rows = session.run(text, binds)
        if not rows:
            raise Refused
        return rows[0]

    return Single(statement(text), {"binds": binds}, lambda row: row, work)


@cache
def statement(text: str) -> Unbound:
    binds = itemgetter("binds")
    return Unbound(text, lambda env: list(binds(env)), lambda envs: [*map(list, zip(*map(binds, envs), strict=True))])


def together(database: Store, *works: Single, before: Callable[[], object] = lambda: None) -> list[Any]:
    """What came of works that the writer took in one batch. `before`: what is done before that; what holds it up until
    then may be told anything."""

    async def written() -> list[Any]:
        begun, go_on = Event(), Event()

        def holds_up(_: Session) -> None:
            begun.set()
            go_on.wait()

        held = database.transact(holds_up)
        await asyncio.to_thread(begun.wait)
        futures: list[Future[Any]] = [asyncio.get_running_loop().create_future() for _ in works]
        for work, future in zip(works, futures, strict=True):
            database.write(work, settling(future), again=True)
        before()
        go_on.set()
        await asyncio.wait([held])
        held.exception()
        return await asyncio.gather(*futures, return_exceptions=True)

    return asyncio.run(written())


@pytest.fixture(params=["", "without temporary tables"])
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[str, Store, bool]]:
    """A database, and whether its user may have functions of the session."""
    url, plan = server.database(), compiled(Path(__file__).parent / "contract.md").plan_for("postgresql")
    assert plan is not None
    name, ours = url.partition("?")[0].rpartition("/")[2], url
    if request.param:
        server.run(url, f"CREATE ROLE {name} LOGIN", f"REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC")
        server.run(url, f"GRANT ALL ON SCHEMA public TO {name}")
        ours = url.replace("//ninefold@", f"//{name}@")
    server.run(url, f"ALTER DATABASE {name} SET log_statement = 'all'")
    found = open_database(ours, plan)
    assert isinstance(found, Opened), found
    server.run(url, "CREATE TABLE t (id bigint PRIMARY KEY, n bigint REFERENCES t)", "GRANT ALL ON t TO PUBLIC")
    yield url, found.database, not request.param
    found.database.close()


def test_works_that_are_alike_are_one_call(opened: tuple[str, Store, bool]) -> None:
    url, database, has_series = opened
    name = url.partition("?")[0].rpartition("/")[2]
    insert, add = partial(single, INSERT), partial(single, ADD)
    made = together(database, *(insert(number % 7, None) for number in range(MANY)))
    assert made[:7] == [(number, "t") for number in range(7)], "each has its own row"
    assert [type(each) for each in made[7:]] == [Refused] * (MANY - 7), "who comes later finds it taken"
    calls = [each for each in asked(name) if "pg_temp" in each and each.startswith("SELECT")]
    assert len(calls) == has_series
    before = len(asked(name))
    assert together(database, *(insert(number, None) for number in range(7, 20))) == [(n, "t") for n in range(7, 20)]
    if has_series:
        # What held them up, which began with the end of the last: it takes the lock and leaves its mark, and ends. Then
        # all of them at once, which began with that end and take the lock with their call; and their end.
        assert [each.split()[0] for each in asked(name)[before:]][-4:] == ["WITH", "NOTIFY", "SELECT", "NOTIFY"]
    server.run(url, "DELETE FROM t WHERE id > 6")
    # Each sees what those before it did, in the order in which they were asked for.
    server.run(url, "ALTER TABLE t DROP CONSTRAINT t_n_fkey", "UPDATE t SET n = 0")
    assert together(database, *(add(1, 1) for _ in range(5)), add(2, 3), add(99, 1))[:6] == [
        *((number,) for number in range(1, 6)),
        (3,),
    ]
    assert server.run(url, "SELECT n FROM t WHERE id = 1") == [(5,)]


def test_a_value_that_is_too_long_is_refused_by_itself(opened: tuple[str, Store, bool]) -> None:
    _, database, _ = opened
    text = "INSERT INTO t SELECT CAST(? AS bigint), NULL WHERE CAST(? AS text) <> '' RETURNING id"
    values = ["a", None, "x" * (LONGEST_SUM + 1), "b"]
    for first in (0, 10):  # the second time there is a function
        made = together(database, *(single(text, first + number, value) for number, value in enumerate(values)))
        assert made[0::3] == [(first,), (first + 3,)]
        assert [type(each) for each in made[1:3]] == [Refused, TooLong]


def test_a_connection_that_was_lost_after_a_batch_is_made_again(opened: tuple[str, Store, bool]) -> None:
    """The next transaction has begun on it, and its call is the first that is asked of it."""
    url, database, _ = opened
    together(database, *(single(INSERT, number, None) for number in range(3)))
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'NOTIFY%COMMIT AND CHAIN'"

    async def written() -> Any:
        future: Future[Any] = asyncio.get_running_loop().create_future()
        database.write(single(INSERT, 5, None), settling(future), again=True)
        return await future

    server.run(url, ends)
    assert asyncio.run(written()) == (5, "t")


def test_what_takes_long_is_committed_by_and_by(
    opened: tuple[str, Store, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that other nodes write in between; each in its place, whether it could be done again or not."""
    url, database, _ = opened
    monkeypatch.setattr(writer, "COMMIT_SECONDS", -1.0)

    def inserts(number: int, session: Session) -> list[Row]:
        rows = session.run(INSERT, (number, None))
        if number % 5 == 0:
            raise Refused
        return rows

    async def written() -> list[Any]:
        loop = asyncio.get_running_loop()
        futures: list[Future[Any]] = [loop.create_future() for _ in range(20)]
        for number, future in enumerate(futures):
            database.write(partial(inserts, number), settling(future), again=number % 3 > 0)
        return await asyncio.gather(*futures, return_exceptions=True)

    before = database.statistics()
    made = asyncio.run(written())
    assert [type(each) for each in made] == [list if number % 5 else Refused for number in range(20)]
    assert [each for (each,) in server.run(url, "SELECT id FROM t ORDER BY id")] == [n for n in range(20) if n % 5]
    assert len(server.run(url, "SELECT DISTINCT xmin::text FROM t")) > 4, "in several transactions"
    assert database.statistics().works - before.works == 20


def test_one_that_fails_does_not_fail_its_neighbours(opened: tuple[str, Store, bool]) -> None:
    url, database, _ = opened
    made = together(database, *(single(INSERT, number, 7 if number == 3 else None) for number in range(6)))
    assert [type(each) for each in made] == [tuple] * 3 + [Conflicting] + [tuple] * 2, "there is no 7 to refer to"
    assert [each[0] for each in server.run(url, "SELECT id FROM t ORDER BY id")] == [0, 1, 2, 4, 5]


def test_rows_take_their_numbers_together_and_those_that_are_refused_take_none(opened: tuple[str, Store, bool]) -> None:
    url, database, has_series = opened
    server.run(
        url,
        """CREATE TABLE u (id bigint NOT NULL DEFAULT "$next"('u') PRIMARY KEY, n bigint UNIQUE)""",
        "GRANT ALL ON u TO PUBLIC",
    )
    last = 'SELECT last FROM "$number" WHERE "table" = \'u\''
    number = partial(single, NUMBERED)
    assert together(database, *map(number, range(1, 6))) == [(each, each) for each in range(1, 6)]
    # Two are there, one may not be; each of them is asked for once more by itself, which counts where a row is taken.
    made = together(database, number(11), number(3), number(12), number(0), number(11), number(13))
    assert [made[place] for place in (0, 2, 5)] == [(6, 11), (7, 12), (8, 13)] if has_series else True
    assert [type(made[place]) for place in (1, 3, 4)] == [Refused] * 3
    assert together(database, number(14)) == [(server.run(url, last)[0][0], 14)]
    # One that fails undoes the numbers of all with their rows.
    server.run(url, "ALTER TABLE u ADD CHECK (n < 100)")
    before = server.run(url, last)[0][0]
    made = together(database, number(15), number(100), number(16))
    assert [type(each) for each in (made[0], made[2])] == [tuple] * 2 and isinstance(made[1], Exception)
    assert (made[0][0], made[2][0]) == (before + 1, before + 2)
    assert server.run(url, "SELECT count(*), count(DISTINCT id) FROM u") == [(11, 11)]
