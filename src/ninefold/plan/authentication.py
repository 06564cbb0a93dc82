"""Schemes: how a request's credential is found, how a good one is told from a bad one, and whose it is."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.said import Saying
from ninefold.plan.statement import Statement
from ninefold.values import Type

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


class _OfRow(msgspec.Struct, frozen=True, tag_field="verified", omit_defaults=True, kw_only=True):
    """The credential belongs to a row of `resource`, which is `caller.RESOURCE`. `find` gives that row, all that can be
    read of it; `again` gives the same of the row whose primary key is the root `$row`."""

    resource: str
    find: Statement
    again: Statement


class LookedUp(_OfRow, frozen=True, tag="looked up"):
    """It is a `secret: token` of the row, found by its SHA-256 digest (`$credential.digest`)."""


class Issued(_OfRow, frozen=True, tag="issued"):
    """The service made it, and keeps its SHA-256 digest (`$credential.digest`) for as long as it lasts. `scopes`: which
    of those that it was granted are `caller.scopes`; the first column of `find` gives these, before those of `again`.
    Empty: there is no such member."""

    scopes: tuple[str, ...] = ()


class Password(_OfRow, frozen=True, tag="password"):
    """It is a user-id and a password (RFC 7617): the fields `user` and `password` of the row. The user-id is of the
    type `type`, `normalise`d as the field is, and finds the row (`$credential.user`). The first column of `find` is the
    Argon2id hash of the row's password, before those of `again`. With its switch `as verified` it gives the row only
    while its hash is `$credential.hash`."""

    user: str
    password: str
    type: Type
    normalise: Typed | None = None


class CertificateOf(_OfRow, frozen=True, tag="certificate of a row"):
    """It is a client's certificate, verified by the TLS handshake. `presented`, a text made of `claims`, finds the row
    (`$credential.presented`)."""

    presented: Typed


class AnyCertificate(msgspec.Struct, frozen=True, tag_field="verified", tag="any certificate"):
    """It is a client's certificate, verified by the TLS handshake (RFC 8446 4.4), whatever it says."""


class Signed(msgspec.Struct, frozen=True, tag_field="verified", tag="signed", omit_defaults=True):
    """JSON Web Tokens (RFC 7519) that somebody else signs. `algorithms` empty: those that the issuer publishes, and of
    these only the asymmetric ones. Expressions read `operator` alone. `scopes`: which of a token's are
    `caller.scopes`; empty: there is no such member."""

    issuer: Issuer
    audience: str
    algorithms: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


Verification: TypeAlias = LookedUp | Issued | Password | Signed | CertificateOf | AnyCertificate
OfRow: TypeAlias = LookedUp | Issued | Password | CertificateOf


Where: TypeAlias = Literal["authorization", "header", "query", "cookie", "certificate"]


class Scheme(Saying, frozen=True, omit_defaults=True):
    """`where`: the Authorization header with the auth-scheme `name` (RFC 9110 11.4), or a header, query parameter
    or cookie of that name, or the client's certificate. `verified`: how a good credential is told from a bad one; None:
    this build cannot, and accepts none. `adds` are further members of `caller`; they read `claims`, where there are
    any."""

    scheme: str
    where: Where
    name: str
    challenge: str
    verified: Verification | None = None
    adds: tuple[tuple[str, Typed], ...] = ()
    trace: tuple[Place, ...] = ()

    @property
    def in_force(self) -> bool:
        """Whether this build can tell a good credential of the scheme from a bad one; if not, none is good."""
        return self.verified is not None

    @property
    def auth_scheme(self) -> str:
        """As the challenge writes it, `Bearer`, however the contract does: case does not count (RFC 9110, 11.1)."""
        return self.challenge.partition(" ")[0]

    @property
    def signed(self) -> Signed | None:
        """How its credentials are verified, if somebody else signs them."""
        return self.verified if isinstance(self.verified, Signed) else None

    @property
    def of_row(self) -> OfRow | None:
        """How its credentials are verified, if each belongs to a row."""
        return self.verified if isinstance(self.verified, OfRow) else None


CLIENT: Final = "client_id"
SECRET: Final = "client_secret"
GRANT_TYPE: Final = "grant_type"
SCOPE: Final = "scope"

PARAMETERS: Final = frozenset({CLIENT, SECRET, GRANT_TYPE, SCOPE})

CLIENT_CREDENTIALS: Final = "client_credentials"
"""The one `grant_type` that there is."""

GRANT_FIELD: Final = "$grant_type"
ASKED_FIELD: Final = "$scope"
"""What the two are called among the values of a body, beside the fields of the clients."""


class PasswordCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of `sign in`: the password that the body gives in `field` is held to the hash that `find` gives, that of the row
    which path and body name. That hash is the root `$verified` then; nothing is where the password is another. `find`
    None: it is a random secret, of which the row holds the SHA-256 digest: that is `$verified`, whosever it is."""

    field: str
    find: Statement | None
