"""JSON Web Tokens (RFC 7519) as they come: read, and held against what is expected. Nothing here is trusted before its
signature was verified, and nothing of it waits."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ninefold.server.json_text import parse
from ninefold.values import Invalid, anything

LONGEST = 32 * 1024
"""Characters of a token. One of this size has a few hundred claims."""

LEEWAY = 60
"""Seconds by which the clocks of issuer and service may differ (RFC 7519 4.1.4): a fixed meaning."""


@dataclass(frozen=True, slots=True)
class Token:
    """What a token says of itself. `signed` is what `signature` is of (RFC 7515 5.2)."""

    algorithm: str
    kid: str | None
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes


def read(text: str) -> Token | None:
    """A signed token in the compact form (RFC 7515 7.1); None: it is none. One that lists extensions which have to be
    understood (`crit`) is none, since none are."""
    parts = text.split(".")
    if len(parts) != 3 or len(text) > LONGEST or not text.isascii():
        return None
    header, claims, signature = _decoded(parts[0]), _decoded(parts[1]), _decoded(parts[2])
    said, claimed = _object(header), _object(claims)
    if said is None or claimed is None or not signature or "crit" in said:
        return None
    algorithm, kid = said.get("alg"), said.get("kid")
    if not isinstance(algorithm, str) or not isinstance(kid, str | None):
        return None
    return Token(algorithm, kid, claimed, f"{parts[0]}.{parts[1]}".encode("ascii"), signature)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a token has to say. `issuers`: one of these, to the letter."""

    issuers: Collection[str]
    audience: str

    def met_by(self, claims: Mapping[str, Any], now: float) -> bool:
        """Whether the claims are for this service and for `now` (seconds since 1970). A token has to end; one that says
        when it begins, or when it was made, is not taken before that."""
        audience = claims.get("aud")
        if claims.get("iss") not in self.issuers:
            return False
        if audience != self.audience and not (isinstance(audience, list) and self.audience in audience):
            return False
        if not isinstance(claims.get("sub", ""), str):
            return False
        end = _time(claims.get("exp"))
        if end is None or end + LEEWAY <= now:
            return False
        for name in ("nbf", "iat"):
            if name in claims:
                begin = _time(claims[name])
                if begin is None or begin - LEEWAY > now:
                    return False
        return True


def claim_values(claims: Mapping[str, Any]) -> dict[str, Any]:
    """The claims that are values of the language, such as no number beyond 64 bits is."""
    found = {}
    for name, claim in claims.items():
        try:
            found[name] = anything(claim)
        except Invalid:
            continue
    return found


def scopes_of(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """The scopes of a token: `scope`, names with spaces between them (RFC 8693 4.2, RFC 9068 2.2.3), or `scp`, as some
    issuers call it, such names or an array of them."""
    granted = claims.get("scope", claims.get("scp"))
    names = granted.split(" ") if isinstance(granted, str) else granted if isinstance(granted, list) else ()
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def _decoded(part: str) -> bytes | None:
    """Base64url without padding (RFC 7515 2)."""
    if set("+/=") & set(part):
        return None
    try:
        return b64decode(part + "=" * (-len(part) % 4), b"-_", validate=True)
    except (Error, ValueError):
        return None


def _object(data: bytes | None) -> dict[str, Any] | None:
    try:
        found = None if data is None else parse(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _time(value: Any) -> float | int | None:
    """A NumericDate (RFC 7519 2)."""
    return value if type(value) in (int, float) else None
