"""Work on what requests bring, done by a thread beside the event loop.

Python's threads take turns of some milliseconds, so that the others go on meanwhile, as long as no single call of the
decoder or of the validator takes long: they have a bounded document each.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Beside:
    """One thread: more of them would only make the others wait for more turns."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ninefold-beside")

    def begun(self, function: Callable[[], Any]) -> Awaitable[Any]:
        return asyncio.get_running_loop().run_in_executor(self._thread, _uncollected, function)

    def close(self) -> None:
        """End the thread, once what it does is done."""
        self._thread.shutdown()


def _uncollected(function: Callable[[], Any]) -> Any:
    """Done without looking for garbage: a document has no cycles, and looking at all of it again and again while it is
    made holds up every thread."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return function()
    finally:
        if collecting:
            gc.enable()
