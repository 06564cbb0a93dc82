"""What takes its time to hold to a schema gives others their turn; what takes little does not pay for it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from ninefold.runtime.messages import schemas
from ninefold.runtime.messages.among import AMONG
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

    class Apart(schemas.Apart):
        def validate(self, value: object) -> None:
            taken.append(value)
            super().validate(value)

    monkeypatch.setattr(schemas, "Turn", Counted)
    monkeypatch.setattr(schemas, "Apart", Apart)
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
    schema = {"items": {"type": "number", "multipleOf": 0.1}, "enum": [{"items": {"multipleOf": 0.1}}]}
    made = with_turns(schema, [])
    assert made == {
        "items": {TURN: True, "type": "number", "multipleOf": 0.1},
        AMONG: [{"items": {"multipleOf": 0.1}}],
    }
    assert schema["items"] == {"type": "number", "multipleOf": 0.1}


OF_PARTS = """
import resource
from ninefold.runtime.messages.schemas import validator

among = {"enum": [{"a": each} for each in range(100)]}
one = {"oneOf": [{"properties": {"a": {"const": each}}} for each in range(100)]}
for schema, many in (
    ({"items": among}, [{"a": 99}] * 10_000),
    ({"additionalProperties": {"$ref": "#/$defs/a"}}, {f"x{each}": {"a": 99} for each in range(20_000)}),
):
    is_valid = validator({**schema, "$defs": {"a": one}}).is_valid
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert is_valid(many)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere another unit counts")
def test_of_many_parts_nothing_is_kept_until_the_last() -> None:
    """What a validator keeps is its own, and Python counts none of it: the process grew by 30 MB each."""
    ran = subprocess.run([sys.executable, "-c", OF_PARTS], check=True, capture_output=True, text=True)
    grown = [int(each) for each in ran.stdout.split()]
    assert len(grown) == 2
    assert max(grown) < 8 * 1024, grown
