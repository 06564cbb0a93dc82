"""Part 6: events and their delivery."""

from __future__ import annotations

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.actions import Action
from ninefold.language.expressions import Expression, Template
from ninefold.language.fact import Fact, Name


@dataclass(frozen=True, slots=True)
class EventKind:
    """`origin`: the name of the kind in the document, where an older version has another one for it."""

    name: str
    span: Span
    upon: Fact[tuple[Action, ...]] | None
    payload: Fact[Template] | None
    when: Fact[Expression] | None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Webhooks:
    """`backoff` in microseconds: the wait before each further attempt. `to`: the resource whose rows say where events
    go; `when` says which of them, `url` and `secret` are of such a row."""

    signature: Fact[Name] | None
    attempts: Fact[int] | None
    backoff: Fact[tuple[int, ...]] | None
    to: Fact[Name] | None
    when: Fact[Expression] | None
    url: Fact[Expression] | None
    secret: Fact[Expression] | None


@dataclass(frozen=True, slots=True)
class Stream:
    """`kept` in microseconds."""

    format: Fact[Name] | None
    resume: Fact[Name] | None
    kept: Fact[int] | None


@dataclass(frozen=True, slots=True)
class Envelope:
    format: Fact[Name] | None
    source: Fact[Expression] | None


@dataclass(frozen=True, slots=True)
class Delivery:
    webhooks: Fact[Webhooks] | None
    stream: Fact[Stream] | None
    broker: Fact[Name] | None
    envelope: Fact[Envelope] | None
    order: Fact[Name] | None


@dataclass(frozen=True, slots=True)
class Log:
    """The log as the resource `event`. `lasts` in microseconds: how long an event can be read."""

    lasts: Fact[int] | None


@dataclass(frozen=True, slots=True)
class Events:
    kinds: Fact[tuple[EventKind, ...]] | None
    delivery: Fact[Delivery] | None
    log: Fact[Log] | None = None
