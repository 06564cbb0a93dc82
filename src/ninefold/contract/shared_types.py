"""The shared types of part 2 as a graph: which refer to which, and how large their values are, with every type that
they refer to in its place. Each type is looked at once, whatever refers to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from ninefold.language.fact import Gap, Proposal, value_of
from ninefold.language.resources import SharedType

PREFIX: Final = "#/types/"

MOST_PARTS: Final = 10_000
"""Schemas within one value: each has rules that are checked, and a place that a failure points at."""

DEEPEST: Final = 64
"""Shared types within each other; as deep as what is written may be nested."""

_VALUES: Final = frozenset({"enum", "const", "examples"})
"""The keywords that hold values, and no schemas."""


class Extent(NamedTuple):
    """Of a value: how many schemas describe it and what is in it, and how many shared types stand in each other."""

    parts: int
    depth: int

    @property
    def is_bounded(self) -> bool:
        return self.parts <= MOST_PARTS and self.depth <= DEEPEST


class SharedTypes:
    """The graph of the shared types of a contract."""

    def __init__(self, types: Iterable[SharedType]) -> None:
        self.by_name: Final[Mapping[str, SharedType]] = {each.name: each for each in types}

    def using(self, name: str) -> frozenset[str]:
        """The types that refer to one, be it through others; and itself."""
        found, waiting = {name}, [name]
        while waiting:
            more = self._used_by.get(waiting.pop(), frozenset()) - found
            found |= more
            waiting += more
        return frozenset(found)

    @cached_property
    def open(self) -> frozenset[str]:
        """The types of which something is a gap, be it of one that they refer to."""
        gaps = [
            each.name
            for each in self.by_name.values()
            if isinstance(each.fields, Gap | Proposal) or isinstance(each.required, Gap | Proposal)
        ]
        return frozenset(name for gap in gaps for name in self.using(gap))

    @cached_property
    def endless(self) -> frozenset[str]:
        """The types that contain themselves."""
        unknown = self.by_name.keys() - self._extents.keys()
        return frozenset(name for name in unknown if self._refers_to[name].keys() & self.using(name))

    @cached_property
    def bounded(self) -> Mapping[str, SharedType]:
        """The types whose values are no larger and no deeper than a value may be."""
        extents = self._extents
        return {name: each for name, each in self.by_name.items() if name in extents and extents[name].is_bounded}

    def extent(self, schema: Any) -> Extent | None:
        """The extent of a value that a schema describes; None: it has no end, or refers to a type that is too large."""
        inner = [self._extents.get(name) for name in types_in(schema) if name in self.by_name]
        known = [each for each in inner if each is not None]
        return None if len(known) < len(inner) else _extent(_parts(schema), known)

    @cached_property
    def _refers_to(self) -> Mapping[str, Counter[str]]:
        return {
            name: Counter(other for _, schema in value_of(each.fields) or () for other in types_in(schema.json))
            for name, each in self.by_name.items()
        }

    @cached_property
    def _used_by(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for name, others in self._refers_to.items():
            for other in others:
                found.setdefault(other, set()).add(name)
        return {name: frozenset(users) for name, users in found.items()}

    @cached_property
    def _extents(self) -> Mapping[str, Extent]:
        """Of each type that has an end: a type after all that it refers to."""
        waiting = {name: len(others.keys() & self.by_name.keys()) for name, others in self._refers_to.items()}
        ready = [name for name, count in waiting.items() if not count]
        found: dict[str, Extent] = {}
        while ready:
            name = ready.pop()
            schemas = [schema.json for _, schema in value_of(self.by_name[name].fields) or ()]
            inner = [found[other] for other in self._refers_to[name].elements() if other in found]
            extent = _extent(1 + sum(map(_parts, schemas)), inner)
            found[name] = Extent(extent.parts, extent.depth + 1)
            for user in self._used_by.get(name, ()):
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        return found


def _extent(own: int, inner: list[Extent]) -> Extent:
    parts = own + sum(each.parts for each in inner)
    return Extent(min(parts, MOST_PARTS + 1), max((each.depth for each in inner), default=0))


def types_in(schema: Any) -> Iterator[str]:
    """The names of the shared types that a schema refers to, each as often as it does."""
    for each in _schemas(schema):
        if isinstance(reference := each.get("$ref"), str):
            yield reference.removeprefix(PREFIX)


def _parts(schema: Any) -> int:
    """How many schemas a schema is made of, what holds them by name included."""
    return sum(1 for _ in _schemas(schema))


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    waiting = [schema]
    while waiting:
        match waiting.pop():
            case dict() as members:
                yield members
                waiting.extend(value for key, value in members.items() if key not in _VALUES)
            case list() as items:
                waiting.extend(items)
