"""What the contract itself gives fields: constants are held to the schema of their field, and what only the database
knows, the statement alone can make."""

from __future__ import annotations

from collections.abc import Mapping

import jsonschema_rs

from ninefold.checked.resources import Field, Resource
from ninefold.checks.codes import GIVEN_VALUE, NOT_MADE_OF_ROWS
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.expressions.reads import in_statement
from ninefold.expressions.to_sql import sql_problem
from ninefold.expressions.tree import All, Call, Typed, Variable, walk
from ninefold.language import resources as stated
from ninefold.language.expressions import Assignment, Expression
from ninefold.language.fact import Fact, Shown, value_of
from ninefold.values import Invalid, optional, to_json


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


def check_made(resource: Resource, declared: stated.Resource, vocabulary: Vocabulary, findings: Findings) -> None:
    """Says of values given on create or on change that need the database and that no statement can make. What the
    statements of endpoints make besides is asked in `check_made_with`."""
    model = vocabulary.model
    on_create = {name: made for name, field in resource.fields.items() if (made := field.on_create or field.on_change)}
    on_change = {name: field.on_change for name, field in resource.fields.items() if field.on_change is not None}
    of_statement = in_statement(on_create, resource.name, model), in_statement(on_change, resource.name, model)
    for each in value_of(declared.fields) or ():
        for fact, of_database in zip((each.on_create, each.on_change), of_statement, strict=True):
            if each.name in of_database and isinstance(fact, Shown):
                _check(resource.fields[each.name], resource, fact.value, vocabulary, findings)


def _check(field: Field, resource: Resource, given: Expression, vocabulary: Vocabulary, findings: Findings) -> None:
    if field.secret is not None:
        findings.say(
            NOT_MADE_OF_ROWS,
            f"`{resource.name}.{field.name}` is a secret, and is made of rows",
            Label(given.span, "only the database knows this"),
        )
        return
    typed(given, vocabulary.scope(resource.name), optional(field.type), findings)


def check_made_with(
    sets: Mapping[str, Typed],
    fact: Fact[tuple[Assignment, ...]] | None,
    resource: Resource,
    inserts: bool,
    vocabulary: Vocabulary,
    findings: Findings,
) -> None:
    """Says where what `sets` gives makes the statement make another field, whose expression no statement can hold."""
    model = vocabulary.model
    made = {
        name: value
        for name, field in resource.fields.items()
        if name not in sets and (value := _made(field, inserts)) is not None
    }
    alone = in_statement(made, resource.name, model)
    given = in_statement({**made, **sets}, resource.name, model)
    for name, value in given.items():
        if name in sets or name in alone:
            continue
        if sql_problem(value, (resource.name,), model=model) is not None:
            for each in value_of(fact) or ():
                if each.name in given:
                    findings.say(
                        NOT_MADE_OF_ROWS,
                        f"`{resource.name}.{name}` is made of `{each.name}`, which only the database knows",
                        Label(each.value.span, "reads rows"),
                    )


def _made(field: Field, inserts: bool) -> Typed | None:
    if inserts:
        return field.on_create or field.on_change
    return field.on_change or (field.on_create if field.again_on else None)
