"""Expressions that read `caller` where nobody is the caller: at endpoints for `anyone` alone, which read no credential
(fixed meaning 8), and in what is said of `anyone`.

What stands at such an endpoint may not read `caller` at all. What others share with it (views, computed fields, the
guards of transitions) may, if it asks by `has(caller.…)` whether there is one; and a value that there need not be
(`on create: caller.user` of a field that is not required) is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checks.codes import CALLER_COMPUTED, NOBODY_CALLS
from ninefold.checks.findings import Findings
from ninefold.contract.endpoints import Endpoint
from ninefold.contract.service import Contract
from ninefold.contract.survey import Survey
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Invocation, Member, every
from ninefold.expressions.ast import Name as NameAst
from ninefold.language.authentication import Admission
from ninefold.language.expressions import Expression, expressions_in
from ninefold.language.fact import Shown, value_of
from ninefold.language.resources import Resource
from ninefold.language.verbs import kind_of

ANYONE = "anyone"


def read_by_nobody(contract: Contract, findings: Findings) -> None:
    survey = Survey(contract)
    told: set[Span] = set()
    for endpoint in survey.endpoints:
        admitted = survey.admitted(endpoint)
        alone = {each.who.text for each in admitted} == {ANYONE}
        line = next((each.who.span for each in admitted if each.who.text == ANYONE), endpoint.span)
        for expression, shared in _of_endpoint(endpoint, survey) if alone else ():
            if expression.span not in told and _reads(expression, shared, isinstance(endpoint.issues, Shown)):
                told.add(expression.span)
                _say(f"`{endpoint.key}` is for anyone alone, and reads `caller`", expression, line, findings)
        ends = value_of(endpoint.ends)
        if alone and ends is not None and ends.text == "presented":
            findings.say(
                NOBODY_CALLS,
                f"`{endpoint.key}` is for anyone alone, and ends the credential that is presented",
                Label(ends.span, "none is read"),
                Label(line, "no credential is read of such requests"),
                help=("`ends: all` ends those of the row",),
            )
    for what, admission in _said_of_callers(contract):
        condition = value_of(admission.condition)
        if admission.who.text == ANYONE and isinstance(condition, Expression) and condition.span not in told:
            if _reads(condition, False, False):
                told.add(condition.span)
                _say(f"{what} reads `caller` of `anyone`", condition, admission.who.span, findings)


def caller_computed(contract: Contract, findings: Findings) -> None:
    """Notes the computed fields that are not the same for everyone."""
    for resource in value_of(contract.resources.resources) or ():
        for field in value_of(resource.fields) or ():
            computed = value_of(field.computed)
            if computed is not None and any(map(_is_caller, every(computed.ast))):
                findings.say(
                    CALLER_COMPUTED,
                    f"`{resource.name}.{field.name}` is another value for another caller",
                    Label(computed.span, "reads `caller`"),
                    help=("what depends on who asks is a member of a view; in a later version this is an error",),
                )


def _say(message: str, expression: Expression, line: Span, findings: Findings) -> None:
    findings.say(
        NOBODY_CALLS,
        message,
        Label(expression.span, "nobody is the caller here"),
        Label(line, "of `anyone` no credential is read"),
        help=(
            "admit schemes besides: `[anyone, SCHEME]`",
            "what is shown to others too asks first: `has(caller.…) ? …`",
        ),
    )


def _said_of_callers(contract: Contract) -> Iterator[tuple[str, Admission]]:
    for permission in value_of(contract.authentication.permissions) or ():
        for admission in value_of(permission.admits) or ():
            yield f"who may call `{permission.endpoint.text}`", admission
    rows = value_of(contract.authentication.rows)
    for rule in rows if isinstance(rows, tuple) else ():
        for admission in value_of(rule.admits) or ():
            yield f"who sees rows of `{rule.resource.text}`", admission


def _of_endpoint(endpoint: Endpoint, survey: Survey) -> Iterator[tuple[Expression, bool]]:
    """What an endpoint evaluates, each with whether others share it."""
    for expression in expressions_in(endpoint):
        yield expression, False
    for expression in _shown(endpoint, survey):
        yield expression, True
    for action in value_of(endpoint.does) or ():
        transition = survey.transition(action)
        guard = None if transition is None else value_of(transition.when)
        if guard is not None:
            yield guard, True
        created = survey.graph.resources.get(action.subject or "")
        if kind_of(action.verb).makes and created is not None:
            yield from ((each, True) for each in _needed(endpoint, created))


def _shown(endpoint: Endpoint, survey: Survey) -> Iterator[Expression]:
    """The views that its responses apply, and the computed fields that these and it read."""
    for resource, name in survey.met(endpoint):
        own = survey.graph.fields[resource].get(name)
        if own is not None and (computed := value_of(own.computed)) is not None:
            yield computed
        for view in value_of(survey.graph.resources[resource].views) or ():
            if f"{view.name}()" == name:
                yield from expressions_in(view)


def _needed(endpoint: Endpoint, resource: Resource) -> Iterator[Expression]:
    """What gives values that a new row has to have, and that the request does not give."""
    required = {each.text for each in value_of(resource.required) or ()}
    body = value_of(endpoint.body)
    if body is not None and body.reference is not None:
        return
    given = {each.name for each in value_of(endpoint.sets) or ()} | set(_named(body))
    for field in value_of(resource.fields) or ():
        if field.name in required and field.name not in given:
            yield from (made for made in (value_of(field.on_create), value_of(field.on_change)) if made is not None)


def _named(body: object) -> Iterator[str]:
    """The fields that a body may give, by the names that stand in it."""
    for expression in expressions_in(body):
        yield from (node.name for node in every(expression.ast) if isinstance(node, NameAst))


def _reads(expression: Expression, shared: bool, issues: bool) -> bool:
    """Whether it reads `caller` where there is none. `shared`: one that asks by `has` says itself what comes then."""
    nodes = list(every(expression.ast))
    if shared and any(_asks(node) for node in nodes):
        return False
    issued = [node.operand for node in nodes if isinstance(node, Member) and _is_credential(node)] if issues else []
    return any(_is_caller(node) and not any(node is each for each in issued) for node in nodes)


def _asks(node: Ast) -> bool:
    return isinstance(node, Invocation) and node.function == "has" and any(map(_is_caller, every(node)))


def _is_caller(node: Ast) -> bool:
    return isinstance(node, NameAst) and node.name == "caller"


def _is_credential(node: Member) -> bool:
    """`caller.credential`: of an endpoint that issues one, the one that it issues."""
    return node.name == "credential" and _is_caller(node.operand)
