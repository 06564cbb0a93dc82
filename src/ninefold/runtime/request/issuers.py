"""Issuers: who signs the tokens of a scheme, and what is known of their keys.

Nothing is fetched before a token needs it. What was fetched is kept for as long as its issuer lets it be kept, within
bounds; a key that is not known makes the keys be fetched again, but not at every such token, since anybody can make
one up. What a token claims is looked at before its issuer is asked for anything, for the same reason.

OpenID Connect Discovery 1.0, RFC 7517 (keys), RFC 7519 (tokens), RFC 8725 (what goes wrong with them).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from ipaddress import ip_address
from typing import Any, Generic, TypeAlias, TypeVar, assert_never
from urllib.parse import SplitResult, urlsplit

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.plan import authentication as plan
from ninefold.plan.authentication import ASYMMETRIC, WELL_KNOWN, Discovered, Published
from ninefold.runtime.cache import Cache
from ninefold.runtime.messages.json_text import parse
from ninefold.runtime.operations.flow import Fetch, Fetched, Unreachable
from ninefold.runtime.request.proofs import Expected, Key, fitting, is_signed, read_keys, read_token
from ninefold.runtime.sources import Sources

log = logging.getLogger("ninefold.server")

T = TypeVar("T")

SECOND = 1_000_000_000
"""In nanoseconds, as `Sources.elapsed` counts."""

KEPT_SECONDS = 3_600.0
"""How long a document is kept whose issuer says nothing of that (RFC 9111 5.2.2)."""

LEAST_SECONDS, MOST_SECONDS = 60.0, 86_400.0
"""The bounds of what an issuer may say."""

AGAIN_SECONDS = 10
"""Between two times that keys are fetched again for a key that is not known."""

FAILED_SECONDS = 2
"""How long an issuer that could not be asked is not asked again."""

MOST_SIGNED = 10_000
"""Tokens of which it is kept by which key they are signed, and what they claim."""

_LAST = 1e15
"""A time beyond all others: a token may claim a number that is no double."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A good token: its claims, and until when it is one, in seconds since 1970."""

    claims: Mapping[str, Any]
    until: float


@dataclass(frozen=True, slots=True)
class _Signed:
    """A token whose signature was verified by a key."""

    key: Key
    algorithm: str
    kid: str | None
    verified: Verified


Outcome: TypeAlias = Verified | Fetch | Unreachable | None
"""What comes of a token: good, not to be told before something was fetched, not to be told now, or bad."""


class Unusable(ValueError):
    """What the operator gives for an issuer cannot be used. The value is not in the message: it may be a secret."""


