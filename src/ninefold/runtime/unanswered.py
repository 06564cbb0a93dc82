"""Why a request to a URL came to no answer, in words of URLs and of the network. What a library says of it is not
told: that may hold the URL, with a password, or what the other side wrote; and the name of an exception is no word of
whoever runs a service."""

from __future__ import annotations

import re
from ipaddress import IPv4Address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ninefold.runtime.addresses import unreachable

NO_HOST: Final = "the address names no host"
NO_NAME: Final = "the host of the address is no name, and no address of IPv4 or IPv6"
NO_URL: Final = "the address is no URL"
OF_NOBODY: Final = "the address has a user's name or a password in it, which is sent to nobody"
OF_HTTP: Final = "the address is not one of http or https"
PORT: Final = "the port of the address is not one from 1 to 65535"
NUMBER: Final = "the host of the address is a number, and not the four of an IPv4 address"
SPACE: Final = "the host of the address has a space or a control character in it"

NO_ANSWER: Final = "what answers does not speak HTTP"
NO_CONNECTION: Final = "no connection"
NOT_RESOLVED: Final = "the name of the host cannot be resolved"
BROKEN: Final = "the connection ended before the answer"

_BEYOND_HOST: Final = re.compile(r"[/?#]")

_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*", re.ASCII)


def unfit(url: str) -> str | None:
    """Why nothing can be asked of a URL, whatever the network says; None: it is one of http or https, with a host, and
    without anybody's name or password."""
    host = _BEYOND_HOST.split(url.partition("://")[2], maxsplit=1)[0]
    if any(each <= " " or each == "\x7f" or each.isspace() for each in host):
        return SPACE
    try:
        parts = urlsplit(url)
    except ValueError:
        return NO_URL
    if parts.scheme not in ("http", "https"):
        return OF_HTTP
    if "@" in parts.netloc:
        return OF_NOBODY
    return _unfit_host(parts.hostname or "") or _unfit_port(parts)


def _unfit_host(host: str) -> str | None:
    if not host:
        return NO_HOST
    if ":" not in host and _NUMBER.fullmatch(host.removesuffix(".").rpartition(".")[2]) and not _is_four(host):
        return NUMBER
    return None


def _unfit_port(parts: SplitResult) -> str | None:
    try:
        return PORT if parts.port == 0 else None
    except ValueError:
        return PORT


def _is_four(host: str) -> bool:
    try:
        IPv4Address(host)
    except ValueError:
        return False
    return True


def unanswered(error: Exception) -> str:
    """Why a request came to no answer, by what the client of HTTP has raised."""
    # It takes long to load, and is there where it has raised something.
    import aiohttp

    match error:
        case aiohttp.InvalidURL():
            return NO_URL
        case UnicodeError():
            return NO_NAME
        case aiohttp.ClientSSLError():
            return unreachable(error)
        case aiohttp.ClientConnectorDNSError():
            return NOT_RESOLVED
        case aiohttp.ClientConnectorError():
            return NO_CONNECTION
        case aiohttp.ClientResponseError():
            return NO_ANSWER
        case aiohttp.ClientError() | OSError():
            return BROKEN
    return NO_URL
