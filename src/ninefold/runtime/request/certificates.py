"""Certificates of clients (X.509, RFC 5280) as values that a contract reads.

Whether a certificate is genuine the TLS handshake has found out before any request: it was signed by an authority that
the operator trusts, it is of this time, it may be used by a client, and whoever sent it has its key (RFC 8446 4.4).
What remains is to read what it says.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ninefold.diagnostics.frozen import dataclass

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
def read(pem: str) -> Certificate | None:
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


def load() -> None:
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
