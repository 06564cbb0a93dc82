"""A whole contract: the nine parts as facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from functools import cached_property
from typing import Any, Final

from ninefold.contract.shared_types import SharedTypes
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.authentication import Authentication, Permission
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.endpoints import Endpoint, Endpoints
from ninefold.language.errors import Errors
from ninefold.language.events import Events
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, value_of
from ninefold.language.limits import Limits
from ninefold.language.purpose import Purpose
from ninefold.language.resources import Resource, Resources
from ninefold.language.states import Machine, States
from ninefold.language.verbs import SUBSCRIPTION
from ninefold.language.versioning import Versioning
from ninefold.syntax.nodes import Document

KINDS: Final = (SUBSCRIPTION, "kinds")
"""The field of the language's own resource that versions may have otherwise."""

_NO_PARTS: Final = ("document", "subscribed", "slips")


@dataclass(frozen=True)
class KindsInVersion:
    """How a version has the kinds of subscriptions: as the `field` that it has in their place, which `shown` works out
    of what is `stored`; of a `value` that is `given`, what is kept. `stored`: the names of all kinds there. `renames`:
    it calls one otherwise."""

    field: str
    stored: tuple[str, ...]
    shown: Expression
    given: Expression
    renames: bool


@dataclass(frozen=True)
class Contract:
    """`document` is what it was read from: places are places in it. `subscribed` None: the kinds of subscriptions are
    called as they are stored. `slips`: the help where a value is nearly `none` or `not shown`, should it be wrong."""

    document: Document
    purpose: Purpose
    resources: Resources
    states: States
    endpoints: Endpoints
    authentication: Authentication
    events: Events
    errors: Errors
    limits: Limits
    versioning: Versioning
    subscribed: KindsInVersion | None = None
    slips: Mapping[Span, str] = field(default_factory=dict, compare=False)

    @property
    def parts(self) -> Iterator[tuple[str, Any]]:
        """The nine parts, each with its name."""
        return ((each.name, getattr(self, each.name)) for each in fields(self) if each.name not in _NO_PARTS)

    def line(self, span: Span) -> int:
        """The line at which a fact begins."""
        return self.document.source.place(span.start).line

    @cached_property
    def machines(self) -> Mapping[str, Fact[Machine]]:
        """By resource, in written order."""
        return {each.resource.text: each.machine for each in value_of(self.states.machines) or ()}

    def machine(self, resource: str) -> Machine | None:
        return value_of(self.machines.get(resource))

    @cached_property
    def resources_by_name(self) -> Mapping[str, Resource]:
        return {each.name: each for each in value_of(self.resources.resources) or ()}

    @cached_property
    def endpoints_by_key(self) -> Mapping[str, Endpoint]:
        """Of an endpoint with cases, the first of these."""
        stated: tuple[Endpoint, ...] = value_of(self.endpoints.endpoints) or ()
        return {each.key: each for each in reversed(stated)}

    @cached_property
    def permissions_by_endpoint(self) -> Mapping[str, Permission]:
        """The lines of part 5, `all others` among them."""
        return {line.endpoint.text: line for line in value_of(self.authentication.permissions) or ()}

    def permission(self, endpoint: str) -> Permission | None:
        """The line that says who may call an endpoint: its own, else `all others`."""
        return self.permissions_by_endpoint.get(endpoint) or self.permissions_by_endpoint.get(ALL_OTHERS)

    @cached_property
    def shared_types(self) -> SharedTypes:
        """The graph of the shared types of part 2."""
        return SharedTypes(self.resources.types)
