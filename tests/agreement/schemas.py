"""Random JSON Schemas of fields."""

from __future__ import annotations

from random import Random
from typing import Any


def schema(random: Random, type_: str, nullable: bool) -> dict[str, Any]:
    kinds = {"strings": "array", "integers": "array", "date-time": "string", "choice": "string"}
    kind: Any = kinds.get(type_, type_)
    said: dict[str, Any] = {"type": [kind, "null"] if nullable else kind}

    def maybe() -> bool:
        return random.random() < 0.4

    match type_:
        case "string":
            said |= {"minLength": 1} if maybe() else {}
            said |= {"maxLength": random.choice([2, 5])} if maybe() else {}
            said |= {"pattern": "^[a-z A-Z]*$"} if random.random() < 0.15 else {}
        case "integer":
            said |= {"minimum": random.choice([-5, 0, 1])} if maybe() else {}
            said |= {"maximum": random.choice([7, 10])} if maybe() else {}
        case "number":
            said |= {"exclusiveMinimum": -1} if maybe() else {}
            said |= {"maximum": 100.5} if maybe() else {}
        case "date-time":
            said["format"] = "date-time"
        case "choice":
            said["enum"] = ["red", "green", *([None] if nullable else [])]
        case "strings":
            said |= {"items": {"type": "string", **({"maxLength": 3} if maybe() else {})}}
            said |= {"maxItems": 2} if maybe() else {}
            said |= {"uniqueItems": True} if maybe() else {}
        case "integers":
            said |= {"items": {"type": "integer", **({"minimum": 0} if maybe() else {})}}
            said |= {"minItems": 1} if maybe() else {}
        case "size":
            said = {"$ref": "#/types/size"}
    return said
