"""Part 2: the JSON Schemas that values must meet, with everything that they refer to inside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninefold.contract import resources as stated
from ninefold.contract.fact import value_of
from ninefold.contract.service import Contract

PREFIX = "#/types/"
SAME_VALUE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
"""The keywords whose schemas describe the value itself, and not a part of it."""
BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""The keywords that hold schemas by names."""


class SharedSchemas:
    """JSON Schemas with the shared types of part 2 in the place of their `$ref`."""

    def __init__(self, contract: Contract) -> None:
        self._types = {each.name: each for each in contract.resources.types}
        exchange = value_of(contract.endpoints.requests)
        unknown = None if exchange is None else value_of(exchange.unknown_members)
        self._refused = unknown is not None and unknown.text == "refused"

    def all(self) -> dict[str, dict[str, Any]]:
        """Each shared type by its name."""
        return {name: self._closed(self._object(shared, (name,))) for name, shared in self._types.items()}

    def inlined(self, schema: Any, within: tuple[str, ...] = ()) -> Any:
        """A schema with everything that it refers to inside it. Objects whose members are stated take no others
        where unknown members are refused."""
        result = self._open(schema, within)
        return self._closed(result) if isinstance(result, dict) else result

    def _open(self, schema: Any, within: tuple[str, ...]) -> Any:
        """A schema of which only what stands in it is closed: what describes the same value as another schema (a part
        of `allOf`, an `if`) cannot say alone which members there are."""
        if not isinstance(schema, dict):
            return schema
        reference = schema.get("$ref")
        result: dict[str, Any] = {}
        if isinstance(reference, str):
            name = reference.removeprefix(PREFIX)
            shared = self._types.get(name)
            if shared is not None and name not in within:
                result = self._object(shared, (*within, name))
        for key, value in schema.items():
            if key != "$ref":
                result[key] = self._keyword(key, value, within)
        return result

    def _keyword(self, key: str, value: Any, within: tuple[str, ...]) -> Any:
        if key in ("enum", "const", "examples"):
            return value
        # What `contains` looks for, it counts; whether an item has other members is for `items` to say.
        same = key in SAME_VALUE or key == "contains"
        inner = self._open if same else self.inlined
        if isinstance(value, list):
            return [inner(each, within) for each in value]
        if key in BY_NAME and isinstance(value, dict):
            return {name: inner(each, within) for name, each in value.items()}
        return inner(value, within)

    def _closed(self, schema: dict[str, Any]) -> dict[str, Any]:
        if not self._refused or "additionalProperties" in schema or "unevaluatedProperties" in schema:
            return schema
        if any(map(_states_members, _beside(schema))):
            return schema | {"unevaluatedProperties": False}
        return schema | {"additionalProperties": False} if _STATING & schema.keys() else schema

    def _object(self, shared: stated.SharedType, within: tuple[str, ...]) -> dict[str, Any]:
        """A shared type, open to what is said beside it."""
        properties = {name.text: self.inlined(each.json, within) for name, each in value_of(shared.fields) or ()}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        needed = [name.text for name in value_of(shared.required) or ()]
        if needed:
            schema["required"] = needed
        return schema


def _schemas(value: Any) -> list[Any]:
    """The schemas that a keyword holds: one, a list, or a mapping of them."""
    if isinstance(value, list):
        return value
    return [value, *value.values()] if isinstance(value, dict) else []


def _states_members(schema: Any) -> bool:
    """Whether a schema, or one for the same value within it, says which members there are."""
    if not isinstance(schema, dict):
        return False
    return bool(_STATING & schema.keys()) or any(map(_states_members, _beside(schema)))


_STATING = frozenset({"properties", "patternProperties"})


def _beside(schema: Mapping[str, Any]) -> list[Any]:
    """The schemas inside one that say what its value is. `not` says what it is not, and so which members it has
    does not follow from it."""
    return [each for key in SAME_VALUE - {"not"} if key in schema for each in _schemas(schema[key])]


def types_in(schema: Any) -> Iterator[str]:
    """The names of the shared types that a schema refers to, as it is written."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(PREFIX)
        for each in schema.values():
            yield from types_in(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from types_in(each)


def schema_of(field: stated.Field, schemas: SharedSchemas) -> dict[str, Any]:
    schema = value_of(field.schema)
    inlined: dict[str, Any] = {} if schema is None else schemas.inlined(schema.json)
    return inlined


def admits_null(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return True
    return kinds is None and (None in schema.get("enum", ()) or ("const" in schema and schema["const"] is None))


def identifier_schema(
    target: stated.Resource, known: Mapping[str, stated.Resource], schemas: SharedSchemas
) -> dict[str, Any]:
    """What a reference to a row must look like: as the row's identifier."""
    identifier = value_of(target.identifier)
    if not identifier:
        return {}  # there is one row of it, and nothing can refer to that
    field = next(each for each in value_of(target.fields) or () if each.name == identifier[0].text)
    further = value_of(field.refers_to)
    if further is not None and further.text in known and further.text != target.name:
        return identifier_schema(known[further.text], known, schemas)
    return schema_of(field, schemas)


def kinds_of_identifier(
    target: stated.Resource, known: Mapping[str, stated.Resource], schemas: SharedSchemas
) -> list[str]:
    """The JSON types that an identifier may have."""
    kinds = identifier_schema(target, known, schemas).get("type", "string")
    return kinds if isinstance(kinds, list) else [kinds]
