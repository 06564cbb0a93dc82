"""Taking a step of a request, whatever it raises: who drives requests (the server, a rehearsal) does it alike."""

from __future__ import annotations

from collections.abc import Callable

from ninefold.runtime.operations.flow import Next
from ninefold.runtime.request.exchange import Exchange
from ninefold.runtime.request.steps import failed


def taken(x: Exchange, take: Callable[[], Next]) -> Next:
    """The next step, or, where a step raises, what the request is answered for it."""
    try:
        return take()
    except Exception as error:
        return recovered(x, error)


def recovered(x: Exchange, error: Exception) -> Next:
    """What a request is answered for which an error was raised."""
    try:
        return failed(x, error)
    except Exception as again:
        # What is raised while a refusal is answered or a write is tried again is our own fault.
        return failed(x, again)
