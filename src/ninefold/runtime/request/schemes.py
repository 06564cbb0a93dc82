"""Credentials: where a request carries them, and whose one is (RFC 9110 11)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, TypeAlias, assert_never

import msgspec

from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.expressions.tree import free_variables
from ninefold.plan import authentication as plan
from ninefold.plan.environment import CREDENTIAL, IDENTITY_COLUMN, ROW
from ninefold.runtime.cache import Cache
from ninefold.runtime.messages.fields import value_reader
from ninefold.runtime.messages.message import Request, header_value
from ninefold.runtime.messages.notes import credential
from ninefold.runtime.messages.parameters import Query
from ninefold.runtime.operations.credentials import digest
from ninefold.runtime.request.issuers import Issuer, Verified
from ninefold.runtime.request.proofs import LEEWAY, Certificate, claim_values, load_certificates, load_tokens, scopes_of
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.statements import Kept, Prepared, RowReader
from ninefold.values import Invalid
from ninefold.values.texts import apart

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Caller(msgspec.Struct, frozen=True):
    """`who` is the scheme that accepted the credential. `values` is the root `caller`: the row that the credential
    belongs to, under its resource's name, and what the scheme adds. `identity` tells callers of a scheme apart: it
    is the row's identifier, or made of who a token is about. `until`: when the credential ends by itself, in seconds
    since 1970. `logged`: the identity as logs show it, what is `sensitive` masked. `credential` is as it was presented;
    `proof`, the root `$credential`, by which its row is found as long as it is good. `row`: what tells its row from all
    that were; None: it has none, or nothing asks for that."""

    who: str
    values: Mapping[str, Any]
    identity: str | None = None
    until: float | None = None
    logged: str | None = None
    credential: str | None = None
    proof: Mapping[str, Stored] = {}
    row: str | None = None
    root: Mapping[str, Any] = {}
    """What expressions read as `caller`."""
    name: str = ""
    """What tells it from all callers of whatever scheme, where it has an identity, and from who has none."""
    scheme: str | None = None
    """`who`, as logs show it: of whom nothing but that is known, nothing."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "name", apart(self.who, self.identity or ""))
        msgspec.structs.force_setattr(self, "scheme", None if self.identity is None else self.who)
        root = self.values if self.credential is None else {"credential": self.credential, **self.values}
        msgspec.structs.force_setattr(self, "root", root)

    def named(self, address: str) -> str:
        """What tells it from all others; where it has no identity, the address is all there is to tell by."""
        return apart("nobody", "from", address) if self.identity is None else self.name


MOST_KEPT = 10_000
"""Callers of one scheme that are kept as they were found."""

_OF_A_TOKEN = frozenset(("claims", "caller", "operator"))
"""Roots that are the same as long as a token is."""

MASK = "***"
"""What logs show of a sensitive value."""

ANYONE = "anyone"

NOBODY = Caller(ANYONE, {})
"""Who calls without a credential."""


class Rows:
    """Credentials that belong to rows, made ready: by what each is found, and what is read of its row."""

    def __init__(self, verified: plan.OfRow, key: tuple[str, ...], sensitive: Collection[str]) -> None:
        """`key`: the fields that identify a row; `sensitive`: those that no log shows."""
        self.resource = verified.resource
        self._key = key
        self._sensitive = frozenset(sensitive)
        self.scopes = verified.scopes if isinstance(verified, plan.Issued) else ()
        """Those that a credential may have been granted: what `find` gives begins with these then."""
        self._find = Prepared(verified.find)
        self._again = Prepared(verified.again)
        self._read = RowReader(verified.again)

    def find(self, proof: Mapping[str, Stored], env: Env) -> tuple[str, list[Stored]]:
        """The statement that finds the row, as long as the credential is good."""
        return self._find.bound({**env, CREDENTIAL: proof}, self._find.switches)

    def again(self, values: Mapping[str, Any], env: Env) -> tuple[str, list[Stored]]:
        """The statement that finds the row of a caller whose `values` were noted before, as it is now."""
        return self._again.bound({**env, ROW: values.get(self.resource, {})})

    def read(self, row: Row) -> dict[str, Any]:
        return self._read(row)

    def granted(self, found: Row) -> tuple[Row, tuple[str, ...]]:
        """The row that `find` gives, as `again` gives it, and the scopes of the credential."""
        if not self.scopes:
            return found, ()
        kept = json.loads(found[0]) if isinstance(found[0], str) else []
        return found[1:], tuple(each for each in self.scopes if each in kept)

    def identity(self, found: Mapping[str, Any]) -> str:
        return apart(*(str(found.get(each, "")) for each in self._key))

    def logged(self, found: Mapping[str, Any]) -> str:
        return apart(*(MASK if each in self._sensitive else str(found.get(each, "")) for each in self._key))


