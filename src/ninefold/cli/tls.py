"""TLS on the service's port: the files that the operator gives."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

from ninefold.cli.terminal import Unusable


def tls_context(certificate: Path | None, key: Path | None, client_ca: Path | None) -> ssl.SSLContext | None:
    """TLS 1.2 or newer as a server; None: no certificate is given, and the service speaks plain HTTP.

    `client_ca`: authorities whose clients' certificates are taken. A client may come without one, since what it calls
    may be for others; one that cannot be verified ends the handshake. Raises Unusable.
    """
    if certificate is None or key is None:
        given = certificate or key or client_ca
        if given is None:
            return None
        option = "--certificate" if certificate is None else "--key"
        raise Unusable(f"{given} is given without {option}", "TLS needs --certificate FILE and --key FILE")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    for path in (certificate, key):
        _readable(path)
    try:
        context.load_cert_chain(certificate, key, password=_no_password(key))
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise Unusable(f"{key} is not the key of {certificate}") from None
        raise Unusable(f"{certificate} and {key} are no certificate with its key (PEM)") from None
    if client_ca is not None:
        _readable(client_ca)
        try:
            context.load_verify_locations(client_ca)
        except ssl.SSLError:
            raise Unusable(f"{client_ca} holds no certificate (PEM)", "a file of one or more authorities") from None
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


def _readable(path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {(error.strerror or 'it is no file').lower()}") from None


def _no_password(key: Path) -> Callable[[], str]:
    def ask() -> str:
        raise Unusable(f"{key} is encrypted", "the service has nobody to ask for a password")

    return ask
