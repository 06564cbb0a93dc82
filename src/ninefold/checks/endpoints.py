"""Part 4: each endpoint, served with plain values, or stopped with the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.checked.endpoints import (
    Array,
    Content,
    Endpoint,
    Leaf,
    Object,
    Parameter,
    Response,
    Rows,
    Segment,
    Stopped,
    Verb,
)
from ninefold.checked.resources import Guard, Resource, Transition
from ninefold.checks.authentication import admissions
from ninefold.checks.bodies import check_body, check_required
from ninefold.checks.codes import DELETED_ROW, NOT_A_SUCCESS, NOT_IN_FORCE, SEVERAL_RESPONSES
from ninefold.checks.contents import Showing, check_content
from ninefold.checks.findings import Findings, condition, typed
from ninefold.checks.lists import check_filters, check_pages, check_parameters, check_sorts
from ninefold.checks.paths import check_addressing, check_path
from ninefold.checks.resources import Vocabulary
from ninefold.checks.states import check_sets
from ninefold.contract import endpoints as stated
from ninefold.contract.expression import Expression
from ninefold.contract.fact import Fact, Name, Shown, StatedNone, value_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.codes import CODES as EXPRESSION_CODES
from ninefold.expressions.reads import needs_database
from ninefold.expressions.rewrite import walk
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import All, Call, Select, Typed, Variable
from ninefold.questions.question import OpenQuestion
from ninefold.values import Array as ArrayType
from ninefold.values import Boolean, Integer, Object as ObjectType, Row, Text, Type, from_schema

BUILT: Mapping[str, Verb] = {
    "create": "create",
    "read": "read",
    "list": "list",
    "update": "update",
    "replace": "replace",
    "delete": "delete",
    "compute": "compute",
}
"""The verbs that this build does, and transitions besides."""


LATER = frozenset({"ensure", "remove", "sign in", "subscribe", "unsubscribe", "stream events", "call"})
"""The verbs that it does not."""

KEPT = frozenset((*EXPRESSION_CODES, NOT_IN_FORCE))
"""What is said of an endpoint that a gap blocks."""

STOPS = "the endpoint answers 501"


def check_endpoints(
    contract: Contract,
    open_questions: tuple[OpenQuestion, ...],
    resources: Mapping[str, Resource],
    vocabulary: Vocabulary,
    findings: Findings,
) -> tuple[tuple[Endpoint, ...], tuple[Stopped, ...]]:
    for question in open_questions:
        for key in question.blocks:
            findings.stop(key, f"not shown: {question.text}", question.span)
    served, stopped = [], []
    for endpoint in value_of(contract.endpoints.endpoints) or ():
        if endpoint.key in findings.stops:
            own = findings.of_expressions()
            _endpoint(endpoint, contract, resources, vocabulary, own)
            findings.diagnostics += [each for each in own.diagnostics if each.code in KEPT]
            found = None
        else:
            found = _endpoint(endpoint, contract, resources, vocabulary, findings)
        reasons = tuple(dict.fromkeys(findings.stops.get(endpoint.key, ())))
        if found is not None and not reasons:
            served.append(found)
        else:
            stopped.append(
                Stopped(
                    key=endpoint.key,
                    method=endpoint.method,
                    segments=tuple(
                        each.text if isinstance(each, stated.Literal) else None for each in endpoint.segments
                    ),
                    place=findings.place(endpoint.span),
                    reasons=reasons or (f"it reads what is not shown (line {findings.place(endpoint.span).line})",),
                )
            )
    return tuple(served), tuple(stopped)


def _endpoint(
    endpoint: stated.Endpoint,
    contract: Contract,
    resources: Mapping[str, Resource],
    vocabulary: Vocabulary,
    findings: Findings,
) -> Endpoint | None:
    """The endpoint as it would be served; None if something of it is open, wrong or not built, which has been
    said. Everything that is stated is checked all the same."""
    for what, consequence, span in _left_for_later(endpoint):
        findings.left_for_later(f"{what} of `{endpoint.key}`", consequence, span)
        if consequence == STOPS:
            findings.stop(endpoint.key, f"not in force in this build: {what}", span)
    actions = value_of(endpoint.does)
    if actions is None or len(actions) != 1:
        return None
    action = actions[0]
    transition: Transition | None = None
    resource = resources.get(action.subject or "")
    verb = BUILT.get(action.verb)
    if verb is None and resource is not None and resource.machine is not None:
        transition = resource.machine.transitions.get(action.verb)
        verb = "transition" if transition is not None else None
    if verb is None or (resource is None and verb != "compute"):
        return None

    segments = check_path(endpoint, resource, resources, findings)
    if segments is None:
        return None
    if resource is not None:
        check_addressing(endpoint, verb, resource, segments, findings)
    rows = () if resource is None else (resource.name,)
    scope = vocabulary.scope(*rows, request=_request(endpoint))
    body = None if resource is None else check_body(endpoint, resource, contract, findings)
    if verb == "update" and resource is not None and isinstance(endpoint.patch, Shown):
        # RFC 7396 merges what an object holds as well, member by member.
        objects = [leaf.field for leaf in body or () if isinstance(resource.fields[leaf.field].type, ObjectType)]
        for name in objects:
            what = f"`patch: merge` of the object `{name}`"
            findings.left_for_later(f"{what} by `{endpoint.key}`", STOPS, endpoint.patch.span)
            findings.stop(endpoint.key, f"not in force in this build: {what}", endpoint.patch.span)
    sets = () if resource is None else tuple(check_sets(endpoint.sets, resource, vocabulary, findings))
    if resource is not None and verb == "create":
        check_required(endpoint, resource, body, segments, dict(sets), findings)
    where_scope = vocabulary.scope(*rows, request=_request(endpoint))
    where = (
        None if (stated_where := value_of(endpoint.where)) is None else condition(stated_where, where_scope, findings)
    )
    is_list = verb == "list" and resource is not None
    filters = check_filters(endpoint, resource, vocabulary, findings) if is_list and resource is not None else ()
    sorts = check_sorts(endpoint, resource, findings) if is_list and resource is not None else None
    pages = check_pages(endpoint, contract, findings) if is_list else None
    if is_list:
        check_parameters(endpoint, filters, sorts, pages, findings)
        if pages is None or sorts is None:
            return None
    response = _response(endpoint, verb, resource, contract, resources, vocabulary, findings)
    if response is None:
        return None
    if verb == "delete" and resource is not None:
        _check_deleted(endpoint, response, resource, vocabulary, findings)
    row = None if (stated_row := value_of(endpoint.row)) is None else _row(stated_row, resource, scope, findings)
    validator = isinstance(endpoint.validators, Shown)
    if validator and (verb == "list" or _reads_beyond_row(response, rows, vocabulary)):
        what = "`validators` of a response that shows more than the row itself"
        assert isinstance(endpoint.validators, Shown)
        findings.left_for_later(f"{what} of `{endpoint.key}`", STOPS, endpoint.validators.span)
        findings.stop(endpoint.key, f"not in force in this build: {what}", endpoint.validators.span)
    key = value_of(endpoint.idempotency_key)
    return Endpoint(
        key=endpoint.key,
        method=endpoint.method,
        segments=segments,
        place=findings.place(endpoint.span),
        verb=verb,
        resource=None if resource is None else resource.name,
        response=response,
        admissions=admissions(
            contract, endpoint.key, None if resource is None else resource.name, verb, vocabulary, findings
        ),
        transition=transition,
        row=row,
        body=body,
        query=tuple(_parameters(endpoint.query)),
        request_headers=tuple(_parameters(endpoint.request_headers)),
        filters=filters,
        where=where,
        sorts=sorts,
        pages=pages,
        total=_mentions_total(response),
        sets=sets,
        guards=tuple(_guards(endpoint, scope, findings)),
        validator=validator,
        asks=("Idempotency-Key",) if key is not None and key.text == "optional" else (),
        errors={condition_.text: code.text for condition_, code in value_of(endpoint.errors) or ()},
    )


def _left_for_later(endpoint: stated.Endpoint) -> Iterator[tuple[str, str, Span]]:
    """What this endpoint states and this build does not do, and what that means for a caller."""
    actions = value_of(endpoint.does) or ()
    if len(actions) > 1:
        yield "several operations in one", STOPS, actions[0].span
    for action in actions[:1]:
        if action.verb in LATER:
            yield f"`{action.verb}`", STOPS, action.span
    if isinstance(endpoint.issues, Shown):
        yield "`issues`", STOPS, endpoint.issues.span
    patch = value_of(endpoint.patch)
    if patch is not None and patch.text != "merge":
        yield f"`patch: {patch.text}`", STOPS, patch.span
    key = value_of(endpoint.idempotency_key)
    if key is not None and key.text == "required":
        yield "`idempotency key: required`", STOPS, key.span
    elif key is not None:
        yield "`idempotency key`", "a request that sends one is answered 501", key.span


def _request(endpoint: stated.Endpoint) -> Type:
    """What an expression may read of the request: the endpoint's own parameters."""
    members: dict[str, Type] = {}
    for name, fact in (("query", endpoint.query), ("headers", endpoint.request_headers)):
        own: dict[str, Type] = {each.name: from_schema(each.schema.json) for each in value_of(fact) or ()}
        members[name] = ObjectType(members=own)
    return ObjectType(members=members)


