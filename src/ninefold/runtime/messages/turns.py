"""Where others have their turn while a value is held to a schema.

A validator works without a break, and holds up every other thread until it has ended; but where it calls Python, others
may go on.
"""

from __future__ import annotations

from typing import Any, Final

TURN: Final = "ninefold:turn"

LITTLE: Final = 5
"""Of some 10 ns each. Half a million items, which are a megabyte, take some 25 ms with so much done for each."""

_EACH: Final = frozenset(
    {"items", "prefixItems", "contains", "additionalProperties", "patternProperties", "unevaluatedItems",
     "unevaluatedProperties", "propertyNames"}
)  # fmt: skip
"""The keywords whose schemas are of items and of members, as many as a value has."""

_SAME: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
_BY_NAME: Final = frozenset({"$defs", "properties", "patternProperties", "dependentSchemas"})
_ASKING: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_GOING_THROUGH: Final = (_EACH - {"prefixItems"}) | {"uniqueItems"}


class Turn:
    """A keyword that every value keeps."""

    def __init__(self, _parent: object, _value: object, _path: object) -> None:
        pass

    def validate(self, _value: object) -> None:
        pass


def with_turns(schema: Any, asked: int = 0) -> Any:
    """A schema in which others have their turn at each item and member that takes more than a little, and before what
    goes through all of a value once more. A turn takes about 15 units itself: what takes little goes without. `asked`:
    how many schemas for the same value ask which of its members no other names, and so go through them anew."""
    if not isinstance(schema, dict):
        return schema
    asked += not _ASKING.isdisjoint(schema)
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _BY_NAME:
            result[key] = {name: _turning(key, each, asked) for name, each in value.items()}
        elif key in _EACH or key in _SAME:
            several = isinstance(value, list)
            result[key] = [_turning(key, each, asked) for each in value] if several else _turning(key, value, asked)
        else:
            result[key] = value
    return result


def _turning(key: str, schema: Any, asked: int) -> Any:
    """A schema that stands under a keyword."""
    made = with_turns(schema, asked if key in _SAME else 0)
    if not isinstance(schema, dict):
        return made
    if key in _EACH and (asked > 1 or _work(schema) > LITTLE):
        return {TURN: True, **made}
    if key in _SAME and not _GOING_THROUGH.isdisjoint(schema):
        return {"allOf": [{TURN: True}, made]}  # beside it, it comes behind what ends the look at the value
    return made


def _work(schema: Any) -> int:
    """About how much is done for a value, but for its items and members of any name, in units of 10 ns."""
    if not isinstance(schema, dict):
        return 0
    work = 0
    for key, value in schema.items():
        match key:
            case "enum" | "const":
                values = value if key == "enum" else [value]
                work += 2 + 8 * sum(not isinstance(each, str) for each in values)
            case "multipleOf":
                work += 30
            case "$ref":
                work += LITTLE + 1  # as much as what it leads to, which is not looked at here
            case "properties":
                work += sum(2 + _work(each) for each in value.values())
            case "pattern" | "format" | "uniqueItems":
                work += 5
            case _ if key in _SAME:
                inner = value.values() if key == "dependentSchemas" else value if isinstance(value, list) else [value]
                work += sum(2 + _work(each) for each in inner)
            case _:
                work += 1
    return work
