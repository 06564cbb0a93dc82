"""Which endpoint a method and a path are of (meaning "paths")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Segment
from ninefold.checked.service import Checked


@dataclass(frozen=True)
class Found:
    """`cases`: the endpoint, in each of its cases where it has any; none: it is not served. `texts` are those of the
    path's names, decoded."""

    cases: tuple[Endpoint, ...]
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
    # A colon that came encoded stands before no literal.
    ends = [text.rpartition(":")[2] for text in path.split("/")[1:]][len(base) :]
    shapes: dict[Shape, dict[str, tuple[Endpoint, ...]]] = {}
    for endpoint in checked.endpoints:
        methods = shapes.setdefault(tuple(map(_shape, endpoint.segments)), {})
        methods[endpoint.method] = (*methods.get(endpoint.method, ()), endpoint)
    for stopped in checked.stopped:
        shapes.setdefault(tuple(map(_shape, stopped.segments)), {})[stopped.method] = ()
    # From the left a literal comes before a name with a literal behind it, and that before a plain name.
    fitting = sorted(shape for shape in shapes if _fits(texts, ends, shape))
    asked, met = "GET" if method == "HEAD" else method, set[str]()
    for shape in fitting:
        if asked in shapes[shape]:
            values = [_value(text, *each) for text, each in zip(texts, shape, strict=True) if each[0] > 0]
            return Found(shapes[shape][asked], values)
        met |= {*shapes[shape], "OPTIONS"} | ({"HEAD"} if "GET" in shapes[shape] else set())
        if all(kind != 1 for kind, _ in shape):
            break
    return NotAllowed(", ".join(sorted(met))) if met else NoSuchPath()


Shape = tuple[tuple[int, str], ...]
"""Of each segment: 0 and its text, 1 and what stands behind the colon of a name, 2 of a plain name."""


def _shape(segment: Segment) -> tuple[int, str]:
    if isinstance(segment, str):
        return 0, segment
    return (1, segment.after) if segment.after else (2, "")


def _value(text: str, kind: int, written: str) -> str:
    return text[: -len(written) - 1] if kind == 1 else text


def _fits(texts: list[str], ends: list[str], shape: Shape) -> bool:
    if len(texts) != len(shape):
        return False
    for text, end, (kind, written) in zip(texts, ends, shape, strict=True):
        if kind == 0 and text != written:
            return False
        if kind > 0 and not _value(text, kind, written):
            return False
        if kind == 1 and not (text.endswith(":" + written) and _decoded(end) == written):
            return False
    return True


def _decoded(text: str) -> str:
    return unquote_to_bytes(text).decode("utf-8")
