"""Where a service listens."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Sequence

from ninefold.cli.terminal import Unusable
from ninefold.operator.port import Guard, guard

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
