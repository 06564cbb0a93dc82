"""The kinds of event, and how they are delivered."""

from __future__ import annotations

from dataclasses import dataclass

from ninefold.checked.endpoints import Content
from ninefold.diagnostics.source import Place
from ninefold.expressions.tree import Typed


@dataclass(frozen=True)
class Cause:
    """An action that an event arises upon: a verb or a transition, the resource, and the payload over its row."""

    verb: str
    resource: str
    payload: Content


@dataclass(frozen=True)
class EventKind:
    name: str
    causes: tuple[Cause, ...]
    place: Place


@dataclass(frozen=True)
class Webhooks:
    """`backoff` in microseconds."""

    attempts: int
    backoff: tuple[int, ...]
    place: Place


@dataclass(frozen=True)
class Stream:
    """`resume`: the request header that names the last event seen; None: a stream starts with what comes next. `kept`
    in microseconds."""

    resume: str | None
    kept: int
    place: Place


@dataclass(frozen=True)
class Events:
    """What is in force of part 6. `source`: the envelope is CloudEvents, and this is its source."""

    kinds: tuple[EventKind, ...] = ()
    webhooks: Webhooks | None = None
    stream: Stream | None = None
    source: Typed | None = None
    in_order: bool = False
