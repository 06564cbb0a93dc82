"""The whole service, checked: schemes, errors, limits and versions, and where everything that is stated stands."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ninefold.checked.contents import Content
from ninefold.checked.endpoints import Cors, Endpoint, EventKind, Events, Requests, Stopped
from ninefold.checked.operations import Read
from ninefold.checked.resources import Field, Guard, Record, Resource
from ninefold.checked.said import Saying
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Typed
from ninefold.plan.authentication import Where
from ninefold.plan.limits import Algorithm, Carries
from ninefold.plan.service import NotInForce, OperatorValue
from ninefold.plan.versioning import NamedBy
from ninefold.syntax.nodes import Document, Node, Scalar, Sequence
from ninefold.syntax.nodes import Mapping as MappingNode


@dataclass(frozen=True)
class Places:
    """The place of each entry of a mapping and each item of a list, by the keys that lead to it from the name of its
    part: `("errors", "codes", "taken", "for")`. Items of a list are called by their positions, and where they are
    words by these too: `("endpoints", "requests", "media type")`, `("resources", "order", "required", "lines")`."""

    document: Document = field(repr=False)

    @cached_property
    def found(self) -> Mapping[tuple[str, ...], Place]:
        """All of them: they are looked for when a plan is made."""
        found: dict[tuple[str, ...], Place] = {}
        for part in self.document.parts:
            for path, start in _stated(part.facts, (part.name,)):
                found.setdefault(path, self.document.source.place(start))
        return found

    def at(self, *path: str) -> tuple[Place, ...]:
        """The place, or none where nothing is stated there."""
        place = self.found.get(path)
        return () if place is None else (place,)

    def by_key(self, keys: Iterable[str], *path: str) -> dict[str, Place]:
        """Where those of some keys are stated that are."""
        return {key: place for key in keys for place in self.at(*path, key)}

    def nearest(self, *path: str) -> tuple[Place, ...]:
        """The place, or that of the nearest thing around it."""
        while path:
            if path in self.found:
                return (self.found[path],)
            path = path[:-1]
        return ()


def _stated(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    match node:
        case MappingNode(entries=entries):
            for entry in entries:
                below = (*path, entry.name)
                yield below, entry.key.span.start
                yield from _stated(entry.value, below)
        case Sequence(items=items):
            for number, item in enumerate(items):
                yield (*path, str(number)), item.span.start
                if isinstance(item, Scalar):
                    yield (*path, item.text), item.span.start
                yield from _stated(item, (*path, str(number)))
        case Scalar():
            pass


@dataclass(frozen=True)
class Rate(Saying):
    """`of`: a word, or an expression over the request. `per` in microseconds. `burst` None: the algorithm has none.
    `endpoints` None: it counts all."""

    name: str
    of: Literal["caller", "address"] | Typed
    allow: int
    per: int
    algorithm: Algorithm
    burst: int | None
    endpoints: tuple[str, ...] | None
    place: Place


@dataclass(frozen=True)
class Limits(Saying):
    """`headers`: those that tell of rates, by their names, each with what it carries."""

    rates: tuple[Rate, ...] = ()
    headers: tuple[tuple[str, Carries], ...] = ()


@dataclass(frozen=True)
class LookedUp:
    """The credential is the `secret: token` in `field` of a row of `resource`."""

    resource: str
    field: str


@dataclass(frozen=True)
class Issued:
    """The service makes the credential, for a row of `resource`. `scopes`: those that its `caller.scopes` may hold;
    empty: there is no such member. `granted`: which of them a row is granted."""

    resource: str
    scopes: tuple[str, ...] = ()
    granted: Typed | None = None


@dataclass(frozen=True)
class Password:
    """The credential is a user-id, which is the unique field `user` of a row of `resource`, and the password in its
    field `password`."""

    resource: str
    user: str
    password: str


@dataclass(frozen=True)
class CertificateOf:
    """The credential is a client's certificate, of which `presented`, an expression over `claims`, is in the unique
    `field` of a row of `resource`."""

    resource: str
    field: str
    presented: Typed


@dataclass(frozen=True)
class AnyCertificate:
    """The credential is a client's certificate, whatever it says."""


@dataclass(frozen=True)
class Signed:
    """Tokens that somebody else signs. `keys` None: `issuer` is where the issuer says the rest of itself (OpenID
    Connect Discovery 1.0). `algorithms` empty: those that the issuer publishes. `scopes`: which of a token's are
    `caller.scopes`; empty: there is no such thing."""

    issuer: Typed
    keys: Typed | None
    audience: str
    algorithms: tuple[str, ...]
    scopes: tuple[str, ...] = ()


Verification: TypeAlias = LookedUp | Issued | Password | Signed | CertificateOf | AnyCertificate


@dataclass(frozen=True)
class Scheme(Saying):
    """`verified`: how a good credential is told from a bad one; None: this build cannot, and accepts none."""

    name: str
    where: Where
    parameter: str
    challenge: str
    verified: Verification | None
    adds: tuple[tuple[str, Typed], ...]
    place: Place

    @property
    def in_force(self) -> bool:
        """Whether this build accepts credentials of the scheme."""
        return self.verified is not None


@dataclass(frozen=True)
class ErrorCode(Saying):
    """`computed`: what it says of this time, by name: its `detail`, and the headers of its responses. `resource`: the
    row that these read. `called`: what callers know the code by."""

    name: str
    status: int
    computed: Mapping[str, Typed]
    resource: str | None
    about: str | None
    place: Place
    called: str | None = None


@dataclass(frozen=True)
class Errors:
    """`content` None: the shape is a gap, or none is stated; every error is a bare status."""

    media_type: str | None
    content: Content | None
    codes: tuple[ErrorCode, ...]
    conditions: Mapping[str, str]
    messages: Mapping[str, str]
    precedence: tuple[str, ...]


