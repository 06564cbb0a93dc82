"""Part 2: the JSON Schemas that values must meet, with everything that they refer to inside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninefold.contract import resources as stated
from ninefold.contract.fact import value_of
from ninefold.contract.service import Contract


class SharedSchemas:
    """JSON Schemas with the shared types of part 2 in the place of their `$ref`."""

    def __init__(self, contract: Contract) -> None:
        self._types = {each.name: each for each in contract.resources.types}
        exchange = value_of(contract.endpoints.requests)
        unknown = None if exchange is None else value_of(exchange.unknown_members)
        self._refused = unknown is not None and unknown.text == "refused"

    def all(self) -> dict[str, dict[str, Any]]:
        """Each shared type by its name."""
        return {name: self._object(shared, (name,)) for name, shared in self._types.items()}

    def inlined(self, schema: Any, within: tuple[str, ...] = ()) -> Any:
        """A schema with everything that it refers to inside it. Objects whose members are stated take no others
        where unknown members are refused."""
        if isinstance(schema, list):
            return [self.inlined(each, within) for each in schema]
        if not isinstance(schema, dict):
            return schema
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.removeprefix("#/types/")
            shared = self._types.get(name)
            rest = {key: self.inlined(value, within) for key, value in schema.items() if key != "$ref"}
            if shared is None or name in within:
                return rest
            return self._object(shared, (*within, name)) | rest
        result = {
            key: value if key in ("enum", "const", "examples") else self.inlined(value, within)
            for key, value in schema.items()
        }
        if self._refused and "properties" in result:
            result.setdefault("additionalProperties", False)
        return result

    def _object(self, shared: stated.SharedType, within: tuple[str, ...]) -> dict[str, Any]:
        properties = {name.text: self.inlined(each.json, within) for name, each in value_of(shared.fields) or ()}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        needed = [name.text for name in value_of(shared.required) or ()]
        if needed:
            schema["required"] = needed
        if self._refused:
            schema["additionalProperties"] = False
        return schema


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
    identifier = (value_of(target.identifier) or ())[0].text
    field = next(each for each in value_of(target.fields) or () if each.name == identifier)
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
