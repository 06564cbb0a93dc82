"""Credentials that the service itself makes, and passwords that it is told: what signing in and out is made of, and the
grant of a token to a client (RFC 6749, section 4.4).

To hash or to verify a password (Argon2id, RFC 9106) takes tens of milliseconds and 64 MiB, on purpose. So it is done
beside the event loop (`ninefold.runtime.http.work`), and only so much of it waits at once as `Capacity` says.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.operations import new_token
from ninefold.plan import authentication, environment
from ninefold.plan import writes as plan
from ninefold.plan.environment import Environment
from ninefold.runtime.messages.forms import decoded
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.notes import credential
from ninefold.runtime.messages.problems import Failure, FieldFailure, field_failure
from ninefold.runtime.operations.flow import Compute, Next, Select, Wait
from ninefold.runtime.sources import Sources, moved
from ninefold.runtime.store.protocol import Row, Session, Stored
from ninefold.runtime.store.statements import Prepared
from ninefold.values.stored import sqlite_reader

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LANES = 4
"""Processors that one hash uses at once."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one hash takes: KiB of memory, and how often it goes through it."""

    memory: int
    passes: int

    @property
    def nobodys(self) -> str:
        """A hash of no password that anybody knows: verifying against it takes as long as against any other."""
        settings = f"m={self.memory},t={self.passes},p={LANES}"
        return f"$argon2id$v=19${settings}$bmluZWZvbGRuaW5lZm9sZA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"


IN_EARNEST: Final = Cost(65536, 3)
"""The second recommended option of RFC 9106, section 4."""

LEAST: Final = Cost(8 * LANES, 1)
"""What Argon2id takes at least (RFC 9106, 3.1)."""

COST = IN_EARNEST
_COST_HERE: ContextVar[Cost | None] = ContextVar("cost", default=None)


@contextmanager
def of_nobody() -> Iterator[None]:
    """Passwords are hashed with the least, within this alone: they are of rows that nobody keeps."""
    before = _COST_HERE.set(LEAST)
    try:
        yield
    finally:
        _COST_HERE.reset(before)


def cost() -> Cost:
    return _COST_HERE.get() or COST


@cache
def _hasher(cost: Cost) -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=cost.passes, memory_cost=cost.memory, parallelism=LANES)


def hashed(password: str) -> str:
    """The hash in its encoded form, which names its salt and parameters."""
    return _hasher(cost()).hash(password.encode("utf-8", "surrogatepass"))


def is_password(stored: Stored, password: str) -> bool:
    """Whether a stored hash is of this password. Without one (there is no such row, or it has no password) the answer
    is no, and takes as long."""
    from argon2.exceptions import InvalidHashError, VerificationError

    known = stored.decode() if isinstance(stored, bytes) else stored
    is_known = isinstance(known, str) and known != ""
    encoded = known if isinstance(known, str) and known else cost().nobodys
    try:
        return _hasher(cost()).verify(encoded, password.encode("utf-8", "surrogatepass")) and is_known
    except (VerificationError, InvalidHashError):
        return False


@dataclass(frozen=True, slots=True)
class UserAndPassword:
    user: str
    password: str


def basic(credential: str) -> UserAndPassword | None:
    """The user-id and password of Basic credentials (RFC 7617 2), in UTF-8 as the challenge says; None: they are none.
    The first colon ends the user-id, and neither of the two holds a control character."""
    try:
        text = b64decode(credential, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    user, colon, password = text.partition(":")
    if not colon or any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):
        return None
    return UserAndPassword(user, password)


def digest(credential: str) -> bytes:
    """What is stored of a random credential (SHA-256): it is found by that, and cannot be read from it."""
    return sha256(credential.encode("utf-8", "surrogateescape")).digest()


class Issue:
    """Makes a credential, which is told once and then known by its digest alone."""

    def __init__(self, issue: plan.Issue) -> None:
        lasts = issue.said.get("lasts")
        self._lasts = None if lasts is None else int(lasts)

    def make(self, env: Environment, sources: Sources) -> None:
        """Make it: from here on it is `caller.credential`."""
        credential = new_token(sources.of_expressions())
        expires = None if self._lasts is None else moved(env["now"], self._lasts)
        env[environment.ISSUED] = {"digest": digest(credential), "expires": expires}
        seconds = None if self._lasts is None else self._lasts // 1_000_000
        env["granted"] = {"expires_in": seconds, "scope": None, "scopes": []}
        env["caller"] = {**env["caller"], "credential": credential}


