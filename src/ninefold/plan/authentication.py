"""Schemes: how a request's credential is found, and whose it is."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from ninefold.expressions.tree import Typed
from ninefold.plan.places import Place
from ninefold.plan.statement import Statement

ASYMMETRIC: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
)  # fmt: skip
"""Signatures that a public key verifies (RFC 7518 3.1, RFC 8037 3.1, RFC 9864 2.2)."""

SYMMETRIC: Final = ("HS256", "HS384", "HS512")
"""HMAC: whoever can verify can sign (RFC 7518 3.2)."""

WELL_KNOWN: Final = "/.well-known/openid-configuration"
"""OpenID Connect Discovery 1.0, section 4."""


class Discovered(msgspec.Struct, frozen=True, tag_field="issuer", tag="discovered"):
    """`url` is the issuer, or where its configuration is (OpenID Connect Discovery 1.0), which says the rest."""

    url: Typed


class Published(msgspec.Struct, frozen=True, tag_field="issuer", tag="published"):
    """`name` is what tokens call their issuer; `keys` is a JWK Set (RFC 7517 5), or the URL of one."""

    name: Typed
    keys: Typed


Issuer: TypeAlias = Discovered | Published


class Signed(msgspec.Struct, frozen=True, omit_defaults=True):
    """JSON Web Tokens (RFC 7519) that somebody else signs. `algorithms` empty: those that the issuer publishes, and of
    these only the asymmetric ones. Expressions read `operator` alone."""

    issuer: Issuer
    audience: str
    algorithms: tuple[str, ...] = ()


class Scheme(msgspec.Struct, frozen=True, omit_defaults=True):
    """`where`: the Authorization header with the auth-scheme `name` (RFC 9110 11.4), or a header, query parameter
    or cookie of that name. `lookup` binds the SHA-256 digest of the credential and gives the row of `resource`
    that it belongs to, which is `caller.RESOURCE`; `again` gives the same of the row whose identifier is the root
    `$row`. `signed`: how a token is verified that no row holds. A scheme with neither accepts no credential in this
    build. `adds` are further members of `caller`; they read `claims`, where there are any."""

    scheme: str
    where: Literal["authorization", "header", "query", "cookie"]
    name: str
    challenge: str
    resource: str | None = None
    lookup: Statement | None = None
    again: Statement | None = None
    signed: Signed | None = None
    adds: tuple[tuple[str, Typed], ...] = ()
    trace: tuple[Place, ...] = ()

    @property
    def in_force(self) -> bool:
        """Whether this build can tell a good credential of the scheme from a bad one; if not, none is good."""
        return self.lookup is not None or self.signed is not None
