"""What the contract itself gives: constants are held to the schema of their field before anything is served."""

from __future__ import annotations

import jsonschema_rs

from ninefold.checked.resources import Field
from ninefold.checks.codes import GIVEN_VALUE
from ninefold.checks.findings import Findings
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.expressions.rewrite import walk
from ninefold.expressions.tree import All, Call, Typed, Variable
from ninefold.values import Invalid, to_json


def check_given(resource: str, field: Field, given: Typed, span: Span, findings: Findings) -> None:
    """Says of a constant that its field does not admit it. What reads anything is held to the field as it is written
    (fixed meaning 4)."""
    if not _is_constant(given):
        return
    called = f"`{resource}.{field.name}`"
    try:
        value = to_json(given.type, compile(given)({}))
    except (EvaluationError, Invalid):
        return  # no value can be made: the field has none (fixed meaning 2)
    if value is None:
        if field.required:
            findings.say(GIVEN_VALUE, f"{called} is required, and is given no value", Label(span, "is no value"))
        return
    validator = jsonschema_rs.Draft202012Validator(dict(field.schema), validate_formats=True)
    for broken in validator.iter_errors(value):
        message = f"{called} is given a value that is not as its schema says"
        findings.say(GIVEN_VALUE, message, Label(span, broken.message))


def _is_constant(given: Typed) -> bool:
    return not any(
        isinstance(node, Variable | All) or (isinstance(node, Call) and node.function in NEW_EACH_TIME)
        for node in walk(given)
    )
