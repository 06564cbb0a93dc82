"""Which endpoint a method and a path are of (meaning "paths")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.service import Checked


@dataclass(frozen=True)
class Found:
    """`endpoint` None: it is not served. `texts` are those of the path's names, decoded."""

    endpoint: Endpoint | None
    texts: list[str]


@dataclass(frozen=True)
class NoSuchPath:
    pass


@dataclass(frozen=True)
class NotAllowed:
    allow: str


def find(checked: Checked, method: str, path: str) -> Found | NoSuchPath | NotAllowed:
    if re.search(r"%(?![0-9A-Fa-f]{2})", path):
        return NoSuchPath()  # a `%` that encodes nothing
    try:
        texts = [unquote_to_bytes(text).decode("utf-8") for text in path.split("/")[1:]]
    except UnicodeDecodeError:
        return NoSuchPath()
    base = [text for text in checked.base.split("/") if text]
    if texts[: len(base)] != base:
        return NoSuchPath()
    texts = texts[len(base) :]
    candidates: list[tuple[tuple[bool, ...], str, Endpoint | None]] = []
    for endpoint in checked.endpoints:
        literal = [each if isinstance(each, str) else None for each in endpoint.segments]
        candidates += _if_of(texts, literal, endpoint.method, endpoint)
    for stopped in checked.stopped:
        candidates += _if_of(texts, stopped.segments, stopped.method, None)
    if not candidates:
        return NoSuchPath()
    nearest = min(shape for shape, _, _ in candidates)
    served = {each: endpoint for shape, each, endpoint in candidates if shape == nearest}
    asked = "GET" if method == "HEAD" else method
    if asked not in served:
        more = {"OPTIONS"} | ({"HEAD"} if "GET" in served else set())
        return NotAllowed(", ".join(sorted({*served, *more})))
    return Found(served[asked], [text for text, is_name in zip(texts, nearest, strict=True) if is_name])


def _if_of(
    texts: list[str], segments: Sequence[str | None], method: str, endpoint: Endpoint | None
) -> list[tuple[tuple[bool, ...], str, Endpoint | None]]:
    """Whether a path is of these segments, None being a name; with where its names are: a literal comes first."""
    if len(texts) != len(segments):
        return []
    for text, segment in zip(texts, segments, strict=True):
        if text != segment and (segment is not None or not text):
            return []
    return [(tuple(segment is None for segment in segments), method, endpoint)]
