"""What is said of two schemas, beside what is kept of values that they are held to."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from ninefold.diff.schemas import steps
from ninefold.runtime.messages.named import named
from ninefold.runtime.messages.schemas import Schemas

TEXT = {"type": "string"}
NAMING: list[dict[str, Any]] = [
    {},
    {"properties": {}},
    {"properties": {"a": TEXT}},
    {"patternProperties": {"^b": TEXT}},
    {"additionalProperties": True},
    {"additionalProperties": TEXT},
    {"additionalProperties": False},
    {"unevaluatedProperties": TEXT},
    {"allOf": [{"properties": {"a": TEXT, "b": {}}}]},
    {"allOf": [{"additionalProperties": True}]},
    {"anyOf": [{"properties": {"a": {"const": "1"}, "b": TEXT}}, {"properties": {"a": TEXT}}]},
    {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"anyOf": [{"required": ["a"]}, {"required": ["b"]}, {"properties": {"c": TEXT}}]},
    {"oneOf": [{"properties": {"b": TEXT}, "required": ["b"]}, {"properties": {"a": {"const": "1"}}}]},
    {"if": {"properties": {"b": TEXT}}, "then": {"properties": {"a": TEXT}}},
    {"dependentSchemas": {"a": {"properties": {"b": TEXT, "c": TEXT}}}},
    {"required": ["a"]},
]
SCHEMAS = [{"type": "object"} | one | other for one, other in product(NAMING, NAMING) if not one.keys() & other.keys()]
VALUES = [
    dict(zip(names, given, strict=True))
    for names in ((), ("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"))
    for given in product(("1", 1), repeat=len(names))
]


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """As it is where unknown members are refused."""
    says = Schemas(schema).says_members(schema)
    known = {"additionalProperties", "unevaluatedProperties"} & schema.keys()
    return schema | {"unevaluatedProperties": False} if says and not known else schema


def kept(schema: dict[str, Any]) -> list[Any]:
    """What is left of each value; None: it is refused."""
    schemas = Schemas(schema)
    keeps = schemas.keeps(schema)
    return [named(schemas, each) if keeps(each) else None for each in VALUES]


@pytest.mark.parametrize("unknown", ["ignored", "refused"])
def test_what_only_takes_more_keeps_all_that_was_kept(unknown: str) -> None:
    of = [each if unknown == "ignored" else closed(each) for each in SCHEMAS]
    taken = [(schema, kept(schema)) for schema in of]
    wider = [
        pair for pair in product(taken, taken) if {each.direction for each in steps(pair[0][0], pair[1][0])} <= {"more"}
    ]
    assert len(wider) > len(taken)  # not only what is the same
    unsound = [
        (old, new, value)
        for (old, was), (new, now) in wider
        for value, before, after in zip(VALUES, was, now, strict=True)
        if before is not None and (after is None or not before.items() <= after.items())
    ]
    assert unsound == []
