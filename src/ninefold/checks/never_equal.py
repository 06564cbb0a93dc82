"""Comparisons of a field with a value that it never has: a state or an `enum` that is misspelt in an expression."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

from ninefold.checks.schemas import SharedSchemas, schema_of
from ninefold.contract.survey import Survey
from ninefold.diagnostics.codes import NEVER_EQUAL
from ninefold.diagnostics.diagnostic import Diagnostic, Label
from ninefold.diagnostics.suggest import did_you_mean, there_are
from ninefold.expressions.ast import Literal, every
from ninefold.expressions.check import Places
from ninefold.expressions.tree import Call, Constant, MakeArray, Select, Typed, walk
from ninefold.language.expressions import Expression
from ninefold.language.fact import value_of
from ninefold.language.json_schema import listed_values
from ninefold.values import Boolean, Integer, Number, Row, Text

_WHOLE: Final = (0, sys.maxsize)


def never_equal(
    found: Typed, places: Places, expression: Expression, survey: Survey, schemas: SharedSchemas
) -> Iterator[Diagnostic]:
    """Says of each constant that a field is compared with, and that the contract lists no such value of it."""
    for node in walk(found):
        if not isinstance(node, Call) or node.function not in ("==", "!=", "in"):
            continue
        left, right = node.arguments
        for field, other in ((left, right), (right, left))[: 1 if node.function == "in" else 2]:
            values = _values(field, survey, schemas)
            for value, constant in _constants(other) if values is not None else ():
                if values is not None and (isinstance(value, bool), value) not in [
                    (isinstance(each, bool), each) for each in values
                ]:
                    assert isinstance(field, Select)
                    yield _said(field, value, values, places.get(id(constant), _WHOLE), expression)


def _values(field: Typed, survey: Survey, schemas: SharedSchemas) -> list[Any] | None:
    """The values that the contract lists of a field: its states, or those of its schema. None: it lists none."""
    if not isinstance(field, Select) or field.through != "field" or not isinstance(field.operand.type, Row):
        return None
    if not isinstance(field.type, Text | Integer | Number | Boolean):
        return None
    resources = value_of(survey.contract.resources.resources) or ()
    resource = next((each for each in resources if each.name == field.operand.type.resource), None)
    fields = () if resource is None else value_of(resource.fields) or ()
    stated = next((each for each in fields if each.name == field.name), None)
    if resource is None or stated is None:
        return None
    if value_of(stated.state):
        machine = survey.contract.machine(resource.name)
        states = None if machine is None else value_of(machine.states)
        return None if states is None else [each.text for each in states]
    return listed_values(schema_of(stated, schemas))


def _constants(typed: Typed) -> Iterator[tuple[Any, Typed]]:
    """The plain values that stand on the other side, each with what it stands in."""
    match typed:
        case Constant(value=list() as items):
            yield from ((each, typed) for each in items)
        case Constant(value=value) if value is not None:
            yield value, typed
        case MakeArray(items=several):
            yield from (found for each in several for found in _constants(each))
        case _:
            pass


def _said(field: Select, value: Any, values: list[Any], place: tuple[int, int], expression: Expression) -> Diagnostic:
    literals = (each for each in every(expression.ast) if isinstance(each, Literal) and each.value == value)
    at = next(((each.start, each.end) for each in literals if place[0] <= each.start and each.end <= place[1]), None)
    names = [each for each in values if isinstance(each, str)]
    help = (did_you_mean(value, names) if isinstance(value, str) else ()) or there_are(names)
    called = f"{field.operand.type.resource}.{field.name}" if isinstance(field.operand.type, Row) else field.name
    span = expression.span if at is None else expression.written.part(*at)
    return Diagnostic(NEVER_EQUAL, f"`{called}` is never `{value}`", (Label(span, "not one of its values"),), help)