class Issuer:
    """Who signs the tokens of one scheme."""

    def __init__(self, scheme: plan.Scheme, given: Mapping[str, object]) -> None:
        """Raises Unusable, and EvaluationError where an operator's value is not given."""
        signed = scheme.signed
        assert signed is not None, "somebody else signs them"
        self.scopes = signed.scopes
        self._stated = signed.algorithms
        self._keys: _Kept[tuple[Key, ...]] | tuple[Key, ...] | None = None
        self._configuration: _Kept[_Configuration] | None = None
        match signed.issuer:
            case Discovered(url):
                address = _text(url, given)
                at, names = _configuration_of(address)
                is_local = _address(at, _name(url)).scheme == "http"
                self._expected = Expected(names, signed.audience)
                self._configuration = _Kept(at, lambda body: _read_configuration(body, names, is_local))
            case Published(name, keys):
                self._expected = Expected((_text(name, given),), signed.audience)
                self._keys = _stated_keys(_text(keys, given), _name(keys))
            case _:
                assert_never(signed.issuer)
        self._signed: Cache[str, _Signed] = Cache(MOST_SIGNED)

    def verify(self, text: str, sources: Sources) -> Outcome:
        """What comes of a credential. After a `Fetch`, ask again. A signature is verified once with each key; whether
        the token is good now, and the key still the issuer's, is asked each time."""
        known = self._signed.get(text)
        if known is not None:
            key = self._key(known.algorithm, known.kid, known.verified.claims, sources)
            if key is known.key:
                return known.verified
        token = read_token(text)
        if token is None:
            return None
        key = self._key(token.algorithm, token.kid, token.claims, sources)
        if not isinstance(key, Key):
            return key
        if not is_signed(key, token.algorithm, token.signed, token.signature):
            return None
        verified = Verified(token.claims, float(min(token.claims["exp"], _LAST)))
        self._signed.keep(text, _Signed(key, token.algorithm, token.kid, verified))
        return verified

    def _key(
        self, algorithm: str, kid: str | None, claims: Mapping[str, Any], sources: Sources
    ) -> Key | Fetch | Unreachable | None:
        """The key that has to have signed a token which says so of itself, and is for this service and this time; None:
        there is none. Nothing is fetched for a token that is for somebody else."""
        if algorithm not in (self._stated or ASYMMETRIC):
            return None
        if not self._expected.met_by(claims, sources.clock().timestamp()):
            return None
        algorithms: Collection[str] = self._stated
        if self._configuration is not None:
            configuration = self._configuration.get(sources)
            if not isinstance(configuration, _Configuration):
                return configuration
            if claims["iss"] != configuration.issuer:
                return None
            algorithms = self._stated or configuration.algorithms
            self._found_at(configuration.keys)
        if algorithm not in algorithms:
            return None
        if not isinstance(self._keys, _Kept):
            return None if self._keys is None else fitting(self._keys, algorithm, kid)
        keys = self._keys.get(sources)
        if not isinstance(keys, tuple):
            return keys
        # A key that is not known: the issuer may have a new one.
        return fitting(keys, algorithm, kid) or self._keys.again(sources)

    def _found_at(self, url: str) -> None:
        if not isinstance(self._keys, _Kept) or self._keys.url != url:
            self._keys = _Kept(url, read_keys)


# ── What is fetched ───────────────────────────────────────────────────────────────────────────────────────────


class _Kept(Generic[T]):
    """A document of an issuer, kept for a while."""

    def __init__(self, url: str, read: Callable[[bytes], T]) -> None:
        self.url = url
        self._read = read
        self._taken: object = None
        self._value: T | None = None
        self._until = 0
        self._failed: tuple[int, Unreachable] | None = None
        self._asked_again: int | None = None
        self._is_asked_again = False

    def get(self, sources: Sources) -> T | Fetch | Unreachable:
        elapsed = sources.elapsed()
        if self._value is not None and elapsed < self._until:
            return self._value
        return self._failure(elapsed) or self._fetch(sources)

    def again(self, sources: Sources) -> Fetch | Unreachable | None:
        """Fetch it although it is kept; None: that was done just now."""
        elapsed = sources.elapsed()
        if not self._is_asked_again:
            if failure := self._failure(elapsed):
                return failure
            rested = self._asked_again is None or elapsed - self._asked_again >= AGAIN_SECONDS * SECOND
            if not rested and self._failed is None:
                return None
            self._asked_again, self._is_asked_again = elapsed, True
        return self._fetch(sources)

    def _fetch(self, sources: Sources) -> Fetch:
        return Fetch(self.url, lambda result: self._take(result, sources.elapsed()))

    def _failure(self, elapsed: int) -> Unreachable | None:
        """Why it could not be had just now; None: nobody has tried."""
        if self._failed is not None and elapsed - self._failed[0] < FAILED_SECONDS * SECOND:
            return self._failed[1]
        return None

    def _take(self, result: Fetched | Unreachable, elapsed: int) -> None:
        """What came. Each of those who waited for the same fetch gives it."""
        if result is self._taken:
            return
        self._taken = result
        self._is_asked_again = False
        if isinstance(result, Fetched):
            try:
                self._value = self._read(result.body)
            except ValueError as error:
                result = Unreachable(str(error))
            else:
                seconds = KEPT_SECONDS if result.seconds is None else result.seconds
                self._until = elapsed + int(min(max(seconds, LEAST_SECONDS), MOST_SECONDS) * SECOND)
                self._failed = None
                return
        log.warning("%s: %s", self.url, result.why)
        self._failed = (elapsed, result)


