"""What takes its time to hold to a schema gives others their turn; what takes little does not pay for it."""

from __future__ import annotations

from typing import Any

import pytest

from ninefold.runtime.messages import schemas
from ninefold.runtime.messages.turns import TURN, Turn, with_turns

MANY = 1_000
CLOSED = {"patternProperties": {"^x": {"type": "integer"}}, "unevaluatedProperties": {"type": "integer"}}
MEMBERS = {f"x{number}": number for number in range(MANY)}

DEAR: dict[str, tuple[Any, Any]] = {
    "multiples": ({"items": {"type": "number", "multipleOf": 0.01}}, [1] * MANY),
    "numbers of an enum": ({"items": {"enum": [1, 2]}}, [1] * MANY),
    "objects of an enum": ({"items": {"enum": [{"a": each} for each in range(100)]}}, [{"a": 99}] * MANY),
    "sets": ({"items": {"type": "array", "uniqueItems": True}}, [[{"a": 1}, {"a": 2}]] * MANY),
    "several schemas": ({"items": {"anyOf": [{"properties": {"a": {"const": 1}}}, {"type": "object"}]}}, [{}] * MANY),
    "a shared type": ({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "integer"}}}, [1] * MANY),
    "members": ({"additionalProperties": {"multipleOf": 0.1}}, MEMBERS),
    "names": ({"propertyNames": {"anyOf": [{"pattern": "^x"}, {"pattern": "^y"}]}}, MEMBERS),
    "what is looked for": ({"contains": {"multipleOf": 0.1}, "minContains": MANY}, [1] * MANY),
    "far inside": ({"properties": {"a": {"allOf": [{"items": {"multipleOf": 0.1}}]}}}, {"a": [1] * MANY}),
    "what nothing names": ({"anyOf": [CLOSED], "unevaluatedProperties": {"type": "integer"}}, MEMBERS),
}

CHEAP: dict[str, tuple[Any, Any]] = {
    "integers": ({"items": {"type": "integer", "minimum": 0}}, [1] * MANY),
    "texts": ({"items": {"type": "string", "maxLength": 10}}, ["a"] * MANY),
    "words": ({"items": {"enum": ["a", "b"]}}, ["a"] * MANY),
    "members of any name": ({"additionalProperties": {"type": "integer"}}, MEMBERS),
}


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    taken: list[object] = []

    class Counted(Turn):
        def validate(self, value: object) -> None:
            taken.append(value)

    monkeypatch.setattr(schemas, "Turn", Counted)
    return taken


@pytest.mark.parametrize(("schema", "value"), DEAR.values(), ids=DEAR)
def test_others_have_their_turn_at_each_item(schema: Any, value: Any, turns: list[object]) -> None:
    assert schemas.validator(schema).is_valid(value)
    assert len(turns) >= MANY


@pytest.mark.parametrize(("schema", "value"), CHEAP.values(), ids=CHEAP)
def test_what_takes_little_is_not_interrupted(schema: Any, value: Any, turns: list[object]) -> None:
    assert schemas.validator(schema).is_valid(value)
    assert not turns


def test_what_goes_through_all_of_a_value_again_gives_a_turn_each_time(turns: list[object]) -> None:
    every = [{"additionalProperties": {"type": "integer", "minimum": each}} for each in (5, 4, 3, -1)]
    assert schemas.validator({"anyOf": every}).is_valid({"a": 0})
    assert len(turns) >= len(every)


def test_a_schema_is_not_changed() -> None:
    schema = {"items": {"multipleOf": 0.1}, "enum": [{"items": {"multipleOf": 0.1}}]}
    made = with_turns(schema)
    assert made == {"items": {TURN: True, "multipleOf": 0.1}, "enum": [{"items": {"multipleOf": 0.1}}]}
    assert schema["items"] == {"multipleOf": 0.1}
