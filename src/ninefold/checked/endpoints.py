"""Endpoints that are served, and those that are not; the kinds of event, and how they are delivered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ninefold.checked.contents import Content, Response
from ninefold.checked.operations import Mutation, Operation, PathName, PathValue, Segment, Takes
from ninefold.checked.said import Saying
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.verbs import Verb
from ninefold.values import Type


@dataclass(frozen=True)
class Admission:
    """`condition` None: every such caller. `of_request`: the condition reads no row. `scopes`: those that it asks a
    token for."""

    who: str
    condition: Typed | None
    of_request: bool
    place: Place
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Requests(Saying):
    """How requests are read. `texts`: a text is taken for a number or a truth value where one is meant."""

    media_types: tuple[str, ...]
    unknown_members: Literal["refused", "ignored"]
    texts: bool = False


@dataclass(frozen=True)
class ErrorShape:
    """The body of an error and its media type. Either None: it is a gap, or none is stated; every error is a bare
    status."""

    media_type: str | None
    content: Content | None


@dataclass(frozen=True)
class Case:
    """Which requests a case is of: those for which `by` gives its name; `name` None: those of no other case. `member`:
    `by` is this member of the body. `all`: the names of the endpoint's cases."""

    by: Typed
    member: str | None
    name: str | None
    all: tuple[str, ...]
    place: Place

    @property
    def called(self) -> str:
        """As a contract names it."""
        return self.name or ALL_OTHERS


@dataclass(frozen=True)
class Argument:
    """A value that a function is called with."""

    name: str
    value: Typed
    type: Type
    schema: Mapping[str, Any]
    nullable: bool
    place: Place


@dataclass(frozen=True)
class Call:
    """A function that is called first. `fields`: those that the body gives, and how arguments name them."""

    function: str
    arguments: tuple[Argument, ...]
    gives: Mapping[str, Any]
    type: Type
    refuses: tuple[str, ...]
    fields: tuple[tuple[str, tuple[str, ...]], ...]
    place: Place


@dataclass(frozen=True)
class Endpoint(Saying):
    """How an operation is asked for, and by whom. One with cases is one for each `case`, all with one key. `call`: what
    is called before any of it. `requests`: how its own requests are read, and `error_shape`: what its own errors look
    like; None: as all are."""

    method: str
    operation: Operation
    admissions: tuple[Admission, ...]
    requests: Requests | None = None
    error_shape: ErrorShape | None = None
    case: Case | None = None
    call: Call | None = None

    @property
    def key(self) -> str:
        return self.operation.key

    @property
    def called(self) -> str | None:
        """The case that it is, as the contract names it; None: it has none."""
        return None if self.case is None else self.case.called

    @property
    def segments(self) -> tuple[Segment, ...]:
        return self.operation.segments

    @property
    def names(self) -> tuple[PathName, ...]:
        return self.operation.names

    @property
    def place(self) -> Place:
        return self.operation.place

    @property
    def kind(self) -> Verb:
        return self.operation.kind

    @property
    def verb(self) -> str:
        return self.operation.verb

    @property
    def resource(self) -> str | None:
        return self.operation.resource

    @property
    def response(self) -> Response:
        return self.operation.response

    @property
    def takes(self) -> Takes:
        return self.operation.takes

    @property
    def errors(self) -> Mapping[str, str]:
        return self.operation.errors

    @property
    def mutation(self) -> Mutation | None:
        """What it changes; None: it only shows."""
        return self.operation if isinstance(self.operation, Mutation) else None


@dataclass(frozen=True)
class Cors(Saying):
    """`origins` None: any. `max_age`: microseconds. `preflight`: the status of an answer to OPTIONS."""

    origins: tuple[str, ...] | None
    headers: tuple[str, ...]
    exposed: tuple[str, ...]
    credentials: bool
    max_age: int | None
    preflight: int
    place: Place


@dataclass(frozen=True)
class Stopped:
    """An endpoint that is not served, and why, each reason in one line."""

    key: str
    method: str
    segments: tuple[str | PathValue, ...]
    place: Place
    reasons: tuple[str, ...]


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
class EventKind(Saying):
    """`origin` is its name in the document, which an older version may call otherwise. `older`: what it is in each
    version in which it is something else. `hidden`: the version that all else is about does not have it."""

    name: str
    causes: tuple[Cause, ...]
    place: Place
    origin: str = ""
    older: tuple[OlderKind, ...] = ()
    hidden: bool = False

    def called_in(self, version: str | None) -> str | None:
        """What a version calls it; None: it does not have it."""
        return next((each.name for each in self.older if each.version == version), self.name)


@dataclass(frozen=True)
class Subscribers:
    """Rows of the contract's own that say where events go: `where` reads such a row and `event`, the others the
    row. `secret` None: nothing is signed."""

    resource: str
    where: Typed
    url: Typed
    secret: Typed | None


@dataclass(frozen=True)
class Webhooks(Saying):
    """`backoff` in microseconds. `to` None: to the subscriptions that the language has itself. `headers` read `event`
    and the row, or the subscription."""

    backoff: tuple[int, ...]
    place: Place
    signed: bool
    headers: tuple[tuple[str, Typed], ...] = ()
    to: Subscribers | None = None


@dataclass(frozen=True)
class Stream:
    """Those who hold a connection are told of events. `over`: the ways in which they may be."""

    place: Place
    over: tuple[str, ...]


@dataclass(frozen=True)
class Kept:
    """How long events are kept for those who go back to them: in `microseconds`; None: without an end."""

    microseconds: int | None
    place: Place


@dataclass(frozen=True)
class Envelope(Saying):
    """CloudEvents, and their source."""

    source: Typed


@dataclass(frozen=True)
class Events:
    """What is in force of part 6. `envelope` None: events are sent as they are."""

    kinds: tuple[EventKind, ...] = ()
    webhooks: Webhooks | None = None
    stream: Stream | None = None
    envelope: Envelope | None = None
    kept: Kept | None = None
