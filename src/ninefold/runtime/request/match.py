"""From a method and a path to a route.

A path without names is looked up in a dictionary. The others are one alternation, tried at once, in which a literal
segment comes before a name; only then is it asked for the method (fixed meaning 6). A path is compared as its
*canonical form*: every segment decoded, then `/` and `%` encoded again, so that `%2F` stays inside its segment and
`/%6Frders` is `/orders`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Generic, TypeAlias, TypeVar
from urllib.parse import unquote_to_bytes

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.routes import PathParameter, Segment

Endpoint = TypeVar("Endpoint")


@dataclass(frozen=True, slots=True)
class Found(Generic[Endpoint]):
    """`values` are the texts of the path's names, decoded, in the order in which they stand there."""

    endpoint: Endpoint
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoSuchPath:
    pass


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """The path is there, with other methods: the value of `Allow` (RFC 9110 10.2.1)."""

    allow: bytes


Match: TypeAlias = Found[Endpoint] | NoSuchPath | NotAllowed

NO_SUCH_PATH = NoSuchPath()


class Routes(Generic[Endpoint]):
    """All the routes of a service. HEAD is served by GET (RFC 9110 9.3.2)."""

    def __init__(self, routes: Iterable[tuple[str, Sequence[Segment], Endpoint]]) -> None:
        """`routes`: method, segments, and what is found there."""
        by_shape: dict[str, tuple[Sequence[Segment], dict[str, Endpoint]]] = {}
        methods: set[str] = set()
        for method, segments, endpoint in routes:
            methods.add(method)
            by_shape.setdefault("".join(map(_pattern, segments)) or "/", (segments, {}))[1][method] = endpoint
        self._allow = _allow(methods)
        paths = [(segments, _Path(served, _allow(served))) for segments, served in by_shape.values()]
        self._literal = {
            "/" + "/".join(encoded(str(segment)) for segment in segments): path
            for segments, path in paths
            if not any(isinstance(segment, PathParameter) for segment in segments)
        }
        named = [each for each in paths if any(isinstance(segment, PathParameter) for segment in each[0])]
        # From the left, a literal segment beats a name; the first alternative that matches is taken.
        named.sort(key=lambda each: [isinstance(segment, PathParameter) for segment in each[0]])
        # An empty group ends each alternative: its number, which is the last one matched, tells which it was.
        self._alternatives: dict[int, tuple[int, _Path[Endpoint]]] = {}
        patterns: list[str] = []
        groups = 0
        for segments, path in named:
            names = sum(isinstance(segment, PathParameter) for segment in segments)
            groups += names + 1
            self._alternatives[groups] = (groups - names, path)
            patterns.append("".join(map(_pattern, segments)) + "()")
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def find(self, method: str, raw_path: bytes) -> Match[Endpoint]:
        text = canonical(raw_path)
        return NO_SUCH_PATH if text is None else self.at(method, text)

    def at(self, method: str, text: str) -> Match[Endpoint]:
        """The same for a path in its canonical form."""
        found = self._path(text)
        if found is None:
            return NO_SUCH_PATH
        path, values = found
        endpoint = path.served.get("GET" if method == "HEAD" else method)
        return NotAllowed(path.allow) if endpoint is None else Found(endpoint, values)

    @property
    def allow(self) -> bytes:
        """Every method that the service has: the answer to `OPTIONS *` (RFC 9110 9.3.7)."""
        return self._allow

    def _path(self, text: str) -> tuple[_Path[Endpoint], tuple[str, ...]] | None:
        """The path that a text is of, and the texts of its names."""
        literal = self._literal.get(text)
        if literal is not None:
            return literal, ()
        match = None if self._pattern is None else self._pattern.fullmatch(text)
        if match is None or match.lastindex is None:
            return None
        first, path = self._alternatives[match.lastindex]
        return path, tuple(_decoded(value) for value in match.group(*range(first, match.lastindex), 0)[:-1])


@dataclass(frozen=True, slots=True)
class _Path(Generic[Endpoint]):
    """What is found at one path, by method, and its `Allow`."""

    served: dict[str, Endpoint]
    allow: bytes


def together(allowed: Iterable[bytes]) -> bytes:
    """What any of these values of `Allow` allows."""
    return _allow({name for value in allowed for name in value.decode("ascii").split(", ")})


def _allow(methods: Iterable[str]) -> bytes:
    names = set(methods) | {"OPTIONS"}
    if "GET" in names:
        names.add("HEAD")
    return ", ".join(sorted(names)).encode("ascii")


def _pattern(segment: Segment) -> str:
    return "/([^/]+)" if isinstance(segment, PathParameter) else "/" + re.escape(encoded(segment))


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
        return "/".join(encoded(unquote_to_bytes(segment).decode("utf-8")) for segment in raw_path.split(b"/"))
    except UnicodeDecodeError:
        return None


_ENCODES_NOTHING = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def encoded(segment: str) -> str:
    return segment.replace("%", "%25").replace("/", "%2F")


def _decoded(segment: str) -> str:
    return segment.replace("%2F", "/").replace("%25", "%") if "%" in segment else segment
