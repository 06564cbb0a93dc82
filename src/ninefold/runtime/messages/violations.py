"""The rules of a schema that a document does not keep: at which places, and in which order they are told.

They are found one after another, so that who needs a hundred looks for no more. A value that is larger than its schema
admits is told to be so, and not looked into.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ninefold.runtime.messages.json_text import DEEPEST
from ninefold.runtime.messages.schemas import Node, Schemas, prefix
from ninefold.values.json_numbers import as_doubles
from ninefold.values.pointers import tokens

Path: TypeAlias = tuple[str | int, ...]
"""Where something is in a document: names of members, and positions of items from 0."""

Broken: TypeAlias = tuple[Path, str]
"""A place and the keyword of the rule that is not kept there: a missing member is the member's own failure, and so is
one that is not known."""

_SIZES: Final[Mapping[type, str]] = {str: "maxLength", list: "maxItems", dict: "maxProperties"}
"""The keyword that bounds a value's size."""

_ONE_BY_ONE: Final = frozenset(
    {"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "minLength",
     "pattern", "format", "minItems", "uniqueItems", "minProperties", "propertyNames", "anyOf", "oneOf", "not"}
)  # fmt: skip
"""The keywords that are kept or not, whatever stands beside them, and say nothing of their own about parts."""

_WEIGHING: Final = frozenset({"anyOf", "oneOf"})

MOST: Final = 100
"""Failures that are told of one request; then, that there are more."""


def broken(schemas: Schemas, value: Any) -> Iterator[Broken]:
    """Every rule that a value does not keep, once: those of a value before those of its parts, and parts in their
    order. What is kept of its numbers has to keep them, too."""
    if schemas.is_valid(value):
        kept = as_doubles(value)
        if kept is value or schemas.is_valid(kept):
            return
        value = kept
    yield from once(_broken(schemas, [schemas.root], value, ()))


def once(found: Iterable[Broken]) -> Iterator[Broken]:
    """The same, and none of them again: two schemas may ask for the same."""
    met = set[Broken]()
    for each in found:
        if each not in met:
            met.add(each)
            yield each


def _broken(schemas: Schemas, nodes: Sequence[Node], value: Any, path: Path) -> Iterator[Broken]:
    asserted = [each for node in nodes for each in schemas.asserted(node, value)]
    too_large = [(path, size) for node in asserted for size in _too_large(node, value)]
    if too_large:
        yield from dict.fromkeys(too_large)
        return
    weighed = False
    for node in asserted:
        for keyword in node:
            if keyword in _ONE_BY_ONE and not schemas.keeps(node, keyword)(value):
                weighed = weighed or keyword in _WEIGHING
                yield path, keyword
        if any(each is False for each in schemas.beside(node, value)):
            yield path, "not"
    if type(value) is dict:
        yield from _of_members(schemas, nodes, asserted, value, path, told=not weighed)
    elif type(value) is list:
        yield from _of_items(schemas, nodes, asserted, value, path)


def _too_large(node: Mapping[str, Any], value: Any) -> Iterator[str]:
    keyword = _SIZES.get(type(value))
    if keyword is not None and keyword in node and len(value) > node[keyword]:
        yield keyword


def _of_members(
    schemas: Schemas,
    nodes: Sequence[Node],
    asserted: Sequence[dict[str, Any]],
    value: dict[str, Any],
    path: Path,
    told: bool,
) -> Iterator[Broken]:
    """`told`: whether it can be said which members are not known. Where nothing of `anyOf` is kept, it cannot."""
    needed = dict.fromkeys(name for node in asserted for name in _needed(node, value))
    stated = dict.fromkeys(name for node in asserted for name in node.get("properties", ()))
    closed = [node for node in asserted if "unevaluatedProperties" in node]
    evaluating = [list(schemas.evaluating(node, value)) for node in closed]
    for name in (
        *stated,
        *(each for each in needed if each not in stated),
        *(each for each in value if each not in stated),
    ):
        if name not in value:
            if name in needed:
                yield (*path, name), "required"
            continue
        of_it = schemas.of_member(asserted, name)
        for node, speaking in zip(closed, evaluating, strict=True):
            if not schemas.of_member(speaking, name):
                of_it.append(node["unevaluatedProperties"])
        if False in of_it:
            if told:
                yield (*path, name), "unknown"
        elif not all(schemas.keeps(each)(value[name]) for each in of_it):
            yield from _broken(schemas, of_it, value[name], (*path, name))


