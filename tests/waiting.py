"""Waiting for what comes, not for a time: a test looks again and again until something holds, and gives up only where a
machine that is many times slower would have come to it. What holds after a fixed time holds on no slow machine, and
costs that time on every other (`tests/architecture/test_waiting.py`)."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

PATIENCE: Final = 300.0
"""Seconds after which what has not come will not come."""

_PAUSE: Final = 0.01

T = TypeVar("T")


def until(holds: Callable[[], T | None], told: Callable[[], object] = lambda: "it never came to hold") -> T:
    """What `holds` gives as soon as it is true of it. Raises AssertionError with what is `told`, where it never is."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < end, told()
        time.sleep(_PAUSE)
    return found


async def comes(holds: Callable[[], T | None]) -> T:
    """The same in a loop that goes on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < end, "it never came to hold"
        await asyncio.sleep(_PAUSE)
    return found


def begun(process: subprocess.Popen[Any], host: str, port: int, told: Callable[[], object] = lambda: "") -> None:
    """Until a program takes connections. Raises AssertionError, with what is `told`, where it ends before it does."""

    def takes() -> bool:
        assert process.poll() is None, told()
        with suppress(OSError), socket.create_connection((host, port), PATIENCE):
            return True
        return False

    until(takes, told)
