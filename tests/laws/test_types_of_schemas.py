"""The type of what a schema admits refuses no value that the schema admits: a value is read by its type once it has
kept its schema, and what the type refused then would be refused for nothing that anybody stated."""

from __future__ import annotations

from itertools import product
from typing import Any

import jsonschema_rs
import pytest

from ninefold.values import Anything, Array, Boolean, Integer, Object, Text, Type, json_reader
from ninefold.values.of_schemas import from_schema

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
ITEMS: tuple[dict[str, Any], ...] = (
    {},
    {"items": TEXT},
    {"items": NUMBER},
    {"items": False},
    {"unevaluatedItems": NUMBER},
)
FIRST: tuple[dict[str, Any], ...] = ({}, *({"prefixItems": each} for each in ([TEXT], [NUMBER], [NUMBER, TEXT])))

MEMBERS: tuple[dict[str, Any], ...] = (
    {},
    {"properties": {"a": TEXT}},
    {"properties": {"a": NUMBER}, "required": ["a"]},
    {"properties": {"b": NUMBER}, "additionalProperties": TEXT},
    {"patternProperties": {"^a": NUMBER}},
    {"dependentSchemas": {"a": {"properties": {"a": NUMBER}}}},
    {"if": {"required": ["a"]}, "then": {"properties": {"a": NUMBER}}},
)
VALUES = ("text", 1, True)


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("items", ITEMS)
def test_an_array_that_keeps_its_schema_is_of_its_type(first: dict[str, Any], items: dict[str, Any]) -> None:
    values = [list(each) for length in range(4) for each in product(VALUES, repeat=length)]
    assert _are_read({"type": "array", **first, **items}, values)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("around", MEMBERS)
def test_an_object_that_keeps_its_schema_is_of_its_type(keyword: str, around: dict[str, Any]) -> None:
    """A member that nothing names is not kept (`unknown members`), and so is in no object that is read."""
    values = [{}, *({"a": each} for each in VALUES), *({"a": each, "b": other} for each in VALUES for other in VALUES)]
    for parts in product(MEMBERS, repeat=2):
        schema = {"type": "object", **around, keyword: [*parts]}
        assert _are_read(schema, [each for each in values if _admits({**schema, "unevaluatedProperties": False}, each)])


def _are_read(schema: dict[str, Any], values: list[Any]) -> bool:
    read = json_reader(from_schema(schema))
    return all(read(each) == each for each in values if _admits(schema, each))


def _admits(schema: dict[str, Any], value: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(schema).is_valid(value)


CARD = {"properties": {"kind": {"const": "card"}, "number": {"type": "integer"}}, "required": ["kind"]}
OTHER = {"properties": {"kind": {"const": "other"}}, "required": ["kind"]}
KIND = Text(nullable=True)


@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}}, Array(items=Anything())),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, Array(items=Anything())),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, Array(items=Text())),
        ({"type": "array", "prefixItems": [{"type": "boolean"}], "items": {"type": "boolean"}}, Array(items=Boolean())),
        ({"type": "array", "items": False}, Array(items=Anything())),
        ({"type": "object", "oneOf": [CARD, OTHER]}, Object(members={"kind": KIND, "number": Integer(nullable=True)})),
        (
            {"type": "object", "oneOf": [CARD, {**OTHER, "additionalProperties": {"type": "string"}}]},
            Object(members={"kind": KIND, "number": Anything(nullable=True)}),
        ),
        (
            {"type": "object", "allOf": [CARD, {"patternProperties": {"^x": {}}}]},
            Object(members={"kind": KIND, "number": Integer(nullable=True)}),
        ),
    ],
)
def test_what_is_told_of_items_and_members(schema: object, type_: Type) -> None:
    assert from_schema(schema) == type_
