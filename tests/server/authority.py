"""A certificate authority of a test: it signs certificates for the service and for its clients (RFC 5280)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True)
class Issued:
    """The files of a certificate and of its key, as TLS libraries want them."""

    certificate: Path
    key: Path

    @property
    def pair(self) -> tuple[str, str]:
        return str(self.certificate), str(self.key)


@dataclass
class Authority:
    """`folder` takes the files that it makes; `file` is its own certificate."""

    folder: Path
    name: str = "Test Authority"
    _key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))

    def __post_init__(self) -> None:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.name)])
        made = _begun(subject, subject, self._key, timedelta(days=1), timedelta())
        # All that RFC 5280 (4.2) has of an authority: from Python 3.13 on, clients do without none of it.
        for extension, critical in (
            (x509.BasicConstraints(ca=True, path_length=None), True),
            (_signs_certificates(), True),
            (x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), False),
        ):
            made = made.add_extension(extension, critical)
        self.file = self.folder / f"{self.name}.pem".replace(" ", "-")
        self.file.write_bytes(made.sign(self._key, SHA256()).public_bytes(Encoding.PEM))

    def server(self, name: str = "localhost", lasts: timedelta = timedelta(days=1)) -> Issued:
        """`lasts` from now."""
        return self._issue(name, [], [x509.DNSName(name)], ExtendedKeyUsageOID.SERVER_AUTH, lasts)

    def client(
        self,
        name: str,
        organization: str | None = None,
        alternatives: Sequence[x509.GeneralName] = (),
        lasts: timedelta = timedelta(days=1),
        began: timedelta = timedelta(hours=1),
    ) -> Issued:
        """`lasts` from now; `began` ago."""
        more = [] if organization is None else [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)]
        return self._issue(name, more, alternatives, ExtendedKeyUsageOID.CLIENT_AUTH, lasts, began)

    def _issue(
        self,
        name: str,
        more: Sequence[x509.NameAttribute[str]],
        alternatives: Sequence[x509.GeneralName],
        usage: x509.ObjectIdentifier,
        lasts: timedelta,
        began: timedelta = timedelta(hours=1),
    ) -> Issued:
        key = generate_private_key(SECP256R1())
        subject = x509.Name([*more, x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.name)])
        made = _begun(subject, issuer, key, lasts, began).add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        known_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        made = made.add_extension(known_by, critical=False)
        if alternatives:
            made = made.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        count = len(list(self.folder.iterdir()))
        issued = Issued(self.folder / f"{count}.crt", self.folder / f"{count}.key")
        issued.certificate.write_bytes(made.sign(self._key, SHA256()).public_bytes(Encoding.PEM))
        issued.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return issued


def _signs_certificates() -> x509.KeyUsage:
    uses = (
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign crl_sign"
    )
    of_agreement = {"encipher_only": False, "decipher_only": False}
    return x509.KeyUsage(**{each: each == "key_cert_sign" for each in uses.split()}, **of_agreement)


def _begun(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, lasts: timedelta, began: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - began)
        .not_valid_after(now + lasts)
    )
