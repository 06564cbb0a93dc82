"""Constants that the contract gives in the place of values: each is held to the schema that it is to keep, before
anything is served, also one that only a branch of a conditional gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from ninefold.checked.resources import Field
from ninefold.checks.findings import Findings
from ninefold.diagnostics.codes import GIVEN_VALUE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.expressions.tree import All, Call, Typed, Variable, walk
from ninefold.values import Invalid, to_json


def check_given(resource: str, field: Field, given: Typed, span: Span, findings: Findings) -> None:
    """Says of a constant that its field does not admit it. What reads anything is held to the field as it is written
    (meaning "who gives a value")."""
    called = f"`{resource}.{field.name}`"
    for broken in broken_by_constant(given, field.schema):
        if broken is not None:
            message = f"{called} is given a value that is not as its schema says"
            findings.say(GIVEN_VALUE, message, Label(span, broken))
        elif field.required:
            findings.say(GIVEN_VALUE, f"{called} is required, and is given no value", Label(span, "is no value"))


def check_held(called: str, made: Typed | None, schema: Mapping[str, Any], span: Span, findings: Findings) -> None:
    """Says of a constant that it is not as the schema beside it says: of what is worked out and shown, or made of what
    is given. No value is none of it."""
    for broken in () if made is None else broken_by_constant(made, schema):
        if broken is not None:
            message = f"`{called}` may be a value that is not as its schema says"
            findings.say(GIVEN_VALUE, message, Label(span, broken))


def broken_by_constant(given: Typed, schema: Mapping[str, Any]) -> Iterator[str | None]:
    """What a schema finds wrong with the constants that an expression may give; None: it is no value, whatever is read.
    Nothing of what is no constant, or cannot be made."""
    constants = [each for each in results(given) if _is_constant(each)]
    for constant in constants:
        try:
            value = to_json(constant.type, compile(constant)({}))
        except (EvaluationError, Invalid):
            continue
        if value is not None:
            yield from (each.message for each in validator(schema).iter_errors(value))
        elif constant is given:
            yield None


def results(value: Typed) -> Iterator[Typed]:
    """What a value may come from: the branches of a conditional, unless it is known which of them it is."""
    match value:
        case Call(function="?:", arguments=[_, yes, no]) if not _is_constant(value):
            yield from results(yes)
            yield from results(no)
        case _:
            yield value


def validator(schema: Mapping[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """What holds constants to a schema, their formats too."""
    return jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=True)


def _is_constant(given: Typed) -> bool:
    return not any(
        isinstance(node, Variable | All) or (isinstance(node, Call) and node.function in NEW_EACH_TIME)
        for node in walk(given)
    )
