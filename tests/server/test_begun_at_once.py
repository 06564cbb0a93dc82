"""What is asked for begins in the moment in which it is asked for, and is counted off however it ends.

Between two steps of the event loop anything may happen: what was looked for comes, whoever waits goes away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from tests.server.identity import Answer, served
from tests.waiting import comes

from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.work import Callers, Fetcher
from ninefold.runtime.operations.flow import Failed, Fetch, Fetched, Gave, Invoke, Unreachable


def test_a_fetch_begins_though_nobody_has_begun_to_wait_for_it() -> None:
    taken: list[Fetched | Unreachable] = []

    async def ask(url: str) -> None:
        waiting = Fetcher().fetch(Fetch(url, taken.append))
        await comes(lambda: taken)
        assert await waiting is taken[0]

    with served(lambda path: Answer(path.encode())) as url:
        asyncio.run(ask(f"{url}/keys"))
    assert [each.body for each in taken if isinstance(each, Fetched)] == [b"/keys"]


def test_whoever_asks_at_any_moment_finds_a_fetch_or_what_came_of_it() -> None:
    """Of one document there are two keepers, and a step later than each that is taken somebody asks for it."""
    asked: list[str] = []

    def answer(path: str) -> Answer:
        asked.append(path)
        return Answer(b"{}")

    async def ask(url: str) -> None:
        fetcher, kept, waiting = Fetcher(), dict[str, Fetched | Unreachable](), list[Awaitable[object]]()

        def want(keeper: str) -> None:
            if keeper not in kept:
                waiting.append(fetcher.fetch(Fetch(url, lambda result: take(keeper, result))))

        def take(keeper: str, result: Fetched | Unreachable) -> None:
            kept[keeper] = result
            for each in ("one", "two"):
                asyncio.get_running_loop().call_soon(want, each)

        want("one")
        want("two")
        while waiting:
            await waiting.pop()
        assert len(kept) == 2

    with served(answer) as url:
        asyncio.run(ask(f"{url}/keys"))
    assert asked == ["/keys"]


def test_a_call_is_counted_off_however_it_ends() -> None:
    async def gives() -> str:
        await asyncio.sleep(0)
        return "given"

    async def fails() -> str:
        raise LookupError

    async def call() -> None:
        capacity = Capacity()
        callers = Callers(capacity)
        assert isinstance(await callers.begun(Invoke(gives, {}, awaited=True)), Gave)
        assert isinstance(await callers.begun(Invoke(fails, {}, awaited=True)), Failed)
        for steps in range(3):
            waiting = asyncio.ensure_future(callers.begun(Invoke(gives, {}, awaited=True)))
            for _ in range(steps):
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait({waiting})
        await asyncio.sleep(0)
        assert capacity.calls == 0
        callers.close()

    asyncio.run(call())
