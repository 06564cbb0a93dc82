"""What the contract itself gives fields: constants are held to the schema of their field, and what only the database
knows, the statement alone can make. What happens by itself is due by the clock, and from the row alone."""

from __future__ import annotations

from collections.abc import Mapping

import jsonschema_rs

from ninefold.checked.resources import Field, Resource
from ninefold.checks.codes import GIVEN_VALUE, NOT_MADE_OF_ROWS, TIMER_WITHOUT_REQUEST
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.codes import WRONG_TYPE
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.expressions.reads import computed_of, in_statement
from ninefold.expressions.scope import Model, Scope, describe
from ninefold.expressions.to_sql import sql_problem
from ninefold.expressions.tree import All, Call, Select, Typed, Variable, free_variables, walk
from ninefold.language import resources as stated
from ninefold.language.expressions import Assignment, Expression
from ninefold.language.fact import Fact, Shown, value_of
from ninefold.values import Invalid, Object, Row, Type, optional, required, to_json


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


# ── By the clock ─────────────────────────────────────────────────────────────────────────────────────────────────────


OF_REQUESTS = frozenset({"caller", "request"})


def time_of_row(
    expression: Expression, resource: str, types: tuple[Type, ...], vocabulary: Vocabulary, findings: Findings
) -> Typed | None:
    """An expression that gives a time, or a duration, from a row alone."""
    scope = Scope({resource: Row(resource=resource), "operator": Object()}, vocabulary.model)
    found = typed(expression, scope, None, findings)
    if found is None:
        return None
    read = roots(found, vocabulary.model) & {"now", *OF_REQUESTS}
    for root in sorted(read):
        message = f"when something of `{resource}` is due depends on `{root}`"
        findings.say(TIMER_WITHOUT_REQUEST, message, Label(expression.span, f"reads `{root}`"))
    if required(found.type) not in types:
        wanted = " or ".join(map(describe, types))
        message = f"the expression is {describe(found.type)}, and {wanted} is needed here"
        findings.say(WRONG_TYPE, message, Label(expression.span, f"this is {describe(found.type)}"))
    return None if read or required(found.type) not in types else found


def roots(typed: Typed, model: Model, seen: frozenset[tuple[str, str]] = frozenset()) -> set[str]:
    """The roots that an expression reads, through computed fields as well."""
    found = free_variables(typed)
    for node in walk(typed):
        if isinstance(node, Select) and node.through == "computed":
            computed = computed_of(node, model)
            if computed is not None and (computed[0], node.name) not in seen:
                found |= roots(computed[1], model, seen | {(computed[0], node.name)})
    return found
