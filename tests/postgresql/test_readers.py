"""Reads that wait together are one statement; each is answered as if it had been asked alone."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from asyncpg.exceptions import DivisionByZeroError, PostgresSyntaxError
from tests.postgresql import server

from ninefold.runtime.store.postgresql_halves import MANY
from ninefold.runtime.store.postgresql_link import Lost
from ninefold.runtime.store.postgresql_readers import TOGETHER, Readers
from ninefold.runtime.store.postgresql_servers import Servers

CAST = (
    'SELECT CAST(? AS bigint), (CAST(? AS text) COLLATE "C"), CAST(? AS double precision)::text, CAST(? AS bytea),'
    " CAST(? AS boolean) WHERE CAST(?1 AS bigint) IS DISTINCT FROM 3"
)
VALUES = [
    (1, "a", 1.5, b"\0", 1),
    (1, "a", 1.5, b"\0", 1),
    (2, 'it\'s "$1" {a,b} \\ NULL', 0.0, b"x", 0),
    (2, "NULL", -0.0, b"", 1),
    (3, "is not found", 1.0, b"", 1),
    (None, None, None, None, None),
    *((number, f"{number}", number / 7, bytes([number % 256]), number % 2) for number in range(4, 2 * TOGETHER)),
]


Reading: TypeAlias = Callable[[Readers], Coroutine[Any, Any, None]]


def run(reading: Reading, url: str | None = None) -> None:
    url = url or server.database()

    async def read() -> None:
        await reading(Readers(Servers(url), asyncio.get_running_loop()))

    asyncio.run(read())


def test_each_is_answered_as_if_it_were_alone() -> None:
    async def reading(readers: Readers) -> None:
        alone = [await readers.read(CAST, binds) for binds in VALUES]
        assert await asyncio.gather(*(readers.read(CAST, binds) for binds in VALUES)) == alone
        assert alone[3][0][2] == "-0" and alone[4] == []
        several = [("SELECT 7, NULL, 'b'", ()), (CAST, VALUES[2]), (CAST, VALUES[4])]
        found = await asyncio.gather(*(readers.read_as_one([*several, (CAST, each)]) for each in VALUES))
        assert found == [[[(7, None, "b")], alone[2], [], own] for own in alone]

    run(reading)


def test_what_comes_in_one_turn_goes_over_one_connection_and_of_many_the_halves_over_two() -> None:
    async def reading(readers: Readers) -> None:
        backend = "SELECT pg_backend_pid(), CAST(? AS bigint)"
        for number, halves in ((1, [1]), (MANY, [MANY]), (1, [1]), (TOGETHER, [TOGETHER // 2] * 2)):
            found = await asyncio.gather(*(readers.read(backend, (each,)) for each in range(number)))
            asked = Counter(own for [(own, _)] in found)
            assert sorted(asked.values()) == halves and readers.standing() == (0, len(halves), 0)
        slow = readers.read("SELECT pg_sleep(600)", ())
        assert await readers.read("SELECT 1", ()) == [(1,)] and not slow.done(), "nobody waits for another's statement"
        ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%'"
        while not await readers.read(ends, ()):
            pass  # its connection is yet to be made
        assert [type(each) for each in await asyncio.gather(slow, return_exceptions=True)] == [Lost]

    run(reading)


def test_what_is_read_as_one_is_of_one_moment() -> None:
    async def reading(readers: Readers) -> None:
        moment = "SELECT pg_current_snapshot()::text, statement_timestamp()::text"
        for asked in await asyncio.gather(*(readers.read_as_one([(moment, ()), (moment, ())]) for _ in range(5))):
            assert asked[0] == asked[1] != []

    run(reading)


def test_one_that_fails_does_not_fail_its_neighbours() -> None:
    async def reading(readers: Readers) -> None:
        asked = [readers.read("SELECT 6 / CAST(? AS bigint)", (each,)) for each in (1, 0, 2, 0, 3)]
        gone = readers.read("SELECT 6 / CAST(? AS bigint)", (6,))
        gone.cancel()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [each for each in found if isinstance(each, list)] == [[(6,)], [(3,)], [(2,)]]
        assert [type(found[1]), type(found[3])] == [DivisionByZeroError] * 2
        one = ("SELECT 6 / CAST(? AS bigint)", (0,))
        assert await readers.read_as_one([one, one]) == [], "who asks for each of them is told"
        [none] = await asyncio.gather(readers.read("SELECT to_tsquery(?)", ("a b",)), return_exceptions=True)
        assert type(none) is PostgresSyntaxError

    run(reading)


def test_what_is_no_part_of_a_statement_is_asked_by_itself() -> None:
    async def reading(readers: Readers) -> None:
        shown = [("SHOW server_encoding", ()), ("SELECT 1", ())]
        for _ in range(2):
            every = await asyncio.gather(*(readers.read("SHOW server_encoding", ()) for _ in range(3)))
            assert every == [[("UTF8",)]] * 3
            assert await asyncio.gather(*(readers.read_as_one(shown) for _ in range(3))) == [[]] * 3

    run(reading)


def test_rows_in_an_order_are_read_by_themselves() -> None:
    async def reading(readers: Readers) -> None:
        text = "SELECT n FROM generate_series(1, 500) AS n ORDER BY (n * CAST(? AS bigint)) % 503"
        found = await asyncio.gather(*(readers.read(text, (each,)) for each in range(1, 9)))
        assert found == [[(n,) for n in sorted(range(1, 501), key=lambda n: n * each % 503)] for each in range(1, 9)]

    run(reading)


def test_where_nobody_can_be_asked_all_who_wait_are_told() -> None:
    async def reading(readers: Readers) -> None:
        one = ("SELECT 1", ())
        asked: list[Future[Any]] = [readers.read(*one), readers.read(*one), readers.read_as_one([one, one])]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(each) for each in found} == {Lost}

    run(reading, "postgresql://ninefold@127.0.0.1:1/nothing")