def _parameters(fact: Fact[tuple[stated.Parameter, ...]] | None) -> Iterator[Parameter]:
    for each in value_of(fact) or ():
        code = None if each.otherwise is None else each.otherwise.text
        yield Parameter(each.name, from_schema(each.schema.json), each.schema.json, each.required, code)


def _guards(endpoint: stated.Endpoint, scope: Scope, findings: Findings) -> Iterator[Guard]:
    for each in value_of(endpoint.guards) or ():
        holds = condition(each.when, scope, findings)
        if holds is not None:
            code = None if each.otherwise is None else each.otherwise.text
            yield Guard(holds, code, findings.place(each.when.span))


def _row(expression: Expression, resource: Resource | None, scope: Scope, findings: Findings) -> Typed | None:
    """`row: caller.user`: the row acted on is this one."""
    if resource is None:
        return None
    named = typed(expression, scope, Row(resource=resource.name), findings)
    if named is None:
        return None
    own = Select(Variable(resource.name, Row(resource=resource.name)), resource.key.name, resource.key.type, "field")
    return Call("==", [own, named], Boolean())


def _response(
    endpoint: stated.Endpoint,
    verb: str,
    resource: Resource | None,
    contract: Contract,
    resources: Mapping[str, Resource],
    vocabulary: Vocabulary,
    findings: Findings,
) -> Response | None:
    responses = value_of(endpoint.responses)
    if responses is None:
        return None
    if len(responses) != 1:
        findings.say(
            SEVERAL_RESPONSES,
            f"`{endpoint.key}` has {len(responses)} responses, and one good end",
            *(Label(each.span) for each in responses[:2]),
            help=("errors and their statuses are part 7's",),
        )
        return None
    stated_response = responses[0]
    content = stated_response.content
    empty = stated_response.status in (204, 205)
    if not 200 <= stated_response.status <= 299 or (empty and not isinstance(content, StatedNone)):
        findings.say(
            NOT_A_SUCCESS,
            f"a response of `{endpoint.key}` has the status {stated_response.status}",
            Label(stated_response.span, "has no content" if empty else "is not a success"),
        )
        return None
    showing = Showing(
        contract, resources, vocabulary, findings, resource.name if resource is not None and verb == "list" else None
    )
    scope = _response_scope(endpoint, verb, resource, vocabulary)
    template = value_of(content)
    shown: Content | None = None
    if template is not None and not isinstance(template, Name):
        shown = check_content(template, scope, showing)
        if shown is None:
            return None
    elif not isinstance(content, StatedNone):
        return None
    headers = []
    for each in value_of(endpoint.headers) or ():
        value = typed(each.value, scope, Text(), findings)
        if value is None:
            return None
        headers.append((each.name, Leaf(value)))
    return Response(stated_response.status, shown, tuple(headers), findings.place(stated_response.span))