def _needed(node: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[str]:
    yield from node.get("required", ())
    for name, names in node.get("dependentRequired", {}).items():
        if name in value:
            yield from names


def _of_items(
    schemas: Schemas, nodes: Sequence[Node], asserted: Sequence[dict[str, Any]], value: list[Any], path: Path
) -> Iterator[Broken]:
    for node in asserted:
        yield from ((path, keyword) for keyword in _miscounted(schemas, node, value))
    first = prefix(asserted)
    for index in range(min(first, len(value))):
        of_it = schemas.of_item(asserted, index)
        if not all(schemas.keeps(each)(value[index]) for each in of_it):
            yield from _of_item(schemas, of_it, value[index], (*path, index))
    others = schemas.of_item(asserted, first)
    if others:
        kept = [schemas.keeps(each) for each in others]
        for index in range(first, len(value)):
            if not all(keeps(value[index]) for keeps in kept):
                yield from _of_item(schemas, others, value[index], (*path, index))


def _of_item(schemas: Schemas, of_it: Sequence[Node], item: Any, path: Path) -> Iterator[Broken]:
    if False in of_it:
        yield path, "items"
    else:
        yield from _broken(schemas, of_it, item, path)


def _miscounted(schemas: Schemas, node: dict[str, Any], value: list[Any]) -> Iterator[str]:
    """What an array does not keep of `contains` and of `unevaluatedItems`, which count items."""
    if "contains" in node:
        least = [each for each in ("contains", "minContains") if each in node]
        if not schemas.keeps(node, *least)(value):
            yield least[-1]
        elif "maxContains" in node and not schemas.keeps(node, *least, "maxContains")(value):
            yield "maxContains"
    if "unevaluatedItems" in node and not schemas.keeps(node)(value):
        others = [each for each in node if each != "unevaluatedItems"]
        if not others or schemas.keeps(node, *others)(value):
            yield "unevaluatedItems"


def leading_names(path: Path) -> tuple[str, ...]:
    """The member names with which a path begins: enough to tell which field it is in."""
    names: list[str] = []
    for token in path:
        if not isinstance(token, str):
            break
        names.append(token)
    return tuple(names)


def known_members(pointers: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """The members that a body may have, as a tree: None where a field's own value begins."""
    tree: dict[str, Any] = {}
    for pointer in pointers:
        level = tree
        for name in pointer[:-1]:
            level = level.setdefault(name, {})
        if pointer:
            level[pointer[-1]] = None
    return tree


def unknown(document: Any, known: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Members that nothing gives a meaning, wherever in the document."""
    if type(document) is not dict:
        return
    for name, value in document.items():
        if name not in known:
            yield (*path, name), "unknown"
        elif known[name] is not None:
            yield from unknown(value, known[name], (*path, name))


def as_written(
    schema: Any, known: Collection[tuple[str, ...]], around: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """Where the members are that are known, in the order in which the schema writes them."""
    for name, member in schema.get("properties", {}).items():
        pointer = (*around, name)
        yield from (pointer,) if pointer in known else as_written(member, known, pointer)


class Order:
    """The order of the contract: by field, behind the rules of what is around it, then along the value by item and by
    member as its schema writes them, then by keyword as the schema writes them."""

    def __init__(self, schema: dict[str, Any], pointers: tuple[tuple[str, ...], ...]) -> None:
        self._schema = schema
        self._pointers = pointers

    def __call__(self, path: Path, rule: str) -> tuple[int, tuple[int, ...], int]:
        names = leading_names(path)
        field = next(
            (index for index, pointer in enumerate(self._pointers) if names[: len(pointer)] == pointer[: len(names)]),
            len(self._pointers),
        )
        schemas = self._parts(self._schema)
        along: list[int] = []
        for token in path:
            if isinstance(token, int):
                along.append(token)
                within = [each.get("items", {}) for each in schemas]
            else:
                members = [*dict.fromkeys(name for each in schemas for name in each.get("properties", {}))]
                along.append(members.index(token) if token in members else len(members))
                within = [each.get("properties", {}).get(token, {}) for each in schemas]
            schemas = [part for each in within for part in self._parts(each)]
        keywords = [*dict.fromkeys(keyword for each in schemas for keyword in each)]
        return field, tuple(along), keywords.index(rule) if rule in keywords else -1

    def _parts(self, schema: Any) -> list[dict[str, Any]]:
        """A schema, and those of its `allOf`: of a member that a field and a type speak of, there are two."""
        resolved = self._resolved(schema)
        return [resolved, *(part for each in resolved.get("allOf", ()) for part in self._parts(each))]

    def _resolved(self, schema: Any) -> dict[str, Any]:
        """The schema that a `$ref` inside the document leads to."""
        for _ in range(DEEPEST):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                break
            target: Any = self._schema
            for token in tokens(reference):
                target = target.get(token, {})
            schema = target
        return schema if isinstance(schema, dict) else {}
