"""The keywords of JSON Schema: those that hold schemas, by what these are of, the same value, its items or its members
(JSON Schema Core 10.2, 10.3 and 11); and those that no value breaks."""

from __future__ import annotations

from typing import Final

SAME_VALUE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
"""Those whose schemas describe the value itself, and not a part of it."""

OF_ITEMS: Final = ("items", "prefixItems", "contains", "unevaluatedItems")
OF_MEMBERS: Final = ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")

EACH: Final = frozenset({*OF_ITEMS, *OF_MEMBERS})
"""Those whose schemas are of items and of members, as many as a value has."""

BY_NAME: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Those that hold several schemas, each under a name."""

OF_OBJECTS: Final = frozenset(
    {"properties", *OF_MEMBERS, "required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"}
)
"""Those that are asked of objects alone."""

UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
"""Those that ask which items or members no other schema names."""

ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
"""Those that no value breaks (JSON Schema Validation 9)."""
