"""Calling functions: one of the works that a step waits for.

A function is the operator's own code, and may take its time: a plain one runs on a thread, one of `async def` on the
event loop, so many at once as there is room for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from ninefold.server.capacity import Capacity
from ninefold.server.flow import Failed, Gave, Invoke

THREADS = 32
"""Plain functions that run at once; others wait."""


class Callers:
    """Calls functions, so many at once as there are threads and room."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="ninefold-call")

    def begun(self, work: Invoke) -> Awaitable[Gave | Failed]:
        """What comes of a call. Raises Unavailable where too many are on their way: one whose request has ended counts
        until it ends itself."""
        self._capacity.call()
        if work.awaited:
            return self._awaited(work)
        loop = asyncio.get_running_loop()
        future = self._threads.submit(_run, work)

        def done(_: object) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._capacity.called)

        future.add_done_callback(done)
        return asyncio.wrap_future(future)

    async def _awaited(self, work: Invoke) -> Gave | Failed:
        try:
            return Gave(await work.function(**work.arguments))
        except Exception as error:
            return Failed(error)
        finally:
            self._capacity.called()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _run(work: Invoke) -> Gave | Failed:
    try:
        return Gave(work.function(**work.arguments))
    except Exception as error:
        return Failed(error)
