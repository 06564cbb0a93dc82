"""Part 5: who may call, and what they see."""

from __future__ import annotations

from typing import TypeAlias

from ninefold.contract.expression import Assignment, Expression
from ninefold.contract.fact import Fact, Name, value_of
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.syntax.nodes import Node


@dataclass(frozen=True, slots=True)
class Scheme:
    """A security scheme, in OpenAPI's words. `matches` is `resource.field`; of a certificate also `any`."""

    name: str
    span: Span
    type: Fact[Name] | None
    scheme: Fact[Name] | None
    location: Fact[Name] | None
    """`in` of an apiKey: header, query or cookie."""
    parameter: Fact[Name] | None
    """`name` of an apiKey: of the header, query parameter or cookie."""
    matches: Fact[Name] | None
    credential: Fact[Expression] | None
    """Of `mutualTLS`: what of the certificate is looked up; it reads `claims`."""
    issued_to: Fact[Name] | None
    lasts: Fact[int] | None
    """Microseconds."""
    open_id_connect_url: Fact[Expression] | None
    issuer: Fact[Expression] | None
    audience: Fact[Name] | None
    algorithms: Fact[tuple[Name, ...]] | None
    keys: Fact[Expression] | None
    scopes: Fact[tuple[Name, ...]] | None
    granted: Fact[Expression] | None
    """Of issued credentials: an array of texts over the row, which of the scopes it may be granted."""
    realm: Fact[str] | None
    flows: Fact[Node] | None
    caller: Fact[tuple[Assignment, ...]] | None

    @property
    def is_certificate(self) -> bool:
        """Whether its credentials are the certificates of clients."""
        return (kind := value_of(self.type)) is not None and kind.text == "mutualTLS"

    @property
    def is_basic(self) -> bool:
        """Whether it is HTTP's Basic scheme (RFC 7617): a user-id and a password."""
        name = value_of(self.scheme)
        return (
            (kind := value_of(self.type)) is not None
            and kind.text == "http"
            and (name is not None and name.text.lower() == "basic")
        )


ANY = "any"
"""`matches: any`: every certificate of an authority that the operator trusts."""


@dataclass(frozen=True, slots=True)
class Every:
    """`any`: every such caller, every row."""

    span: Span


Condition: TypeAlias = Every | Expression


@dataclass(frozen=True, slots=True)
class Admission:
    """`who` is a scheme's name or `anyone`."""

    who: Name
    condition: Fact[Condition]


@dataclass(frozen=True, slots=True)
class Permission:
    """`endpoint` is an endpoint's key as written, or `all others`."""

    endpoint: Name
    admits: Fact[tuple[Admission, ...]]


@dataclass(frozen=True, slots=True)
class RowRule:
    resource: Name
    admits: Fact[tuple[Admission, ...]]


@dataclass(frozen=True, slots=True)
class Authentication:
    """`rows` is `Every` for `rows: any`."""

    schemes: Fact[tuple[Scheme, ...]] | None
    rows: Fact[tuple[RowRule, ...] | Every] | None
    unseen_rows: Fact[Name] | None
    permissions: Fact[tuple[Permission, ...]] | None
