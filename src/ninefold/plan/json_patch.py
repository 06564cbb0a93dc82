"""What a JSON Patch (RFC 6902) has to be, for those who read one and those who describe one."""

from __future__ import annotations

from typing import Any, Final

PATTERN: Final = "^(/([^~/]|~[01])*)*$"
"""A JSON Pointer (RFC 6901 3)."""

SCHEMA: Final[dict[str, Any]] = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["op", "path"],
        "properties": {
            "op": {"enum": ["add", "remove", "replace", "move", "copy", "test"]},
            "path": {"type": "string", "pattern": PATTERN},
            "from": {"type": "string", "pattern": PATTERN},
        },
        "allOf": [
            {
                "if": {"required": ["op"], "properties": {"op": {"enum": ["add", "replace", "test"]}}},
                "then": {"required": ["value"]},
            },
            {
                "if": {"required": ["op"], "properties": {"op": {"enum": ["move", "copy"]}}},
                "then": {"required": ["from"]},
            },
        ],
    },
}
"""What a patch has to be, as JSON Schema; other members of an edit mean nothing (RFC 6902 4)."""
