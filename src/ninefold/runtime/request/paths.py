"""The canonical form of a path, in which paths are compared: every segment decoded, then `/`, `%` and what came as
`%3A` encoded again."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

COLON = "%3A"
"""A colon that came encoded, in the canonical form of a path."""


def canonical(raw_path: bytes) -> str | None:
    """The canonical form of a path as sent; None where it is not UTF-8 or has a `%` that encodes nothing."""
    if b"%" not in raw_path:
        try:
            return raw_path.decode("utf-8")
        except UnicodeDecodeError:
            return None
    if _ENCODES_NOTHING.search(raw_path):
        return None
    try:
        return COLON.join(
            "/".join(encoded(unquote_to_bytes(segment).decode("utf-8")) for segment in part.split(b"/"))
            for part in _ENCODED_COLON.split(raw_path)
        )
    except UnicodeDecodeError:
        return None


_ENCODED_COLON = re.compile(rb"%3[Aa]")
_ENCODES_NOTHING = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def encoded(segment: str) -> str:
    return segment.replace("%", "%25").replace("/", "%2F")


def decoded(segment: str) -> str:
    return segment.replace("%2F", "/").replace(COLON, ":").replace("%25", "%") if "%" in segment else segment
