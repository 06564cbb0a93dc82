"""Values of many members and items are held to a schema part by part, and it says the same of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.laws.test_broken_rules import SCHEMAS, _leaves, _referring, is_finite
from tests.slices import examples

from ninefold.runtime.messages import schemas as module
from ninefold.runtime.messages.schemas import Schemas, validator
from ninefold.runtime.messages.turns import FEW, MANY
from ninefold.runtime.messages.violations import broken
from ninefold.runtime.messages.weight import inside
from ninefold.values.keywords import SAME_VALUE, UNEVALUATED


class PartByPart(Schemas):
    """Every value has many."""

    many, few = 0, 0


@settings(max_examples=examples(300))
@given(st.one_of(_referring(), SCHEMAS), _referring(), _referring(), _leaves)
def test_a_schema_says_the_same_part_by_part(root: Any, t: Any, u: Any, value: Any) -> None:
    schema = {**root, "$defs": {"t": {"type": ["object", "array"], **t}, "u": u}}
    schemas = PartByPart(schema)
    assume(is_finite(schemas))
    assert schemas.is_valid(value) == validator(schema).is_valid(value)


INTEGER = {"type": "integer"}
NAMED = {"patternProperties": {"^x": INTEGER}}
MEMBERS = {f"x{number}": number for number in range(MANY + 1)}
ITEMS = [*range(MANY + 1)]

LONG: dict[str, tuple[Any, Any]] = {
    "names": ({**NAMED, "unevaluatedProperties": False}, MEMBERS),
    "one of several": ({"anyOf": [{"properties": {"a": INTEGER}}, NAMED], "unevaluatedProperties": False}, MEMBERS),
    "what others ask": (
        {"allOf": [{**NAMED, "unevaluatedProperties": INTEGER}], "unevaluatedProperties": False},
        MEMBERS,
    ),
    "what is referred to": ({"$ref": "#/$defs/a", "unevaluatedProperties": False, "$defs": {"a": NAMED}}, MEMBERS),
    "where it is so": ({"if": {"minProperties": 1}, "then": NAMED, "unevaluatedProperties": False}, MEMBERS),
    "beside a member": ({"dependentSchemas": {"x0": NAMED}, "unevaluatedProperties": False}, MEMBERS),
    "items": ({"allOf": [{"contains": INTEGER}, {"contains": {"const": 0}}], "unevaluatedItems": False}, ITEMS),
    "many patterns": ({"patternProperties": {f"^{each}x": INTEGER for each in range(FEW)} | {"^x": INTEGER}}, MEMBERS),
    "many schemas": ({"allOf": [{"items": {**INTEGER, "minimum": -each}} for each in range(FEW + 1)]}, ITEMS),
    "inside": ({"properties": {"a": {"items": {"anyOf": [NAMED], "unevaluatedProperties": False}}}}, {"a": [MEMBERS]}),
}


def _going_through(schema: Any) -> Iterator[str]:
    """What is done for each member or item by a schema, and those inside it of the same value, in one go."""
    if isinstance(schema, dict):
        yield from schema.keys() & {"items", "additionalProperties"}
        yield from schema.get("patternProperties", ())
        same = [*inside(schema, SAME_VALUE & schema.keys())]
        for each in same:
            yield from _going_through(each)
        if not UNEVALUATED.isdisjoint(schema) and (same or "patternProperties" in schema or "$ref" in schema):
            yield from map(str, range(FEW + 1))


@pytest.mark.parametrize(("schema", "value"), LONG.values(), ids=LONG)
def test_much_is_asked_of_few_in_one_go(schema: Any, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = module.validator
    asked: list[tuple[Any, Any]] = []

    class Noted:
        def __init__(self, schema: Any, *options: Any) -> None:
            self._schema, self._made = schema, made(schema, *options)

        def is_valid(self, value: Any) -> bool:
            asked.append((self._schema, value))
            return self._made.is_valid(value)

    monkeypatch.setattr(module, "validator", Noted)
    for each in (value, {**value, "x1": ""} if isinstance(value, dict) else [*value, ""]):
        next(broken(Schemas(schema), each), None)
    many = [schema for schema, value in asked if isinstance(value, dict | list) and len(value) > MANY]
    assert all(len([*_going_through(schema)]) <= FEW for schema in many), many
    assert Schemas(schema).is_valid(value)
    assert not Schemas(schema).is_valid({"a": [{**MEMBERS, "x1": ""}]} if schema is LONG["inside"][0] else each)
