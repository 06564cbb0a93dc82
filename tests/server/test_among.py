"""Whether a value is one of many is found as quickly however many they are, and as JSON Schema says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ninefold.runtime.messages import among
from ninefold.runtime.messages.among import AMONG
from ninefold.runtime.messages.schemas import validator
from ninefold.runtime.messages.turns import with_turns
from ninefold.runtime.messages.weight import per_byte

MANY = 200

KINDS: dict[str, Any] = {
    "objects": lambda n: {"a": n},
    "arrays": lambda n: [n],
    "objects in arrays": lambda n: [1, {"a": [n]}],
    "texts and numbers": lambda n: n if n % 2 else str(n),
    "objects and others": lambda n: (n, {"a": n}, None)[n % 3],
    "one object among texts": lambda n: str(n) if n else {},
}

SAYING: dict[str, Any] = {
    "enum": lambda values: {"enum": values},
    "anyOf": lambda values: {"anyOf": [{"const": each, "title": "one"} for each in values]},
    "oneOf": lambda values: {"oneOf": [{"enum": [each]} for each in values]},
}

SMALL = st.sampled_from((0, 1, -1, 1.0, 0.5, -0.0, 2**53, 2**53 + 1, 2.0**53, 10**30, 1e30, True, False, None, "", "a"))
VALUES = st.recursive(
    SMALL,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


def keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from keys(each)


def made(kind: Any) -> list[Any]:
    return list({str(each): each for each in map(kind, range(MANY))}.values())


@pytest.mark.parametrize("say", SAYING.values(), ids=SAYING)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_value_is_compared_with_one_after_another(kind: Any, say: Any) -> None:
    schema = {"items": say(made(kind))}
    apart: list[Any] = []
    found = {*keys(with_turns(schema, apart)), *(key for each in apart for key in keys(with_turns(each, [])))}
    assert AMONG in found
    assert found.isdisjoint({"enum", "anyOf", "oneOf"})
    is_valid = validator(schema).is_valid
    assert all(is_valid([each]) for each in made(kind))
    assert not is_valid(["other"]) and not is_valid([{"a": "other"}]) and not is_valid([[[]]])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_how_many_there_are_does_not_count_in_what_a_byte_costs(kind: Any) -> None:
    few, many = ({"items": {"enum": made(kind)[:count]}} for count in (MANY // 2, MANY))
    assert 20 < per_byte(few) == per_byte(many)
    assert per_byte({"items": {"dependentRequired": {str(each): ["a"] for each in range(MANY)}}}) >= MANY // 2


@given(st.lists(VALUES, min_size=1, max_size=6), VALUES)
def test_equal_is_what_json_schema_says(values: list[Any], other: Any) -> None:
    for say in SAYING.values():
        if say is SAYING["oneOf"] and len(values) > 1:
            continue  # where two are equal it is another question; below
        plain = jsonschema_rs.Draft202012Validator(say(values))
        ours = validator(say([*values, {"never": "asked for"}]))  # an object: the validator does not compare by itself
        for value in (*values, other, [other], {"a": other}):
            assert ours.is_valid(value) == plain.is_valid(value), value


@given(st.lists(VALUES, min_size=1, max_size=6), VALUES)
def test_of_one_that_is_said_twice_exactly_one_is_not(values: list[Any], other: Any) -> None:
    schema = SAYING["oneOf"]([*values, {"never": "asked for"}])
    for value in (*values, other):
        assert validator(schema).is_valid(value) == jsonschema_rs.Draft202012Validator(schema).is_valid(value)


def test_no_more_of_a_value_is_read_than_they_have_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    read, parts = list[object](), among._parts

    def counted(value: object) -> Iterator[Any]:
        for each in parts(value):
            read.append(each)
            yield each

    is_valid = validator({"enum": [{"a": [number, 1]} for number in range(MANY)]}).is_valid
    monkeypatch.setattr(among, "_parts", counted)
    large = {"a": [1] * 10_000}
    for value in ({f"a{number}": 1 for number in range(10_000)}, [large] * 10_000, large, {"a": [large, large]}):
        assert not is_valid(value)
        assert 0 < len(read) <= 12
        read.clear()
    assert is_valid({"a": [MANY - 1, 1]})
