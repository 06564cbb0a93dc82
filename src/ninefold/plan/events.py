"""Part 6: what an operation writes to the event log, and how the log is delivered."""

from __future__ import annotations

from typing import Final

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.responses import Content
from ninefold.plan.said import Saying
from ninefold.plan.statement import Statement

SUBSCRIPTION = "subscription"
"""The resource that the language has itself: who is called with which kinds of event."""

EVENT = "event"
"""The resource that the log of events is, unless the contract calls one of its own so."""

TOLD = "$event"
"""The same, as a stream tells of it, whatever the contract calls `event`: no resource of a contract is called so."""

SECRET = "secret"
"""The member of `issued` that holds the signing secret of a subscription that was just made."""


RESUME = "Last-Event-ID"
"""The request header that names the last event seen (WHATWG HTML 9.2)."""

RESUMED_BY = "last-event-id"
"""The query parameter that says the same, where no header can be given."""

SERVER_SENT_EVENTS, WEBSOCKET = "server-sent events", "websocket"
"""The ways in which a stream may be had."""

BATCH = 100
"""Events that a stream reads at once."""


class InVersion(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event as another version has it. `kind` None: that version does not have it. `select` finds the row as that of
    the event does, and gives the columns of `content`."""

    version: str
    kind: str | None = None
    select: Statement | None = None
    content: Content | None = None


class Tell(msgspec.Struct, frozen=True):
    """Deliveries to rows of the contract's own, written with the event (`event`, and `$log`: `position`, `lane`, `due`,
    `version`, `subscription`). `keep` notes the rows that are not known yet; `tell` writes the deliveries, to all rows
    or to one, to those whose version it is."""

    keep: Statement
    tell: Statement


class Event(Saying, frozen=True, omit_defaults=True):
    """An event that an operation writes. `select` finds the row, as it has become, or as it was where the operation
    deletes it: its primary key as a JSON array, then what row rules read of it as a JSON object (or null), then the
    columns of `content`, which is the payload. `delivered`: whether subscriptions are told of it. `versions`: what it
    is where it is something else than in the newest version; `called`: its name in each version that has it; None:
    there are no versions. `tell`: deliveries are to rows of the contract's own."""

    kind: str
    resource: str
    select: Statement
    content: Content
    delivered: bool = False
    versions: tuple[InVersion, ...] = ()
    called: dict[str, str] | None = None
    tell: Tell | None = None
    trace: tuple[Place, ...] = ()


class Concerns(msgspec.Struct, frozen=True):
    """Which events may concern a caller at all. `select` gives of each event behind `$log.position`, up to `$log.last`,
    its position and then a value for each of `callers`, which is null where there is none; the event may concern whom
    one of `callers` gives the same value. It concerns nobody else."""

    select: Statement
    callers: tuple[Typed, ...]


PLAIN: Final = "application/json"
CLOUD_EVENT: Final = "application/cloudevents+json"
"""The media types of an event that is sent: of its payload as it is, and of the envelope with it."""


class Envelope(Saying, frozen=True):
    """CloudEvents 1.0.2, JSON format, structured mode. `source` reads the root `operator` alone."""

    source: Typed


class Subscribers(msgspec.Struct, frozen=True):
    """Rows of the contract's own that events go to. `receiver` gives the address and the secret of one of them (bound
    to `$log.subscription`)."""

    resource: str
    tell: Tell
    receiver: Statement


class Headers(msgspec.Struct, frozen=True):
    """What a delivery says besides: `select` gives the values, in the order of the names, of the row that it goes to
    (bound to `$log.subscription` and `event`)."""

    names: tuple[str, ...]
    select: Statement


class Webhooks(Saying, frozen=True, omit_defaults=True):
    """Standard Webhooks 1.0, without signatures where nothing is `signed`. `said` has the `attempts` that are made at
    most. `waits`: microseconds before each further attempt; the last counts again where there are more attempts.
    `sees`: for each kind of caller, the select that says whether such a caller sees the row of one event (bound to
    `$log.position`). `to` None: to the subscriptions that the language has itself."""

    waits: tuple[int, ...]
    sees: dict[str, Statement]
    to: Subscribers | None = None
    signed: bool = True
    headers: Headers | None = None
    trace: tuple[Place, ...] = ()


class Delivery(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """`kept_microseconds`: how long an event is kept for those who go back to it; None: without an end."""

    kept_microseconds: int | None = 0
    webhooks: Webhooks | None = None
    envelope: Envelope | None = None
    unversioned: str | None = None
    """The version of subscriptions that were made when there were none; None: there are no versions now either."""
