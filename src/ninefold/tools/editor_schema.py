"""A JSON Schema of the language for editors: of the plain form, and of the blocks of one part.

It is made from the table of keys, so that hovering over a key shows what the reference says, and completion offers
what may be written. Draft 7, which the YAML extensions of editors read. A schema sees the shape of a contract and not
its meaning: what it admits may still be wrong, and `ninefold check` has the word. It knows nothing of tags either:
`!proposed` before a value is made known to an editor in its own settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from ninefold.contract.questions.question import PART_QUESTIONS, QUESTIONS
from ninefold.language.conditions import STATUSES
from ninefold.language.errors import RULES
from ninefold.language.json_schema import REFUSED, keywords
from ninefold.language.key import Key, Kind
from ninefold.language.leaves import HEADER, SEGMENT
from ninefold.language.routes import METHODS
from ninefold.language.shapes import (
    JSON,
    SHARED_TYPE,
    Boolean,
    Date,
    Duration,
    Expression,
    HeaderName,
    Integer,
    JSONSchema,
    ListOf,
    MappingOf,
    MediaType,
    Members,
    Name,
    Names,
    OneOf,
    Path,
    Shape,
    Size,
    Template,
    Text,
    Word,
    describe,
)
from ninefold.language.table import keys_under
from ninefold.language.verbs import OUTCOMES, UPON, VERBS
from ninefold.syntax.nodes import PARTS, TITLES

Schema: TypeAlias = dict[str, Any]

DIALECT: Final = "http://json-schema.org/draft-07/schema#"

UNANSWERED: Final = ("none", "not shown")
"""What may be written for every key."""

# Patterns are of ECMA-262, without what its mode `u` refuses.

_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_TOKEN, _SEGMENT = HEADER.pattern, SEGMENT.pattern
_ENDPOINT = f"(?:{'|'.join(METHODS)}) /\\S*"
_CONDITION = f"(?:{'|'.join(STATUSES)})(?: \\S+)?"

FORMS: Final[Mapping[type[Shape], str]] = {
    Duration: "P[0-9]{1,9}W|P(?=[0-9T])(?:[0-9]{1,9}D)?"
    "(?:T(?=[0-9])(?:[0-9]{1,9}H)?(?:[0-9]{1,9}M)?(?:[0-9]{1,12}(?:\\.[0-9]{1,6})?S)?)?",
    Size: "(?!0+ )[0-9]{1,12} (?:B|KiB|MiB|GiB)",
    Date: "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])",
    MediaType: f'{_TOKEN}/{_TOKEN}(?:\\s*;\\s*{_TOKEN}=(?:{_TOKEN}|"[^"\\\\]*"))*',
    HeaderName: _TOKEN,
    Path: f"(?:/{_SEGMENT})+",
}
"""The texts that have a form of their own, each as a pattern of the whole text."""

NAMES: Final[Mapping[str, str]] = {
    "a condition": _CONDITION,
    SHARED_TYPE.of: f"#/types/{_IDENTIFIER}",
}
"""Names of which the language knows the form, by what they are names of."""

PLACEHOLDERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("RESOURCE", "FIELD", "VIEW", "TYPE", "TRANSITION"), _IDENTIFIER),
    "ENDPOINT": _ENDPOINT,
    "STATUS": "[23][0-9]{2}",
    "OUTCOME": f"({'|'.join(OUTCOMES)})( or ({'|'.join(OUTCOMES)}))*",
    "CONDITION": _CONDITION,
    "RULE": "|".join(RULES),
    "HEADER": _TOKEN,
}
"""Which names a segment in capitals stands for, where the language knows."""

SUGGESTED: Final[Mapping[tuple[int, str], tuple[str, ...]]] = {
    (7, "codes.CODE.for"): tuple(STATUSES),
    (7, "precedence"): tuple(STATUSES),
    (4, "ENDPOINT.does"): tuple(VERBS),
    (6, "kinds.KIND.upon"): UPON,
}
"""Words that begin what may be written for a key. Editors offer them as `defaultSnippets`, which is, as all keywords
here that JSON Schema has not, without a meaning to others."""

_KINDS: Final[Mapping[Kind, str]] = {
    Kind.ASKED: "It is asked for",
    Kind.ASKED_WHEN: "It is asked for",
    Kind.FALLS_BACK: "Another line holds without it",
    Kind.RESTRICTS: "It restricts what is accepted, how often or when",
    Kind.ADDS: "It adds something",
    Kind.NAMES: "Others refer to it by its name",
    Kind.TELLS: "It tells people something",
}

_PROPOSED = "Before a value, `!proposed` makes it a proposal: a gap with a candidate."
_NUMBERS = frozenset(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
_QUESTIONS = {question.id: question for question in QUESTIONS}
_KEYWORDS = {key.name: key for key in keywords(2, "")}

_TEXT: Schema = {"type": ["string", "number", "boolean"]}
"""Text, as YAML has it: a number or a truth value is the text that is written."""

_WORDS: Schema = {"type": ["string", "number"]}
"""A name or the like: a truth value could be one, but is offered nowhere."""

_PLAIN: Final = ("string", "number", "boolean", "null")

_EXPRESSION: Schema = {
    "type": [*_PLAIN, "object", "array"],
    "pattern": "\\S",
    "properties": {"const": {}},
    "additionalProperties": False,
    "maxItems": 0,
}
"""Text, or what stands for itself: a plain value, `[]`, `{}`, `{const: …}`."""

_NESTED_TEMPLATE: Schema = {"$ref": "#/definitions/template"}
_TEMPLATE: Schema = {
    "type": _EXPRESSION["type"],
    "pattern": _EXPRESSION["pattern"],
    "additionalProperties": _NESTED_TEMPLATE,
    "items": _NESTED_TEMPLATE,
}

_NESTED: Schema = {"anyOf": [{"$ref": "#/definitions/schema"}, {"type": "boolean"}]}
"""A schema inside a schema."""


def plain_form() -> Schema:
    """The schema of a document in the plain form: nine keys, one a part."""
    parts = {name: _part(number) for number, name in enumerate(PARTS, 1)}
    return _document("A service contract in nine parts.", _closed(parts))


def block_of(part: int) -> Schema:
    """The schema of one `yaml` block of a part (counted from 1) of the literate form. Part 1 has no facts but its
    prose: its schema is that of a text."""
    return _document(f"Part {part}: {TITLES[part - 1]}.", dict(_TEXT) if part == 1 else _object(part, ""))


def _document(description: str, body: Schema) -> Schema:
    """A schema that stands alone: with what it refers to, and no more."""
    definitions = _definitions()
    used: Schema = {}
    waiting = list(_references(body))
    while waiting:
        name = waiting.pop()
        if name not in used:
            used[name] = definitions[name]
            waiting += _references(used[name])
    return {
        "$schema": DIALECT,
        "description": f"{description} {_PROPOSED}",
        **body,
        "definitions": {name: definition for name, definition in definitions.items() if name in used},
    }


def _references(schema: Any) -> Iterator[str]:
    """The names of the definitions that a schema uses."""
    match schema:
        case {"$ref": str(reference)}:
            yield reference.removeprefix("#/definitions/")
        case dict():
            for value in schema.values():
                yield from _references(value)
        case list():
            for item in schema:
                yield from _references(item)


def _part(number: int) -> Schema:
    asked = PART_QUESTIONS[number - 1]
    facts = {"type": "string"} if number == 1 else _unanswered(_object(number, ""))
    words = f"Part {number}: {TITLES[number - 1]}. It is asked {asked.text}. A gap {asked.effect} {asked.cost}."
    return {"description": words, **facts}


def _definitions() -> Schema:
    """What is used in many places, or within itself."""
    return {
        "template": _TEMPLATE,
        "schema": _closed({name: {"$ref": f"#/definitions/keyword-{name}"} for name in _KEYWORDS} | _refused()),
        **{f"keyword-{name}": _keyword(key) for name, key in _KEYWORDS.items()},
        **{f"refused-{name}": _never(reason) for name, reason in REFUSED.items()},
    }


def _keyword(key: Key) -> Schema:
    """A keyword of JSON Schema, held to what the draft says of its value."""
    if key.name in _NUMBERS:
        value: Schema = {"type": "number"}
    elif key.name == "dependentRequired":
        value = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
    elif isinstance(key.shape, MappingOf):
        value = {"type": "object", "additionalProperties": _unanswered(_NESTED)}
    elif isinstance(key.shape, JSONSchema):
        value = _NESTED
    elif key.shape == ListOf(JSONSchema()):
        value = {"type": "array", "items": _NESTED, "minItems": 1}
    else:
        value = _shape(key.shape, key.part, key.path)
    return {**_hover(key), **_unanswered(value)}


def _object(part: int, path: str) -> Schema:
    """The mapping at a path of the table: its keys, and the names that the contract chooses."""
    properties: Schema = {}
    patterns: Schema = {}
    others: Schema | bool = False
    below = keys_under(part, path)
    if not below:
        return {"type": "object"}
    for key in below:
        if not key.is_placeholder:
            shared = (own := _KEYWORDS.get(key.name)) is not None and own.meaning == key.meaning
            properties[key.name] = {"$ref": f"#/definitions/keyword-{key.name}"} if shared else _value(key)
        elif (form := PLACEHOLDERS.get(key.name)) is not None:
            patterns[form] = _value(key)
        else:
            others = _value(key)
    if "contentSchema" in properties:
        properties = _refused() | properties
    written = _closed(properties)
    if patterns:
        # A key of the language is not at the same time a name.
        own_keys = [re.escape(name) for name in properties if any(re.fullmatch(form, name) for form in patterns)]
        but = f"(?!(?:{'|'.join(own_keys)})$)" if own_keys else ""
        written["patternProperties"] = {f"^{but}(?:{form})$": value for form, value in patterns.items()}
    return {**written, "additionalProperties": others}


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _refused() -> Schema:
    """The keywords of JSON Schema that are not of the language."""
    return {name: {"$ref": f"#/definitions/refused-{name}"} for name in REFUSED}


def _never(reason: str) -> Schema:
    """What may not be written. Editors show a `deprecationMessage`, which is no keyword of JSON Schema."""
    return {"not": {}, "description": reason, "deprecationMessage": reason}


def _value(key: Key) -> Schema:
    """What is written for a key."""
    value = _shape(key.shape, key.part, key.path)
    words = SUGGESTED.get((key.part, key.path), ())
    snippets = {"defaultSnippets": [{"label": word, "body": word} for word in words]} if words else {}
    return {**_hover(key), **snippets, **_unanswered(value)}


def _hover(key: Key) -> Schema:
    """What an editor shows of a key: plainly, and, for those that read it, as Markdown."""
    question = _QUESTIONS.get(key.question or "")
    asked = f" ({question.in_general})" if question is not None else ""
    words = "`none` and `not shown`" if key.admits_none else "`not shown`"
    written = f"It is written as {describe(key.shape)}. {words} may be written too."
    so = "" if key.when is None else f" when {key.when}"
    absent = f"{_KINDS[key.kind]}{asked}{so}. Where it is absent: {key.absence}"
    return {
        "description": f"{key.meaning} {written} {absent}",
        "markdownDescription": f"{key.meaning}\n\n{written}\n\n{absent}",
    }


def _unanswered(schema: Schema, words: tuple[str, ...] = UNANSWERED) -> Schema:
    """The schema with `none` and `not shown` besides."""
    match schema:
        case {"enum": [*others]}:
            return {**schema, "enum": [*others, *(word for word in words if word not in others)]}
        case {"anyOf": [*shapes]}:
            return {**schema, "anyOf": [*shapes, {"enum": list(words)}]}
        case _ if _admits_text(schema):
            return schema
        case _:
            return {"anyOf": [schema, {"enum": list(words)}]}


def _admits_text(schema: Schema) -> bool:
    """Whether any text is admitted (an expression is told from other text by nothing that a pattern could say)."""
    return "string" in schema.get("type", ()) and schema.get("pattern", "\\S") == "\\S"


def _either(schemas: list[Schema]) -> Schema:
    """One of several schemas. Where their types differ they are one: editors explain that better than a choice."""
    if any(map(_admits_text, schemas)):
        words = [word for each in schemas for word in each.get("enum", ())]
        schemas = [each for each in schemas if "enum" not in each]
        snippets = {"defaultSnippets": [{"label": word, "body": word} for word in words]} if words else {}
    else:
        snippets = {}
    types = [each.get("type") for each in schemas]
    names = [name for each in types for name in (each if isinstance(each, list) else [each])]
    if None in names or len(set(names)) < len(names):
        return {"anyOf": schemas}
    merged: Schema = {}
    for each in schemas:
        merged |= each
    return {**merged, **snippets, "type": names}


def _shape(shape: Shape, part: int, path: str) -> Schema:
    """A shape of the table at a path of it."""
    match shape:
        case Word(words):
            return {"enum": list(words)}
        case Boolean(only_true):
            return {"enum": [True] if only_true else [True, False]}
        case Integer(minimum, maximum):
            return {"type": "integer", "minimum": minimum} | ({} if maximum is None else {"maximum": maximum})
        case Text(what):
            return dict(_TEXT if what == "text" else _WORDS)
        case Expression():
            return dict(_EXPRESSION)
        case Duration() | Size() | Date() | MediaType() | HeaderName() | Path():
            form = f"^(?:{FORMS[type(shape)]})$"
            return {"type": "string", "pattern": form, "patternErrorMessage": f"This is not {describe(shape)}."}
        case Name(of):
            return _name(of)
        case Names(of, alone):
            several = {"type": "array", "items": _name(of)}
            return _either([_name(of), several]) if alone else several
        case Template():
            return dict(_TEMPLATE)
        case JSON():
            return {}
        case Members() | MappingOf():
            return _object(part, path)
        case JSONSchema():
            return _object(part, path) if keys_under(part, path) else {"$ref": "#/definitions/schema"}
        case ListOf(item):
            row = _row(part, path)
            inner = _shape(item, part, path) if row is None else _hover(row) | _shape(item, part, row.path)
            return {"type": "array", "items": _unanswered(inner, UNANSWERED[1:])}
        case OneOf(shapes):
            # What may stand without a list is what an item of it is.
            items = [each.item for each in shapes if isinstance(each, ListOf)]
            row = _row(part, path)
            paths = [path if row is None or each not in items else row.path for each in shapes]
            return _either([_shape(each, part, at) for each, at in zip(shapes, paths, strict=True)])


def _row(part: int, path: str) -> Key | None:
    """What the items of a list are by the table, where it has a row for them."""
    return next((key for key in keys_under(part, path) if key.is_placeholder), None)


def _name(of: str) -> Schema:
    form = NAMES.get(of)
    if form is None:
        return {**_WORDS, "minLength": 1}
    return {"type": "string", "pattern": f"^(?:{form}|not shown)$", "patternErrorMessage": f"This is not {of}."}
