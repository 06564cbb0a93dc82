"""What a request may ask for at all: versions, and what this build does not put in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TypeVar

from ninefold.plan.routes import PathParameter, Segment
from ninefold.plan.versioning import Versions
from ninefold.server.messages import Request
from ninefold.server.parameters import Query
from ninefold.values import Text

T = TypeVar("T")


class Asked(Enum):
    """The version that a request asks for: the one that is served, one that is stated and not in force (501), or
    none that there is."""

    CURRENT = "current"
    OTHER = "other"
    UNKNOWN = "unknown"


def asked_version(versions: Versions | None, request: Request, query: Query) -> Asked:
    """The version that a header or query parameter names. One that is in the path was found with the route."""
    if versions is None or versions.by == "path":
        return Asked.CURRENT
    if versions.by == "header":
        return _version(versions, request.headers.get(versions.name.lower()))
    given = query.get(versions.name)
    return _version(versions, given[0] if given and len(given) == 1 else "" if given else None)


def _version(versions: Versions, named: str | None) -> Asked:
    if named is None:
        named = versions.default
    if named == versions.current:
        return Asked.CURRENT
    return Asked.OTHER if named in versions.others else Asked.UNKNOWN


def paths(
    base: Sequence[str], versions: Versions | None, routes: Iterable[tuple[str, Sequence[Segment], T]]
) -> Iterator[tuple[str, Sequence[Segment], tuple[T, Asked]]]:
    """Every path of a service: method, segments, and what is there, with the version that the path names. A version
    in the path is the segment behind the base."""
    any_version = PathParameter("version", Text(), "")
    for method, segments, target in routes:
        if versions is None or versions.by != "path":
            yield method, (*base, *segments), (target, Asked.CURRENT)
            continue
        if versions.default is not None:
            yield method, (*base, *segments), (target, _version(versions, None))
        for version in (versions.current, *versions.others):
            yield method, (*base, version, *segments), (target, _version(versions, version))
        yield method, (*base, any_version, *segments), (target, Asked.UNKNOWN)