class Scopes:
    """The scopes of a credential: those of its row, or of these what is asked for."""

    def __init__(self, scopes: plan.Scopes) -> None:
        self._scopes = scopes.scopes
        self._find = Prepared(scopes.find)
        self._read = sqlite_reader(scopes.find.columns[0].type)

    def find(self, session: Session, env: Environment) -> None:
        """From here on they are `granted`."""
        [(stored,)] = session.run(*self._find.bound(env))
        value = stored if stored is None or self._read is None else self._read(stored)
        may, asked = set(value if isinstance(value, list) else ()), env.get(environment.ASKED, {}).get("scopes")
        scopes = [each for each in self._scopes if each in may and (asked is None or each in asked)]
        env[environment.ISSUED]["scopes"] = scopes
        env["granted"] |= {"scope": " ".join(scopes) or None, "scopes": scopes}


class PasswordCheck:
    """Holds the password in a body to that of the row which path and body name."""

    def __init__(self, check: authentication.PasswordCheck) -> None:
        self._field = check.field
        self._find = None if check.find is None else Prepared(check.find)

    def step(self, env: Environment, then: Callable[[bool], Next]) -> Next:
        """Check it, and go on. Where there is no such row it takes as long, and the password is not right either. A
        random secret is found by its digest: the row says whether it is its own."""
        if self._find is None:
            secret = env[environment.BODY].get(self._field)
            env[environment.VERIFIED] = {"hash": digest(secret if isinstance(secret, str) else "")}
            return then(True)
        return Wait(Select(*self._find.bound(env)), partial(self._found, env, then))

    def _found(self, env: Environment, then: Callable[[bool], Next], rows: list[Row]) -> Next:
        hash = rows[0][0] if rows else None
        password = env[environment.BODY].get(self._field)
        verified = Compute(partial(is_password, hash, password if isinstance(password, str) else ""))
        return Wait(verified, partial(_verified, env, then, hash))


def _verified(env: Environment, then: Callable[[bool], Next], hash: Stored, is_right: bool) -> Next:
    env[environment.VERIFIED] = {"hash": hash} if is_right else {}
    return then(is_right)


def is_clients(request: Request) -> bool:
    """Whether a request carries a client's own credentials, and not those of a caller."""
    return (credential(request.headers, "authorization") or "").lstrip(" \t").lower().startswith("basic ")


def with_client(document: Any, request: Request) -> Any:
    """The body with the client's identifier and secret in it, wherever they came; a Failure where they came in two
    ways. A parameter without a value counts as left out (RFC 6749, section 3.1), and who says nothing of itself is
    nobody: that is for the secret to be found wrong."""
    if type(document) is not dict:
        return document
    given = {name: value for name, value in document.items() if value != "" or name not in authentication.PARAMETERS}
    if is_clients(request):
        client, secret = _of_basic(request.headers["authorization"])
        wrong = [authentication.CLIENT] if given.get(authentication.CLIENT, client) != client else []
        wrong += [authentication.SECRET] if authentication.SECRET in given else []
        if wrong:
            return Failure("invalid", fields=tuple(field_failure("body", (name,), "repeated") for name in wrong))
        given |= {authentication.CLIENT: client, authentication.SECRET: secret}
    return {authentication.CLIENT: "", authentication.SECRET: "", **given}


def _of_basic(authorization: str) -> tuple[str, str]:
    """Both are written as in a form before they are joined (RFC 6749, section 2.3.1). What is not so is nobody's."""
    try:
        client, colon, secret = b64decode(authorization.split(None, 1)[1].strip(), validate=True).partition(b":")
        return (decoded(client), decoded(secret)) if colon else ("", "")
    except (binascii.Error, ValueError, IndexError):
        return "", ""


def narrowed(failure: Failure) -> tuple[Failure, ...]:
    """What is wrong with the body, with that apart which has a condition of its own: another kind of grant."""
    of_type = FieldFailure("body", f"/{authentication.GRANT_TYPE}", authentication.GRANT_TYPE, "const")
    if of_type not in failure.fields:
        return (failure,)
    others = tuple(each for each in failure.fields if each != of_type)
    unsupported = Failure("invalid", authentication.GRANT_TYPE, fields=(of_type,))
    return (unsupported, *((Failure("invalid", fields=others),) if others else ()))


def asked(body: Mapping[str, Any]) -> environment.Asked:
    """The root `$asked`: the scopes that are asked for, which a space tells apart (RFC 6749, section 3.3)."""
    scope = body.get(authentication.ASKED_FIELD)
    return {"scopes": list(dict.fromkeys(scope.split(" "))) if isinstance(scope, str) else None}
