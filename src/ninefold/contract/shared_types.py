"""The shared types of part 2 as a graph: which refer to which, and how large their values are, with every type that
they refer to in its place. Each type is looked at once, whatever refers to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from ninefold.expressions.reads import in_order
from ninefold.language.fact import Name, value_of
from ninefold.language.json_schema import VALUES
from ninefold.language.resources import SharedType
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import Mapping as MappingNode
from ninefold.syntax.nodes import Node, Scalar
from ninefold.syntax.nodes import Sequence as SequenceNode
from ninefold.values.keywords import SAME_VALUE

PREFIX: Final = "#/types/"

MOST_PARTS: Final = 10_000
"""Schemas within one value: each has rules that are checked, and a place that a failure points at."""

DEEPEST: Final = 64
"""Shared types within each other; as deep as what is written may be nested."""


class Extent(NamedTuple):
    """Of a value: how many schemas describe it and what is in it, and how many shared types stand in each other."""

    parts: int
    depth: int

    @property
    def is_bounded(self) -> bool:
        return self.parts <= MOST_PARTS and self.depth <= DEEPEST


_WEIGHED: Final = sorted(SAME_VALUE - {"allOf", "not"})
"""The keywords whose schemas describe the value itself where they hold, and need not hold."""


class Member(NamedTuple):
    """What a type says of a member of its values: where, and what the member is like; whether it does `always`, or only
    of values that keep some schema within it."""

    name: Name
    schema: Schema
    always: bool = True


def closure(first: Iterable[str], leads: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """These, and all that they lead to."""
    found, waiting = set(first), list(first)
    while waiting:
        more = leads.get(waiting.pop(), frozenset()) - found
        found |= more
        waiting += more
    return frozenset(found)


class SharedTypes:
    """The graph of the shared types of a contract."""

    def __init__(self, types: Iterable[SharedType]) -> None:
        self.by_name: Final[Mapping[str, SharedType]] = {each.name: each for each in types}
        self._described: Final[dict[str, Mapping[str, Sequence[Member]]]] = {}

    def using(self, name: str) -> frozenset[str]:
        """The types that refer to one, be it through others; and itself."""
        return closure({name}, self._used_by)

    @cached_property
    def open(self) -> frozenset[str]:
        """The types of which something is a gap, be it of one that they refer to."""
        gaps = [each.name for each in self.by_name.values() if value_of(each.schema) is None]
        return frozenset(name for gap in gaps for name in self.using(gap))

    def members(self, name: str) -> tuple[Member, ...]:
        """The members that a type says its values have; what is said twice, as it is said first."""
        return tuple(each[0] for each in self.described(name).values())

    def described(self, name: str) -> Mapping[str, Sequence[Member]]:
        """By name, all that a type says of a member: by itself, by what it refers to or by its `allOf`; and, where it
        says so of some values alone, by its `anyOf`, `oneOf`, `if` or `dependentSchemas`."""
        if name not in self._described:
            self._described[name] = self._descriptions(name)
        return self._described[name]

    def _descriptions(self, name: str) -> dict[str, Sequence[Member]]:
        found: dict[str, list[Member]] = {}
        for part in self.parts(name):
            for each in own_members(part):
                found.setdefault(each.name.text, []).append(each)
        for part in self.weighed(name):
            for each in own_members(part):
                found.setdefault(each.name.text, []).append(each._replace(always=False))
        return {**found}

    def needed(self, name: str) -> tuple[Name, ...]:
        """The members that its values cannot lack."""
        return tuple(each for part in self.parts(name) for each in own_needed(part))

    def parts(self, name: str) -> Iterator[Schema]:
        """The schemas all of which a value of a type is held to: its own, what it refers to, its `allOf`."""
        waiting, met = [name], set[str]()
        while waiting:
            named = waiting.pop()
            shared = self.by_name.get(named)
            own = None if shared is None or named in met else value_of(shared.schema)
            met.add(named)
            within = [] if own is None else [own]
            while within:
                part = within.pop(0)
                yield part
                waiting += _referred(part)
                within += _within(part, "allOf")

    def weighed(self, name: str) -> Iterator[Schema]:
        """The schemas one or the other of which a value of a type is held to as well, or which decide it."""
        waiting = [each for part in self.parts(name) for key in _weighing(part) for each in _within(part, key)]
        met = set[str]()
        while waiting:
            part = waiting.pop(0)
            yield part
            waiting += [each for key in (*_weighing(part), "allOf") for each in _within(part, key)]
            for named in _referred(part):
                shared = self.by_name.get(named)
                own = None if shared is None or named in met else value_of(shared.schema)
                met.add(named)
                waiting += [] if own is None else [own]

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
            name: Counter(() if (schema := value_of(each.schema)) is None else types_in(schema.json))
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
        found: dict[str, Extent] = {}
        for name in in_order(self._refers_to):
            schema = value_of(self.by_name[name].schema)
            inner = [found[other] for other in self._refers_to[name].elements() if other in found]
            extent = _extent(1 if schema is None else _parts(schema.json), inner)
            found[name] = Extent(extent.parts, extent.depth + 1)
        return found


def _referred(schema: Schema) -> list[str]:
    """The name of the shared type that a schema refers to, if it does."""
    return [str(schema.json["$ref"]).removeprefix(PREFIX)] if "$ref" in schema.json else []


def _weighing(schema: Schema) -> list[str]:
    """The keywords of a schema under which others may hold; without `if`, neither `then` nor `else` says anything."""
    return [key for key in _WEIGHED if "if" in schema.json or key not in ("then", "else")]


def _within(schema: Schema, keyword: str) -> list[Schema]:
    """The schemas that stand under a keyword which speaks of the same value: one, several, or some by name."""
    node, read = _value(schema, keyword), schema.json.get(keyword)
    if isinstance(node, SequenceNode) and isinstance(read, list):
        every = list(zip(read, node.items, strict=True))
    elif isinstance(node, MappingNode) and isinstance(read, dict) and keyword == "dependentSchemas":
        every = [(read[each.name], each.value) for each in node.entries if each.name in read]
    else:
        every = [] if node is None else [(read, node)]
    return [Schema(json, each) for json, each in every if isinstance(each, MappingNode) and isinstance(json, dict)]


def own_members(schema: Schema) -> Iterator[Member]:
    """The members that a schema itself names."""
    read, node = schema.json.get("properties"), _value(schema, "properties")
    if not isinstance(node, MappingNode) or not isinstance(read, dict):
        return
    for entry in node.entries:
        if entry.name in read:
            own = entry.value if isinstance(entry.value, MappingNode) else MappingNode(entry.value.span, ())
            json = read[entry.name] if isinstance(read[entry.name], dict) else {}
            yield Member(Name(entry.name, entry.key.span), Schema(json, own))


def own_needed(schema: Schema) -> Iterator[Name]:
    """The members that it says itself are there."""
    node = _value(schema, "required") if "required" in schema.json else None
    for item in node.items if isinstance(node, SequenceNode) else ():
        if isinstance(item, Scalar):
            yield Name(item.text, item.span)


def _value(schema: Schema, keyword: str) -> Node | None:
    entry = schema.node.get(keyword)
    return None if entry is None else entry.value


def _extent(own: int, inner: list[Extent]) -> Extent:
    parts = own + sum(each.parts for each in inner)
    return Extent(min(parts, MOST_PARTS + 1), max((each.depth for each in inner), default=0))


def types_in(schema: Any) -> Iterator[str]:
    """The names of the shared types that a schema refers to, each as often as it does."""
    for each in schemas_in(schema):
        if isinstance(reference := each.get("$ref"), str):
            yield reference.removeprefix(PREFIX)


def _parts(schema: Any) -> int:
    """How many schemas a schema is made of, what holds them by name included."""
    return sum(1 for _ in schemas_in(schema))


def schemas_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Itself and those within it, in written order."""
    waiting = [schema]
    while waiting:
        match waiting.pop():
            case dict() as members:
                yield members
                waiting.extend(value for key, value in reversed(members.items()) if key not in VALUES)
            case list() as items:
                waiting.extend(reversed(items))
