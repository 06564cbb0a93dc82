"""What refused a request: the facts that it ran into."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.language.conditions import BY_NAME
from ninefold.plan.chosen import given
from ninefold.plan.held import CANNOT_BE_MADE
from ninefold.plan.operations import List, Read, Sweep
from ninefold.plan.places import Place
from ninefold.plan.routes import BodyField, Parameter, Rule, Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import Pin
from ninefold.trace.causes import Cause, Fixed, Given, Http, Refusal, Requested
from ninefold.trace.identifier import NotATrace, Refused
from ninefold.trace.nodes import IDEMPOTENCY_KEY, Edition, body_fields, conditions, header_parameters, query_parameters
from ninefold.trace.values import once, stated

_CONDITIONS = tuple(BY_NAME)
"""The closed list, by whose positions identifiers name conditions."""

OF_VALUES = Fixed(4)

OF_CASES = Fixed(57)

NO_NODE = "it names something that is not in the plan"


def refusal(edition: Edition, route: Served | None, admission: int, refused: Refused) -> Refusal:
    """One failure with its causes. Raises NotATrace where the plan has no such node."""
    if not 0 <= refused.condition < len(_CONDITIONS):
        raise NotATrace(NO_NODE)
    condition, subject = _CONDITIONS[refused.condition], None
    trace: tuple[Place, ...] = ()
    if condition == "rate limited":
        trace = _rate(edition.plan, refused.node)
    elif refused.node >= 0:
        if route is None or not 0 <= admission < len(route.admissions):
            raise NotATrace(NO_NODE)
        nodes = conditions(route.admissions[admission].operation)
        if refused.node >= len(nodes) or nodes[refused.node].condition != condition:
            raise NotATrace(NO_NODE)
        subject, trace = nodes[refused.node].subject, nodes[refused.node].trace
    codes = edition.problems.codes
    if refused.code >= len(codes):
        raise NotATrace(NO_NODE)
    code = None if refused.code < 0 else codes[refused.code].name
    causes = stated(trace)
    if refused.node < 0 or condition in ("rate limited", "invalid"):
        causes = once(*causes, *_causes(edition, route, admission, condition))
    else:
        causes = once(*causes, *_of_condition(condition), *_asked(route, condition))
    if not refused.rule:
        return Refusal(condition, subject, code, causes)
    pointer, more = _value(route, refused)
    causes = once(*stated(trace), *more) if more or trace else causes
    return Refusal(condition, subject, code, causes, refused.where or None, pointer, refused.rule)


def _rate(plan: ServicePlan, number: int) -> tuple[Place, ...]:
    if not 0 <= number < len(plan.limits.rates):
        raise NotATrace(NO_NODE)
    return plan.limits.rates[number].trace


def _of_condition(name: str) -> Iterator[Cause]:
    """What a condition has to do with beside the contract."""
    condition = BY_NAME[name]
    yield from map(Fixed, condition.meanings)
    if condition.requested is not None:
        yield Requested(condition.requested)
    if condition.http is not None:
        yield Http(condition.http)
    if condition.machine is not None:
        yield Given(condition.machine)


def _asked(route: Served | None, condition: str) -> tuple[Cause, ...]:
    if route is None:
        return ()
    return stated([route.places[key] for key in BY_NAME[condition].facts if key in route.places])


def _causes(edition: Edition, route: Served | None, admission: int, condition: str) -> tuple[Cause, ...]:
    """The causes of a condition that the server told without asking the database."""
    plan, found = edition.plan, list[Cause]()
    match condition:
        case "unauthenticated":
            found += () if route is None else stated([place for each in route.admissions for place in each.trace])
            named = () if route is None else route.schemes
            found += stated([place for each in plan.schemes if each.scheme in named for place in each.trace])
        case "forbidden" if route is not None:
            admitted = route.admissions[admission : admission + 1] if admission >= 0 else route.admissions
            found += stated([place for each in admitted for place in each.trace])
            if route.cases is not None and admission >= 0 and not route.admissions[admission].case:
                found += (*stated(_of_cases(route)), OF_CASES)
        case "too large" | "timed out" if condition in plan.limits.places:
            found += stated([plan.limits.places[condition]])
        case "too large":
            found.append(Given("the largest body that is read"))
        case "method not allowed" | "missing" if route is not None:
            # A text in the path that is not as its schema says is missing too; by which rule is not told.
            values = [place for each in route.path for place in (*each.trace, *(rule.place for rule in each.rules))]
            found += stated((*route.trace, *values))
        case "conflict" if route is not None and admission >= 0:
            # Rows of one change take the same value: of which field, the database does not say.
            judged = conditions(route.admissions[admission].operation)
            found += stated([place for each in judged if each.condition == condition for place in each.trace])
        case "unknown version" | "retired version":
            retired = () if edition.version is None else edition.version.places.values()
            found += stated(
                (*retired, *versions_places(plan)) if condition == "retired version" else versions_places(plan)
            )
            if plan.versions is not None and isinstance(plan.versions.default, Pin):
                found.append(Requested("the credential"))
        case _:
            pass
    return once(*found, *_asked(route, condition), *_of_condition(condition))


def versions_places(plan: ServicePlan) -> tuple[Place, ...]:
    """Where the versions are stated."""
    versions = plan.versions
    return () if versions is None else (*versions.trace, *(place for each in versions.versions for place in each.trace))


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
        none = (Fixed(18),) if route.body is not None and route.body.optional else ()
        if route.cases is not None and refused.rule != "unknown":
            return None, once(*stated(_of_cases(route)), asked, OF_CASES)
        return None, once(*stated([route.places[key]] if key in route.places else ()), asked, *none)
    field = fields[refused.target]
    if refused.rule == "unknown":
        found = [route.places[key] for key in ("requests unknown members",) if key in route.places]
        return _pointer(field.pointer), once(*stated((*found, *field.trace)), asked)
    if 0 <= refused.depth < len(field.pointer):
        # The object that holds the field, not the field itself.
        found = [route.places[key] for key in ("body",) if key in route.places]
        below = [each for each in fields if each.pointer[: refused.depth] == field.pointer[: refused.depth]]
        required = [
            rule.place for each in below for rule in each.rules if (rule.path, rule.keyword) == ((), "required")
        ]
        return _pointer(field.pointer[: refused.depth]), once(*stated((*found, *required)), asked)
    at, rules = _rule(field, refused)
    return _pointer((*field.pointer, *at)), once(*stated((*rules, *field.trace)), *_of_type(refused), asked)


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
    if refused.rule == "refers to":
        return (Fixed(16),)
    if refused.rule == CANNOT_BE_MADE:
        return (OF_VALUES,)
    return (Fixed(3), Fixed(13)) if refused.at < 0 and refused.rule in ("type", "format", "pattern") else ()


def _pointer(path: tuple[str, ...]) -> str:
    """A JSON Pointer (RFC 6901), with `*` for each element."""
    return "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in path)


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
    return name, once(*stated(_of_list(route, name)), Fixed(5), asked)


def _of_list(route: Served, name: str) -> list[Place]:
    """Where a parameter of what is read or listed is stated: what a request chooses, a filter, the order, the pages."""
    found: list[Place] = []
    for admission in route.admissions:
        operation = admission.operation
        if isinstance(operation, Read | List):
            choices = given(operation.choices)
            found += [place for each in choices if each.parameter == name for place in each.trace]
        if not isinstance(operation, List | Sweep):
            continue
        found += [place for each in operation.filters if each.name == name for place in each.trace]
        if isinstance(operation, Sweep):
            continue
        if name == operation.sort_parameter:
            found += operation.sort_trace
        paging = operation.paging
        for key in ("size", "next", "start", "number"):
            if getattr(paging, key) == name:
                keys = (key, "largest") if key == "size" else (key, "by")
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
        return name, once(*stated([] if key is None else [key]), Fixed(28), asked)
    return name, once(*stated(route.trace), Fixed(35), asked)
