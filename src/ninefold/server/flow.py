"""How a request waits: a step gives a response, or says what it waits for and how it goes on.

No step is a coroutine and none knows which work really waits: on SQLite rows are there at once, a commit is not.
One loop (`app.py`) does the work and resumes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from ninefold.database.protocol import Session, Stored
from ninefold.server.messages import Response


@dataclass(frozen=True, slots=True)
class ReadBody:
    """The request's body, of at most `limit` bytes; gives bytes, or `TooLarge.TOO_LARGE` as soon as it is."""

    limit: int


class TooLarge(Enum):
    TOO_LARGE = "too large"


@dataclass(frozen=True, slots=True)
class Select:
    """A read; gives the rows."""

    text: str
    binds: Sequence[Stored]


@dataclass(frozen=True, slots=True)
class Transact:
    """Something done in a transaction of its own; gives what it returns, once that is durable."""

    work: Callable[[Session], Any]


@dataclass(frozen=True, slots=True)
class Compute:
    """Something that takes long without waiting for anything, such as Argon2; gives what it returns."""

    work: Callable[[], Any]


Work: TypeAlias = ReadBody | Select | Transact | Compute


@dataclass(frozen=True, slots=True)
class Wait:
    """What has to be done, and the step that takes its result."""

    work: Work
    resume: Callable[[Any], Next]


Next: TypeAlias = Response | Wait
