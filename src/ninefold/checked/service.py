"""The whole of what is served."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ninefold.checked.endpoints import Content, Endpoint, Stopped
from ninefold.checked.events import Events
from ninefold.checked.limits import Limits
from ninefold.checked.places import Places
from ninefold.checked.resources import Record, Resource
from ninefold.diagnostics.source import Place
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Typed


@dataclass(frozen=True)
class LookedUp:
    """The credential is the `secret: token` in `field` of a row of `resource`."""

    resource: str
    field: str


@dataclass(frozen=True)
class Issued:
    """The service makes the credential, for a row of `resource`. `lasts`: microseconds; None: as long as its row."""

    resource: str
    lasts: int | None


@dataclass(frozen=True)
class Password:
    """The credential is a user-id, which is the unique field `user` of a row of `resource`, and the password in its
    field `password`."""

    resource: str
    user: str
    password: str


@dataclass(frozen=True)
class Signed:
    """Tokens that somebody else signs. Either `configuration` is where the issuer says the rest of itself (OpenID
    Connect Discovery 1.0), or `issuer` and `keys` are stated. `algorithms` empty: those that the issuer publishes."""

    configuration: Typed | None
    issuer: Typed | None
    keys: Typed | None
    audience: str
    algorithms: tuple[str, ...]


Verification: TypeAlias = LookedUp | Issued | Password | Signed


@dataclass(frozen=True)
class Scheme:
    """`verified`: how a good credential is told from a bad one; None: this build cannot, and accepts none."""

    name: str
    where: Literal["authorization", "header", "query", "cookie"]
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
class ErrorCode:
    """`of_request`: the detail reads no row. `resource`: the row that it reads."""

    name: str
    status: int
    title: str | None
    detail: Typed | None
    resource: str | None
    about: str | None
    place: Place


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
class Versions:
    by: Literal["path", "header", "query"]
    name: str
    current: str
    default: str | None
    others: tuple[str, ...]


@dataclass(frozen=True)
class NotInForce:
    what: str
    consequence: str
    place: Place


@dataclass(frozen=True)
class Accepted:
    """A proposal that is in force: its path (`note.fields.id.on create`), and where its key stands."""

    path: str
    place: Place


@dataclass(frozen=True)
class OperatorValue:
    name: str
    places: tuple[Place, ...]
    blocks: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """`row_rules[resource][who]` is the condition of the rows that such a caller sees; None: every row. Who is
    not named there sees none. `model` is what expressions know of the resources. `types` are the schemas that fields
    share, by name, each with what it refers to inside it; a field's schema holds them in the place of their `$ref`.
    `limit_places`: where the limits of part 8 are stated, by the condition that is met where one is passed.
    `places`: where everything is stated."""

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
    unseen_rows: Literal["missing", "forbidden"]
    errors: Errors
    base: str
    request_media_type: str | None
    response_media_type: str | None
    unknown_members: Literal["refused", "ignored"]
    unknown_parameters: Literal["refused", "ignored"]
    body_size: int | None
    request_time: int | None
    limit_places: Mapping[str, Place]
    limits: Limits
    events: Events
    versions: Versions | None
    operator: tuple[OperatorValue, ...]
    not_in_force: tuple[NotInForce, ...]
    left_out: tuple[str, ...]
    proposals: tuple[Accepted, ...]
    places: Places
