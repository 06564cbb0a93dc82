"""Part 7: what can refuse a request on a route, and the answers to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

import msgspec

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows
from ninefold.checked.endpoints import ErrorShape
from ninefold.contract.fact import value_of
from ninefold.contract.survey import signs_out_caller
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.rewrite import free_variables
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.openapi.limits import rate_headers, rates
from ninefold.openapi.schemas import component, error_name, reference, rewritten, value_or_null
from ninefold.openapi.service import Endpoint, Json, Service
from ninefold.plan.operations import Compute, List, Operation, Read, Stream, Sweep, Write, of_values
from ninefold.plan.problems import Condition, ErrorCode, names
from ninefold.plan.routes import PathParameter, Served
from ninefold.values import required

# ── What can refuse ───────────────────────────────────────────────────────────────────────────────────────────


def conditions(endpoint: Endpoint, service: Service) -> list[Condition]:
    """Every condition that can refuse a request whose path is this endpoint's."""
    route, plan = endpoint.route, service.plan
    found = list(_before_the_operation(route, service))
    found += _of_parameters(route)
    if route.body is not None and not (route.body.optional and route.body.unknown == "ignored"):
        found += map(Condition, ("too large", "unsupported media type", "malformed", "invalid"))
        if route.body.edits:
            resource = next((_resource(each.operation) for each in route.admissions), None)
            found += (Condition("different", subject=resource), Condition("conflict", subject=resource))
        row = endpoint.checked.resource
        found += (Condition("invalid", subject=f"{row}.{each.field}") for each in route.body.fields if row is not None)
    for admission in route.admissions:
        if admission.condition is not None:
            found.append(Condition("forbidden", subject=_resource(admission.operation)))
        of_operation = _of_operation(admission.operation)
        if any(signs_out_caller(endpoint.stated, each) for each in value_of(endpoint.stated.does) or ()):
            # It is the row that the credential belongs to: none is sought.
            of_operation = (each for each in of_operation if each.condition != "missing")
        found += of_operation
        if admission.call is not None:
            found += (Condition("guard", code=code) for code in admission.call.refuses)
    case = endpoint.stated.case
    if case is not None and case.member is None and not case.has_rest:
        found.append(Condition("forbidden", subject=endpoint.checked.resource))
    if route.idempotency_key is not None:
        found += map(Condition, ("invalid", "idempotency mismatch", "idempotency in progress"))
    if rates(route, service):
        found.append(Condition("rate limited"))
    if plan.limits.request_microseconds is not None:
        found.append(Condition("timed out"))
    return [*found, Condition("unavailable"), Condition("internal")]


def _before_the_operation(route: Served, service: Service) -> Iterator[Condition]:
    versions = service.plan.versions
    if versions is not None and versions.by != "path":
        yield Condition("unknown version")
    if versions is not None and any(each.retired and each.name == versions.current for each in versions.versions):
        yield Condition("retired version")
    for segment in route.segments:
        if isinstance(segment, PathParameter):
            # A value that is no UTF-8, or a literal segment elsewhere, leads to no endpoint at all.
            yield Condition("no such path")
            yield Condition("missing", subject=segment.resource)
    if route.offers is not None:
        yield Condition("not acceptable")
    who = {admission.who for admission in route.admissions}
    if who != {"anyone"} or route.schemes:
        yield Condition("unauthenticated")
        yield from (Condition("unauthenticated", subject=each.scheme) for each in service.plan.schemes)
    strangers = {scheme.scheme for scheme in service.plan.schemes if scheme.in_force} - who
    if strangers and "anyone" not in who:
        yield Condition("forbidden", subject=next((_resource(each.operation) for each in route.admissions), None))


def _of_parameters(route: Served) -> Iterator[Condition]:
    for parameter in (*route.stored, *route.query, *route.headers, *(each for each in route.path if each.code)):
        yield Condition("invalid", code=parameter.code)
    reading = [each.operation for each in route.admissions if isinstance(each.operation, Read | List | Sweep)]
    if route.unknown_parameters == "refused" or any(map(_takes_parameters, reading)):
        yield Condition("invalid")


