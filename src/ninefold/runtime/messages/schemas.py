"""JSON Schema (2020-12) place by place: whether a value is valid, which schemas speak of each part of it, and which
members nothing names (those are what counts as unevaluated for `unevaluatedProperties`; JSON Schema core, 11).

Whether a value is valid, `jsonschema_rs` says, in one call that ends at the first rule which is not kept: it takes some
milliseconds for a megabyte. Which rules a value does not keep it would tell in a list of all of them, which takes
seconds; so they are looked for one after another (`violations.py`), and it is asked of each part alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

import jsonschema_rs

from ninefold.runtime.messages.among import AMONG, Among
from ninefold.runtime.messages.turns import APART, FEW, MANY, MATCHING, TURN, Turn, is_little, with_turns
from ninefold.runtime.messages.weight import dear_names, every
from ninefold.values import patterns
from ninefold.values.keywords import BY_NAME, EACH, SAME_VALUE, UNEVALUATED

Node: TypeAlias = dict[str, Any] | bool
"""A schema, or one inside it."""

MOST_STEPS_BACK: Final = 10_000
"""How often a regular expression with look-around or a back-reference may try again at one place of a text; what is
beyond does not match. All others take time in proportion to the text."""

LONGEST_WITH_STEPS_BACK: Final = 1_000
"""Code points of a text that such an expression looks at; a longer one does not match. Each step may go through all of
the text, and both bounds together are some milliseconds."""

BEHIND: Final = "ninefold:behind"
"""The keyword in the place of a schema inside one that is made ready without it."""

_UNNAMED: Final[Mapping[type, tuple[str, str]]] = {
    dict: ("unevaluatedProperties", "additionalProperties"),
    list: ("unevaluatedItems", "items"),
}
"""The keyword that asks which parts of a value no other schema names, and the one that names all."""

_OF_NAMES: Final = ("properties", "patternProperties", "additionalProperties")

_LEADING: Final = frozenset({"$ref", "properties", *SAME_VALUE, *EACH})

_INSIDE: Final = ("allOf", "anyOf", "oneOf")


Keywords: TypeAlias = Mapping[str, Callable[[Any, Any, Any], Any]]


def validator(
    schema: Node, keywords: Keywords = MappingProxyType({}), looks: bool = True
) -> jsonschema_rs.Draft202012Validator:
    """What tells whether values are valid. Formats are asserted, nothing is fetched, and patterns are matched in time
    in proportion to the text, where they can be. `keywords`: more of our own. `looks`: it is the beginning, and what
    takes long is to be ready with it."""
    try:
        return _compiled(schema, jsonschema_rs.RegexOptions(), keywords, looks)
    except jsonschema_rs.ValidationError:
        return _compiled(schema, _STEPPING_BACK, {**keywords, "pattern": Matching}, looks)


def _compiled(
    schema: Node,
    patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions,
    keywords: Keywords,
    looks: bool,
) -> jsonschema_rs.Draft202012Validator:
    apart: list[Node] = []
    turning = with_turns(schema, apart)
    definitions = {"$defs": schema["$defs"]} if isinstance(schema, dict) and "$defs" in schema else {}
    kept = [Apart(each, definitions, keywords, looks) for each in apart]
    return jsonschema_rs.Draft202012Validator(
        turning,
        validate_formats=True,
        formats=_ONE_BY_ONE,
        retriever=refuse_to_fetch,
        pattern_options=patterns,
        keywords={
            **cast(Any, keywords),
            AMONG: Among,
            TURN: Turn,
            MATCHING: Matching,
            APART: cast(Any, lambda _parent, number, _path: kept[number]),
        },
    )


class Apart:
    """A schema to which values are held one by one, made ready once there is one."""

    def __init__(self, schema: Node, definitions: Mapping[str, Any], keywords: Keywords, looks: bool) -> None:
        self._schema = {**definitions, **schema} if isinstance(schema, dict) else schema
        self._keywords = keywords
        self._keeps: Callable[[Any], bool] | None = None
        if looks and any(map(dear_names, every(schema))):
            self._made_ready(looks)

    def _made_ready(self, looks: bool = False) -> Callable[[Any], bool]:
        self._keeps = validator(self._schema, self._keywords, looks).is_valid
        return self._keeps

    def validate(self, value: object) -> None:
        """Raises ValueError where it is not valid."""
        if not (self._keeps or self._made_ready())(value):
            raise ValueError("it is not valid")


def _bounded(name: str, longest: int) -> Callable[[str], bool]:
    """A format whose texts are looked at one by one, so that others have their turn between two. A longer one is not
    of the format."""
    is_valid = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid
    return lambda text: len(text) <= longest and is_valid(text)


_ONE_BY_ONE: Final = {"idn-hostname": _bounded("idn-hostname", 253), "regex": _bounded("regex", 10_000)}
"""Formats that take some microseconds of each character. A host's name is never longer (RFC 1123 2.1)."""


