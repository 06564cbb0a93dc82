"""Parts 7 and 8: how what may refuse a request is answered, the pages of lists, and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows
from ninefold.checked.endpoints import ErrorShape
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.tree import Select, Typed, Variable, free_variables
from ninefold.language import limits as stated
from ninefold.language.declaration import members
from ninefold.language.shapes import Duration
from ninefold.plan.limits import Rate
from ninefold.plan.operations import Paging
from ninefold.plan.problems import ErrorCode, names
from ninefold.plan.routes import Served
from ninefold.plan.said import Saying
from ninefold.tools.openapi.schemas import INTEGER, component, error_name, reference, rewritten, value_or_null
from ninefold.tools.openapi.service import Endpoint, Json, Service, carried_headers
from ninefold.trace.refusal import Refusal
from ninefold.values import duration_text, required


@dataclass(frozen=True)
class Answer:
    """An error response. `name` is made of the codes that it can bear, and of the conditions that have none."""

    status: str
    name: str
    response: Json


def responses(endpoint: Endpoint, service: Service) -> list[Answer]:
    """The error responses of an endpoint, by rising status. Conditions of one status share a response."""
    return answers(endpoint.refusals, service, endpoint.route)


def shared(service: Service) -> Json:
    """The error responses that several endpoints give, by name: components of the document."""
    found: dict[str, list[Json]] = {}
    for endpoint in service.endpoints:
        for each in responses(endpoint, service):
            found.setdefault(each.name, []).append(each.response)
    return {name: several[0] for name, several in found.items() if several.count(several[0]) > 1}


def answers(refused: Sequence[Refusal], service: Service, route: Served | None = None) -> list[Answer]:
    """The responses to some conditions."""
    coded: dict[int, dict[str, tuple[ErrorCode, str]]] = {}
    bare: dict[int, list[str]] = {}
    again = set[int]()
    for each in refused:
        code = code_of(each, service, {} if route is None else route.errors)
        if each.condition in _TOLD_WHEN:
            again.add(service.plan.problems.statuses[each.condition] if code is None else code.status)
        if code is None:
            names = bare.setdefault(service.plan.problems.statuses[each.condition], [])
            if each.condition not in names:
                names.append(each.condition)
        else:
            coded.setdefault(code.status, {}).setdefault(code.known_as, (code, each.condition))
    found = []
    for status in sorted(coded.keys() | bare.keys()):
        codes, without = coded.get(status, {}), bare.get(status, [])
        response = _answer(codes, without, service, route)
        headers = {name: _MAY_BE for code, _ in codes.values() for name in code.headers}
        headers |= rate_headers(route, service, status in again) | carried_headers(str(status), route, service)
        if status == 401 and any(scheme.challenge for scheme in service.plan.schemes):
            headers["WWW-Authenticate"] = {"required": True, "schema": {"type": "string"}}
        if status == 403 and route is not None and any(admission.scopes for admission in route.admissions):
            headers["WWW-Authenticate"] = _MAY_BE
        if headers:
            response["headers"] = headers
        found.append(Answer(str(status), component(".".join((*codes, *without))), response))
    return found


_MAY_BE: Json = {"required": False, "schema": {"type": "string"}}
"""A header that is left out where it has no value."""


def code_of(condition: Refusal, service: Service, own: Mapping[str, str]) -> ErrorCode | None:
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
    told = [code.text("title") or name for name, (code, _) in codes.items()]
    shape, own = _shape(route, service)
    has_body = bool(codes) and shape.content is not None
    without = [f"{each} (without a body)" if has_body else each for each in bare]
    answer: Json = {"description": "; ".join(dict.fromkeys([*told, *without]))}
    if has_body and shape.content is not None and shape.media_type is not None:
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
    texts = [set(each.said) for each in service.checked.errors.codes]
    certain = {"code"}.union(set.intersection(*texts) if texts else ("title",))

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
    error: Json = {"code": code.known_as, "status": code.status, "fields": [], "messages": {}, **code.said}
    if code.about is not None and "title" in code.said:
        error["messages"] = {code.about: [code.said["title"]]}
    if condition in ("invalid", "conflict"):
        name = None if condition == "conflict" else _required_member(route)
        if name is None:
            return None
        message = service.plan.problems.messages.get("required") or service.plan.problems.messages.get("otherwise")
        field = {"place": "body", "pointer": f"/{name}", "name": name, "rule": "required"}
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
            return {name: value for name, value, of in values if value is not None or of.null_shown}
        case Array(items=items):
            several = ((_value(each, env), each) for each in items)
            return [value for value, of in several if value is not None or of.null_shown]
        case Choice(condition=condition, yes=yes, no=no):
            return _value(yes if _value(Leaf(condition), env) else no, env)
        case Rows() | Each():
            return None


def page_parameters(paging: Paging) -> Iterator[Json]:
    """The parameters by which a request asks for a page; their bounds are those beyond which they are refused."""
    if paging.by == "none":
        return
    if paging.size is not None:
        bounds = {"minimum": paging.minimum} | ({} if paging.maximum is None else {"maximum": paging.maximum})
        refused = {} if paging.said.get("clamps") else bounds
        yield _query(paging.size, {**INTEGER, **refused, "default": paging.default})
    if paging.at is not None and paging.by == "cursor":
        yield _query(paging.at, {"type": "string"})
    elif paging.at is not None:
        yield _query(paging.at, {**INTEGER, "minimum": paging.first, "default": paging.first})


def _query(name: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "schema": schema}


def rates(route: Served, service: Service) -> list[Rate]:
    """The rates that count the requests of an endpoint."""
    return [rate for rate in service.plan.limits.rates if route.key in rate.endpoints]


_TOLD_WHEN = ("too many requests", "unavailable")
"""The conditions with which it is told when to try again: meaning "rate headers"."""


def rate_headers(route: Served | None, service: Service, again: bool = False) -> Json:
    """The headers that tell a caller how its rates stand; where it may be told when to try `again`, that too."""
    if route is None or not rates(route, service):
        return {}
    return {
        header.name: {"schema": {"type": "string"} if header.carries in ("policies", "standings") else dict(INTEGER)}
        for header in service.plan.limits.headers
        if header.carries != "retry after" or again
    }


def limits(service: Service) -> Json:
    planned = service.plan.limits
    found: Json = {}
    if planned.rates:
        found["rates"] = [_rate(rate, service) for rate in planned.rates]
    found |= _plainly(stated.Limits, planned)
    return {"limits": found} if found else {}


def _plainly(record: type, planned: Saying) -> Json:
    """The plain values that a record of the language says, by their keys."""
    shapes = {each.name: each.key.shape for each in members(record)}
    said = ((name, shapes[name], value) for name, value in planned.said.items() if name in shapes)
    return {name: duration_text(int(value)) if isinstance(shape, Duration) else value for name, shape, value in said}


def _rate(rate: Rate, service: Service) -> Json:
    """One that counts by an expression is told without it: the line has it. One that counts some endpoints alone names
    them."""
    of = {"of": rate.of} if isinstance(rate.of, str) else {}
    burst = {"burst": rate.burst} if rate.burst else {}
    told: Json = {"name": rate.name, **of, "allow": rate.allow, "per": duration_text(rate.per_microseconds)}
    every = {each.route.key for each in service.endpoints}
    some = {} if every <= set(rate.endpoints) else {"endpoints": list(rate.endpoints)}
    own = _plainly(stated.Rate, rate)
    return told | {
        "algorithm": rate.algorithm,
        **burst,
        **own,
        **some,
        "line": rate.trace[0].line if rate.trace else None,
    }
