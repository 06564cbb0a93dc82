"""Functions that endpoints call, and what they are called with; and by what the case of a request is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ninefold.checked.bodies import BodyLeaf, BodyMember
from ninefold.checked.endpoints import Argument, Call, Case
from ninefold.checked.resources import Resource
from ninefold.checks.constants import broken_by_constant
from ninefold.checks.findings import Findings, reads_database, typed
from ninefold.checks.model import Vocabulary, request_type
from ninefold.checks.schemas import admits_null
from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import CALLED_WITH, CHOSEN_BY, SAYS_NOTHING
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Assignment, Expression
from ninefold.language.fact import Shown, value_of
from ninefold.language.functions import Function
from ninefold.values import Object, Text, Type, optional
from ninefold.values.of_schemas import from_schema


def function_of(endpoint: Endpoint, contract: Contract) -> Function | None:
    """The function that an endpoint calls, where it calls one that is declared."""
    name = None if endpoint.call is None else endpoint.call.subject
    return next((each for each in value_of(contract.endpoints.functions) or () if each.name == name), None)


def result_type(endpoint: Endpoint, findings: Findings) -> Object | None:
    """The root `result`; None: it calls no function. Where what that gives is not known, it may be anything."""
    function = function_of(endpoint, findings.contract)
    gives = None if function is None else value_of(function.gives)
    if endpoint.call is None:
        return None
    if function is None or gives is None:
        return Object()
    return Object(members={function.name: from_schema(findings.schemas.inlined(gives.json))})


def check_call(
    endpoint: Endpoint,
    resource: Resource | None,
    body: Sequence[BodyLeaf],
    members: Sequence[BodyMember] | None,
    vocabulary: Vocabulary,
    findings: Findings,
) -> Call | None:
    """The call of an endpoint; None: it has none, or something of it is open or wrong."""
    if endpoint.call is None:
        if isinstance(endpoint.called_with, Shown):
            findings.say(
                SAYS_NOTHING,
                f"`with` says nothing of `{endpoint.key}`",
                Label(endpoint.called_with.span, "says what a function is called with"),
                Label(endpoint.span, "calls none"),
            )
        return None
    function = function_of(endpoint, findings.contract)
    gives = None if function is None else value_of(function.gives)
    if function is None and isinstance(findings.contract.endpoints.functions, Shown | None):
        findings.stop(endpoint.key, f"there is no function `{endpoint.call.subject}`", endpoint.call.span)
    if function is None or gives is None:
        return None
    fields = {_written(each, resource): each.field for each in body}
    request = _with_fields(request_type(endpoint, findings.schemas, members), fields, resource)
    schemas = findings.schemas
    given = {each.name: each for each in value_of(endpoint.called_with) or ()}
    taken = {each.name: each for each in value_of(function.takes) or ()}
    for name, each in given.items():
        if name not in taken:
            _say(f"`{function.name}` takes no `{name}`", each.span, "is not taken", did_you_mean(name, taken), findings)
    arguments = []
    for name, argument in taken.items():
        schema = schemas.inlined(argument.schema.json)
        own = given.get(name)
        if own is None:
            if endpoint.called_with is not None and given.keys() <= taken.keys():
                message = f"`{endpoint.key}` gives no `{name}` to `{function.name}`"
                help = (f"write it under `with`: `{name}: …`; where there is none, `{name}: null`",)
                _say(message, endpoint.called_with.span, f"without `{name}`", help, findings)
            continue
        found = _value(own, name, function, schema, request, vocabulary, findings)
        if found is not None:
            arguments.append(found)
    if len(arguments) != len(taken):
        return None
    schema = schemas.inlined(gives.json)
    return Call(
        function=function.name,
        arguments=tuple(arguments),
        gives=schema,
        type=from_schema(schema),
        refuses=tuple(each.text for each in value_of(function.refuses) or ()),
        fields=tuple((field, pointer) for pointer, field in fields.items()),
        place=findings.place(function.span),
    )


def _value(
    given: Assignment,
    name: str,
    function: Function,
    schema: Mapping[str, Any],
    request: Object | None,
    vocabulary: Vocabulary,
    findings: Findings,
) -> Argument | None:
    scope = vocabulary.scope(request=request)
    type_ = from_schema(schema)
    value = typed(given.value, scope, optional(type_), findings, in_sql=False)
    if value is None:
        return None
    if reads_database(value, scope):
        message = f"what `{function.name}` is called with reads rows"
        help = ("the request, the row that its caller is, `now` and `operator.NAME` can be read",)
        _say(message, given.value.span, "is known only to the database", help, findings)
        return None
    nullable = admits_null(dict(schema))
    for broken in broken_by_constant(value, schema):
        if broken is not None or not nullable:
            message = f"`{function.name}` is called with what it does not take as `{name}`"
            findings.say(CALLED_WITH, message, Label(given.value.span, broken or "is no value"))
            return None
    return Argument(name, value, type_, schema, nullable, findings.place(given.span))


def _written(leaf: BodyLeaf, resource: Resource | None) -> tuple[str, ...]:
    """The pointer to a field in the body as expressions name it, whatever an older version calls the field."""
    field = None if resource is None else resource.fields.get(leaf.field)
    if field is not None and leaf.pointer and leaf.pointer[-1] == field.called:
        return (*leaf.pointer[:-1], field.name)
    return leaf.pointer


def _with_fields(
    request: Object | None, fields: Mapping[tuple[str, ...], str], resource: Resource | None
) -> Object | None:
    """The root `request`, with what the body gives to fields: each may be left out."""
    if not fields or resource is None:
        return request
    groups: dict[str, Type] = {} if request is None else dict(request.members)
    body = groups.get("body")
    tree: dict[str, Any] = dict(body.members) if isinstance(body, Object) else {}
    for pointer, name in fields.items():
        at = tree
        for each in pointer[:-1]:
            at = at.setdefault(each, {})
        at[pointer[-1]] = optional(from_schema(resource.fields[name].schema))
    return Object(members={**groups, "body": _object(tree)})


def _object(tree: Mapping[str, Any]) -> Object:
    return Object(members={name: _object(each) if isinstance(each, dict) else each for name, each in tree.items()})


def _say(message: str, span: Any, label: str, help: tuple[str, ...], findings: Findings) -> None:
    findings.say(CALLED_WITH, message, Label(span, label), help=help)


# ── Cases ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def check_case(
    endpoint: Endpoint, resource: Resource | None, vocabulary: Vocabulary, findings: Findings
) -> Case | None:
    """The case that an endpoint is; None where it has none, or where it cannot be chosen, and that has been said."""
    case = endpoint.case
    by = None if case is None else value_of(case.by)
    if case is None or by is None:
        return None
    member = case.member
    if member is None:
        chosen = _by_request(by, endpoint, vocabulary, findings)
    else:
        chosen = _by_body(by, member, endpoint, findings)
    if chosen is None:
        return None
    if member is not None and resource is not None and member in resource.fields:
        # Callers of an older version may know the field by another name.
        member = resource.fields[member].called or member
    return Case(chosen, member, case.name, case.all, findings.place(case.span))


def _by_body(by: Expression, member: str, endpoint: Endpoint, findings: Findings) -> Typed | None:
    if (edits := endpoint.is_edited) or not isinstance(endpoint.body, Shown):
        what = "is no member of a JSON Patch" if edits else "is in no body that it takes"
        message = f"the case of `{endpoint.key}` is chosen by a member that no request has"
        help = () if edits else ("every case takes a body that names a field",)
        findings.say(CHOSEN_BY, message, Label(by.span, what), help=help)
        return None
    body = Select(Variable("request", Object()), "body", Object(), "member")
    return Select(body, member, Text(nullable=True), "member")


def _by_request(by: Expression, endpoint: Endpoint, vocabulary: Vocabulary, findings: Findings) -> Typed | None:
    request = request_type(endpoint, findings.schemas)
    subjects = (each.subject for each in value_of(endpoint.does) or ())
    rows = dict.fromkeys(each for each in subjects if each is not None and each in vocabulary.model)
    scope = vocabulary.scope(*rows, **({} if request is None else {"request": request}))
    found = typed(by, scope, Text(nullable=True), findings)
    if found is not None and reads_database(found, scope):
        message = f"the case of `{endpoint.key}` is chosen by a row"
        findings.say(CHOSEN_BY, message, Label(by.span, "is known only by a statement"))
        return None
    return found
