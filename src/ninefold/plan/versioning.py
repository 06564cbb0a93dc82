"""Versions: which one a request asks for, and what each of them is."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.problems import Problems
from ninefold.plan.responses import Carried
from ninefold.plan.routes import Route
from ninefold.plan.said import Saying


class Version(Saying, frozen=True, omit_defaults=True):
    """A version over the tables of all. `problems` None: routes and problems are the plan's own, or the version is not
    served (`served`) since the way back to it is not shown; a request that names it is answered 501.

    `counted`: the rates that count the requests to an endpoint, by its key. `retired`: seconds since 1970 (UTC).
    `carries`: what each of its responses does."""

    name: str
    routes: tuple[Route, ...] = ()
    problems: Problems | None = None
    counted: dict[str, tuple[str, ...]] = {}
    retired: int | None = None
    served: bool = True
    carries: tuple[Carried, ...] = ()
    places: dict[str, Place] = {}
    """Where its facts are stated, by their keys."""
    trace: tuple[Place, ...] = ()


NamedBy: TypeAlias = Literal["path", "header", "query", "media type"]
"""Where a request names its version."""


class Pin(msgspec.Struct, frozen=True, omit_defaults=True):
    """What gives the name of the version of a request that names none: `value`, over `caller`, `now` and those
    `headers` of the request that it reads."""

    value: Typed
    headers: tuple[str, ...] = ()


class Versions(msgspec.Struct, frozen=True, omit_defaults=True):
    """`current` is the version that the plan's own routes are. `name` is that of the header, of the query parameter or
    of the media types' parameter. `default` is the version of a request that names none, or what gives the name of it;
    None: such a request is `unknown version`. `versions`, newest first. `carries`: what each response does, of any
    version and of none."""

    by: NamedBy
    current: str
    name: str = ""
    default: str | Pin | None = None
    versions: tuple[Version, ...] = ()
    carries: tuple[Carried, ...] = ()
    trace: tuple[Place, ...] = ()
    """Where it is stated how a request names a version, and which one it asks for where it names none."""


def places_of(versions: Versions | None) -> tuple[Place, ...]:
    """Where the versions are stated."""
    return () if versions is None else (*versions.trace, *(place for each in versions.versions for place in each.trace))
