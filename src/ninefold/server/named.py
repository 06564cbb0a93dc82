"""Members that nothing names, left out at every depth (fixed meaning "Unknown members").

Named is what counts as evaluated for `unevaluatedProperties` (JSON Schema 2020-12 core, 11). An object of which no
schema says which members it has is free, and keeps all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ninefold.server.schemas import Node, Schemas, prefix


def named(schemas: Schemas, value: Any) -> Any:
    """A valid value without the members that its schema does not name; the value itself, where it names them all.
    It is not changed."""
    return _named(schemas, [schemas.root], value)


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