class Tokens(Rows):
    """Credentials that are random, and found by their digest. `kept`: callers who are known by them; None: who that is
    depends on more than the credential and rows, such as the time. `last`: who was found by them last."""

    def __init__(self, verified: plan.OfRow, key: tuple[str, ...], sensitive: Collection[str]) -> None:
        super().__init__(verified, key, sensitive)
        self.kept = Kept(MOST_KEPT) if self._find.reads <= {CREDENTIAL} else None
        self.last: Cache[Hashable, Caller | None] = Cache(MOST_KEPT)

    @staticmethod
    def proof(credential: str) -> Mapping[str, Stored]:
        """What is compared is the SHA-256 digest, so how long a comparison takes tells nothing of the credential."""
        return {"digest": digest(credential)}


class Passwords(Rows):
    """Credentials of a user-id and a password."""

    def __init__(self, verified: plan.Password, key: tuple[str, ...], sensitive: Collection[str]) -> None:
        super().__init__(verified, key, sensitive)
        self._user = value_reader(verified.type, verified.normalise)

    def named(self, user: str, env: Env) -> tuple[str, list[Stored]]:
        """The statement that finds the hash of the password and then the row, by the user-id; where nobody can be
        called so, it finds nothing."""
        return self._find.bound({**env, CREDENTIAL: {"user": self.user(user)}})

    def user(self, user: str) -> Any:
        """The user-id as the field holds it; None: no row can be called so."""
        try:
            return self._user(user)
        except Invalid:
            return None


class Certificates(Rows):
    """Certificates of clients, of which something is in a row."""

    def __init__(self, verified: plan.CertificateOf, key: tuple[str, ...], sensitive: Collection[str]) -> None:
        super().__init__(verified, key, sensitive)
        self._presented = compile(verified.presented)

    def proof(self, certificate: Certificate, env: Env) -> Mapping[str, Stored] | None:
        """What is looked up; None: the certificate does not say it."""
        try:
            presented = self._presented({**env, "claims": certificate.claims})
        except EvaluationError:
            return None
        return {"presented": presented} if isinstance(presented, str) else None


class AnyCertificate:
    """Certificates of clients, each of which is known by what it says."""