def _takes_parameters(operation: Read | List | Sweep) -> bool:
    if isinstance(operation, Sweep):
        return bool(operation.filters)
    if operation.choices is not None:
        return True
    if isinstance(operation, Read):
        return False
    paging = operation.paging
    names = (operation.sort_parameter, paging.size, paging.next, paging.start, paging.number)
    return bool(operation.filters) or any(names)


def _of_operation(operation: Operation) -> Iterator[Condition]:
    match operation:
        case Read(judge=judge):
            yield from judge.conditions
            if operation.validator:
                yield Condition("stale", subject=operation.resource)
        case List(judge=judge):
            yield from () if judge is None else judge.conditions
            if operation.validator:
                yield Condition("stale", subject=operation.resource)
        case Write(judge=judge):
            yield from judge.conditions
            yield from operation.invariants
            yield from of_values(operation)
            yield from (each.condition for each in operation.upholds)
            for effect in () if operation.then is None else operation.then.effects:
                # Where there is no such row, nothing happens (meaning 61).
                own = _of_operation(effect.write)
                yield from (each for each in own if each.condition not in ("missing", "forbidden"))
            for following in operation.further:
                yield from _of_operation(following)
        case Sweep(judge=judge):
            yield from () if judge is None else judge.conditions
            # The rows were found just now: each of them is there.
            each = _of_operation(operation.change.write)
            yield from (every for every in each if every.condition not in ("missing", "gone"))
        case Stream(resume=str()):
            yield Condition("invalid")
        case Compute():
            if operation.validator:
                yield Condition("stale")
        case Stream():
            pass
        case _:
            assert_never(operation)


def _resource(operation: Operation) -> str | None:
    return None if isinstance(operation, Compute | Stream) else operation.resource


# ── How it is answered ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Answer:
    """An error response. `name` is made of the codes that it can bear, and of the conditions that have none."""

    status: str
    name: str
    response: Json


def responses(endpoint: Endpoint, service: Service) -> list[Answer]:
    """The error responses of an endpoint, by rising status. Conditions of one status share a response."""
    return answers(conditions(endpoint, service), service, endpoint.route)


def shared(service: Service) -> Json:
    """The error responses that several endpoints give, by name: components of the document."""
    found: dict[str, list[Json]] = {}
    for endpoint in service.endpoints:
        for each in responses(endpoint, service):
            found.setdefault(each.name, []).append(each.response)
    return {name: several[0] for name, several in found.items() if several.count(several[0]) > 1}


def answers(refused: list[Condition], service: Service, route: Served | None = None) -> list[Answer]:
    """The responses to some conditions."""
    coded: dict[int, dict[str, tuple[ErrorCode, str]]] = {}
    bare: dict[int, list[str]] = {}
    for each in refused:
        code = code_of(each, service, {} if route is None else route.errors)
        if code is None:
            names = bare.setdefault(service.plan.problems.statuses[each.condition], [])
            if each.condition not in names:
                names.append(each.condition)
        else:
            coded.setdefault(code.status, {}).setdefault(code.name, (code, each.condition))
    found = []
    for status in sorted(coded.keys() | bare.keys()):
        codes, without = coded.get(status, {}), bare.get(status, [])
        response = _answer(codes, without, service, route)
        headers = rate_headers(route, str(status), service)
        if status == 401 and any(scheme.challenge for scheme in service.plan.schemes):
            headers["WWW-Authenticate"] = {"required": True, "schema": {"type": "string"}}
        if headers:
            response["headers"] = headers
        found.append(Answer(str(status), component(".".join((*codes, *without))), response))
    return found


def code_of(condition: Condition, service: Service, own: Mapping[str, str]) -> ErrorCode | None:
    """The code with which a condition is answered: its own, else that of its narrowest name (`conflict user.email`,
    `conflict user`, `conflict`), the endpoint's codes before the service's. None: a bare status."""
    called = names(condition.condition, condition.subject)
    of_all = service.plan.problems.conditions
    found = condition.code or next((codes[name] for codes in (own, of_all) for name in called if name in codes), None)
    return service.codes.get(found or "")


