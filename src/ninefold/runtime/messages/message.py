"""What comes in and what goes out: a request and a response as plain data (RFC 9110)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from ninefold.plan.responses import NO_FIELD_VALUE, REFERENCES, Carried, carried
from ninefold.runtime.messages.notes import Notes

log = logging.getLogger("ninefold.server")

HeaderFields: TypeAlias = tuple[tuple[bytes, bytes], ...]
"""Names in lower case, with their values."""

HEAD_BYTES: Final = 64 * 1024
"""Bytes after which the head of a request that has not ended is refused."""


class Request(Struct, frozen=True):
    """`path` and `query` are as sent, still percent-encoded. `headers` has names in lower case; the lines of a
    field that came several times are joined (RFC 9110 5.3). `address` is the client's; `certificate` its own, in PEM,
    verified by the TLS handshake. `websocket`: it asks to go on over WebSocket, by a whole handshake (RFC 6455).
    `notes`: what was noted of requests with the same headers; None: nothing is."""

    method: str
    path: bytes
    query: bytes
    headers: dict[str, str]
    address: str
    certificate: str | None = None
    websocket: bool = False
    notes: Notes | None = None

    @property
    def has_content(self) -> bool:
        """Whether a body was announced (RFC 9112 6.3)."""
        return self.headers.get("content-length", "0") != "0" or "transfer-encoding" in self.headers


class Response(Struct, frozen=True):
    """`headers` are those of the content and of its meaning; how long the body is, whoever sends it says."""

    status: int
    headers: HeaderFields = ()
    body: bytes = b""


class Carries(Struct, frozen=True):
    """What each response carries of what it is of. `fields`: what is always the same; `others`: what else is."""

    fields: HeaderFields
    others: tuple[Carried, ...] = ()

    def told(self, values: Sequence[str], now: datetime) -> HeaderFields:
        """All of it. `values`: what the names of the path were given."""
        others = (each for each in self.others if each.until is None or now.timestamp() < each.until)
        return (*self.fields, *(_field(each, values) for each in others))


def carries(*of: tuple[Carried, ...]) -> Carries | None:
    """What the plan says of it, the widest first, made ready; None: nothing."""
    every = carried(*of)
    fields = tuple(_field(each) for each in every if each.is_constant)
    return Carries(fields, tuple(each for each in every if not each.is_constant)) if every else None


def _field(of: Carried, values: Sequence[str] = ()) -> tuple[bytes, bytes]:
    parts = (quote(values[part], safe="") if isinstance(part, int) else part for part in of.value)
    return of.name.lower().encode("ascii"), header_value("".join(parts))


def joined(fields: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Header lines as one value a name: a list for most, and one cookie string (RFC 6265bis 5.8.1)."""
    headers: dict[str, str] = {}
    several: dict[str, list[str]] = {}
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if name in headers:
            several.setdefault(name, [headers[name]]).append(value)
        else:
            headers[name] = value
    for name, values in several.items():
        headers[name] = ("; " if name == "cookie" else ", ").join(values)
    return headers


def stated_value(name: str, of: str) -> Callable[[str], bytes | None]:
    """What writes a text that a contract gives a header `of` something as its value; it gives None where the text is no
    field value, so that the header is left out, and the log is told."""
    if name.lower() in REFERENCES:
        return uri_reference

    def value(text: str) -> bytes | None:
        if NO_FIELD_VALUE.search(text):
            log.warning("the header %s of %s is left out: its value is no field value", name, of)
            return None
        return header_value(text)

    return value


def header_value(text: str) -> bytes:
    """A text as a header value. What is neither visible ASCII nor a tab is percent-encoded (RFC 3986 2.1), so that no
    value can end its line."""
    if text.isascii() and text.isprintable():
        return text.encode("ascii")
    return quote(text, safe=_VISIBLE, errors="replace").encode("ascii")


def uri_reference(text: str) -> bytes:
    """A text as the value of `Location` or `Content-Location` (RFC 9110 10.2.2): characters that no URI has are
    percent-encoded."""
    if _is_uri(text):
        return text.encode("ascii")
    return quote(text, safe=_URI, errors="replace").encode("ascii")


_VISIBLE = "\t" + "".join(map(chr, range(0x20, 0x7F)))
_URI = "!#$%&'()*+,/:;=?@[]"
"""What may stand in a URI beside letters, digits and `-._~` (RFC 3986 2.2), and escapes that are there already."""
_is_uri = re.compile(f"[A-Za-z0-9._~{re.escape(_URI)}-]*").fullmatch
