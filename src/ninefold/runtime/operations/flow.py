"""How a request waits: a step gives a response, or says what it waits for and how it goes on.

No step is a coroutine and none knows which work really waits: on SQLite rows are there at once, a commit is not.
One loop (`http/app.py`) does the work and resumes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import Response
from ninefold.runtime.operations.audience import Concerns
from ninefold.runtime.store.protocol import BoundStatement, Nodes, Row, Session, Stored
from ninefold.runtime.store.statements import Kept


class ReadBody(Struct, frozen=True):
    """The request's body, of at most `limit` bytes; gives bytes, or `TooLarge.TOO_LARGE` as soon as it is."""

    limit: int


class TooLarge(Enum):
    TOO_LARGE = "too large"


class Select(Struct, frozen=True):
    """A read; gives the rows."""

    text: str
    binds: Sequence[Stored]


class SelectAsOne(Struct, frozen=True):
    """Several reads of one row at most each, of one snapshot; gives the rows of each, or none where that cannot be."""

    reads: tuple[BoundStatement, ...]


class Recall(Struct, frozen=True):
    """What `make` makes of the rows of a read, or has made of them before: the rows would be the same; gives that.
    `kept`: where it is kept; None: nowhere, it depends on more than rows. `last`: by key what was made last, whatever
    has become of the rows."""

    kept: Kept | None
    key: Hashable
    read: Callable[[], BoundStatement]
    make: Callable[[list[Row]], object]
    last: Mapping[Hashable, Any]


class Transact(Struct, frozen=True):
    """Something done in a transaction of its own; gives what it returns, once that is durable. `again`: it can be done
    once more where it was undone, and comes to the same."""

    work: Callable[[Session], Any]
    again: bool = False


class Sweep(Struct, frozen=True):
    """A transaction that does what is due by itself. `given_up` is called if it was not done, or nobody waits for it
    any more."""

    work: Callable[[Session], Any]
    given_up: Callable[[], None]


class Compute(Struct, frozen=True):
    """Something that takes long without waiting for anything, such as Argon2; gives what it returns."""

    work: Callable[[], Any]


AT_ONCE: Final = 16 * 1024
"""Bytes of a body, or of rows, with which a step of a request is taken among the others, at most. What is done with
more takes its time in proportion, and is done beside them."""


class Beside(Struct, frozen=True):
    """What may make much of little that a request brings, done beside the other requests; gives what it returns. With
    much, all is done beside them anyway (`http/work.py`)."""

    work: Callable[[], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Invoke:
    """A function of the operator's, called with these arguments; gives what it gives, or how it failed. `awaited`: it
    is of `async def`."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    awaited: bool


@dataclass(frozen=True, slots=True, eq=False)
class Gave:
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Failed:
    error: Exception


@dataclass(frozen=True, slots=True, eq=False)
class Fetched:
    """`seconds`: how long it may be kept, if it says so (RFC 9111 5.2.2)."""

    body: bytes
    seconds: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Unreachable:
    """`why` is for the operator."""

    why: str


Take: TypeAlias = Callable[[Fetched | Unreachable], None]


@dataclass(frozen=True, slots=True)
class Fetch:
    """A document of another service, such as the keys of an issuer; gives `Fetched` or `Unreachable`. Those who want
    the same one at the same time wait for one fetch. `take` is told what came before anybody who waits goes on, so
    that nobody finds neither the fetch nor what came of it."""

    url: str
    take: Take


class Share(Struct, frozen=True):
    """Something that the nodes of one database have together; gives what it gives."""

    ask: Callable[[Nodes], Awaitable[Any]]


class Ask(Struct, frozen=True):
    """Something that another process of this service does; gives what it gives."""

    ask: Callable[[], Awaitable[Any]]


Work: TypeAlias = (
    ReadBody | Select | SelectAsOne | Recall | Transact | Sweep | Compute | Beside | Fetch | Invoke | Share | Ask
)


class Wait(Struct, frozen=True):
    """What has to be done, and the step that takes its result."""

    work: Work
    resume: Callable[[Any], Next]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a response that goes on: `events`, each as it goes over the wire. `position`: where the next one
    begins. `more`: it is there already."""

    events: tuple[bytes, ...]
    position: int
    more: bool


class Over(Enum):
    """Why a response does not go on."""

    ENDED = "the same request would be refused now"
    UNKNOWN = "nobody can tell now whether it would"
    FAILED = "it cannot be told, and that is our own fault"


@dataclass(frozen=True, slots=True)
class Holds:
    """The same request would be answered now. `env`: what its expressions read, with the caller as of now."""

    env: Environment


@dataclass(frozen=True, slots=True)
class Asks:
    """What has to be known before anybody can say, and what is to be said then."""

    work: Select | Fetch
    then: Callable[[Any], Standing]


Standing: TypeAlias = Holds | Over | Asks
"""Whether a response that has begun may go on."""


@dataclass(frozen=True, slots=True)
class Follow:
    """A response that goes on for as long as the client listens: its head, then what `read` finds behind a position, as
    `show` shows it. Before each read `standing` is asked, and what it holds is what `read` is given.

    `audience`: those for whom it is equal see the same, and are asked for together. `caller`: for whom it is equal is
    one caller, who has so many of them. `concerns`: which events they may see; None: each may be one. Where the status
    of the head is 101 it goes on over WebSocket."""

    head: Response
    position: int
    read: Callable[[Mapping[str, Any], int], Select]
    show: Callable[[Sequence[Row], int], Chunk]
    standing: Callable[[], Standing]
    audience: Hashable = None
    caller: Hashable = None
    concerns: Concerns | None = None


Next: TypeAlias = Response | Wait | Follow


def at_once(step: Next, session: Session) -> Next:
    """Take an operation to its end inside a transaction that is open already: whatever it waits for is done at once."""
    while isinstance(step, Wait):
        match step.work:
            case Select(text, binds):
                step = step.resume(session.run(text, binds))
            case Recall(read=read, make=make):
                step = step.resume(make(session.run(*read())))
            case Transact(work) | Sweep(work, _):
                step = step.resume(work(session))
            case Compute(compute) | Beside(compute):
                step = step.resume(compute())
            case ReadBody() | SelectAsOne() | Fetch() | Invoke() | Share() | Ask():
                raise ValueError("an operation reads no body, and asks nobody else: its values are given")
    return step
