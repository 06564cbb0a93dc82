"""What a merge patch may give an object (RFC 7396): its schema is asked of what the object becomes by it."""

from __future__ import annotations

from typing import Final

from ninefold.tools.openapi.service import Json
from ninefold.values.keywords import OF_OBJECTS, SAME_VALUE

_OF_PARTS: Final = ("properties", "patternProperties")
_OF_WHOLES: Final = frozenset({"$ref", "enum", "const", *SAME_VALUE}) - OF_OBJECTS
_NOTHING: Final[Json] = {"type": "null"}


def as_patch(schema: Json | bool) -> Json:
    """A schema of what may come in the place of a value that is as another one says: of an object each member may be
    left out, or `null`, which takes it away. What no schema of the patch alone can say is left to what it becomes."""
    if isinstance(schema, bool):
        return {} if schema else _NOTHING
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and "object" not in types:
        return schema
    if not types or _OF_WHOLES & schema.keys():
        return {"type": types} if types else {}
    members: Json = {"type": "object"}
    for key in _OF_PARTS:
        if key in schema:
            members[key] = {name: _or_nothing(each) for name, each in schema[key].items()}
    if "additionalProperties" in schema:
        members["additionalProperties"] = _or_nothing(schema["additionalProperties"])
    others = [each for each in types if each != "object"]
    if not others:
        return members
    return {"anyOf": [{key: each for key, each in schema.items() if key not in OF_OBJECTS} | {"type": others}, members]}


def _or_nothing(schema: Json | bool) -> Json:
    found = as_patch(schema)
    return found if not found or found == _NOTHING else {"anyOf": [found, _NOTHING]}
