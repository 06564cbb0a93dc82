"""What a step waits for: a computation that takes long, a call of a function, a document of another service; and work
on much that a request brings.

Argon2 takes all that it is given of processors and memory. It is given few threads, which stand back where others want
the processor; and those who wait for it take turns by their address, so that nobody waits for all that one has sent.

A function is the operator's own code, and may take its time: a plain one runs on a thread, one of `async def` on the
event loop, so many at once as there is room for.

Where a document is was said by the operator or by an issuer that the operator trusts. The answer is not trusted any
further: no redirect is followed, no cookie kept, no proxy asked, and no more is read than a document of its kind is
long.

What is made of a large body, or of many rows, is done by one thread beside the event loop. Python's threads take turns
of some milliseconds, so that the others go on meanwhile, as long as no single call of the decoder or of the validator
takes long: they have a bounded document each.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from asyncio import Future
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from itertools import chain
from sys import getsizeof
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.garbage import Garbage
from ninefold.runtime.operations.credentials import LANES
from ninefold.runtime.operations.flow import AT_ONCE, Failed, Fetch, Fetched, Gave, Invoke, Take, Unreachable
from ninefold.runtime.unanswered import OF_NOBODY, unanswered, unfit

if TYPE_CHECKING:
    import aiohttp

MOST_COMPUTATIONS = max(1, (os.cpu_count() or 1) // LANES)
"""Computations at once. Each uses as many processors as it has lanes."""

STANDS_BACK = 10
"""How much less than others such a thread is given where there is not enough for all (`nice`, on Linux)."""

Waiting: TypeAlias = tuple[Callable[[], Any], "Future[Any]"]


class Computations:
    """Computes, so many at once as there are threads; those of one address one after another."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        self._threads = ThreadPoolExecutor(MOST_COMPUTATIONS, "ninefold-compute", initializer=_stand_back)
        self._waiting: OrderedDict[str, deque[Waiting]] = OrderedDict()
        """By address, that whose turn it is first."""
        self._running = 0

    def begun(self, function: Callable[[], Any], address: str) -> Future[Any]:
        """What comes of a computation. Raises Unavailable where too many wait, of all or of this address. To be called
        on the event loop's thread."""
        self._capacity.compute(address)
        future: Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda _: self._capacity.computed(address))
        self._waiting.setdefault(address, deque()).append((function, future))
        self._next()
        return future

    def close(self) -> None:
        self._threads.shutdown()

    def _next(self) -> None:
        while self._waiting and self._running < MOST_COMPUTATIONS:
            address, queue = self._waiting.popitem(last=False)
            function, future = queue.popleft()
            if queue:
                self._waiting[address] = queue
            if not future.done():  # else nobody waits for it any more
                self._running += 1
                done = asyncio.get_running_loop().run_in_executor(self._threads, function)
                done.add_done_callback(lambda done, future=future: self._ended(done, future))  # type: ignore[misc]

    def _ended(self, done: Future[Any], future: Future[Any]) -> None:
        self._running -= 1
        self._next()
        if done.cancelled():
            future.cancel()
        elif error := done.exception():
            if not future.done():
                future.set_exception(error)
        elif not future.done():
            future.set_result(done.result())


def _stand_back() -> None:
    """Linux counts threads as it counts processes (`setpriority(2)`), and what a thread begins is as it is itself."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), STANDS_BACK)


MOST_CALLS = 32
"""Plain functions that run at once; others wait."""


class Callers:
    """Calls functions, so many at once as there are threads and room."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        self._threads = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="ninefold-call")

    def begun(self, work: Invoke) -> Awaitable[Gave | Failed]:
        """What comes of a call. Raises Unavailable where too many are on their way: one whose request has ended counts
        until it ends itself."""
        self._capacity.call()
        if work.awaited:
            # It is counted off when it ends in whatever way, before its first step as well.
            task = asyncio.ensure_future(_awaited(work))
            task.add_done_callback(lambda _: self._capacity.called())
            return task
        loop = asyncio.get_running_loop()
        future = self._threads.submit(_run, work)

        def done(_: object) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._capacity.called)

        future.add_done_callback(done)
        return asyncio.wrap_future(future)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _awaited(work: Invoke) -> Gave | Failed:
    try:
        return Gave(await work.function(**work.arguments))
    except Exception as error:
        return Failed(error)


def _run(work: Invoke) -> Gave | Failed:
    try:
        return Gave(work.function(**work.arguments))
    except Exception as error:
        return Failed(error)


SECONDS = 5.0
"""For all of it: the name, the connection, the answer."""

MOST_BYTES = 256 * 1024
"""Of a document."""

_HEADERS = {
    "user-agent": "ninefold",
    "accept": "application/json, application/jwk-set+json",
    "accept-encoding": "identity",
}


