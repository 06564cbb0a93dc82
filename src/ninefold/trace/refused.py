"""What refused a request: the facts that it ran into, as `ninefold.contract.refusals` derives them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ninefold.diagnostics.place import Place
from ninefold.language.conditions import CONDITIONS, VERSION, Condition, subject_of
from ninefold.plan.held import CANNOT_BE_MADE
from ninefold.plan.operations import List
from ninefold.plan.routes import BodyField, Parameter, Rule, Served, in_case, query_parameters
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import Pin
from ninefold.trace.causes import Cause, Fixed, Given, Http, Refusal, Requested
from ninefold.trace.identifier import NotATrace, Refused
from ninefold.trace.members import once, stated
from ninefold.trace.nodes import IDEMPOTENCY_KEY, Edition, body_fields, conditions, header_parameters
from ninefold.trace.refusal import Refusal as Derived
from ninefold.trace.refusals import of_versions, refusals
from ninefold.values.pointers import pointer

OF_VALUES = Fixed("who gives a value")

OF_CASES = Fixed("cases")

NO_NODE = "it names something that is not in the plan"


def refusal(edition: Edition, route: Served | None, admission: int, refused: Refused) -> Refusal:
    """One failure with its causes. Raises NotATrace where the plan has no such node."""
    if not 0 <= refused.condition < len(CONDITIONS) or refused.code >= len(edition.problems.codes):
        raise NotATrace(NO_NODE)
    condition = CONDITIONS[refused.condition]
    code = None if refused.code < 0 else edition.problems.codes[refused.code].known_as
    subject, trace = _node(edition.plan, route, admission, condition, refused.node)
    found = stated(trace)
    if condition.name != "invalid" and (refused.node < 0 or condition.name == "too many requests"):
        found = (*found, *_derived(edition, route, admission, condition.name))
    facts = [] if route is None else [route.places[key] for key in condition.facts if key in route.places]
    causes = once(*found, *stated(facts), *_beside(edition.plan, condition))
    if not refused.rule:
        return Refusal(condition.name, subject, code, causes)
    pointer, more = _value(route, refused)
    causes = once(*stated(trace), *more) if more or trace else causes
    return Refusal(condition.name, subject, code, causes, refused.where or None, pointer, refused.rule)


def _node(
    plan: ServicePlan, route: Served | None, admission: int, condition: Condition, number: int
) -> tuple[str | None, tuple[Place, ...]]:
    """What a node of the plan narrows a condition to, and where it is stated."""
    if condition.name == "too many requests":
        if not 0 <= number < len(plan.limits.rates):
            raise NotATrace(NO_NODE)
        rate = plan.limits.rates[number]
        return subject_of(condition.name, rate=rate.name), rate.trace
    if number < 0:
        return None, ()
    if route is None or not 0 <= admission < len(route.admissions):
        raise NotATrace(NO_NODE)
    nodes = conditions(route.admissions[admission])
    if number >= len(nodes) or nodes[number].condition != condition.name:
        raise NotATrace(NO_NODE)
    return nodes[number].subject, nodes[number].trace


def _derived(edition: Edition, route: Served | None, admission: int, condition: str) -> Iterator[Cause]:
    """Why the server may have told a condition without asking the database, as that is derived."""
    found = of_versions(edition.plan, None if edition.version is None else edition.version.name)
    every = (*found, *(() if route is None else _of_route(edition, route, admission)))
    for each in every:
        if each.condition == condition and each.of is None:
            yield from stated(each.trace)
            yield from map(Fixed, each.meanings)
    if condition == "method not allowed" and route is not None:
        yield from stated(route.trace)
    if condition == "too large" and condition not in edition.plan.limits.places:
        yield Given("the largest body that is read")


def _of_route(edition: Edition, route: Served, admission: int) -> tuple[Derived, ...]:
    """What may refuse a request to an endpoint: one of whom it admits, in the case that was chosen."""
    if admission < 0:
        return refusals(route, edition.plan)
    admitted = route.admissions[admission]
    if route.cases is None or not admitted.case:
        return refusals(replace(route, admissions=(admitted,)), edition.plan, 0)
    own = in_case(route, admitted.case)
    return refusals(replace(own, admissions=(replace(admitted, case=0),), cases=None), edition.plan)


def _beside(plan: ServicePlan, condition: Condition) -> Iterator[Cause]:
    """What a condition has to do with beside the contract."""
    yield from map(Fixed, condition.meanings)
    if condition.requested is not None:
        yield Requested(condition.requested)
    if condition.http is not None:
        yield Http(condition.http)
    if condition.machine is not None:
        yield Given(condition.machine)
    if condition.requested == VERSION and plan.versions is not None and isinstance(plan.versions.default, Pin):
        yield Requested("the credential")


# ── Values of the request ─────────────────────────────────────────────────────────────────────────────────────


def _value(route: Served | None, refused: Refused) -> tuple[str | None, tuple[Cause, ...]]:
    """The JSON Pointer, or the name, of a value that does not keep a rule, and the facts of that rule."""
    if route is None:
        return None, ()
    match refused.where:
        case "body":
            return _of_body(route, refused)
        case "query":
            return _of_query(route, refused)
        case "header":
            return _of_header(route, refused)
        case "path":
            return _of_path(route, refused)
        case "row":
            return None, (OF_VALUES,)
        case _:
            return None, ()


def _of_body(route: Served, refused: Refused) -> tuple[str | None, tuple[Cause, ...]]:
    fields, asked = body_fields(route), Requested("the body")
    if refused.target >= len(fields):
        raise NotATrace(NO_NODE)
    if refused.target < 0:
        key = "requests unknown members" if refused.rule == "unknown" else "body"
        none = (Fixed("bodies"),) if route.body is not None and route.body.optional else ()
        if route.cases is not None and refused.rule != "unknown":
            return None, once(*stated(_of_cases(route)), asked, OF_CASES)
        return None, once(*stated([route.places[key]] if key in route.places else ()), asked, *none)
    field = fields[refused.target]
    if refused.rule == "unknown":
        found = [route.places[key] for key in ("requests unknown members",) if key in route.places]
        return pointer(field.pointer), once(*stated((*found, *field.trace)), asked)
    if 0 <= refused.depth < len(field.pointer):
        # The object that holds the field, not the field itself.
        found = [route.places[key] for key in ("body",) if key in route.places]
        below = [each for each in fields if each.pointer[: refused.depth] == field.pointer[: refused.depth]]
        required = [
            rule.place for each in below for rule in each.rules if (rule.path, rule.keyword) == ((), "required")
        ]
        return pointer(field.pointer[: refused.depth]), once(*stated((*found, *required)), asked)
    at, rules = _rule(field, refused)
    return pointer((*field.pointer, *at)), once(*stated((*rules, *field.trace)), *_of_type(refused), asked)


def _of_cases(route: Served) -> list[Place]:
    """Where it is stated by what a case is chosen, and which there are."""
    cases = route.cases
    return [] if cases is None else [*cases.trace, *(place for case in cases.cases for place in case.trace)]


def _rule(field: BodyField | Parameter, refused: Refused) -> tuple[tuple[str, ...], list[Place]]:
    """Where inside the value the rule is about, and everywhere that it is stated."""
    if refused.at < 0:
        return (), []
    if refused.at >= len(field.rules):
        raise NotATrace(NO_NODE)
    rule: Rule = field.rules[refused.at]
    return rule.path, [each.place for each in field.rules if (each.path, each.keyword) == (rule.path, rule.keyword)]


def _of_type(refused: Refused) -> tuple[Cause, ...]:
    """The fixed meanings of a rule: of references, and of what no keyword of the field states."""
    if refused.rule == "references":
        return (Fixed("references"),)
    if refused.rule == CANNOT_BE_MADE:
        return (OF_VALUES,)
    return (Fixed("values"),) if refused.at < 0 and refused.rule in ("type", "format", "pattern") else ()


def _of_query(route: Served, refused: Refused) -> tuple[str | None, tuple[Cause, ...]]:
    names = query_parameters(route)
    if refused.target >= len(names):
        raise NotATrace(NO_NODE)
    if refused.target < 0:
        key = "requests unknown parameters"
        return None, once(*stated([route.places[key]] if key in route.places else ()), Requested("the query"))
    name = names[refused.target]
    asked = Requested(f"the query parameter {name}")
    for each in route.query:
        if each.name == name:
            return name, once(*stated((*_rule(each, refused)[1], *each.trace)), asked)
    return name, once(*stated(_of_pages(route, name)), Fixed("pages and filters"), asked)


def _of_pages(route: Served, name: str) -> list[Place]:
    """Where a parameter of pages is stated."""
    found: list[Place] = []
    for admission in route.admissions:
        if not isinstance(admission.operation, List):
            continue
        paging = admission.operation.paging
        for key in ("size", "at"):
            if getattr(paging, key) == name:
                keys = (key, "minimum", "maximum") if key == "size" else (key, "by")
                found += [paging.places[each] for each in keys if each in paging.places]
    return found


def _of_path(route: Served, refused: Refused) -> tuple[str | None, tuple[Cause, ...]]:
    every = (*route.stored, *route.path)
    if not 0 <= refused.target < len(every):
        raise NotATrace(NO_NODE)
    own = every[refused.target]
    return own.name, once(*stated((*_rule(own, refused)[1], *own.trace)), Requested("the path"))


def _of_header(route: Served, refused: Refused) -> tuple[str | None, tuple[Cause, ...]]:
    names = header_parameters(route)
    if not 0 <= refused.target < len(names):
        raise NotATrace(NO_NODE)
    name = names[refused.target]
    asked = Requested(f"the header {name}")
    for each in route.headers:
        if each.name.lower() == name:
            return each.name, once(*stated((*_rule(each, refused)[1], *each.trace)), asked)
    if name == IDEMPOTENCY_KEY:
        key = route.places.get("idempotency key")
        return name, once(*stated([] if key is None else [key]), Fixed("idempotency keys"), asked)
    return name, once(*stated(route.trace), Fixed("streams"), asked)
