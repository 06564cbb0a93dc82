"""The types of what JSON Schemas admit. A type may admit more than its schema, which a value has to keep besides, and
never less."""

from __future__ import annotations

from typing import Any, Final

from ninefold.values import Anything, Array, Boolean, Integer, Null, Number, Object, Text, Timestamp, Type, optional


def from_schema(schema: object) -> Type:
    """The type of what a JSON Schema 2020-12 admits, from `type`, `format`, `items`, `prefixItems`, `properties`,
    `required`, `enum` and `const`, and the members that `allOf`, `anyOf` and `oneOf` state. Members that are not
    required are nullable. What it does not tell is `Anything`."""
    if not isinstance(schema, dict):
        return Anything()
    kinds = kinds_of(schema)
    nullable = "null" in kinds
    kinds = kinds - {"null"}
    if not kinds:
        return Null() if nullable else Anything()
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) > 1:
        return Anything(nullable=nullable)
    match next(iter(kinds)):
        case "boolean":
            return Boolean(nullable=nullable)
        case "integer":
            return Integer(nullable=nullable)
        case "number":
            return Number(nullable=nullable)
        case "string":
            return Timestamp(nullable=nullable) if schema.get("format") == "date-time" else Text(nullable=nullable)
        case "array":
            return Array(items=_items(schema), nullable=nullable)
        case "object":
            return Object(members=_members(schema, _names_more(schema)), others=_others(schema), nullable=nullable)
        case _:
            return Anything(nullable=nullable)


def _items(schema: dict[str, Any]) -> Type:
    """The type that all items are of: those that `prefixItems` has schemas for, and the others, if there may be any."""
    first, others = schema.get("prefixItems"), schema.get("items")
    said = [from_schema(each) for each in (*(first if isinstance(first, list) else ()), others) if each is not False]
    return said[0] if said and all(each == said[0] for each in said) else Anything()


def _members(schema: dict[str, Any], names_more: bool) -> dict[str, Type]:
    """The members that a schema states. `names_more`: what not each of `anyOf` or `oneOf` states may be of another type
    in an object that keeps another of them, which has members that are not stated one by one."""
    properties, needed = schema.get("properties"), schema.get("required")
    names = needed if isinstance(needed, list) else []
    members = {
        str(name): from_schema(member) if name in names else optional(from_schema(member))
        for name, member in (properties.items() if isinstance(properties, dict) else ())
    }
    own = frozenset(members)
    for keyword in _PARTS:
        parts = [_members(each, names_more) for each in _several(schema, keyword)]
        for name, member in (each for part in parts for each in part.items()):
            at_times = keyword != "allOf" and any(name not in part for part in parts)
            if name not in members:
                members[name] = Anything(nullable=True) if at_times and names_more else optional(member)
            elif name not in own and optional(members[name]) != optional(member):
                members[name] = Anything(nullable=True)
    return members


_NAMING_MORE: Final = ("patternProperties", "additionalProperties", "unevaluatedProperties", "if", "dependentSchemas")


def _names_more(schema: dict[str, Any]) -> bool:
    """Whether an object may have members that are not stated one by one, or that a condition states."""
    said = any(schema.get(keyword) not in (None, False) for keyword in _NAMING_MORE)
    return said or any(_names_more(each) for keyword in _PARTS for each in _several(schema, keyword))


def _others(schema: dict[str, Any]) -> Type | None:
    """The type of the members that `additionalProperties` is about, if it says of which type they are."""
    stated = None if "patternProperties" in schema else schema.get("additionalProperties")
    type_ = from_schema(stated) if isinstance(stated, dict) else None
    return None if isinstance(type_, Anything) else type_


_PARTS: Final = ("allOf", "anyOf", "oneOf")
"""The keywords of schemas that describe the same object besides, each of which may state members."""


def _several(schema: dict[str, Any], keyword: str) -> list[dict[str, Any]]:
    said = schema.get(keyword)
    return [each if isinstance(each, dict) else {} for each in said] if isinstance(said, list) else []


def kinds_of(schema: dict[str, Any]) -> set[str]:
    """The names of the JSON types that a schema admits; empty where it does not say."""
    given = schema.get("type")
    if isinstance(given, str):
        return {given}
    if isinstance(given, list):
        return {kind for kind in given if isinstance(kind, str)}
    if "const" in schema:
        return {_kind(schema["const"])}
    if isinstance(schema.get("enum"), list):
        return {_kind(value) for value in schema["enum"]}
    return set()


_KINDS: Final = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "object")
