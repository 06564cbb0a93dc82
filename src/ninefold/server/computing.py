"""Computations that take long: the hashing and verifying of passwords, one of the works that a step waits for.

Argon2 takes all that it is given of processors and memory. It is given few threads, which stand back where others want
the processor; and those who wait for it take turns by their address, so that nobody waits for all that one has sent.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from asyncio import Future
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from ninefold.server.capacity import Capacity
from ninefold.server.passwords import LANES

THREADS = max(1, (os.cpu_count() or 1) // LANES)
"""Computations at once. Each uses as many processors as it has lanes."""

STANDS_BACK = 10
"""How much less than others such a thread is given where there is not enough for all (`nice`, on Linux)."""

Waiting: TypeAlias = tuple[Callable[[], Any], "Future[Any]"]


class Computations:
    """Computes, so many at once as there are threads; those of one address one after another."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        self._threads = ThreadPoolExecutor(THREADS, "ninefold-compute", initializer=_stand_back)
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
        while self._waiting and self._running < THREADS:
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