def _response_scope(endpoint: stated.Endpoint, verb: str, resource: Resource | None, vocabulary: Vocabulary) -> Scope:
    more: dict[str, Type] = {"request": _request(endpoint)}
    if resource is not None:
        secrets: dict[str, Type] = {each.name: Text() for each in resource.fields.values() if each.secret == "token"}
        more["issued"] = ObjectType(members=secrets)
    if verb == "list" and resource is not None:
        more["page"] = ObjectType(
            members={
                "items": ArrayType(items=Row(resource=resource.name)),
                "next": Text(nullable=True),
                "total": Integer(),
            }
        )
        return vocabulary.scope(**more)
    return vocabulary.scope(*(() if resource is None else (resource.name,)), **more)


def expressions_of(content: Content) -> Iterator[Typed]:
    match content:
        case Leaf():
            yield content.expression
        case Object():
            if content.present is not None:
                yield content.present
            for _, value in content.members:
                yield from expressions_of(value)
        case Array():
            for item in content.items:
                yield from expressions_of(item)
        case Rows():
            yield from expressions_of(content.item)


def _all_expressions(response: Response) -> Iterator[Typed]:
    if response.content is not None:
        yield from expressions_of(response.content)
    for _, leaf in response.headers:
        yield leaf.expression


def _mentions_total(response: Response) -> bool:
    return any(
        isinstance(node, Select) and node.name == "total" and node.operand == Variable("page", node.operand.type)
        for typed_ in _all_expressions(response)
        for node in walk(typed_)
    )