def _answer(
    codes: Mapping[str, tuple[ErrorCode, str]], bare: list[str], service: Service, route: Served | None
) -> Json:
    """One response. Its description is what the contract calls the errors, and what the language does where the
    contract does not."""
    told = [code.title or name for name, (code, _) in codes.items()]
    answer: Json = {"description": "; ".join(dict.fromkeys([*told, *bare]))}
    shape, own = _shape(route, service)
    if codes and shape.content is not None and shape.media_type is not None:
        schema = _schema(shape.content, service) if own else reference(error_name(service))
        body: Json = {"schema": schema}
        examples = {
            name: {"value": value}
            for name, (code, condition) in codes.items()
            if (value := _example(code, condition, service, route)) is not None
        }
        if examples:
            body["examples"] = examples
        answer["content"] = {shape.media_type: body}
        if bare:
            answer["x-ninefold"] = {"without a body": bare}
    return answer


def components(service: Service) -> Json:
    """The schema of an error, where the contract shows its shape. An answer with a body always has a code, and a
    title where every code has one."""
    content = service.checked.errors.content
    return {} if content is None else {error_name(service): _schema(content, service)}


def _shape(route: Served | None, service: Service) -> tuple[ErrorShape, bool]:
    """What the errors of an endpoint look like, and whether that is its own shape."""
    own = None if route is None else service.error_shapes.get(route.key)
    errors = service.checked.errors
    return (ErrorShape(errors.media_type, errors.content), False) if own is None else (own, True)


def _schema(content: Content, service: Service) -> Json:
    certain = {"code"} | ({"title"} if all(code.title for code in service.checked.errors.codes) else set())

    def given(node: Typed) -> Typed | None:
        match node:
            case Select(operand=Variable(name="error"), name=name) if name in certain:
                return msgspec.structs.replace(node, type=required(node.type))
            case _:
                return None

    return value_or_null(rewritten(content, given), service)


# ── Examples ──────────────────────────────────────────────────────────────────────────────────────────────────


def _example(code: ErrorCode, condition: str, service: Service, route: Served | None) -> Any:
    """The body that a code is answered with. None where it depends on more than the code: on the row, or on which
    value of the request is wrong, unless a required member that is left out can stand for all."""
    content = _shape(route, service)[0].content
    if content is None or code.name in service.detailed or not _reads_only_the_error(content):
        return None
    error: Json = {"code": code.name, "status": code.status, "fields": [], "messages": {}}
    if code.title is not None:
        error["title"] = code.title
        if code.about is not None:
            error["messages"] = {code.about: [code.title]}
    if condition in ("invalid", "conflict"):
        name = None if condition == "conflict" else _required_member(route)
        if name is None:
            return None
        message = service.plan.problems.messages.get("required") or service.plan.problems.messages.get("otherwise")
        field = {"in": "body", "pointer": f"/{name}", "name": name, "rule": "required"}
        error["fields"] = [field | ({} if message is None else {"message": message})]
        error["messages"] = {name: [] if message is None else [message]}
    return _value(content, {"error": error})


def _required_member(route: Served | None) -> str | None:
    """The first member that a body cannot do without."""
    needed = [] if route is None or route.body is None else route.body.schema.get("required", [])
    return next((name for name in needed if "/" not in name and "~" not in name), None)


def _reads_only_the_error(content: Content) -> bool:
    match content:
        case Leaf(expression=expression):
            return free_variables(expression) <= {"error"}
        case Object(members=members):
            return all(_reads_only_the_error(value) for _, value in members)
        case Array(items=items):
            return all(map(_reads_only_the_error, items))
        case Choice(condition=condition, yes=yes, no=no):
            return free_variables(condition) <= {"error"} and _reads_only_the_error(yes) and _reads_only_the_error(no)
        case Rows() | Each():
            return False


def _value(content: Content, env: Mapping[str, Any]) -> Any:
    """What a content shows; None: no value."""
    match content:
        case Leaf(expression=expression):
            try:
                return compile(expression)(env)
            except EvaluationError:
                return None
        case Object(members=members):
            values = ((name, _value(value, env), value) for name, value in members)
            return {name: value for name, value, of in values if value is not None or getattr(of, "null_shown", False)}
        case Array(items=items):
            return [value for each in items if (value := _value(each, env)) is not None]
        case Choice(condition=condition, yes=yes, no=no):
            return _value(yes if _value(Leaf(condition), env) else no, env)
        case Rows() | Each():
            return None
