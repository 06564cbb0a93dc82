"""Where a service listens."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from ninefold.cli.files import opened
from ninefold.cli.terminal import Unusable
from ninefold.runtime.operator.port import Guard, guard

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.%\w]+)\]|(?P<host>[^\s:\[\]]+)):(?P<port>[0-9]{1,5})")

BACKLOG = 2_048
"""Connections that the system keeps until they are taken."""


def bound(address: str, option: str) -> socket.socket:
    """A socket that listens on `HOST:PORT`, `[IPv6]:PORT`; port 0 is one that is free. Raises Unusable.

    It listens at once, so that a port in use is told before anything else is begun.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found["port"]) > 65_535:
        raise Unusable(f"{option} {address} is not HOST:PORT", f"for example {option} 127.0.0.1:8080")
    try:
        [(family, kind, protocol, _, target), *_] = socket.getaddrinfo(
            found["six"] or found["host"], int(found["port"]), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError):
        raise Unusable(f"{option} {address}: there is no such host") from None
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            # A port whose last connections are still fading is free. (On Windows the option means something else.)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(target)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise Unusable(f"{address} is in use by another program", f"{option} names another address") from None
        words = (error.strerror or "it cannot be bound").lower()
        raise Unusable(f"{option} {address} cannot be bound: {words}") from None
    return listening


def url(listening: socket.socket, scheme: str = "http") -> str:
    """`http://HOST:PORT` of a bound socket."""
    host, port = listening.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if listening.family == socket.AF_INET6 else f"{scheme}://{host}:{port}"


def guard_of(listening: socket.socket, names: Sequence[str]) -> Guard:
    """What stands before the operator's port, which may be asked for by these names too. Raises Unusable."""
    host, port = listening.getsockname()[:2]
    try:
        return guard(host, port, names)
    except ValueError as error:
        raise Unusable(f"--operator-name: {error}", "for example --operator-name metrics.internal") from None


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
        with opened(path):
            pass
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {(error.strerror or 'it is no file').lower()}") from None


def _no_password(key: Path) -> Callable[[], str]:
    def ask() -> str:
        raise Unusable(f"{key} is encrypted", "the service has nobody to ask for a password")

    return ask
