"""What a rule of the contract that was not kept is called in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ninefold.diagnostics.place import Place
from ninefold.language.conditions import BY_NAME
from ninefold.plan.routes import Body
from ninefold.runtime.messages.problems import Failure, FieldFailure
from ninefold.values.pointers import pointer

RULES = {
    "required": "it has to be given",
    "unknown": "there is no field of this name that can be given",
    "immutable": "it cannot be changed",
    "unique": "another row has this value",
    "references": "there is no such row to refer to",
    "type": "the value is not of this field's type",
    "range": "no database can hold this value",
    "enum": "it is none of the values that the field may have",
    "const": "it is not the value that the field has to have",
    "format": "it is not in this field's format",
    "pattern": "it does not match this field's pattern",
    "minLength": "it is too short",
    "maxLength": "it is too long",
    "minimum": "it is too small",
    "exclusiveMinimum": "it is too small",
    "maximum": "it is too large",
    "exclusiveMaximum": "it is too large",
    "minItems": "it has too few items",
    "maxItems": "it has too many items",
    "uniqueItems": "it has an item twice",
    "repeated": "it is given more than once",
}
"""By the keyword of JSON Schema, or the rule of ours, that is not kept."""


def rule_in_words(rule: str, place: str = "body") -> str:
    if rule == "unknown" and place == "query":
        return "there is no parameter of this name"
    return RULES.get(rule, f"it does not keep `{rule}`")


def failures_in_words(failures: Sequence[Failure], body: Body, document: str) -> Iterator[str]:
    """A line for each thing that is wrong: where in the value, what, and the line of the contract that says so."""
    for failure in failures:
        for each in failure.fields:
            place = failure.trace or place_of(each, body)
            yield f"{each.pointer or 'the row'}: {rule_in_words(each.rule)}{at(document, place)}"
        if not failure.fields:
            about = f" ({failure.subject})" if failure.subject else ""
            words = BY_NAME[failure.condition].words
            code = f", {failure.code}" if failure.code else ""
            yield f"{words}{about}{code}{at(document, failure.trace)}"


def place_of(failure: FieldFailure, body: Body) -> tuple[Place, ...]:
    """Where the contract states the field in whose value a failure is."""
    for each in body.fields:
        place = pointer(each.pointer)
        if failure.pointer == place or failure.pointer.startswith(place + "/"):
            return each.trace
    return ()


def at(document: str, places: Sequence[Place]) -> str:
    return f" [{document}:{places[0].line}]" if places else ""
