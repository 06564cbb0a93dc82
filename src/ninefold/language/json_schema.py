"""The keywords of JSON Schema (draft 2020-12) that a schema may use, and why the others may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninefold.diagnostics.frozen import replace
from ninefold.language.key import Key, Order, asked_when, restricts, tells
from ninefold.language.shapes import (
    JSON,
    SHARED_TYPE,
    Boolean,
    Integer,
    JSONSchema,
    ListOf,
    MappingOf,
    Names,
    OneOf,
    Shape,
    Text,
    Word,
)

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")

FORMATS = (
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
    "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer",
    "regex",
)  # fmt: skip
"""The formats of JSON Schema Validation 7.3; each is asserted."""

_ANY_NUMBER = JSON()
_SCHEMA, _SCHEMAS = JSONSchema(), ListOf(JSONSchema())
_NAMED_SCHEMAS = MappingOf("names to schemas")

_QUESTION = "type"
_NO_TYPE = "A gap: whatever reads or writes the field is not served."
_NARROWER = "Values are not narrowed by it."

_RESTRICTING: tuple[tuple[str, Shape, str], ...] = (
    ("enum", ListOf(JSON()), "The values that there are."),
    ("const", JSON(), "The one value that there is."),
    (
        "format",
        Word(FORMATS),
        "A form that text has; it is asserted. An `idn-hostname` has at most 253 code points, a `regex` 10,000.",
    ),
    ("pattern", Text("a regular expression"), "A regular expression (ECMA-262) that is found in the text."),
    ("minLength", Integer(), "The least number of code points."),
    ("maxLength", Integer(), "The greatest number of code points."),
    ("minimum", _ANY_NUMBER, "The least number."),
    ("maximum", _ANY_NUMBER, "The greatest number."),
    ("exclusiveMinimum", _ANY_NUMBER, "A number below all values."),
    ("exclusiveMaximum", _ANY_NUMBER, "A number above all values."),
    ("multipleOf", _ANY_NUMBER, "The value is a whole multiple of it."),
    ("items", _SCHEMA, "What each item of an array is."),
    ("prefixItems", _SCHEMAS, "What the first items of an array are, by position."),
    ("contains", _SCHEMA, "What some item of an array is."),
    ("minContains", Integer(), "How many items are as `contains` says, at least."),
    ("maxContains", Integer(), "How many items are as `contains` says, at most."),
    ("minItems", Integer(), "The least number of items."),
    ("maxItems", Integer(), "The greatest number of items."),
    ("uniqueItems", Boolean(), "Whether all items differ."),
    ("unevaluatedItems", _SCHEMA, "What items are of which no other keyword speaks."),
    ("properties", _NAMED_SCHEMAS, "What the members of an object are."),
    ("required", Names("a member"), "Members that an object has."),
    ("additionalProperties", _SCHEMA, "What members are that `properties` does not name."),
    ("patternProperties", MappingOf("regular expressions to schemas"), "What members are whose names match."),
    ("propertyNames", _SCHEMA, "What the names of members are."),
    ("minProperties", Integer(), "The least number of members."),
    ("maxProperties", Integer(), "The greatest number of members."),
    ("dependentRequired", MappingOf("members to lists of members"), "Members that another member brings with it."),
    ("dependentSchemas", _NAMED_SCHEMAS, "What an object is when it has a member."),
    ("unevaluatedProperties", _SCHEMA, "What members are of which no other keyword speaks."),
    ("allOf", _SCHEMAS, "All of these hold."),
    ("anyOf", _SCHEMAS, "At least one of these holds."),
    ("oneOf", _SCHEMAS, "Exactly one of these holds."),
    ("not", _SCHEMA, "This does not hold."),
    ("if", _SCHEMA, "Decides between `then` and `else`."),
    ("then", _SCHEMA, "Holds where `if` does."),
    ("else", _SCHEMA, "Holds where `if` does not."),
)

_TELLING: tuple[tuple[str, Shape, str], ...] = (
    ("title", Text(), "A short name for people."),
    ("description", Text(), "An explanation for people."),
    ("examples", ListOf(JSON()), "Values that it may have, for people."),
    ("deprecated", Boolean(), "Whether it should no longer be used."),
    ("$comment", Text(), "A note for those who write the contract."),
    ("contentEncoding", Text("an encoding such as `base64`"), "How the text encodes bytes; it is not asserted."),
    ("contentMediaType", Text("a media type"), "What the encoded bytes are; it is not asserted."),
    ("contentSchema", _SCHEMA, "What the encoded document is; it is not asserted."),
)

REFUSED: dict[str, str] = {
    "default": "a value given where the body gives none is written `on create: …`",
    "readOnly": "a field that no `body` names cannot be set by clients; leave it out of the bodies",
    "writeOnly": "a field that no response shows is not readable; leave it out of the views, or make it a `secret`",
    "$defs": 'schemas that are shared stand under `types`, and are used as `$ref: "#/types/NAME"`',
    "definitions": 'schemas that are shared stand under `types`, and are used as `$ref: "#/types/NAME"`',
    "$schema": "schemas are JSON Schema 2020-12 throughout; leave it out",
    "$id": "schemas are known by their places in the contract; leave it out",
    "$anchor": 'schemas that are shared stand under `types`, and are used as `$ref: "#/types/NAME"`',
    "$dynamicRef": 'use `$ref: "#/types/NAME"`',
    "$dynamicAnchor": 'schemas that are shared stand under `types`, and are used as `$ref: "#/types/NAME"`',
    "$vocabulary": "schemas are JSON Schema 2020-12 throughout; leave it out",
    "dependencies": "JSON Schema 2020-12 says `dependentRequired` or `dependentSchemas`",
    "additionalItems": "JSON Schema 2020-12 says `items` after `prefixItems`",
    "nullable": 'JSON Schema says `type: [string, "null"]`',
    "example": "JSON Schema says `examples: [...]`",
}
"""Keywords of JSON Schema and of its relatives that are not part of the language, each with what to write."""


TYPING = ("type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf")
"""The keywords that say which values there are; the others only narrow them."""

HOLDING = ("items", "prefixItems", "properties", "additionalProperties")
"""The keywords whose schemas are those of values within the value, and have to say which these are; the schemas of
other keywords only narrow."""

NARROWING = (
    "if", "then", "else", "not", "contains", "propertyNames", "dependentSchemas", "patternProperties", "allOf", "anyOf",
    "oneOf",
)  # fmt: skip
"""The keywords whose schemas only narrow what is said beside them."""

_NOTHING_ELSE_SAYS = (
    f"nothing else says which values there are ({', '.join(f'`{each}`' for each in TYPING[1:])}, or, of a computed "
    "field, its expression)"
)


_ORDERS: dict[str, Order] = {
    **dict.fromkeys(
        ("maxLength", "maximum", "exclusiveMaximum", "maxContains", "maxItems", "maxProperties"), "more"
    ),
    **dict.fromkeys(("minLength", "minimum", "exclusiveMinimum", "minContains", "minItems", "minProperties"), "less"),
    **dict.fromkeys(("prefixItems", "properties"), "steps"),
}  # fmt: skip
"""Which of two values of a bound admits more, and where an order counts."""


KEYS: tuple[Key, ...] = (
    asked_when(0, "type", OneOf((Word(TYPES), ListOf(Word(TYPES)))), _QUESTION, _NOTHING_ELSE_SAYS,
               "The JSON type or types of its values; `null` admits having no value.", _NO_TYPE),
    asked_when(0, "$ref", SHARED_TYPE, _QUESTION, _NOTHING_ELSE_SAYS,
               "A schema that stands under `types`.", _NO_TYPE),
    *(replace(restricts(0, name, shape, meaning, _NARROWER), order=_ORDERS.get(name))
      for name, shape, meaning in _RESTRICTING),
    *(tells(0, name, shape, meaning) for name, shape, meaning in _TELLING),
)  # fmt: skip
"""The rows for a schema, with paths that run from it."""


def keywords(part: int, under: str) -> tuple[Key, ...]:
    """The rows for a schema that stands at `under` (a path of the table)."""
    return tuple(key.at(part, f"{under}.{key.path}") for key in KEYS)


_OF_TYPES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("string",), "format", "maxLength"),
    (("integer", "number"), "minimum", "multipleOf"),
    (("array",), "items", "unevaluatedItems"),
    (("object",), "properties", "unevaluatedProperties"),
)
"""The types that keywords say something of, from one row of `_RESTRICTING` to another; the rest are of any."""

_NAMES = [row[0] for row in _RESTRICTING]
TYPES_OF: Mapping[str, tuple[str, ...]] = {
    name: types for types, first, last in _OF_TYPES for name in _NAMES[_NAMES.index(first) : _NAMES.index(last) + 1]
}
"""By the keywords that say something of values of some types alone, which these are: of others they say nothing (JSON
Schema Validation 6)."""

TELLING = frozenset(row[0] for row in _TELLING)
"""The keywords that say something to people alone."""

VALUES = ("enum", "const", "examples")
"""The keywords that hold values, and no schemas."""

KEYWORDS = frozenset(["type", "$ref", *(row[0] for row in (*_RESTRICTING, *_TELLING))])
"""The names of all keywords that a schema may use."""


def listed_values(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values that a schema admits, where it lists them."""
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    return listed if isinstance(listed, list) else None
