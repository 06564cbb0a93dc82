"""The kinds of event, and how they are delivered."""

from __future__ import annotations

from ninefold.checked.contents import Content
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Place
from ninefold.expressions.tree import Typed


@dataclass(frozen=True)
class Cause:
    """An action that an event arises upon: a verb or a transition, the resource, and the payload over its row. `when`:
    of which rows it arises; None: of all."""

    verb: str
    resource: str
    payload: Content
    when: Typed | None = None


@dataclass(frozen=True)
class OlderKind:
    """A kind as an older version has it; `name` None: it does not."""

    version: str
    name: str | None
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True)
class EventKind:
    """`origin` is its name in the document, which an older version may call otherwise. `older`: what it is in each
    version in which it is something else. `hidden`: the version that all else is about does not have it."""

    name: str
    causes: tuple[Cause, ...]
    place: Place
    origin: str = ""
    older: tuple[OlderKind, ...] = ()
    hidden: bool = False


@dataclass(frozen=True)
class Subscribers:
    """Rows of the contract's own that say where events go: `when` reads such a row and `event`, the others the row."""

    resource: str
    when: Typed
    url: Typed
    secret: Typed


@dataclass(frozen=True)
class Webhooks:
    """`backoff` in microseconds. `to` None: to the subscriptions that the language has itself."""

    attempts: int
    backoff: tuple[int, ...]
    place: Place
    to: Subscribers | None = None


@dataclass(frozen=True)
class Stream:
    """`resume`: the request header that names the last event seen; None: a stream starts with what comes next. `kept`
    in microseconds."""

    resume: str | None
    kept: int
    place: Place


@dataclass(frozen=True)
class Broker:
    """`operator`: the name of the value that says where it is."""

    operator: str
    place: Place


@dataclass(frozen=True)
class Log:
    """The log is read as the resource `event`. `lasts` in microseconds: how long an event can be read; None: without an
    end."""

    lasts: int | None
    place: Place


@dataclass(frozen=True)
class Events:
    """What is in force of part 6. `source`: the envelope is CloudEvents, and this is its source."""

    kinds: tuple[EventKind, ...] = ()
    webhooks: Webhooks | None = None
    broker: Broker | None = None
    stream: Stream | None = None
    source: Typed | None = None
    in_order: bool = False
    log: Log | None = None
