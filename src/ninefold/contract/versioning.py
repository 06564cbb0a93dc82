"""Part 9: versioning."""

from __future__ import annotations

import re
from typing import Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.authentication import Admission
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import ErrorCode
from ninefold.language.events import EventKind
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Name
from ninefold.language.resources import View
from ninefold.language.routes import Segment
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import Mapping


@dataclass(frozen=True, slots=True)
class VersionScheme:
    """`by` is `path`, `header`, `query` or `media type`; `name` is the header's or the parameter's."""

    by: str
    name: str | None


ENDPOINT: Final = re.compile(r"[A-Z]+ /[^ ]*")
"""The key of an endpoint, as the subject of a change."""

OF_ENDPOINT: Final = re.compile(r"([A-Z]+ /.*)\.(filters|query|request headers)\.([^.]+)")
"""What belongs to an endpoint is named behind its key: `GET /orders.filters.status`."""


@dataclass(frozen=True, slots=True)
class Change:
    """One step of the way back to an older version: `verb` is rename, remove, add or change.

    `to` is the older name, with `route` where it is an endpoint's (its method and segments). Of a field: its older
    `schema`; `value`, worked out from the stored row; `on_create`, of a row that is made in the older version;
    `stored`, made of the `value` that a client of the older version gives. Of what is not a field: what it was, as its
    own part says it, with `permissions` for an endpoint."""

    verb: str
    subject: Name
    node: Mapping
    to: Name | None = None
    route: tuple[str, tuple[Segment, ...]] | None = None
    schema: Schema | None = None
    value: Expression | None = None
    on_create: Expression | None = None
    stored: Expression | None = None
    endpoint: Endpoint | None = None
    permissions: Fact[tuple[Admission, ...]] | None = None
    view: View | None = None
    kind: EventKind | None = None
    code: ErrorCode | None = None

    def said(self, key: str) -> Span:
        """Where a key of the change stands; the whole change where it does not."""
        entry = self.node.get(key)
        return self.node.span if entry is None else entry.key.span


@dataclass(frozen=True, slots=True)
class Version:
    """The dates are RFC 3339 full-dates."""

    name: str
    span: Span
    changes: Fact[tuple[Change, ...]] | None
    deprecated: Fact[str] | None
    sunset: Fact[str] | None
    retired: Fact[str] | None


@dataclass(frozen=True, slots=True)
class Versioning:
    """`default`: a version, or what gives its name. `versions`, newest first."""

    scheme: Fact[VersionScheme] | None
    default: Fact[Name | Expression] | None
    versions: Fact[tuple[Version, ...]] | None
    compatible: Fact[tuple[Name, ...]] | None