@dataclass(frozen=True)
class Version(Saying):
    """A version. `retired`: an RFC 3339 full-date. `checked`: what an older version is; None: the version is the one
    that all else is about, or the way back to it is not shown. `moved`: the endpoints that have another key in the
    version above, by their keys here."""

    name: str
    place: Place
    retired: str | None
    checked: Checked | None = None
    moved: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Versions:
    """`current` is the version that all else is about: the newest. `default` is the version of a request that names
    none; `pinned`, what gives the name of it instead. `versions`, newest first."""

    by: NamedBy
    name: str
    current: str
    default: str | None
    versions: tuple[Version, ...]
    pinned: Typed | None = None

    @property
    def older(self) -> tuple[Checked, ...]:
        return tuple(each.checked for each in self.versions if each.checked is not None)


@dataclass(frozen=True)
class Accepted:
    """A proposal that is in force: its path (`note.fields.id.on create`), and where its key stands."""

    path: str
    place: Place


@dataclass(frozen=True)
class Checked(Saying):
    """`row_rules[resource][who]` is the condition of the rows that such a caller sees; None: every row. Who is
    not named there sees none. `model` is what expressions know of the resources. `types` are the schemas that fields
    share, by name, each with what it refers to inside it; a field's schema holds them in the place of their `$ref`.
    `requests`: how they are read of which nothing else is said. `places`: where everything is stated. `said`: what
    parts say as a whole, but for limits."""

    name: str
    title: str
    model: Model
    resources: Mapping[str, Resource]
    records: tuple[Record, ...]
    types: Mapping[str, Mapping[str, Any]]
    endpoints: tuple[Endpoint, ...]
    stopped: tuple[Stopped, ...]
    schemes: tuple[Scheme, ...]
    row_rules: Mapping[str, Mapping[str, Typed | None]]
    unseen_rows: Literal["not found", "forbidden"]
    errors: Errors
    base: str
    requests: Requests
    produces: str | None
    limits: Limits
    events: Events
    versions: Versions | None
    cors: Cors | None
    operator: tuple[OperatorValue, ...]
    not_in_force: tuple[NotInForce, ...]
    left_out: tuple[str, ...]
    proposals: tuple[Accepted, ...]
    places: Places
    version: str | None = None
    """Its name, where there are versions."""
    media_type_parameter: str = ""
    """What follows every media type of a response: `; version=2`, where versions are named so."""

    @cached_property
    def referring(self) -> Mapping[str, tuple[tuple[Resource, Field], ...]]:
        """For each resource, the references to its rows that are stored, each with the resource whose field it is."""
        found: dict[str, list[tuple[Resource, Field]]] = {}
        for resource in self.resources.values():
            for each in resource.fields.values():
                if each.references is not None and each.stored:
                    found.setdefault(each.references, []).append((resource, each))
        return {target: tuple(references) for target, references in found.items()}

    @cached_property
    def invariants(self) -> tuple[tuple[Resource, Guard], ...]:
        """Those of all resources, each with whose it is."""
        return tuple((each, invariant) for each in self.resources.values() for invariant in each.invariants)

    @cached_property
    def tagged(self) -> Mapping[str, str]:
        """For each resource, what is shown of its rows with entity tags: a digest, by which a tag tells apart what one
        revision looked like under different contracts. A tag that one endpoint gives names the row at each."""
        found: dict[str, list[str]] = {}
        for shown in (each.operation for each in self.endpoints):
            if shown.validator and shown.resource is not None:
                found.setdefault(shown.resource, []).extend(repr(end.content) for end in shown.ends_well)
        return {resource: digest_of(contents) for resource, contents in found.items()}

    @cached_property
    def digested(self) -> Mapping[str, tuple[Endpoint, ...]]:
        """For each resource, the endpoints that read a row of it whose entity tags are of more than the row."""
        found: dict[str, list[Endpoint]] = {}
        for each in self.endpoints:
            shown = each.operation
            if isinstance(shown, Read) and shown.digested and shown.resource is not None:
                found.setdefault(shown.resource, []).append(each)
        return {resource: tuple(endpoints) for resource, endpoints in found.items()}

    @cached_property
    def caused(self) -> Mapping[str, tuple[EventKind, ...]]:
        """For each resource, the kinds of events that its rows cause, in this version or in an older one."""
        found: dict[str, list[EventKind]] = {}
        for kind in self.events.kinds:
            causes = (*kind.causes, *(cause for older in kind.older for cause in older.causes))
            for resource in dict.fromkeys(cause.resource for cause in causes):
                if resource is not None:
                    found.setdefault(resource, []).append(kind)
        return {resource: tuple(kinds) for resource, kinds in found.items()}

    def requests_of(self, endpoint: Endpoint) -> Requests:
        """How the requests of an endpoint are read."""
        return endpoint.requests or self.requests

    @property
    def takes_subscriptions(self) -> bool:
        """Whether there is the built-in resource of who is told of events."""
        return any(each.subscriptions for each in self.resources.values())

    @property
    def takes_keys(self) -> bool:
        """Whether an endpoint takes idempotency keys, in any version."""
        return any("idempotency key" in endpoint.said for endpoint in self.in_all_versions)

    @property
    def in_all_versions(self) -> tuple[Endpoint, ...]:
        """Every endpoint that some version serves."""
        older = () if self.versions is None else self.versions.older
        return (*self.endpoints, *(endpoint for each in older for endpoint in each.endpoints))


def digest_of(contents: Iterable[str]) -> str:
    """By which entity tags tell apart what was shown; whatever the order."""
    return hashlib.sha256("\n".join(sorted(contents)).encode()).hexdigest()[:8]
