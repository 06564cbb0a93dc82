"""What may refuse a request to an endpoint that is served: drawn from its plan, which is what runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Call, Constant, MakeArray, MakeObject, Select, Typed, Variable
from ninefold.language.conditions import CHECK, CONDITIONS, Step, of_parameter
from ninefold.plan.authentication import GRANT_TYPE
from ninefold.plan.held import refusals as of_held
from ninefold.plan.operations import Compute, List, Operation, Read, Stream, Sweep
from ninefold.plan.problems import Condition
from ninefold.plan.routes import Admission, Body, PathParameter, Served, in_case
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import places_of
from ninefold.plan.writes import (
    Assign,
    Ensure,
    Further,
    Instead,
    Write,
    given_values,
    of_lack,
    of_values,
    own_invariants,
)
from ninefold.trace.refusal import Refusal, told


def refusals(route: Served, plan: ServicePlan, case: int | None = None) -> tuple[Refusal, ...]:
    """Everything that may refuse a request whose path is this endpoint's, in the order of the steps: in one of its
    `cases`, or in any."""
    schemes = {each.scheme: each.trace for each in plan.schemes}
    in_force = [each.scheme for each in plan.schemes if each.in_force]
    every = range(1, len(route.cases.cases) + 1) if route.cases is not None else (0,)
    found = [*_of_any(route, plan)]
    for number in every if case is None else (case,):
        found += of_case(route, number, schemes, in_force)
    limits = plan.limits.places
    stated = (replace(each, trace=(limits[each.condition],)) if each.condition in limits else each for each in found)
    return tuple(sorted(dict.fromkeys(stated), key=lambda each: each.step))


def of_case(
    route: Served, case: int, schemes: Mapping[str, tuple[Place, ...]], in_force: Collection[str]
) -> Iterator[Refusal]:
    """What depends on the endpoint alone, in one of its cases (0: it has none). `schemes`: those of the service, with
    where they are stated; `in_force`: those whose credentials are accepted."""
    route = in_case(route, case)
    body, admissions = route.body, route.admissions
    resource = next((_resource(each.operation) for each in admissions), None)
    yield from _of_path(route)
    if route.offers is not None:
        yield told("not acceptable", Step.ACCEPT)
    yield from _of_callers(route, admissions, schemes, in_force, resource)
    yield from _of_parameters(route, admissions, resource)
    if body is not None and not (body.optional and body.unknown == "ignored"):
        yield from _of_body(route, body, resource)
    if route.idempotency_key is not None:
        yield told("idempotency mismatch", Step.JUDGED)
        yield told("idempotency in progress", Step.JUDGED)
    for admission in admissions:
        yield from of_admission(admission)


def of_admission(admission: Admission) -> Iterator[Refusal]:
    """What an operation and the function that is called before it may refuse to whom they are admitted."""
    yield from of_operation(admission.operation, admission.who)
    call = admission.call
    if call is not None:
        held = (each.held for each in call.arguments if each.held is not None)
        yield from _told((each for one in held for each in of_held(one)), Step.DONE)
        yield from (told(CHECK, Step.DONE, code=code) for code in call.refuses)


def of_versions(plan: ServicePlan, name: str | None) -> Iterator[Refusal]:
    """What may refuse a request by the version that it asks for, `name`, or that there is not."""
    versions = plan.versions
    if versions is None:
        return
    stated = places_of(versions)
    yield told("unknown version", Step.ROUTE, trace=stated)
    for each in versions.versions:
        if each.retired and each.name == name:
            yield told("retired version", Step.ROUTE, trace=(*each.places.values(), *stated), version=each.name)


def _of_any(route: Served, plan: ServicePlan) -> Iterator[Refusal]:
    """What may refuse a request to anything that the service has."""
    versions = plan.versions
    for each in () if versions is None else of_versions(plan, versions.current):
        if each.condition != "unknown version" or versions is None or versions.by != "path":
            yield each  # where the path names the version, one that there is not leads to no endpoint
    if any(isinstance(each, PathParameter) for each in route.segments):
        # A value that is no UTF-8, or a literal segment elsewhere, leads to no endpoint at all.
        yield told("no such path", Step.ROUTE)
    for rate in plan.limits.rates:
        if route.key in rate.endpoints:
            yield told("too many requests", Step.RATES, trace=rate.trace, rate=rate.name)
    if plan.limits.request_microseconds is not None:
        yield told("timed out", Step.ANY)
    yield from (told(each.name, each.steps[0]) for each in CONDITIONS if each.of == "any request")


def _of_path(route: Served) -> Iterator[Refusal]:
    declared = {each.name for each in route.path}
    for segment in route.segments:
        if isinstance(segment, PathParameter) and segment.name not in declared:
            yield told("not found", Step.PATH, resource=segment.resource, trace=route.trace)
    for each in route.stored:
        yield told("invalid", Step.PATH, trace=each.trace)


def _of_callers(
    route: Served,
    admissions: Sequence[Admission],
    schemes: Mapping[str, tuple[Place, ...]],
    in_force: Collection[str],
    resource: str | None,
) -> Iterator[Refusal]:
    if admissions and not route.schemes:
        return  # it is for anyone alone: no credential is read
    stated = tuple(place for each in admissions for place in each.trace)
    asked = (place for name in schemes if name in route.schemes for place in schemes[name])
    yield told("unauthenticated", Step.CALLER, trace=(*stated, *asked))
    yield from (told("unauthenticated", Step.CALLER, scheme=each) for each in schemes)
    who = {each.who for each in admissions}
    if "anyone" not in who and not who.issuperset(in_force):
        yield told("forbidden", Step.CALLER, resource=resource, trace=stated)


def _of_parameters(route: Served, admissions: Sequence[Admission], resource: str | None) -> Iterator[Refusal]:
    for each in route.path:
        # By which rule a text is none that a row can have is not told: every one may be it.
        stated = (*route.trace, *each.trace, *(rule.place for rule in each.rules))
        yield told("not found", Step.PARAMETERS, resource=resource, trace=stated)
        yield told("not found", Step.PARAMETERS, path=each.name, trace=stated)
    for place, parameters in (("query", route.query), ("header", route.headers)):
        for each in parameters:
            named = of_parameter("invalid", place, each.origin or each.name)
            yield Refusal("invalid", Step.PARAMETERS, named, trace=each.trace)
    chosen = any(_takes_parameters(each.operation) for each in admissions)
    if not route.requests.ignores_unknown_parameters or route.idempotency_key is not None or chosen:
        yield told("invalid", Step.PARAMETERS)
    for admission in admissions:
        if admission.condition is not None:
            yield told("forbidden", Step.PARAMETERS, resource=_resource(admission.operation), trace=admission.trace)
        if isinstance(admission.operation, Stream) and admission.operation.websocket:
            if admission.operation.origins is not None:
                yield told("forbidden", Step.PARAMETERS, resource=_resource(admission.operation), trace=route.trace)
    cases = route.cases
    if cases is not None and cases.by is not None and all(each.name for each in cases.cases):
        stated = (*cases.trace, *(place for each in cases.cases for place in each.trace))
        yield told("forbidden", Step.PARAMETERS, None, "", "cases", resource=resource, trace=stated)


def _takes_parameters(operation: Operation) -> bool:
    match operation:
        case List(paging=paging):
            return any((paging.size, paging.at))
        case Read() | Write() | Stream() | Compute() | Sweep():
            return False
        case _:
            assert_never(operation)


def _of_body(route: Served, body: Body, resource: str | None) -> Iterator[Refusal]:
    for each in CONDITIONS:
        if each.of == "a body" or each.name == "unsupported media type":
            yield told(each.name, Step.BODY)
    cases = route.cases
    if resource is None or body.grants or (cases is not None and cases.member is not None):
        yield told("invalid", Step.BODY)
    if resource is not None and not body.grants:
        yield told("invalid", Step.BODY, resource=resource)
        yield from (
            told("invalid", Step.BODY, resource=resource, field=each.field, trace=each.trace) for each in body.fields
        )
    if body.edits:
        stated = (route.places["patch"],) if "patch" in route.places else route.trace
        yield told("different", Step.BODY, resource=resource, trace=stated)
        yield told("conflict", Step.BODY, resource=resource, trace=stated)
    if body.grants:
        yield told("invalid", Step.BODY, member=GRANT_TYPE)


def of_operation(operation: Operation, who: str) -> Iterator[Refusal]:
    """What an operation may be refused for to such a caller (a scheme's name, or `anyone`): what its judge tells, then
    what is found as it is done, whatever causes it."""
    match operation:
        case Read() | List():
            yield from () if operation.judge is None else _told(operation.judge.conditions)
            if operation.conditional:
                yield told("precondition failed", Step.DONE, resource=operation.resource)
        case Write():
            yield from _told(_judged(operation))
            yield from _told((*_lacking(operation, who), *_unfit(operation)))
            further = operation.steps(Further)
            yield from _told(own_invariants(operation), Step.DONE, len(further))
            yield from _told((each.condition for each in operation.upholds), Step.DONE)
            for effect in operation.effects:
                # Where there is no such row, nothing happens; of several none is gone (meaning "effects").
                of_all = effect.write.several and effect.each is None
                left = {"not found", "forbidden", *(("gone",) if of_all else ())}
                yield from _later(each for each in of_operation(effect.write, who) if each.condition not in left)
            if (instead := operation.step(Instead)) is not None:
                # The row was found just now, and this caller sees it.
                own = of_operation(instead.write, who)
                yield from (each for each in own if each.condition not in ("not found", "forbidden", "gone"))
            for number, following in enumerate(further, 1):
                yield from _later(of_operation(following.write, who), number)
        case Sweep():
            yield from () if operation.judge is None else _told(operation.judge.conditions)
            # The rows were found just now: each of them is there.
            each_row = of_operation(operation.change.write, who)
            yield from (each for each in each_row if each.condition not in ("not found", "gone"))
        case Stream():
            yield from () if operation.judge is None else _told(operation.judge.conditions)
            yield told("invalid", Step.DONE)
            if operation.lines:
                yield told("precondition failed", Step.DONE)
        case Compute():
            yield from () if operation.judge is None else _told(operation.judge.conditions)
            if operation.conditional:
                yield told("precondition failed", Step.DONE)
        case _:
            assert_never(operation)


def _judged(write: Write) -> Iterator[Condition]:
    """What the judge of a write tells. What may make a row misses one of its own only where it is there, and not
    seen."""
    for each in write.judge.conditions:
        makes = isinstance(write, Ensure) and write.makes
        own = makes and each.condition == "not found" and each.subject == write.resource
        if not own or not set(write.seen).isdisjoint(each.trace):
            yield each


def _unfit(write: Write) -> Iterator[Condition]:
    """That what the contract gives a field cannot be made, or is not as the field says. What always can be, and is, is
    not among it."""
    assigns = given_values(write)
    sure = {each.field for each in assigns if each.otherwise is not None and _is_sure_to_fit(each)}
    yield from (each for each in of_values(write, sure))


def _is_sure_to_fit(assign: Assign) -> bool:
    match assign.otherwise:
        case Call(function="random", arguments=[Constant()]):
            return assign.held is None or assign.held.schema is None
        case None:
            return False
        case _:
            return _is_made(assign.otherwise)


def _is_made(typed: Typed) -> bool:
    """Whether it is written out in the contract, and was held to its field with that."""
    match typed:
        case MakeObject(members=members):
            return all(_is_made(each) for _, each in members)
        case MakeArray(items=items):
            return all(map(_is_made, items))
        case _:
            return isinstance(typed, Constant)


def _lacking(write: Write, who: str) -> Iterator[Condition]:
    """That a field has to have a value and is given none, where what gives it may have none."""
    for each in given_values(write):
        if each.otherwise is not None and not each.type.nullable and not _is_sure(each.otherwise, who):
            yield of_lack(write, each)


def _is_sure(typed: Typed, who: str) -> bool:
    """Whether it has a value of whatever request is not refused. Of who is not known nothing has."""
    match typed:
        case Call(function="?:", arguments=[Call(function="fails", arguments=[tried]), _, value]):
            return tried == value and _is_sure(value, who)
        case Select(operand=operand, type=type_):
            return not type_.nullable and _is_sure(operand, who)
        case Variable(name="caller"):
            return who != "anyone"
        case _:
            return not typed.type.nullable


def _told(conditions: Iterable[Condition], step: Step = Step.JUDGED, after: int = 0) -> Iterator[Refusal]:
    for each in conditions:
        yield Refusal(each.condition, step, each.subject, each.code, each.trace, after=after, of=each)


def _later(found: Iterable[Refusal], after: int = 0) -> Iterator[Refusal]:
    """The same, found as another operation is done: where nothing has refused the request."""
    return (replace(each, step=Step.DONE, after=after + each.after) for each in found)


def _resource(operation: Operation) -> str | None:
    return None if isinstance(operation, Compute | Stream) else operation.resource
