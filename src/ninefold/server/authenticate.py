"""Credentials: where a request carries them, and whose one is (RFC 9110 11)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from ninefold.database.protocol import Row, Stored
from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.plan import authentication as plan
from ninefold.plan.environment import CREDENTIAL, ROW
from ninefold.server.issuers import Issuer, Verified
from ninefold.server.messages import Request, header_value
from ninefold.server.parameters import Query
from ninefold.server.statements import Prepared, RowReader
from ninefold.server.tokens import LEEWAY, claim_values


@dataclass(frozen=True, slots=True)
class Caller:
    """`who` is the scheme that accepted the credential. `values` is the root `caller`: the row that the credential
    belongs to, under its resource's name, and what the scheme adds. `identity` tells callers of a scheme apart: it
    is the row's identifier, or made of who a token is about. `until`: when the credential ends by itself, in seconds
    since 1970. `logged`: the identity as logs show it, what is `sensitive` masked."""

    who: str
    values: Mapping[str, Any]
    identity: str | None = None
    until: float | None = None
    logged: str | None = None


MASK = "***"
"""What logs show of a sensitive value."""

NOTHING: Mapping[str, object] = MappingProxyType({})
"""Of the operator's values none."""

ANYONE = "anyone"

NOBODY = Caller(ANYONE, {})
"""Who calls without a credential."""


class Scheme:
    """A plan's scheme made ready."""

    def __init__(
        self,
        scheme: plan.Scheme,
        key: tuple[str, ...],
        given: Mapping[str, object] = NOTHING,
        sensitive: Collection[str] = (),
    ) -> None:
        """`key`: the fields that identify a row of the scheme's resource; `sensitive`: those that no log shows.
        `given`: what the operator gives. Raises `ninefold.server.issuers.Unusable`."""
        self.name = scheme.scheme
        self.challenge = header_value(scheme.challenge) if scheme.challenge else None
        self.where = scheme.where
        self.parameter = scheme.name
        self._field = scheme.name.lower()
        self._resource = scheme.resource
        self._key = key
        self._sensitive = frozenset(sensitive)
        self._lookup = None if scheme.lookup is None else Prepared(scheme.lookup)
        self._again = None if scheme.again is None else Prepared(scheme.again)
        self._read = None if scheme.lookup is None else RowReader(scheme.lookup)
        self.issuer = None if scheme.signed is None else _issuer(scheme.signed, given)
        self._adds = tuple((name, compile(value)) for name, value in scheme.adds)

    @property
    def accepts(self) -> bool:
        """Whether a good credential of the scheme can be told from a bad one; if not, none is good."""
        return self._lookup is not None or self.issuer is not None

    def presented(self, request: Request, query: Query) -> bool:
        """Whether the request carries something where this scheme looks for a credential."""
        match self.where:
            case "authorization":
                return "authorization" in request.headers
            case "header":
                return self._field in request.headers
            case "query":
                return self.parameter in query
            case "cookie":
                return self.parameter in cookies(request)

    def credential(self, request: Request, query: Query) -> str | None:
        """The credential as sent; None: there is none, or nothing that could be one of this scheme."""
        match self.where:
            case "authorization":
                return after_scheme(request.headers.get("authorization", ""), self._field)
            case "header":
                return request.headers.get(self._field) or None
            case "query":
                given = query.get(self.parameter, ())
                return given[0] if len(given) == 1 and given[0] else None
            case "cookie":
                return cookies(request).get(self.parameter) or None

    def lookup(self, credential: str, env: Env) -> tuple[str, list[Stored]]:
        """The statement that finds whose a credential is. What is compared is its SHA-256 digest, so how long a
        comparison takes tells nothing of the credential."""
        assert self._lookup is not None
        digest = sha256(credential.encode("utf-8", "surrogateescape")).digest()
        return self._lookup.bound({**env, CREDENTIAL: {"digest": digest}})

    @property
    def is_of_row(self) -> bool:
        """Whether a caller is known by a row."""
        return self._again is not None

    def again(self, values: Mapping[str, Any], env: Env) -> tuple[str, list[Stored]]:
        """The statement that finds the row of a caller whose `values` were noted before, as it is now."""
        assert self._again is not None and self._resource is not None
        return self._again.bound({**env, ROW: values.get(self._resource, {})})

    def caller(self, row: Row, env: Env) -> Caller:
        """The caller to whom the row belongs."""
        assert self._read is not None and self._resource is not None
        found = self._read(row)
        identity = "/".join(str(found.get(field, "")) for field in self._key)
        shown = "/".join(MASK if field in self._sensitive else str(found.get(field, "")) for field in self._key)
        return Caller(self.name, self._added({self._resource: found}, env), identity or None, logged=shown or None)

    def bearer(self, token: str, verified: Verified, env: Env) -> Caller:
        """The caller whom a good token is about."""
        claims = claim_values(verified.claims)
        identity = about(verified.claims, token)
        values = self._added({}, {**env, "claims": claims})
        return Caller(self.name, values, identity, verified.until + LEEWAY, identity)

    def _added(self, values: dict[str, Any], env: Env) -> dict[str, Any]:
        for name, value in self._adds:
            try:
                values[name] = value({**env, "caller": values})
            except EvaluationError:
                continue  # a caller without it: conditions that read it do not hold
        return values


def _issuer(signed: plan.Signed, given: Mapping[str, object]) -> Issuer | None:
    """None: the operator does not say who it is."""
    try:
        return Issuer(signed, given)
    except EvaluationError:
        return None


def about(claims: Mapping[str, Any], token: str) -> str:
    """Who a token is about, without saying it: of the issuer and its name for the caller, which may be an address of
    theirs, the beginning of a SHA-256 digest. A token that names nobody is about its bearer alone."""
    subject = claims.get("sub")
    named = f"{claims['iss']} {subject}" if subject is not None else token
    return sha256(named.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def after_scheme(authorization: str, scheme: str) -> str | None:
    """The credential in an Authorization field of this auth-scheme (RFC 9110 11.4: case-insensitive, then 1*SP)."""
    name, _, credential = authorization.strip(" \t").partition(" ")
    credential = credential.strip(" ")
    return credential if name.lower() == scheme and credential else None


def cookies(request: Request) -> dict[str, str]:
    """The cookies of a request (RFC 6265 4.2.1). Of several with one name the first counts, which browsers send
    for the longest path."""
    found: dict[str, str] = {}
    for pair in request.headers.get("cookie", "").split(";"):
        name, equals, value = pair.strip(" \t").partition("=")
        if equals:
            found.setdefault(name, value.removeprefix('"').removesuffix('"'))
    return found
