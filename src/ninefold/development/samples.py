"""Small values that a JSON Schema admits: for lines to try, and for rows to try them with."""

from __future__ import annotations

import re
import re._parser as _parser  # type: ignore[import-not-found]
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from ninefold.values.pointers import tokens

CANDIDATES = (
    "text",
    "ada@example.com",
    "https://example.com",
    "ABC-123",
    "A",
    "1",
    "2026-01-01T00:00:00Z",
    "2026-01-01",
    "12:00:00Z",
    "PT1H",
    "127.0.0.1",
    "123e4567-e89b-42d3-a456-426614174000",
    "example.com",
)
"""Texts for a field: the first that its schema admits. Some pattern admits none of them, and has no line then."""


def sample(schema: Any) -> Any:
    """A value that the schema admits; None where none was found."""
    found = _sample(schema, schema, 0)
    return found if found is not None and admits(schema, found) else None


def _sample(schema: Any, root: Any, depth: int) -> Any:
    """A small value that a schema admits, as far as it can be told; None where it cannot."""
    if not isinstance(schema, dict) or depth > 16:
        return None
    if isinstance(reference := schema.get("$ref"), str):
        return _sample(resolved(reference, root), root, depth + 1)
    for key in ("example", "const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return _of_one(schema, key, root, depth)
    if "type" not in schema and all(isinstance(each, dict) for each in schema.get("allOf", (None,))):
        # As the first of them says, which is most of it; whoever asks holds the value to all.
        parts = {name: said for each in reversed(schema["allOf"]) for name, said in each.items()}
        return _sample({**parts, **{name: said for name, said in schema.items() if name != "allOf"}}, root, depth + 1)
    types = schema.get("type", "object" if "properties" in schema else "string")
    match types if isinstance(types, str) else next((each for each in types if each != "null"), None):
        case "object":
            properties = schema.get("properties", {})
            return {name: _sample(properties.get(name, {}), root, depth + 1) for name in schema.get("required", ())}
        case "array":
            first = [_sample(each, root, depth + 1) for each in schema.get("prefixItems", ())]
            least = schema.get("minItems", 0)
            others = [_sample(schema.get("items", {}), root, depth + 1)] * min(least - len(first), 3)
            return [*first, *others][:least]
        case "string":
            alone = whole(schema, root)
            longer = (text * (1 + schema.get("minLength", 0) // len(text)) for text in CANDIDATES)
            return next((text for text in (*CANDIDATES, *longer, *_matching(schema, 0)) if admits(alone, text)), None)
        case "integer" | "number":
            return max(schema.get("minimum", 1), schema.get("exclusiveMinimum", 0) + 1, 1)
        case "boolean":
            return True
        case _:
            return None


def _of_one(schema: dict[str, Any], key: str, root: Any, depth: int) -> Any:
    """A value of the first of several forms of which there is one."""
    rest = {name: value for name, value in schema.items() if name != key}
    alone = whole(schema, root)
    for form in schema[key]:
        while isinstance(form, dict) and isinstance(form.get("$ref"), str) and depth <= 16:
            form, depth = resolved(form["$ref"], root), depth + 1
        if isinstance(form, dict):
            found = _sample({**rest, **form}, root, depth + 1)
            if found is not None and admits(alone, found):
                return found
    return None


def whole(part: Any, root: Any) -> Any:
    """A part of a schema by itself, with what it may refer to in the whole."""
    refers = isinstance(part, dict) and isinstance(root, dict) and "$defs" in root
    return {**part, "$defs": root["$defs"]} if refers else part


def resolved(reference: str, root: Any) -> Any:
    """What a local reference (RFC 6901 in a fragment) points at."""
    for step in tokens(reference):
        root = root.get(step) if isinstance(root, dict) else None
    return root


def admits(schema: Any, value: Any) -> bool:
    """Whether a schema admits a value."""
    try:
        validator = jsonschema_rs.validator_for(schema, validate_formats=True, retriever=_nothing_is_fetched)
        return bool(validator.is_valid(value))
    except (ValueError, jsonschema_rs.ValidationError):
        return False


def _nothing_is_fetched(uri: str) -> Any:
    raise ValueError(f"{uri} is not in the contract")


def varied(text: str, schema: Any, turn: int) -> str:
    """Another text that the schema admits: the last turn's may be taken."""
    at = text.find("@") if "@" in text else len(text)
    others = f"{text[:at]}{turn + 1}{text[at:]}", f"{text}-{turn + 1}", f"{text}{chr(97 + turn % 26)}"
    for other in (*others, *_matching(schema, turn)):
        if admits(schema, other):
            return other
    return text


def _matching(schema: Any, number: int) -> Iterator[str]:
    pattern = schema.get("pattern") if isinstance(schema, dict) else None
    return of_pattern(pattern, number) if isinstance(pattern, str) else iter(())


def of_pattern(pattern: str, number: int, times: int = 2) -> Iterator[str]:
    """Texts that a pattern matches, if it is a plain one: what varies has the digit or the letter of the number.
    `times`: how often at most what may be repeated is, where it need not be more often."""
    try:
        parsed = _parser.parse(pattern)
    except re.error:
        return
    for turn in range(number, number + 3):
        yield "".join(_of_part(operator, argument, turn, times) for operator, argument in parsed)


def _of_part(operator: Any, argument: Any, number: int, times: int = 2) -> str:
    match str(operator):
        case "LITERAL":
            return chr(argument)
        case "IN":
            return _of_set(argument, number)
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, part = argument
            count = max(least, min(int(most), times))
            return "".join(_of_part(each[0], each[1], number) for _ in range(count) for each in part)
        case "SUBPATTERN":
            return "".join(_of_part(each[0], each[1], number) for each in argument[3])
        case "BRANCH":
            return "".join(_of_part(each[0], each[1], number) for each in argument[1][number % len(argument[1])])
        case "ANY":
            return chr(97 + number % 26)
        case _:
            return ""


def _of_set(items: Any, number: int) -> str:
    for operator, argument in items:
        match str(operator):
            case "LITERAL":
                return chr(argument)
            case "RANGE":
                return chr(argument[0] + number % (argument[1] - argument[0] + 1))
            case "CATEGORY":
                return str(number % 10) if "DIGIT" in str(argument) else chr(97 + number % 26)
            case _:
                continue
    return "a"