def _reads_beyond_row(response: Response, rows: tuple[str, ...], vocabulary: Vocabulary) -> bool:
    """Whether what is shown can change without the row being written: other rows, the caller, the time."""
    return any(_changes_alone(typed_, rows, vocabulary) for typed_ in _all_expressions(response))


def _changes_alone(typed_: Typed, rows: tuple[str, ...], vocabulary: Vocabulary) -> bool:
    for node in walk(typed_):
        match node:
            case Variable(name="caller" | "now" | "request" | "operator"):
                return True
            case Select(operand=Variable(name=name), name=field, through="computed") if name in rows:
                if _changes_alone(vocabulary.model[name].computed[field], rows, vocabulary):
                    return True
            case Select(operand=operand) if isinstance(operand.type, Row) and not (
                isinstance(operand, Variable) and operand.name in rows
            ):
                if needs_database(node, rows, vocabulary.model):
                    return True
            case Select(through="back"):
                return True
            case _:
                pass
    return False


def _check_deleted(
    endpoint: stated.Endpoint, response: Response, resource: Resource, vocabulary: Vocabulary, findings: Findings
) -> None:
    for typed_ in _all_expressions(response):
        for node in walk(typed_):
            further = isinstance(node, All) or (isinstance(node, Select) and node.through == "back")
            if isinstance(node, Select) and isinstance(node.operand, Select) and isinstance(node.operand.type, Row):
                further = further or needs_database(node, (resource.name,), vocabulary.model)
            if further:
                findings.say(
                    DELETED_ROW,
                    f"the response of `{endpoint.key}` reads more than the deleted `{resource.name}`",
                    Label(endpoint.span),
                )
                return