@dataclass(frozen=True, slots=True)
class _Configuration:
    """Of OpenID Connect Discovery 1.0, section 3, what is needed: the issuer's name, where its keys are, and which
    asymmetric algorithms it signs with."""

    issuer: str
    keys: str
    algorithms: tuple[str, ...]


def _read_configuration(body: bytes, names: Collection[str], is_local: bool) -> _Configuration:
    """`is_local`: the issuer is on this machine, and its keys may be as well. Raises ValueError."""
    try:
        document = parse(body)
    except ValueError:
        raise ValueError("it is not JSON") from None
    if not isinstance(document, dict):
        raise ValueError("it is no configuration of an issuer")
    issuer, keys = document.get("issuer"), document.get("jwks_uri")
    if not isinstance(issuer, str) or issuer not in names:
        raise ValueError("it is the configuration of another issuer")  # section 4.3
    if not isinstance(keys, str):
        raise ValueError("it does not say where the keys are")
    if _address(keys, "jwks_uri").scheme == "http" and not is_local:
        raise ValueError("its keys are not at a URL of https")
    offered = document.get("id_token_signing_alg_values_supported")
    known = offered if isinstance(offered, list) else ASYMMETRIC
    return _Configuration(issuer, keys, tuple(name for name in ASYMMETRIC if name in known))


# ── What the operator gives ───────────────────────────────────────────────────────────────────────────────────


def unusable(scheme: plan.Scheme, given: Mapping[str, object]) -> str | None:
    """Why what the operator gives for a scheme cannot be used; None: it can, or it is not given."""
    if scheme.signed is None:
        return None
    try:
        Issuer(scheme, given)
    except EvaluationError:
        return None
    except Unusable as reason:
        return str(reason)
    return None


def operator_value(typed: Typed) -> str | None:
    """NAME where an expression is plainly `operator.NAME`."""
    match typed:
        case Select(operand=Variable(name="operator"), name=name):
            return name
        case _:
            return None


def _text(typed: Typed, given: Mapping[str, object]) -> str:
    value = compile(typed)({"operator": given})
    if not isinstance(value, str):
        raise EvaluationError("it is not given")
    return value


def _name(typed: Typed) -> str:
    name = operator_value(typed)
    return "the address of an issuer" if name is None else f"operator.{name}"


def _configuration_of(address: str) -> tuple[str, tuple[str, ...]]:
    """Where the configuration is, and what the issuer may be called. Who gives the issuer means it to the letter; from
    where its configuration is nobody can tell whether it ends in a slash (section 4.1)."""
    if address.endswith(WELL_KNOWN):
        name = address.removesuffix(WELL_KNOWN)
        return address, (name, name + "/")
    return address.removesuffix("/") + WELL_KNOWN, (address,)


def _stated_keys(text: str, name: str) -> _Kept[tuple[Key, ...]] | tuple[Key, ...]:
    """A JWK Set as text, or where it is."""
    if not text.lstrip().startswith("{"):
        return _Kept(_address(text, name).geturl(), read_keys)
    try:
        keys = read_keys(text.encode("utf-8", "replace"))
    except ValueError as error:
        raise Unusable(f"{name} is no set of keys (RFC 7517): {error}") from None
    if not keys:
        raise Unusable(f"{name} has no key that verifies signatures (RFC 7517)")
    return keys


def _address(text: str, name: str) -> SplitResult:
    """A URL that keys may be fetched from: over TLS, or from this machine itself. Raises Unusable."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Unusable(f"{name} is not a URL") from None
    if parts.scheme not in ("http", "https") or not host or parts.username is not None or parts.fragment:
        raise Unusable(f"{name} is not a URL of https")
    if parts.scheme == "http" and not is_this_machine(host):
        raise Unusable(f"{name} is a URL of http: whoever is on the way could exchange the keys")
    return parts


def is_this_machine(host: str) -> bool:
    """Whether a host is the one that asks: nobody else is on the way."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")  # RFC 6761 6.3
