"""Where others have their turn while a value is held to a schema.

A validator works without a break, and holds up every other thread until it has ended; but where it calls Python, others
may go on. And of each object and array that it looks at it keeps some 30 bytes until it has ended, each time: of a
megabyte of items gigabytes. So items and members that take more than a little are held to schemas one by one. What
is done for each of them by the schema of what they are in (`unevaluatedProperties`, many patterns of names) has no such
place: where they are many, it is asked in Python (`schemas.py`).
"""

from __future__ import annotations

from typing import Any, Final

from ninefold.runtime.messages.among import AMONG, alternatives, is_dear
from ninefold.runtime.messages.weight import own
from ninefold.values import patterns
from ninefold.values.keywords import BY_NAME, EACH, SAME_VALUE, UNEVALUATED

TURN: Final = "ninefold:turn"

APART: Final = "ninefold:apart"
"""The keyword for a value that is held to a schema by a validator of its own; its value is the number of the schema."""

MATCHING: Final = "ninefold:matching"
"""The keyword in the place of a `pattern` that takes long to make ready."""

LITTLE: Final = 5
"""Of some 10 ns each. Half a million items, which are a megabyte, take some 25 ms with so much done for each."""

MANY: Final = 1_000
"""Members and items of a value that are looked at in one go, whatever is asked of them."""

FEW: Final = 5
"""Schemas and patterns that go through all members and items of a value in one go."""

_BY_NAME: Final = BY_NAME | {"$defs"}
_GOING_THROUGH: Final = (EACH - {"prefixItems"}) | {"uniqueItems"}
_WITHOUT_PARTS: Final = ("string", "number", "integer", "boolean", "null")


def is_little(value: Any, most: int) -> bool:
    """Whether a value has no more members and items, those inside it counted."""
    within = [value]
    while within:
        each = within.pop()
        if type(each) in (dict, list):
            most -= len(each)
            if most < 0:
                return False
            within += each.values() if type(each) is dict else each
    return True


class Turn:
    """A keyword that every value keeps."""

    def __init__(self, _parent: object, _value: object, _path: object) -> None:
        pass

    def validate(self, _value: object) -> None:
        pass


def with_turns(schema: Any, apart: list[Any], asked: int = 0) -> Any:
    """A schema in which others have their turn at each item and member that takes more than a little, and before what
    goes through all of a value once more. A turn takes about 15 units itself: what takes little goes without. The
    schemas of what is looked at by itself are added to those `apart`. `asked`: how many schemas for the same value ask
    which of its members no other names, and so go through them anew."""
    if not isinstance(schema, dict):
        return schema
    asked += not UNEVALUATED.isdisjoint(schema)
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("anyOf", "oneOf") and "enum" not in schema and len(schema.keys() & {"anyOf", "oneOf"}) == 1:
            key, value = ("enum", values) if (values := alternatives(value)) else (key, value)
        if key in _BY_NAME:
            result[key] = {name: _turning(key, each, apart, asked) for name, each in value.items()}
        elif key in EACH or key in SAME_VALUE:
            several = isinstance(value, list)
            made = [_turning(key, each, apart, asked) for each in (value if several else [value])]
            result[key] = made if several else made[0]
        elif key == "enum" and is_dear(value):
            result[AMONG] = value
        elif key == "pattern" and patterns.is_dear(value):
            result[MATCHING] = value
        else:
            result[key] = value
    return result


def _turning(key: str, schema: Any, apart: list[Any], asked: int) -> Any:
    """A schema that stands under a keyword."""
    if not isinstance(schema, dict):
        return schema
    dear = key in EACH and _work(schema) > LITTLE
    if dear and schema.get("type") not in _WITHOUT_PARTS:
        apart.append(schema)
        return {APART: len(apart) - 1}
    made = with_turns(schema, apart, asked if key in SAME_VALUE else 0)
    if dear or (key in EACH and asked > 1):
        return {TURN: True, **made}
    if key in SAME_VALUE and not _GOING_THROUGH.isdisjoint(schema):
        return {"allOf": [{TURN: True}, made]}  # beside it, it comes behind what ends the look at the value
    return made


def _work(schema: Any) -> int:
    """About how much is done for a value, but for its items and members of any name, in units of 10 ns."""
    if not isinstance(schema, dict):
        return 0
    work = own(schema) + (LITTLE if "$ref" in schema else 0)  # as much as what it leads to, which is not looked at here
    for key, value in schema.items():
        if key == "properties" or key in SAME_VALUE:
            by_name = key in ("properties", "dependentSchemas")
            inner = value.values() if by_name else value if isinstance(value, list) else [value]
            work += sum(2 + _work(each) for each in inner)
    return work
