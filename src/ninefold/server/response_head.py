"""The head of a response as bytes (RFC 9112 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from ninefold.server.framing import fields_are_sound

_WITHOUT_CONTENT = frozenset((204, 304))


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """`length`: bytes of the content that is to follow; None: as many as come. `chunked`: they come in chunks."""

    content: bytes
    length: int | None
    chunked: bool
    closes: bool


def response_head(
    method: str, version: str, status: int, fields: Sequence[tuple[bytes, bytes]], keeps: bool
) -> ResponseHead:
    """`keeps`: the connection may go on. Where nothing says how long the content is, it comes in chunks, and in
    HTTP/1.0 until the connection ends. Raises ValueError for what would not be a head."""
    length: int | None = None
    lines = []
    closes = not keeps
    told = False
    for name, value in fields:
        name = name.lower()
        if name == b"content-length":
            length = int(value)
        elif name == b"connection" and b"close" in value.lower():
            closes = told = True
        elif name == b"transfer-encoding":
            continue  # whether there are chunks is for this connection to say
        lines.append(b"%s: %s\r\n" % (name, value))
    content_follows = method != "HEAD" and status not in _WITHOUT_CONTENT
    chunked = content_follows and length is None and version == "1.1"
    if chunked:
        lines.append(b"transfer-encoding: chunked\r\n")
    elif content_follows and length is None:
        closes = True
    if closes and not told:
        lines.append(b"connection: close\r\n")
    block = b"".join(lines)
    if not fields_are_sound(block):
        raise ValueError("a header of the response is none")
    return ResponseHead(_STATUS_LINES[status] + block + b"\r\n", length if content_follows else 0, chunked, closes)


def _status_line(status: int) -> bytes:
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
    return f"HTTP/1.1 {status} {phrase}\r\n".encode("ascii")


_STATUS_LINES = {status: _status_line(status) for status in range(100, 600)}


def bare(status: int, fields: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A whole response that says nothing but its status, and ends its connection."""
    return response_head("GET", "1.1", status, (*fields, (b"content-length", b"0")), keeps=False).content
