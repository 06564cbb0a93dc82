"""Credentials: where a request carries them, and how one is looked up (RFC 9110 11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ninefold.database.protocol import Row, Stored
from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.plan import authentication as plan
from ninefold.plan.environment import CREDENTIAL, ROW
from ninefold.server.messages import Request, header_value
from ninefold.server.parameters import Query
from ninefold.server.statements import Prepared, RowReader


@dataclass(frozen=True, slots=True)
class Caller:
    """`who` is the scheme that accepted the credential. `values` is the root `caller`: the row that the credential
    belongs to, under its resource's name, and what the scheme adds. `identity` is the row's identifier, for logs."""

    who: str
    values: Mapping[str, Any]
    identity: str | None = None


ANYONE = "anyone"

NOBODY = Caller(ANYONE, {})
"""Who calls without a credential."""


class Scheme:
    """A plan's scheme made ready."""

    def __init__(self, scheme: plan.Scheme, key: tuple[str, ...]) -> None:
        """`key`: the fields that identify a row of the scheme's resource."""
        self.name = scheme.scheme
        self.challenge = header_value(scheme.challenge) if scheme.challenge else None
        self.where = scheme.where
        self.parameter = scheme.name
        self._field = scheme.name.lower()
        self._resource = scheme.resource
        self._key = key
        self._lookup = None if scheme.lookup is None else Prepared(scheme.lookup)
        self._again = None if scheme.again is None else Prepared(scheme.again)
        self._read = None if scheme.lookup is None else RowReader(scheme.lookup)
        self._adds = tuple((name, compile(value)) for name, value in scheme.adds)

    @property
    def accepts(self) -> bool:
        """Whether this build can tell a good credential of the scheme from a bad one; if not, none is good."""
        return self._lookup is not None

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
        values: dict[str, Any] = {self._resource: found}
        for name, value in self._adds:
            try:
                values[name] = value({**env, "caller": values})
            except EvaluationError:
                continue  # a caller without it: conditions that read it do not hold
        identity = "/".join(str(found.get(field, "")) for field in self._key)
        return Caller(self.name, values, identity or None)


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
