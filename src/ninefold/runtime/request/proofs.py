"""What a caller is known by, as it comes: JSON Web Tokens (RFC 7519) with the public keys that their signatures are
verified by (RFC 7517, 7518), and certificates (X.509, RFC 5280) as values that a contract reads.

Nothing of a token is trusted before its signature was verified, and nothing here waits. Whether a certificate is
genuine the TLS handshake has found out before any request: it was signed by an authority that the operator trusts, it
is of this time, it may be used by a client, and whoever sent it has its key (RFC 8446 4.4).
"""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.messages.json_text import parse
from ninefold.values import Invalid, anything, number
from ninefold.values.json_numbers import as_doubles

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

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


def read_token(text: str) -> Token | None:
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
    """The scopes of a token: `scope`, names with spaces between them (RFC 8693 4.2, RFC 9068 2.2.3), or, without it,
    `scp`, as some issuers call it, such names or an array of them."""
    scope = claims.get("scope")
    granted = claims.get("scp") if scope is None else scope if isinstance(scope, str) else ()
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
        found = None if data is None else as_doubles(parse(data))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _time(value: Any) -> float | None:
    """A NumericDate (RFC 7519 2); None: it is none, or beyond a double, and no time."""
    try:
        return number(value)
    except Invalid:
        return None


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

_JoseKey: TypeAlias = "RSAKey | ECKey | OKPKey | OctKey"
"""What verifies is loaded with the first key set: a service whose callers bring no tokens of others does without."""


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


def load_tokens() -> None:
    """Load what verifies signatures, which takes some tens of milliseconds."""
    import joserfc.jwk
    import joserfc.jws  # noqa: F401


def is_signed(key: Key, algorithm: str, signed: bytes, signature: bytes) -> bool:
    """Whether the signature is that of what is signed. The key is one of the algorithm's."""
    from joserfc.errors import JoseError
    from joserfc.jws import JWSRegistry

    try:
        return JWSRegistry.algorithms[algorithm].verify(signed, signature, key.jose)
    except (JoseError, ValueError, TypeError):
        return False


def _key(stated: Mapping[str, Any]) -> Key | None:
    """A key by its public members alone; None: not one that verifies signatures."""
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

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


if TYPE_CHECKING:
    from cryptography import x509

KEPT = 1_000
"""Certificates that are kept as they were read: each comes with every request of its connection."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """`claims` is the root `claims` of a `mutualTLS` scheme; `until`: when it ends, in seconds since 1970."""

    claims: Mapping[str, Any]
    until: float


@lru_cache(maxsize=KEPT)
def read_certificate(pem: str) -> Certificate | None:
    """A certificate as it came over TLS; None: it holds what X.509 does not admit, which OpenSSL may have let pass.

    | claim | is |
    |---|---|
    | `subject`, `issuer` | the distinguished names, as RFC 4514 writes them: `CN=press-7,O=Acme,C=CH` |
    | `common_name` | the subject's CN, where it has exactly one |
    | `serial` | the serial number, in hexadecimal digits: it has up to 160 bits |
    | `san_dns`, `san_email`, `san_uri`, `san_ip` | the alternative names of these kinds, a list each (4.2.1.6) |
    | `fingerprint` | the SHA-256 of the whole certificate, base64url: `x5t#S256` of RFC 8705 3.1 |
    """
    from cryptography import x509

    try:
        certificate = x509.load_pem_x509_certificate(pem.encode("ascii"))
        return Certificate(_claims(certificate), certificate.not_valid_after_utc.timestamp())
    except (ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        return None


def load_certificates() -> None:
    """Load what reads certificates, which takes some tens of milliseconds."""
    import cryptography.hazmat.primitives.hashes
    import cryptography.x509.oid  # noqa: F401


def _claims(certificate: x509.Certificate) -> dict[str, Any]:
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import NameOID

    alternatives: tuple[tuple[str, type[x509.DNSName | x509.RFC822Name | x509.UniformResourceIdentifier]], ...] = (
        ("san_dns", x509.DNSName),
        ("san_email", x509.RFC822Name),
        ("san_uri", x509.UniformResourceIdentifier),
    )
    claims: dict[str, Any] = {
        "subject": certificate.subject.rfc4514_string(),
        "issuer": certificate.issuer.rfc4514_string(),
        "serial": f"{certificate.serial_number:x}",
        "fingerprint": urlsafe_b64encode(certificate.fingerprint(SHA256())).decode().rstrip("="),
    }
    called = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if len(called) == 1 and isinstance(called[0].value, str):
        claims["common_name"] = called[0].value
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        names = x509.SubjectAlternativeName([])
    for name, kind in alternatives:
        claims[name] = list(names.get_values_for_type(kind))
    claims["san_ip"] = [str(each) for each in names.get_values_for_type(x509.IPAddress)]
    return claims