class Fetcher:
    """Fetches documents, each once at a time."""

    def __init__(self) -> None:
        self._under_way: dict[str, tuple[asyncio.Task[Fetched | Unreachable], list[Take]]] = {}
        """By URL: the fetch, and who is to be told what comes."""

    def fetch(self, wanted: Fetch) -> Awaitable[Fetched | Unreachable]:
        """Begins in the moment in which it is asked for: a step later what was looked for may have come. One that is
        under way already is waited for, and goes on when whoever began it waits no more."""
        under_way = self._under_way.get(wanted.url)
        if under_way is None:
            takes: list[Take] = []
            under_way = self._under_way[wanted.url] = asyncio.create_task(self._fetched(wanted.url, takes)), takes
        task, takes = under_way
        takes.append(wanted.take)
        return asyncio.shield(task)

    async def _fetched(self, url: str, takes: list[Take]) -> Fetched | Unreachable:
        """All take it in the moment in which it is under way no more: who asks then is in need of neither."""
        try:
            result = await _fetch(url)
            for take in takes:
                take(result)
            return result
        finally:
            del self._under_way[url]


_LOADED_FIRST = ("ninefold.runtime.bounded", "joserfc.jwk", "joserfc.jws")
"""What fetches, and what reads the keys that come. It takes a tenth of a second the first time, and is loaded beside
the event loop then: most services fetch nothing before they have answered many requests."""


async def _fetch(url: str) -> Fetched | Unreachable:
    why = unfit(url)
    if why is not None and why != OF_NOBODY:
        return Unreachable(why)
    for module in _LOADED_FIRST:
        await asyncio.to_thread(import_module, module)
    import aiohttp

    from ninefold.runtime.bounded import Connector

    try:
        # A session for each: there is a fetch or two an hour, and nothing to be kept in between.
        async with (
            aiohttp.ClientSession(
                connector=Connector(MOST_BYTES),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=SECONDS),
                auto_decompress=False,
                trust_env=False,
                headers=_HEADERS,
            ) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status != 200:
                return Unreachable(f"the answer is {response.status}")
            if response.headers.get("content-encoding", "identity") != "identity":
                return Unreachable("the answer is compressed")
            body = await _read(response.content)
            if body is None:
                return Unreachable(f"the answer is longer than {MOST_BYTES // 1024} KiB")
            return Fetched(body, kept_seconds(response.headers.getall("cache-control", [])))
    except TimeoutError:
        return Unreachable(f"no answer within {SECONDS:.0f} seconds")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return Unreachable(unanswered(error))


async def _read(content: aiohttp.StreamReader) -> bytes | None:
    """All of it; None: it is too long."""
    chunks, size = [], 0
    async for chunk in content.iter_chunked(16 * 1024):
        size += len(chunk)
        if size > MOST_BYTES:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


_MAX_AGE = re.compile(r'max-age="?([0-9]{1,10})"?', re.ASCII)


def kept_seconds(cache_control: list[str]) -> float | None:
    """How long a response may be kept (RFC 9111 5.2.2); None: it does not say."""
    directives = [each.strip().lower() for field in cache_control for each in field.split(",")]
    if "no-store" in directives or "no-cache" in directives:
        return 0.0
    found = next((match for each in directives if (match := _MAX_AGE.fullmatch(each))), None)
    return None if found is None else float(found[1])


T = TypeVar("T")


class Beside:
    """One thread: more of them would only make the others wait for more turns."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ninefold-beside")
        self._garbage = Garbage()

    def begun(self, function: Callable[[], Any]) -> Awaitable[Any]:
        self._garbage.begin()
        running = asyncio.get_running_loop().run_in_executor(self._thread, function)
        running.add_done_callback(self._garbage.end)
        return running

    async def taken(self, function: Callable[[], T], deadline: float | None) -> T:
        """What a function gives that is done to its end once it has begun. Raises TimeoutError where it has not until
        the deadline, a time of the event loop."""
        loop = asyncio.get_running_loop()
        self._garbage.begin()
        running = self._thread.submit(function)
        given = asyncio.wrap_future(running)
        given.add_done_callback(self._garbage.end)
        if deadline is not None:
            await asyncio.wait({given}, timeout=deadline - loop.time())
            if not given.done() and running.cancel():
                raise TimeoutError
        return await given

    def close(self) -> None:
        """End the thread, once what it does is done."""
        self._thread.shutdown()
        self._garbage.close()


LITTLE_SECONDS = 0.0001
"""In which some hundred KiB can have been read from the database, and no more."""


def is_much(found: object, seconds: float, at_once: int = AT_ONCE) -> bool:
    """Whether a step of a request has much to do with what was found for it in so many seconds. `at_once`: bytes of a
    body."""
    if isinstance(found, bytes):
        return len(found) > at_once
    return isinstance(found, list) and are_much(found, seconds)


def are_much(found: Sequence[Any], seconds: float) -> bool:
    """The same of rows. Those that were there at once are not worth looking at."""
    # What takes no more memory has no more text, and that is known sooner.
    if seconds < LITTLE_SECONDS or size_of(found) <= AT_ONCE:
        return False
    size = 0
    for row in found:
        if isinstance(row, tuple):
            for cell in row:
                if type(cell) is str or type(cell) is bytes:
                    size += len(cell)
            if size > AT_ONCE:
                return True
    return False


def size_of(found: object) -> int:
    """Bytes that rows take in memory; 0: what was found is none."""
    if isinstance(found, list) and found and isinstance(found[0], tuple):
        return sum(map(getsizeof, chain.from_iterable(found)))
    return 0
