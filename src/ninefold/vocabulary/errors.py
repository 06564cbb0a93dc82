"""The keys of part 7: errors."""

from __future__ import annotations

from ninefold.language.key import Key, adds, asked, asked_when, names
from ninefold.language.shapes import (
    Expression,
    Integer,
    MappingOf,
    MediaType,
    Members,
    Name,
    Names,
    Template,
    Text,
)

SHAPE = "shape"
CODES = "codes"
STATUS = "status"

RULES = (
    "required", "type", "enum", "const", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "contains",
    "minContains", "maxContains", "items", "prefixItems", "unevaluatedItems", "additionalProperties",
    "unevaluatedProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired",
    "dependentSchemas", "allOf", "anyOf", "oneOf", "not", "if", "unique", "immutable", "refers to",
    "unknown", "repeated", "range", "otherwise",
)  # fmt: skip
"""The rules that a message may be for: the keywords that refuse, the rules of the language (`unique`, `immutable`,
`refers to`, an `unknown` member or parameter, a `repeated` parameter, the `range` of a type), and `otherwise` for the
rest."""

KEYS: tuple[Key, ...] = (
    asked(7, "shape", Members(), SHAPE, "What the body of an error is.", "A gap: errors have an empty body.",
    says_none=True),
    asked(7, "shape.media type", MediaType(), SHAPE, "The media type of errors.",
          "A gap: errors have an empty body."),
    asked(7, "shape.body", Template(), SHAPE, "The body, from `error.code`, `error.title` and so on.",
          "A gap: errors have an empty body."),
    asked(7, "codes", MappingOf("codes to what they say"), CODES, "The errors that callers are told.",
          "A gap: conditions are answered with a bare status.", says_none=True),
    names(7, "codes.CODE", Members(), "An error.", "Each use of its name is an error."),
    asked(7, "codes.CODE.status", Integer(400, 599), STATUS, "The status of its responses.",
          "A gap: what it would answer has a bare status."),
    adds(7, "codes.CODE.title", Text(), "What it is, in plain text: `error.title`.", "`error.title` has no value."),
    adds(7, "codes.CODE.detail", Expression(), "What is so this time: `error.detail`.",
         "`error.detail` has no value."),
    adds(7, "codes.CODE.about", Name("a name"),
         "The name under which `error.messages` has it, where no field is at fault.",
         "It has no entry in `error.messages`."),
    asked_when(7, "codes.CODE.when", Names("a condition", alone=True), CODES,
              "nothing else is the code of such a condition, and one can arise",
          "The conditions that it is the code of; each may be narrowed (`missing article`, `conflict user.email`).",
          "A gap: the condition is answered with a bare status."),
    adds(7, "messages", MappingOf("rules to words"), "The words for each rule that a field can break.",
         "Errors have no messages."),
    adds(7, "messages.RULE", Text(), "The words for one rule, or, under `otherwise`, for the rest.",
         "Errors of that rule have no message."),
    adds(7, "precedence", Names("a condition"),
         "Which condition is told where several hold; each may be narrowed.",
         "The order of the closed list of conditions holds."),
)  # fmt: skip
