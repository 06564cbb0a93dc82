"""Which members of a value its schema names, and the value without the others (JSON Schema core, 11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ninefold.runtime.messages.schemas import Node, Schemas, prefix


def named(schemas: Schemas, value: Any, *besides: Node) -> Any:
    """A valid value without the members that its schema does not name, nor one of those that it keeps `besides`; the
    value itself, where all are named. It is not changed."""
    return _named(schemas, [schemas.root, *besides], value)


def members_named(schemas: Schemas, value: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """Those of some members of an object, valid or not, that its schema names."""
    speaking = list(schemas.evaluating(schemas.root, value))
    is_free = not schemas.says_members(schemas.root)
    rest = any(node.get("unevaluatedProperties", False) is not False for node in speaking)
    return {name for name in names if is_free or rest or _is_named(schemas.of_member(speaking, name))}


def _is_named(of_it: Sequence[Node]) -> bool:
    return bool(of_it) and False not in of_it


def _named(schemas: Schemas, nodes: Sequence[Node], value: Any) -> Any:
    if type(value) not in (dict, list) or not any(map(schemas.names_members, nodes)):
        return value
    speaking = [each for node in nodes for each in schemas.evaluating(node, value)]
    if type(value) is dict:
        return _members(schemas, nodes, speaking, value)
    return _items(schemas, speaking, value)


def _members(
    schemas: Schemas, nodes: Sequence[Node], speaking: Sequence[dict[str, Any]], value: dict[str, Any]
) -> dict[str, Any]:
    is_free = not any(map(schemas.says_members, nodes))
    kept: dict[str, Any] = {}
    for name, member in value.items():
        of_it = schemas.of_member(speaking, name) or [
            node["unevaluatedProperties"] for node in speaking if "unevaluatedProperties" in node
        ]
        if of_it or is_free:
            kept[name] = _named(schemas, of_it, member)
    unchanged = len(kept) == len(value) and all(kept[name] is member for name, member in value.items())
    return value if unchanged else kept


def _items(schemas: Schemas, speaking: Sequence[dict[str, Any]], value: list[Any]) -> list[Any]:
    first, weighing = prefix(speaking), [node["contains"] for node in speaking if "contains" in node]
    others = schemas.of_item(speaking, first)
    kept = []
    for index, item in enumerate(value):
        of_it = others if index >= first else schemas.of_item(speaking, index)
        of_it = of_it or [node["unevaluatedItems"] for node in speaking if "unevaluatedItems" in node]
        if weighing:
            of_it = [*of_it, *(node for node in weighing if schemas.keeps(node)(item))]
        kept.append(_named(schemas, of_it, item))
    return value if all(one is other for one, other in zip(kept, value, strict=True)) else kept
