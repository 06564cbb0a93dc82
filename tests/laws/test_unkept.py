"""Of a schema that some value keeps it is never told that none does."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from ninefold.checks.unkept import unkept, why_none

SCALARS: Final[tuple[Any, ...]] = (None, True, False, "", "a", "ab", "b", "1", -1, 0, 1, 1.0, 1.5, 2, 2.5, 3, 4)
ARRAYS: Final = ([], *([each] for each in SCALARS), *([one, other] for one, other in product(SCALARS, repeat=2)))
OBJECTS: Final = (
    {},
    *({name: each} for name in "ab" for each in SCALARS),
    *({"a": one, "b": two} for one, two in product(SCALARS, repeat=2)),
)
VALUES: Final = (*SCALARS, *ARRAYS, *OBJECTS)

NUMBERS: Final = st.sampled_from([-1, 0, 0.5, 1, 1.5, 2, 3])
SIZES: Final = st.integers(0, 3)
KINDS: Final = ("string", "integer", "number", "boolean", "null", "array", "object")


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(KINDS) | st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True),
            "enum": st.lists(st.sampled_from(SCALARS), min_size=1, max_size=3),
            "const": st.sampled_from(SCALARS),
            "pattern": st.sampled_from(["^a", "b$", "^$"]),
            "multipleOf": st.sampled_from([0.5, 1, 1.5, 2]),
            **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
            **dict.fromkeys(
                ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), SIZES
            ),
            "required": st.lists(st.sampled_from("ab"), max_size=2, unique=True),
            "items": inner,
            "prefixItems": several,
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "additionalProperties": inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=1),
            **dict.fromkeys(("allOf", "anyOf", "oneOf"), several),
            "not": inner,
            "if": inner,
            "then": inner,
        },
    )


SCHEMAS: Final = st.recursive(st.booleans() | _schemas(st.booleans()), _schemas, max_leaves=6)


@given(SCHEMAS, SCHEMAS)
def test_what_some_value_keeps_is_not_told(one: Any, other: Any) -> None:
    for schemas in ((one,), (one, other)):
        keeps = jsonschema_rs.Draft202012Validator({"allOf": [*schemas]}).is_valid
        if any(map(keeps, VALUES)):
            assert why_none(*schemas) is None, schemas


@given(SCHEMAS)
def test_of_what_stands_in_a_schema_likewise(schema: Any) -> None:
    """What a value has at a place that is told, it has not: no value with it keeps the schema."""
    keeps = jsonschema_rs.Draft202012Validator(schema).is_valid
    for path, why in unkept(schema):
        for value in filter(keeps, VALUES):
            assert not _is_there(value, path), (schema, path, why, value)


def _is_there(value: Any, path: tuple[str, ...]) -> bool:
    if not path:
        return True
    if path[0] == "*":
        return isinstance(value, list) and any(_is_there(each, path[1:]) for each in value)
    return isinstance(value, dict) and path[0] in value and _is_there(value[path[0]], path[1:])
