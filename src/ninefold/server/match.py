"""From a method and a path to a route.

A path without names is looked up in a dictionary. The others of a method are one alternation, tried at once, in
which a literal segment comes before a name. A path is compared as its *canonical form*: every segment decoded,
then `/` and `%` encoded again, so that `%2F` stays inside its segment and `/%6Frders` is `/orders`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar
from urllib.parse import unquote_to_bytes

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
        by_method: dict[str, list[tuple[Sequence[Segment], Endpoint]]] = {}
        for method, segments, endpoint in routes:
            by_method.setdefault(method, []).append((segments, endpoint))
        self._methods = {method: _Method(entries) for method, entries in by_method.items()}

    def find(self, method: str, raw_path: bytes) -> Match[Endpoint]:
        path = canonical(raw_path)
        if path is None:
            return NO_SUCH_PATH
        served = self._methods.get("GET" if method == "HEAD" else method)
        found = served.find(path) if served is not None else None
        if found is not None:
            return found
        allowed = [name for name, other in self._methods.items() if other.find(path) is not None]
        return NotAllowed(_allow(allowed)) if allowed else NO_SUCH_PATH

    @property
    def allow(self) -> bytes:
        """Every method that the service has: the answer to `OPTIONS *` (RFC 9110 9.3.7)."""
        return _allow(self._methods)


def _allow(methods: Iterable[str]) -> bytes:
    names = set(methods) | {"OPTIONS"}
    if "GET" in names:
        names.add("HEAD")
    return ", ".join(sorted(names)).encode("ascii")


class _Method(Generic[Endpoint]):
    """The routes of one method."""

    def __init__(self, entries: list[tuple[Sequence[Segment], Endpoint]]) -> None:
        self._literal = {
            "/" + "/".join(_encoded(str(segment)) for segment in segments): Found(endpoint)
            for segments, endpoint in entries
            if not any(isinstance(segment, PathParameter) for segment in segments)
        }
        named = [entry for entry in entries if any(isinstance(segment, PathParameter) for segment in entry[0])]
        # From the left, a literal segment beats a name; the first alternative that matches is taken.
        named.sort(key=lambda entry: [isinstance(segment, PathParameter) for segment in entry[0]])
        # An empty group ends each alternative: its number, which is the last one matched, tells which it was.
        self._alternatives: dict[int, tuple[int, Endpoint]] = {}
        patterns: list[str] = []
        groups = 0
        for segments, endpoint in named:
            names = sum(isinstance(segment, PathParameter) for segment in segments)
            groups += names + 1
            self._alternatives[groups] = (groups - names, endpoint)
            patterns.append("".join(map(_pattern, segments)) + "()")
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def find(self, path: str) -> Found[Endpoint] | None:
        found = self._literal.get(path)
        if found is not None or self._pattern is None:
            return found
        match = self._pattern.fullmatch(path)
        if match is None or match.lastindex is None:
            return None
        first, endpoint = self._alternatives[match.lastindex]
        return Found(endpoint, tuple(_decoded(value) for value in match.group(*range(first, match.lastindex), 0)[:-1]))


def _pattern(segment: Segment) -> str:
    return "/([^/]+)" if isinstance(segment, PathParameter) else "/" + re.escape(_encoded(segment))


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
        return "/".join(_encoded(unquote_to_bytes(segment).decode("utf-8")) for segment in raw_path.split(b"/"))
    except UnicodeDecodeError:
        return None


_ENCODES_NOTHING = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def _encoded(segment: str) -> str:
    return segment.replace("%", "%25").replace("/", "%2F")


def _decoded(segment: str) -> str:
    return segment.replace("%2F", "/").replace("%25", "%") if "%" in segment else segment