class Scheme:
    """A plan's scheme made ready. `known_by`: how a good credential is told from a bad one; None: it cannot be, and
    none is accepted."""

    def __init__(
        self,
        scheme: plan.Scheme,
        key: tuple[str, ...],
        given: Mapping[str, object] = NOTHING,
        sensitive: Collection[str] = (),
    ) -> None:
        """`key`: the fields that identify a row of the scheme's resource; `sensitive`: those that no log shows.
        `given`: what the operator gives. Raises `ninefold.runtime.request.issuers.Unusable`."""
        self.name = scheme.scheme
        self.challenge = _challenges(scheme.challenge)
        self.where = scheme.where
        self.parameter = scheme.name
        self._field = scheme.name.lower()
        self.header = {"authorization": "authorization", "header": self._field, "cookie": "cookie"}.get(scheme.where)
        """The header that holds its credential, and those of others, and nothing else; None: it is elsewhere."""
        self.known_by = _known_by(scheme, key, given, sensitive)
        self._adds = tuple((name, compile(value)) for name, value in scheme.adds)
        self._bearers: Cache[str, tuple[Verified, Caller]] = Cache(MOST_KEPT)
        self._is_of_claims = all(free_variables(value) <= _OF_A_TOKEN for _, value in scheme.adds)

    @property
    def rows(self) -> Rows | None:
        """The rows that its credentials belong to, if they do."""
        return self.known_by if isinstance(self.known_by, Rows) else None

    @property
    def load(self) -> Callable[[], None] | None:
        """Loads what verifies its credentials; None: there is nothing to load."""
        match self.known_by:
            case Issuer():
                return load_tokens
            case Certificates() | AnyCertificate():
                return load_certificates
            case _:
                return None

    @property
    def adds_any(self) -> bool:
        """Whether it adds members to `caller`."""
        return bool(self._adds)

    def presented(self, request: Request, query: Query) -> bool:
        """Whether the request carries something where this scheme looks for a credential."""
        match self.where:
            case "authorization":
                return credential(request.headers, "authorization") is not None
            case "header":
                return credential(request.headers, self._field) is not None
            case "query":
                return self.parameter in query
            case "cookie":
                return self.parameter in cookies(request)
            case "certificate":
                return request.certificate is not None

    def credential(self, request: Request, query: Query) -> str | None:
        """The credential as sent; None: there is none, or nothing that could be one of this scheme."""
        match self.where:
            case "authorization":
                return after_scheme(credential(request.headers, "authorization") or "", self._field)
            case "header":
                return credential(request.headers, self._field) or None
            case "query":
                given = query.get(self.parameter, ())
                return given[0] if len(given) == 1 and given[0] else None
            case "cookie":
                return cookies(request).get(self.parameter) or None
            case "certificate":
                return request.certificate

    def caller(
        self,
        row: Row,
        env: Env,
        credential: str | None = None,
        proof: Mapping[str, Stored] = NOTHING,
        scopes: Sequence[str] = (),
    ) -> Caller:
        """The caller to whom the row belongs, which is given as `again` gives it. `scopes`: those of the credential."""
        rows = self.rows
        assert rows is not None
        found = rows.read(row)
        one = found.pop(IDENTITY_COLUMN, None)
        return Caller(
            self.name,
            self._added({rows.resource: found} | ({"scopes": list(scopes)} if rows.scopes else {}), env),
            rows.identity(found),
            logged=rows.logged(found),
            credential=credential,
            proof=proof,
            row=one,
        )

    def holder(self, certificate: Certificate, row: Row | None, env: Env, proof: Mapping[str, Stored]) -> Caller:
        """The caller whose certificate it is. `row`: as `again` gives it, where the scheme looks one up."""
        rows, env = self.rows, {**env, "claims": certificate.claims}
        if rows is None or row is None:
            identity = _beginning(apart(certificate.claims["issuer"], certificate.claims["subject"]))
            return Caller(self.name, self._added({}, env), identity, certificate.until, identity)
        found = rows.read(row)
        one = found.pop(IDENTITY_COLUMN, None)
        values, until = self._added({rows.resource: found}, env), certificate.until
        return Caller(self.name, values, rows.identity(found), until, rows.logged(found), proof=proof, row=one)

    def bearer(self, token: str, verified: Verified, env: Env) -> Caller:
        """The caller whom a good token is about."""
        known = self._bearers.get(token)
        if known is not None and known[0] is verified:
            return known[1]
        claims = claim_values(verified.claims)
        identity = about(verified.claims, token)
        granted = self.known_by.scopes if isinstance(self.known_by, Issuer) else ()
        scopes = {"scopes": [each for each in scopes_of(claims) if each in granted]} if granted else {}
        values = self._added(scopes, {**env, "claims": claims})
        caller = Caller(self.name, values, identity, verified.until + LEEWAY, identity, token)
        if self._is_of_claims:
            self._bearers.keep(token, (verified, caller))
        return caller

    def _added(self, values: dict[str, Any], env: Env) -> dict[str, Any]:
        for name, value in self._adds:
            try:
                values[name] = value({**env, "caller": values})
            except EvaluationError:
                continue  # a caller without it: conditions that read it do not hold
        return values


def _challenges(challenge: str) -> tuple[bytes, bytes] | None:
    """The challenge as it is stated, and to who came with a bearer token (RFC 6750 3)."""
    if not challenge:
        return None
    name, _, parameters = challenge.partition(" ")
    if name.lower() != "bearer":
        return header_value(challenge), header_value(challenge)
    bad = ", ".join(filter(None, (parameters, 'error="invalid_token"')))
    return header_value(challenge), header_value(f"{name} {bad}")


KnownBy: TypeAlias = Tokens | Passwords | Issuer | Certificates | AnyCertificate


def _known_by(
    scheme: plan.Scheme, key: tuple[str, ...], given: Mapping[str, object], sensitive: Collection[str]
) -> KnownBy | None:
    verified = scheme.verified
    match verified:
        case plan.LookedUp() | plan.Issued():
            return Tokens(verified, key, sensitive)
        case plan.Password():
            return Passwords(verified, key, sensitive)
        case plan.CertificateOf():
            return Certificates(verified, key, sensitive)
        case plan.AnyCertificate():
            return AnyCertificate()
        case plan.Signed():
            try:
                return Issuer(scheme, given)
            except EvaluationError:
                return None  # the operator does not say who it is
        case None:
            return None
        case _:
            assert_never(verified)


def about(claims: Mapping[str, Any], token: str) -> str:
    """Who a token is about, without saying it: of the issuer and its name for the caller, which may be an address of
    theirs, the beginning of a SHA-256 digest. A token that names nobody is about its bearer alone."""
    subject = claims.get("sub")
    return _beginning(f"{claims['iss']} {subject}" if subject is not None else token)


def _beginning(named: str) -> str:
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
    for pair in (credential(request.headers, "cookie") or "").split(";"):
        name, equals, value = pair.strip(" \t").partition("=")
        if equals:
            found.setdefault(name, value.removeprefix('"').removesuffix('"'))
    return found
