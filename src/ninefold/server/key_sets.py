"""Key sets: the public keys by which an issuer's signatures are verified (RFC 7517, RFC 7518)."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from ninefold.server.json_text import parse

MOST_KEYS = 100
"""Keys of one set. An issuer has two or three: the one that it signs with, the last one, the next one."""

RSA_BITS = range(2_048, 16_384 + 1)
"""RFC 7518 3.3: 2048 bits or more. How long it takes to verify by a key grows with its size."""

_KINDS: Mapping[str, tuple[str, str]] = {
    **{f"RS{bits}": ("RSA", "") for bits in (256, 384, 512)},
    **{f"PS{bits}": ("RSA", "") for bits in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
    "Ed25519": ("OKP", "Ed25519"),
    **{f"HS{bits}": ("oct", "") for bits in (256, 384, 512)},
}
"""By algorithm: the type of its keys, and their curve (RFC 7518 3.1, RFC 8037 3.1)."""

_JoseKey: TypeAlias = RSAKey | ECKey | OKPKey | OctKey


@dataclass(frozen=True, slots=True)
class Key:
    """One key. `algorithm`: the only one that the issuer means it for, where it says so. `bits` is its size."""

    kid: str | None
    kind: tuple[str, str]
    algorithm: str | None
    bits: int
    jose: _JoseKey

    def verifies(self, algorithm: str) -> bool:
        """Whether signatures of the algorithm can be verified by the key: it is of the algorithm's own type, so that a
        public key is never taken for the secret of an HMAC."""
        if _KINDS.get(algorithm) != self.kind or self.algorithm not in (None, algorithm):
            return False
        # RFC 7518 3.2: a secret is at least as long as the digest.
        return self.kind[0] != "oct" or self.bits >= int(algorithm[2:])


def read_keys(data: bytes) -> tuple[Key, ...]:
    """The keys of a JWK Set (RFC 7517 5) that verify signatures. Those of a type that is not known, and those that
    are too weak, are passed over. Raises ValueError where it is no key set."""
    try:
        document = parse(data)
    except ValueError:
        raise ValueError("it is not JSON") from None
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("it is no set of keys")
    if len(listed) > MOST_KEYS:
        raise ValueError(f"it has more than {MOST_KEYS} keys")
    return tuple(key for each in listed if isinstance(each, dict) and (key := _key(each)) is not None)


def fitting(keys: Sequence[Key], algorithm: str, kid: str | None) -> Key | None:
    """The one key that a token can have been signed by. A token that does not say which has to leave no choice; a key
    without an identifier is any."""
    found = [key for key in keys if key.verifies(algorithm) and (kid is None or key.kid in (None, kid))]
    return found[0] if len(found) == 1 else None


def is_signed(key: Key, algorithm: str, signed: bytes, signature: bytes) -> bool:
    """Whether the signature is that of what is signed. The key is one of the algorithm's."""
    try:
        return JWSRegistry.algorithms[algorithm].verify(signed, signature, key.jose)
    except (JoseError, ValueError, TypeError):
        return False


def _key(stated: Mapping[str, Any]) -> Key | None:
    """A key by its public members alone; None: not one that verifies signatures."""
    if stated.get("use", "sig") != "sig" or "verify" not in _list(stated.get("key_ops", ["verify"])):
        return None
    kid, algorithm = stated.get("kid"), stated.get("alg")
    if not isinstance(kid, str | None) or not isinstance(algorithm, str | None):
        return None
    try:
        match stated.get("kty"):
            case "RSA":
                bits = int.from_bytes(_bytes(stated["n"])).bit_length()
                if bits not in RSA_BITS:
                    return None
                return Key(kid, ("RSA", ""), algorithm, bits, RSAKey.import_key(_members(stated, "n", "e")))
            case "EC":
                made = ECKey.import_key(_members(stated, "crv", "x", "y"))
                return Key(kid, ("EC", str(stated["crv"])), algorithm, 0, made)
            case "OKP":
                okp = OKPKey.import_key(_members(stated, "crv", "x"))
                return Key(kid, ("OKP", str(stated["crv"])), algorithm, 0, okp)
            case "oct":
                secret = _bytes(stated["k"])
                return Key(kid, ("oct", ""), algorithm, 8 * len(secret), OctKey.import_key(secret))
            case _:
                return None
    except (JoseError, ValueError, TypeError, KeyError):
        return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _members(stated: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {"kty": stated["kty"], **{name: stated[name] for name in names}}


def _bytes(value: Any) -> bytes:
    """Base64url without its padding (RFC 7515 2)."""
    if not isinstance(value, str):
        raise ValueError("not base64url")
    return urlsafe_b64decode(value.encode("ascii") + b"=" * (-len(value) % 4))
