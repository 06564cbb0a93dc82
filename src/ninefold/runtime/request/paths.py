"""The canonical form of a path, in which paths are compared: every segment decoded, then `/`, `%` and what came as
`%3A` encoded again; paths with names, by their literal segments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Generic, TypeAlias, TypeVar

from ninefold.plan.routes import PathParameter, Segment

COLON = "%3A"
"""A colon that came encoded, in the canonical form of a path."""


def canonical(raw_path: bytes) -> str | None:
    """The canonical form of a path as sent; None where it is not UTF-8 or has a `%` that encodes nothing."""
    if b"%" in raw_path:
        if _ENCODES_NOTHING.search(raw_path):
            return None
        raw_path = _ENCODED.sub(_decoded, raw_path)
    try:
        return raw_path.decode("utf-8")
    except UnicodeDecodeError:
        return None


def beginning(raw_path: bytes, segments: int) -> str | None:
    """The canonical form of a path, or, where it has none, that of so many of its first segments."""
    text = canonical(raw_path)
    return canonical(b"/".join(raw_path.split(b"/")[: segments + 1])) if text is None else text


_ENCODED = re.compile(rb"(?:%[0-9A-Fa-f]{2})+")
_ENCODES_NOTHING = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def _decoded(found: re.Match[bytes]) -> bytes:
    content = bytes.fromhex(found[0].replace(b"%", b"").decode("ascii"))
    return content.replace(b"%", b"%25").replace(b"/", b"%2F").replace(b":", COLON.encode("ascii"))


def encoded(segment: str) -> str:
    return segment.replace("%", "%25").replace("/", "%2F")


def decoded(segment: str) -> str:
    return segment.replace("%2F", "/").replace(COLON, ":").replace("%25", "%") if "%" in segment else segment


LITERAL, AFTER, PLAIN = range(3)
"""What a segment is: itself, a name with a literal behind it, a name. From the left, the first of these comes first."""


def places_of(segments: Sequence[Segment]) -> tuple[int, ...]:
    return tuple(LITERAL if isinstance(each, str) else AFTER if each.after else PLAIN for each in segments)


def pattern(segment: Segment) -> str:
    """What a segment is in the canonical form of a path, with the slash before it, as a regular expression."""
    if isinstance(segment, PathParameter):
        return "/([^/]+)" + (":" + re.escape(segment.after) if segment.after else "")
    return "/" + re.escape(encoded(segment)).replace(":", f"(?::|{COLON})")


T = TypeVar("T")

Placed: TypeAlias = tuple[T, tuple[str, ...], tuple[int, ...]]
"""What is found at a path, the texts of its names, and where they stand. A path without names has none."""


class Named(Generic[T]):
    """The paths in which names stand at the same places."""

    def __init__(self, places: tuple[int, ...], paths: Sequence[tuple[Sequence[Segment], T]]) -> None:
        """`places`: of their segments, where the names are."""
        self._places = places
        # What stands before the first slash is a segment of a text, and empty.
        self._names = itemgetter(0, *(at + 1 for at, place in enumerate(places) if place != LITERAL))
        self._literals = itemgetter(0, *(at + 1 for at, place in enumerate(places) if place == LITERAL))
        self._paths = {
            self._literals(
                ["", *(each if isinstance(each, PathParameter) else encoded(each) for each in segments)]
            ): path
            for segments, path in paths
        }

    def path(self, text: str, segments: Sequence[str]) -> Placed[T] | None:
        """Which it is, if it is one. `segments`: of the text, split at each slash."""
        found = self._paths.get(self._literals(segments))
        if found is None:
            return None
        values: tuple[str, ...] = self._names(segments)[1:]
        if "" in values:
            return None
        return found, tuple(map(decoded, values)) if "%" in text else values, self._places


PLAIN_TEXT = "[A-Za-z0-9._~-]+"
"""A segment that is its own canonical form, without a colon: what RFC 3986 (2.3) calls unreserved."""

_is_plain = re.compile(PLAIN_TEXT).fullmatch

MOST_BESIDE = 16
"""Literals that stand where a name does, in other paths, and are not taken for its value."""


def plain(own: Sequence[Segment], others: Iterable[Sequence[Segment]]) -> re.Pattern[str] | None:
    """Paths of plain segments that are one's own, with a group for each name, and of no other: where a name stands none
    of the literals does that another path has there. None: it has a segment that is not plain, or they are too many."""
    beside: dict[int, set[str]] = {}
    for segments in others:
        for at, (name, literal) in enumerate(zip(own, segments, strict=True)):
            if isinstance(name, PathParameter) and isinstance(literal, str):
                beside.setdefault(at, set()).add(re.escape(literal))
    parts = []
    for at, each in enumerate(own):
        literals = sorted(beside.get(at, ()))
        if isinstance(each, PathParameter):
            if each.after or len(literals) > MOST_BESIDE:
                return None
            parts.append((f"(?!(?:{'|'.join(literals)})(?:/|\\Z))" if literals else "") + f"({PLAIN_TEXT})")
        elif _is_plain(each):
            parts.append(re.escape(each))
        else:
            return None
    return re.compile("".join("/" + each for each in parts) or "/")
