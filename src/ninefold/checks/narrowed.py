"""Computed fields that are one thing where they are shown, and another where they judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.resources import Resource
from ninefold.checks.codes import SHOWN_LESS
from ninefold.checks.findings import Findings
from ninefold.checks.responses import all_expressions
from ninefold.contract.expression import Expression
from ninefold.contract.fact import value_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.dependencies import dependencies
from ninefold.expressions.rewrite import walk
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Select, Typed
from ninefold.values import Row

Rules = Mapping[str, Mapping[str, Typed | None]]


def narrowed(
    contract: Contract,
    endpoints: Iterable[Endpoint],
    resources: Mapping[str, Resource],
    rules: Rules,
    model: Model,
    findings: Findings,
) -> None:
    """Row rules narrow what a computed field counts where it is shown, and not where it judges (fixed meaning 17): says
    so of each field for which that is two things."""
    judging = set(_computed(_judging(endpoints, resources, rules), model))
    told: set[tuple[str, str]] = set()
    for endpoint in endpoints:
        for name, field in dict.fromkeys(_computed(all_expressions(endpoint.response), model)):
            if (name, field) not in judging or (name, field) in told:
                continue
            found = _narrowing(model[name].computed[field], name, endpoint, rules, model)
            if found is None:
                continue
            other, who = found
            told.add((name, field))
            labels = [Label(_field(contract, name, field), f"shown, it reads the `{other}` rows that the caller sees")]
            rule = _rule(contract, other, who)
            if rule is not None:
                labels.append(Label(rule, "which are these"))
            findings.say(
                SHOWN_LESS,
                f"`{name}.{field}` judges by all rows, and shows what is made of fewer",
                *labels,
            )


def _judging(endpoints: Iterable[Endpoint], resources: Mapping[str, Resource], rules: Rules) -> Iterator[Typed]:
    """What reads all rows, and decides by them."""
    for resource in resources.values():
        yield from (each.when for each in resource.invariants)
        for transition in resource.machine.transitions.values() if resource.machine is not None else ():
            if transition.guard is not None:
                yield transition.guard.when
    for endpoint in endpoints:
        yield from (each.when for each in endpoint.guards)
        yield from (each.condition for each in endpoint.admissions if each.condition is not None)
    for of_resource in rules.values():
        yield from (each for each in of_resource.values() if each is not None)


def _computed(expressions: Iterable[Typed], model: Model) -> Iterator[tuple[str, str]]:
    """The computed fields that expressions read."""
    for typed in expressions:
        for node in walk(typed):
            match node:
                case Select(operand=operand, name=name, through="computed") if isinstance(operand.type, Row):
                    if name in model[operand.type.resource].computed:
                        yield operand.type.resource, name
                case _:
                    pass


def _narrowing(typed: Typed, resource: str, endpoint: Endpoint, rules: Rules, model: Model) -> tuple[str, str] | None:
    """The resource of which it depends on several rows, and a caller who does not see all of these."""
    for each in dependencies(typed, resource, model):
        for admission in endpoint.admissions if each.of_which_rows else ():
            if rules.get(each.resource, {}).get(admission.who) is not None:
                return each.resource, admission.who
    return None


def _field(contract: Contract, resource: str, name: str) -> Span:
    (span,) = (
        field.span
        for each in value_of(contract.resources.resources) or ()
        if each.name == resource
        for field in value_of(each.fields) or ()
        if field.name == name
    )
    return span


def _rule(contract: Contract, resource: str, who: str) -> Span | None:
    rows = value_of(contract.authentication.rows)
    for rule in rows if isinstance(rows, tuple) else ():
        for admission in value_of(rule.admits) or () if rule.resource.text == resource else ():
            condition = value_of(admission.condition)
            if admission.who.text == who and isinstance(condition, Expression):
                return condition.span
    return None