_STEPPING_BACK: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=MOST_STEPS_BACK)


class Matching:
    """The keyword `pattern`, where one takes long to make ready, so that it is done once, or some need steps back:
    each text is looked at by itself, and others have their turn between two."""

    def __init__(self, _parent: object, pattern: str, _path: object) -> None:
        self._matches = _matching(pattern)

    def validate(self, value: object) -> None:
        """Raises ValueError where it does not match."""
        if isinstance(value, str) and not self._matches(value):
            raise ValueError("it does not match")


@lru_cache(patterns.MOST_READY)
def _matching(pattern: str) -> Callable[[str], bool]:
    try:
        return patterns.linear(pattern)
    except ValueError:
        matches = jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=_STEPPING_BACK).is_valid
        return lambda text: len(text) <= LONGEST_WITH_STEPS_BACK and matches(text)


def refuse_to_fetch(uri: str) -> Any:
    """Nothing is fetched: all that a schema refers to is inside it."""
    raise ValueError(f"{uri} is outside of the contract")


class Schemas:
    """A schema and all that are inside it. A schema inside is made ready once it is asked for the first time, which may
    be for a request: so it takes little. What its parts refer to is made ready by itself, and patterns that take long
    are ready from the beginning."""

    many, few = MANY, FEW

    def __init__(self, root: Node) -> None:
        self.root = root
        self._ready: dict[tuple[int, tuple[str, ...]], Callable[[Any], bool]] = {}
        self._says_members: dict[int, bool] = {}
        self._names: dict[int, bool] = {}
        self._led_to: list[Node] = []
        self._behind: Keywords = {BEHIND: lambda _parent, number, _path: _Behind(self, self._led_to[number])}
        for each in every(root):
            self._make_ready(each)
        self.is_valid = self._is_valid(validator(root).is_valid)

    def _is_valid(self, at_once: Callable[[Any], bool]) -> Callable[[Any], bool]:
        if any(self._goes_long(each) or len([*self._same(each)]) > self.few for each in every(self.root)):
            return lambda value: (at_once if is_little(value, self.many) else self.keeps(self.root))(value)
        return at_once

    def _make_ready(self, node: dict[str, Any]) -> None:
        if "pattern" in node and patterns.is_dear(node["pattern"]):
            _matching(node["pattern"])
        if names := dear_names(node):
            self.keeps(node)
            for each in names:
                self._matches(each)

    def keeps(self, node: Node, *keywords: str) -> Callable[[Any], bool]:
        """Whether a value keeps a schema inside this one; with keywords, of it these alone."""
        known = self._ready.get((id(node), keywords))
        if known is None:
            asked = {each: node[each] for each in keywords} if keywords and isinstance(node, dict) else node
            known = self._validator(asked).is_valid
            if isinstance(asked, dict) and self._goes_long(asked):
                known = partial(self._keeps, asked, known)
            self._ready[id(node), keywords] = known
        return known

    # ── Of many members and items ─────────────────────────────────────────────────────────────────────────────────

    def _goes_long(self, node: dict[str, Any]) -> bool:
        """Whether more than a little is done for each member or item by the schema of what these are in."""
        if UNEVALUATED.isdisjoint(node):
            return len(node.get("patternProperties", ())) > self.few
        return "patternProperties" in node or next(self._same(node), None) is not None

    def _keeps(self, node: dict[str, Any], at_once: Callable[[Any], bool], value: Any) -> bool:
        """Whether a value keeps such a schema, asked member by member or item by item where it has many."""
        if type(value) not in (dict, list) or len(value) <= self.many:
            return at_once(value)
        asks = not UNEVALUATED.isdisjoint(node)
        rest = [key for key in node if key not in (UNEVALUATED if asks else _OF_NAMES)]
        if rest and not self.keeps(node, *rest)(value):
            return False
        if asks:
            return self._keep_unnamed(node, value)
        members = value.items() if type(value) is dict else ()
        return all(self.keeps(each)(member) for name, member in members for each in self.of_member([node], name))

    def _keep_unnamed(self, node: dict[str, Any], value: Any) -> bool:
        """Whether members or items of which no other schema speaks are as is asked of these."""
        asked, all_others = _UNNAMED[type(value)]
        _, *inside = speaking = [*self.evaluating(node, value)]
        if asked not in node or any(asked in each for each in inside) or any(all_others in each for each in speaking):
            return True
        keeps = self.keeps(node[asked])
        if type(value) is list:
            admitting = [*(self.keeps(each["contains"]) for each in speaking if "contains" in each), keeps]
            return all(any(admits(item) for admits in admitting) for item in islice(value, prefix(speaking), None))
        names = {name for each in speaking for name in each.get("properties", ())}
        matching = [self._matches(pattern) for each in speaking for pattern in each.get("patternProperties", ())]
        others = (name for name in value if name not in names and not any(matches(name) for matches in matching))
        return all(keeps(value[name]) for name in others)

    def _validator(self, asked: Node) -> jsonschema_rs.Draft202012Validator:
        definitions: dict[str, Any] = {}
        cut = self._cut(asked, False, definitions)
        return validator({**cut, "$defs": definitions} if definitions else cut, self._behind, False)

    def _cut(self, node: Any, asks: bool, definitions: dict[str, Any]) -> Any:
        """A schema that leads nowhere else: what it refers to is behind a keyword, and so is an inner one that leads
        further. `asks`: it is asked which parts of the value no other schema names, which only the schema itself and a
        `$ref` say; what that leads to is put into `definitions`."""
        if not isinstance(node, dict):
            return node
        asks = asks or not UNEVALUATED.isdisjoint(node)

        def cut(inner: Any) -> Any:
            same = asks and key in SAME_VALUE
            if not same and isinstance(inner, dict) and not _LEADING.isdisjoint(inner):
                return {BEHIND: self._number(inner)}
            return self._cut(inner, same, definitions)

        made = dict(node)
        for key, value in node.items():
            if key == "$ref" and not asks:
                del made[key]
                made[BEHIND] = self._number(self.resolved(value))
            elif key == "$ref":
                name = value.removeprefix("#/$defs/")
                if name not in definitions:
                    definitions[name] = {}
                    definitions[name] = self._cut(self.resolved(value), True, definitions)
            elif key in SAME_VALUE or key in EACH or key == "properties":
                if isinstance(value, list):
                    made[key] = [*map(cut, value)]
                else:
                    made[key] = {name: cut(each) for name, each in value.items()} if key in BY_NAME else cut(value)
        return made

    def _number(self, node: Node) -> int:
        self._led_to.append(node)
        return len(self._led_to) - 1

    def resolved(self, reference: str) -> Node:
        """The schema that a `$ref` leads to (RFC 6901): always one inside this one."""
        target: Any = self.root
        for token in reference[2:].split("/") if reference.startswith("#/") else ():
            target = target[token.replace("~1", "/").replace("~0", "~")]
        found: Node = target
        return found

    def asserted(self, node: Node, value: Any) -> Iterator[dict[str, Any]]:
        """The schemas whose rules a value has to keep one by one, beginning with the schema itself."""
        if isinstance(node, bool):
            return
        yield node
        for each in self.beside(node, value):
            yield from self.asserted(each, value)

    def beside(self, node: Mapping[str, Any], value: Any) -> Iterator[Node]:
        """The schemas inside one that the same value has to keep as well."""
        if "$ref" in node:
            yield self.resolved(node["$ref"])
        yield from node.get("allOf", ())
        if "if" in node:
            branch = "then" if self.keeps(node["if"])(value) else "else"
            if branch in node:
                yield node[branch]
        if "dependentSchemas" in node and type(value) is dict:
            yield from (each for name, each in node["dependentSchemas"].items() if name in value)

    def evaluating(self, node: Node, value: Any) -> Iterator[dict[str, Any]]:
        """Those by which parts of a value count as evaluated (JSON Schema 2020-12 core, 11): the same, and those of
        `anyOf`, `oneOf` and `if` that it keeps."""
        if isinstance(node, bool):
            return
        yield node
        for each in self.beside(node, value):
            yield from self.evaluating(each, value)
        weighed = [*node.get("anyOf", ()), *node.get("oneOf", ()), *([node["if"]] if "if" in node else ())]
        for each in weighed:
            if self.keeps(each)(value):
                yield from self.evaluating(each, value)

    def says_members(self, node: Node) -> bool:
        """Whether a schema says which members an object has: it, or one for the same value, states `properties` or
        `patternProperties`."""
        if isinstance(node, bool):
            return False
        known = self._says_members.get(id(node))
        if known is None:
            self._says_members[id(node)] = False
            known = self._says_members[id(node)] = (
                "properties" in node or "patternProperties" in node or any(map(self.says_members, self._same(node)))
            )
        return known

    def _same(self, node: Mapping[str, Any]) -> Iterator[Node]:
        """The schemas inside one that describe the same value."""
        if "$ref" in node:
            yield self.resolved(node["$ref"])
        for keyword in _INSIDE:
            yield from node.get(keyword, ())
        yield from (node[keyword] for keyword in ("if", "then", "else") if keyword in node)
        yield from node.get("dependentSchemas", {}).values()

    def names_members(self, node: Node) -> bool:
        """Whether a schema says of any object in a value which members it has."""
        if isinstance(node, bool):
            return False
        known = self._names.get(id(node))
        if known is None:
            self._names[id(node)] = False
            known = self._names[id(node)] = self.says_members(node) or any(map(self.names_members, self._parts(node)))
        return known

    def _parts(self, node: Mapping[str, Any]) -> Iterator[Node]:
        """The schemas inside one that are of the same value, or of its members and items."""
        yield from self._same(node)
        for keyword in ("additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems"):
            if keyword in node:
                yield node[keyword]
        yield from node.get("prefixItems", ())

    # ── Members and items ─────────────────────────────────────────────────────────────────────────────────────────

    def of_member(self, schemas: Sequence[dict[str, Any]], name: str) -> list[Node]:
        """The schemas that these give a member; of none, none of them knows it."""
        found: list[Node] = []
        for node in schemas:
            own = [node["properties"][name]] if name in node.get("properties", ()) else []
            patterns = node.get("patternProperties", {})
            own += (each for pattern, each in patterns.items() if self._matches(pattern)(name))
            if not own and "additionalProperties" in node:
                own = [node["additionalProperties"]]
            found += own
        return found

    def _matches(self, pattern: str) -> Callable[[Any], bool]:
        known = self._ready.get((0, (pattern,)))
        if known is None:
            known = self._ready[0, (pattern,)] = _matching(pattern)
        return known

    def of_item(self, schemas: Sequence[dict[str, Any]], index: int) -> list[Node]:
        """The schemas that these give the item at a position; those of all others stand behind `prefixItems`."""
        found: list[Node] = []
        for node in schemas:
            first = node.get("prefixItems", ())
            if index < len(first):
                found.append(first[index])
            elif "items" in node:
                found.append(node["items"])
        return found


class _Behind:
    """The keyword in the place of a schema that is made ready once there is a value."""

    def __init__(self, schemas: Schemas, node: Node) -> None:
        self._schemas = schemas
        self._node = node

    def validate(self, value: object) -> None:
        """Raises ValueError where it is not valid."""
        if not self._schemas.keeps(self._node)(value):
            raise ValueError("it is not valid")


def prefix(schemas: Sequence[Mapping[str, Any]]) -> int:
    """How many items come first of which each may have a schema of its own."""
    return max((len(node.get("prefixItems", ())) for node in schemas), default=0)
