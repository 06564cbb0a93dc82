"""Parts 2 to 4: what a contract gives the fields of a row, where the statement that writes the row has to make it."""

from __future__ import annotations

from collections.abc import Mapping

from ninefold.checked.resources import Field, Resource
from ninefold.checks.codes import NOT_MADE_OF_ROWS
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.contract.expression import Assignment, Expression
from ninefold.contract.fact import Fact, Shown, value_of
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.given import in_statement
from ninefold.expressions.to_sql import sql_problem
from ninefold.expressions.tree import Typed
from ninefold.language import resources as stated
from ninefold.values import optional


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
