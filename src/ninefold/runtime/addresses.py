"""The servers that a service is given, by their URLs: how these are told, and why one cannot be reached. A password,
or what may be one, is in neither."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from ssl import SSLCertVerificationError, SSLError
from typing import Final
from urllib.parse import unquote, urlsplit

_HOST: Final = re.compile(r"(\[[^\[\]@]*\]|[^:@\[\]]*)(:\d*)?")

_NAMES: Final = ("postgres", "postgresql")
"""Of these URLs the user is a name. Others have a token in its place."""

_CAUSES: Final = 10


def shown(url: str) -> str:
    """A URL without what is secret. Of one that says too little or too much of its hosts, as where a password has not
    been escaped, the scheme alone."""
    scheme, colon, rest = url.partition("://")
    if not colon:
        return "…"
    hidden = f"{scheme}://…"
    try:
        parts = urlsplit(url)
    except ValueError:
        return hidden
    user, at, hosts = parts.netloc.rpartition("@")
    beyond = rest.removeprefix(parts.netloc)
    if "@" in beyond or "#" in beyond or not all(map(_HOST.fullmatch, hosts.split(","))):
        return hidden
    named = user.partition(":")[0] + at if parts.scheme in _NAMES else ""
    query = "&".join(each for each in parts.query.split("&") if "password" not in unquote(each.partition("=")[0]))
    # `geturl` leaves out the slashes of a URL without a host.
    return f"{scheme}://{named}{hosts}{parts.path}{'?' * bool(query)}{query}"


def unreachable(error: BaseException) -> str:
    """Why a server cannot be reached, in brackets behind the words for it. What a library says of an error may hold the
    URL; what is wrong with a certificate does not."""
    for each in islice(_causes(error), _CAUSES):
        match each:
            case SSLCertVerificationError():
                return f"its certificate is not taken: {each.verify_message.rstrip('.')}"
            case SSLError():
                return f"TLS: {each.reason or type(each).__name__}"
    return type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
