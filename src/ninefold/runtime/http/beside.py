"""Work on what requests bring, done by a thread beside the event loop.

Python's threads take turns of some milliseconds, so that the others go on meanwhile, as long as no single call of the
decoder or of the validator takes long: they have a bounded document each.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

AT_ONCE = 16 * 1024
"""Bytes of a body, or of rows, with which a step of a request is taken among the others. What is done with more takes
its time in proportion, and is done beside them."""


class Beside:
    """One thread: more of them would only make the others wait for more turns."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ninefold-beside")

    def begun(self, function: Callable[[], Any]) -> Awaitable[Any]:
        return asyncio.get_running_loop().run_in_executor(self._thread, _uncollected, function)

    async def taken(self, function: Callable[[], T], deadline: float | None) -> T:
        """What a function gives that is done to its end once it has begun. Raises TimeoutError where it has not until
        the deadline, a time of the event loop."""
        loop = asyncio.get_running_loop()
        running = self._thread.submit(_uncollected, function)
        given = asyncio.wrap_future(running)
        if deadline is not None:
            await asyncio.wait({given}, timeout=deadline - loop.time())
            if not given.done() and running.cancel():
                raise TimeoutError
        return await given

    def close(self) -> None:
        """End the thread, once what it does is done."""
        self._thread.shutdown()


LITTLE_SECONDS = 0.0001
"""In which some hundred KiB can have been read from the database, and no more."""


def is_much(found: object, seconds: float) -> bool:
    """Whether a step of a request has much to do with what was found for it in so many seconds. Rows that were there at
    once are not worth looking at."""
    if isinstance(found, bytes):
        return len(found) > AT_ONCE
    if seconds < LITTLE_SECONDS or not isinstance(found, list):
        return False
    size = 0
    for row in found:
        if isinstance(row, tuple):
            size += sum([len(cell) for cell in row if isinstance(cell, str | bytes)])
            if size > AT_ONCE:
                return True
    return False


def _uncollected(function: Callable[[], T]) -> T:
    """Done without looking for garbage: a document has no cycles, and looking at all of it again and again while it is
    made holds up every thread."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return function()
    finally:
        if collecting:
            gc.enable()
