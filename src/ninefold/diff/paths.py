"""Which endpoint a request is answered by, in two plans: what a path takes from others that comes, and leaves to others
that goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, TypeAlias

from ninefold.plan.routes import PathParameter, Route, Segment, Served
from ninefold.plan.schema import Stored
from ninefold.runtime.messages.schemas import Schemas
from ninefold.runtime.request.paths import encoded
from ninefold.runtime.request.routes import Found, NotAllowed, Routes
from ninefold.values import Integer, Invalid, Text
from ninefold.values.texts import from_text

REFUSED: Final = "405"
"""In the place of an endpoint: the path is there, and the method is not."""

NOT_THERE: Final = "404"
"""In the place of an endpoint: no such path is there."""

_Shape: TypeAlias = tuple[str, tuple[Any, ...]]
"""A method, and a path without what its names are called."""


def elsewhere(old: Sequence[Route], new: Sequence[Route], stored: Sequence[Stored] = ()) -> dict[str, tuple[str, ...]]:
    """The endpoints of the old routes some of whose requests are answered by others of the new ones, with these; one
    whose path is the same but for what its names are called is no other. `stored`: what the rows of the old ones are.
    A request that no row can be meant by was `not found`, and not answered."""
    before, after = {_shape(each): each for each in old}, {_shape(each): each for each in new}
    differing = [each for shape, each in (before | after).items() if (shape in before) is not (shape in after)]
    if not differing:
        return {}
    was, now = _routes(old), _routes(new)
    every = (*old, *new)
    schemas, name = _schemas(stored), _no_literal(every)
    methods = sorted({each.method for each in every})
    found: dict[str, dict[str, None]] = {}
    # Who answers another one's requests is of a path that differs, or is rid of one that did.
    for path in dict.fromkeys(_shared(differing, every, name)):
        for method in methods:
            first, then = was.at(method, path), now.at(method, path)
            if not isinstance(first, Found) or not _can_be(first, name, schemas):
                continue
            if isinstance(then, NotAllowed):
                found.setdefault(first.endpoint.key, {})[REFUSED] = None
            elif isinstance(then, Found) and _shape(first.endpoint) != _shape(then.endpoint):
                found.setdefault(first.endpoint.key, {})[then.endpoint.key] = None
    return {key: tuple(others) for key, others in found.items()}


def behind(
    old: Sequence[Route], versions: Mapping[str, Sequence[Route]], base: int, stored: Sequence[Stored] = ()
) -> dict[str, tuple[str, ...]]:
    """The endpoints some of whose requests are those of a version now, since the segment behind as many as `base` is
    its name; with what answers them there. `old`: the routes that answered paths in which nothing is named, `versions`:
    those of the names that come."""
    was, schemas = _routes(old), _schemas(stored)
    found: dict[str, dict[str, None]] = {}
    for version, routes in versions.items():
        now, name = _routes(routes), _no_literal((*old, *routes))
        for route in (each for each in old if len(each.segments) > base):
            named = (*route.segments[:base], version, *route.segments[base + 1 :])
            texts = [_both(*pair, name) for pair in zip(route.segments, named, strict=True)]
            first = None if None in texts else was.at(route.method, "".join(f"/{text}" for text in texts))
            if not isinstance(first, Found) or not _can_be(first, name, schemas):
                continue
            rest = [*texts[:base], *texts[base + 1 :]]
            then = now.at(route.method, "".join(f"/{text}" for text in rest) or "/")
            by = then.endpoint.key if isinstance(then, Found) else NOT_THERE
            found.setdefault(first.endpoint.key, {})[REFUSED if isinstance(then, NotAllowed) else by] = None
    return {key: tuple(others) for key, others in found.items()}


def _schemas(stored: Sequence[Stored]) -> Mapping[Any, dict[str, Any]]:
    return {(each.resource, field.column.name): field.schema for each in stored for field in each.fields}


def _no_literal(every: Sequence[Route]) -> str:
    """A text that is longer than each literal: it is none of them."""
    lengths = (len(text) for each in every for text in each.segments if isinstance(text, str))
    return "x" * (1 + max(lengths, default=0))


def _can_be(found: Found[Route], name: str, schemas: Mapping[Any, dict[str, Any]]) -> bool:
    """Whether there may be such values in the path. Of one that only ends as it has to, the beginning may be another,
    and so only what has no such end at all is known."""
    route = found.endpoint
    declared = {each.name: each.schema for each in route.path} if isinstance(route, Served) else {}
    names = [each for each in route.segments if isinstance(each, PathParameter)]
    for each, text in zip(names, found.values, strict=True):
        if text == name:
            continue
        schema = declared.get(each.name) or schemas.get((each.resource, each.name.rpartition(".")[2]), {})
        try:
            value = from_text(each.type, text)
        except Invalid:
            return False
        if text.startswith(name):
            schema = {"format": "uuid"} if schema.get("format") == "uuid" else {}
        if isinstance(each.type, Integer | Text) and not Schemas(schema).is_valid(value):
            return False
    return True


def _shape(route: Route) -> _Shape:
    return route.method, tuple(each if isinstance(each, str) else (each.after,) for each in route.segments)


def _routes(of: Sequence[Route]) -> Routes[Route]:
    return Routes((each.method, each.segments, each) for each in of)


def _shared(some: Iterable[Route], every: Sequence[Route], name: str) -> Iterator[str]:
    """A path, in its canonical form, for each two that have one: what precedes them there precedes them in all that
    both have, since a name stands for any text."""
    for one, other in product(some, every):
        if len(one.segments) != len(other.segments):
            continue
        texts = [_both(*pair, name) for pair in zip(one.segments, other.segments, strict=True)]
        if None not in texts:
            yield "".join(f"/{text}" for text in texts) or "/"


def _both(one: Segment, other: Segment, name: str) -> str | None:
    """A text that both segments take; None: there is none."""
    literals = {each for each in (one, other) if isinstance(each, str)}
    ends = [f":{each.after}" for each in (one, other) if isinstance(each, PathParameter) and each.after]
    if len(literals) > 1:
        return None
    text = next(iter(literals), name + max(ends, key=len, default=""))
    return encoded(text) if all(text.endswith(end) and text != end for end in ends) else None
