"""Rates that several processes count together in Valkey."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from itertools import cycle
from pathlib import Path

import httpx
import pytest
from tests.contracts import compiled
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, nodes, person
from tests.postgresql.valkey_server import Server, valkey

import ninefold
from ninefold.runtime.store import postgresql_serving, valkey_states
from ninefold.runtime.store.opening import open_counts, open_database
from ninefold.runtime.store.protocol import Refused, Unavailable
from ninefold.runtime.store.valkey_states import ValkeyStates

pytestmark = pytest.mark.serves

FAR = 2**62
"""Nanoseconds: in the year 2116."""

SERVICE = bytes(range(32))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with valkey(tmp_path_factory.mktemp("valkey")) as found:
        yield found


@pytest.mark.slow
def test_nodes_count_together_and_let_nobody_in_while_valkey_is_away(tmp_path: Path) -> None:
    allowed = 20
    with (
        valkey(tmp_path / "valkey") as counting,
        nodes(server.database(), 2, "--rates", _file(tmp_path, counting.url)) as both,
        ThreadPoolExecutor(8) as threads,
    ):

        def ask(number: int) -> int:
            return both[number % 2].client.get("/limited").status_code

        who = person(both[0].client)
        answers = list(threads.map(ask, range(3 * allowed)))
        assert answers.count(200) == allowed and answers.count(429) == 2 * allowed
        counting.kill()
        assert {ask(0), ask(1)} == {503}
        assert {each.client.get("/me", headers=who).status_code for each in both} == {200}, "who is not counted goes on"
        counting.start()
        # What was counted is forgotten.
        answers = list(threads.map(ask, range(2 * allowed)))
        assert answers.count(200) == allowed and answers.count(429) == allowed


def _file(folder: Path, url: str) -> str:
    """A file that holds what is secret, as an option names it."""
    (folder / "rates").write_text(url + "\n")
    return f"@{folder / 'rates'}"


Work = Callable[[Mapping[bytes, bytes | None], int], tuple[Mapping[bytes, tuple[bytes, int]], int]]


def one_more(name: bytes, until: Callable[[int], int] = lambda now: FAR) -> Work:
    def work(states: Mapping[bytes, bytes | None], now: int) -> tuple[Mapping[bytes, tuple[bytes, int]], int]:
        number = int(states[name] or 0) + 1
        return {name: (str(number).encode(), until(now))}, number

    return work


def counted(running: Server, of: int = 4, times: int = 50) -> list[int]:
    """The numbers that some processes have counted, of one name, at once."""

    async def count() -> list[int]:
        found = [ValkeyStates(running.url, SERVICE) for _ in range(of)]
        await found[0]._client.flushall()
        try:
            turns = zip(cycle(found), range(of * times), strict=False)
            return await asyncio.gather(*[each.change([b"one"], one_more(b"one")) for each, _ in turns])
        finally:
            for each in found:
                await each.close()

    return sorted(asyncio.run(count()))


def test_nothing_is_counted_twice_and_nothing_is_lost(running: Server) -> None:
    assert counted(running) == list(range(1, 201))


def test_a_swap_that_looks_at_nothing_is_noticed(running: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_states, "_SWAP", valkey_states._SWAP.replace("same = false", ""))
    assert counted(running) != list(range(1, 201))


def test_a_swap_takes_one_way_there_and_back(running: Server) -> None:
    async def asked() -> tuple[int, int]:
        states = ValkeyStates(running.url, SERVICE)

        async def calls() -> int:
            return int((await states._client.info("commandstats"))["cmdstat_evalsha"]["calls"])

        try:
            await states.change([b"way"], one_more(b"way"))  # hears the time, and has the script loaded
            before = await calls()
            for _ in range(10):
                await states.change([b"way"], one_more(b"way"))
            one_by_one, before = await calls() - before, await calls()
            await asyncio.gather(*[states.change([b"way"], one_more(b"way")) for _ in range(10)])
            return one_by_one, await calls() - before
        finally:
            await states.close()

    # Those that ask at once are one round, or two, where the first has gone.
    one_by_one, together = asyncio.run(asked())
    assert one_by_one == 10 and together <= 2


def test_what_is_as_if_nothing_had_been_counted_is_forgotten(running: Server) -> None:
    async def forgotten() -> None:
        states = ValkeyStates(running.url, SERVICE)
        try:
            await states.change([b"soon"], one_more(b"soon", lambda now: now + 50_000_000))
            await states.change([b"late"], one_more(b"late"))

            while any(each.endswith(b"soon") for each in await states._client.keys()):
                pass  # it is Valkey that is waited for
            # Here it is remembered, and found out to be gone.
            assert await states.change([b"soon"], one_more(b"soon")) == 1
            assert await states.change([b"late"], one_more(b"late")) == 2
        finally:
            await states.close()

    asyncio.run(forgotten())


def test_services_in_one_valkey_do_not_count_for_each_other(running: Server) -> None:
    async def apart() -> list[int]:
        found = [ValkeyStates(running.url, bytes([number]) * 32) for number in (1, 2)]
        try:
            return [await each.change([b"apart"], one_more(b"apart")) for each in found for _ in range(2)]
        finally:
            for each in found:
                await each.close()

    assert asyncio.run(apart()) == [1, 2, 1, 2]


@pytest.mark.parametrize("password", ["wrong", ""])
def test_a_valkey_that_does_not_let_us_in_is_away(running: Server, password: str) -> None:
    async def refused() -> None:
        states = ValkeyStates(f"valkey://:{password}@127.0.0.1:{running.port}", SERVICE)
        assert password not in states.name or not password
        try:
            with pytest.raises(Unavailable, match="Valkey cannot be reached"):
                await states.change([b"one"], one_more(b"one"))
        finally:
            await states.close()

    asyncio.run(refused())


def test_a_valkey_that_hangs_is_away_until_it_goes_on(running: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_states, "ANSWER_SECONDS", 0.2)
    assert running.process is not None

    async def hangs(process: subprocess.Popen[bytes]) -> None:
        states = ValkeyStates(running.url, SERVICE)
        try:
            process.send_signal(signal.SIGSTOP)
            with pytest.raises(Unavailable):
                await states.change([b"hangs"], one_more(b"hangs"))
            process.send_signal(signal.SIGCONT)
            while True:
                with suppress(Unavailable):
                    await states.change([b"hangs"], one_more(b"hangs"))
                    return
        finally:
            process.send_signal(signal.SIGCONT)
            await states.close()

    asyncio.run(hangs(running.process))


def test_a_url_that_cannot_be_is_refused_and_all_count_in_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_serving, "SETTLING_SECONDS", 0.0)
    plan = compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    url = server.database()
    opened = open_database(url, plan, counts_elsewhere=True)
    assert not isinstance(opened, Refused)
    try:
        for wrong in ("http://127.0.0.1", "valkey://127.0.0.1:port", "127.0.0.1:6379"):
            assert isinstance(open_counts(wrong, opened.database), Refused), wrong
        refused = open_database(url, plan)
        assert isinstance(refused, Refused) and "--rates" in refused.details[0]
    finally:
        opened.database.close()


def test_a_mounted_service_counts_there_as_well(running: Server) -> None:
    url = server.database()

    async def asked() -> list[int]:
        found = [ninefold.application(CONTRACT, database=url, rates=running.url) for _ in range(2)]
        async with AsyncExitStack() as stack:
            for each in found:
                await stack.enter_async_context(each.lifespan())
            clients = [
                await stack.enter_async_context(
                    httpx.AsyncClient(transport=httpx.ASGITransport(app=each), base_url="http://seats")
                )
                for each in found
            ]
            return [(await clients[number % 2].get("/limited")).status_code for number in range(30)]

    answers = asyncio.run(asked())
    assert answers == [200] * 20 + [429] * 10
