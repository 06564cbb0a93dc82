"""What a response says of its causes under `--trace`: the nodes of the plan that took part, in one header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from ninefold.language.conditions import STATUSES
from ninefold.plan.operations import Operation
from ninefold.plan.problems import Condition, Location
from ninefold.plan.routes import BodyField, Parameter, Served, query_parameters
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.message import HeaderFields, Response
from ninefold.runtime.messages.problems import Failure, FieldFailure
from ninefold.runtime.operations.flow import Follow
from ninefold.runtime.request.exchange import Exchange, of_rate, refused_for
from ninefold.runtime.request.routes import Found
from ninefold.trace.identifier import (
    HEADER,
    MOST_NAMES,
    MOST_REFUSALS,
    Outcome,
    Refused,
    Trace,
    digest,
    outcome_number,
    write,
)
from ninefold.trace.nodes import (
    Edition,
    body_fields,
    conditions,
    editions,
    ends,
    fields_of_case,
    header_names,
    header_parameters,
)

_NAME = HEADER.lower().encode("ascii")
_CONDITIONS = {name: number for number, name in enumerate(STATUSES)}


class Tracer:
    """The identifiers of one plan's responses."""

    def __init__(self, plan: ServicePlan) -> None:
        of, names = digest(plan), {name.encode("ascii"): number for number, name in enumerate(header_names(plan))}
        found = [_Version(number, edition, of, names) for number, edition in enumerate(editions(plan))]
        self._versions = {each.name: each for each in found}
        self._newest = found[0]

    def traced(self, x: Exchange, response: Response | Follow) -> Response | Follow:
        """The same response with its identifier."""
        version = self._versions.get(x.version.name, self._newest)
        if isinstance(response, Follow):
            return replace(response, head=version.traced(x, response.head))
        return version.traced(x, response)


class _Version:
    """Those of one version, the `number`th of the plan whose digest is `of`."""

    def __init__(self, number: int, edition: Edition, of: str, names: Mapping[bytes, int]) -> None:
        self.name = None if edition.version is None else edition.version.name
        self._digest = of
        self._number = number
        self._headers = names
        self._routes = {route.key: number for number, route in enumerate(edition.routes)}
        self._served = {route.key: route for route in edition.routes if isinstance(route, Served)}
        self._codes = {code.name: number for number, code in enumerate(edition.problems.codes)}
        self._rates = {rate.name: number for number, rate in enumerate(edition.plan.limits.rates)}

    def traced(self, x: Exchange, response: Response) -> Response:
        value = write(self._digest, self._trace(x, response)).encode("ascii")
        return Response(response.status, (*response.headers, (_NAME, value)), response.body)

    def _trace(self, x: Exchange, response: Response) -> Trace:
        outcome = _outcome(x, response)
        route = self._served.get(x.endpoint.key)
        refusals = tuple(dict.fromkeys(self._refusals(x, route))) if outcome == "refused" else ()
        headers, others = self._names(response.headers)
        return Trace(
            version=self._number,
            route=self._routes.get(self._key(x), -1),
            admission=_admission(x, route),
            outcome=outcome_number(outcome),
            status=response.status,
            headers=headers,
            end=_end(x, route, response.status) if outcome in ("answered", "not modified") else 0,
            refusals=refusals[:MOST_REFUSALS],
            others=others,
            head=x.request.method == "HEAD",
            more=len(refusals) > MOST_REFUSALS,
            repeated=x.asked is not None and x.asked.repeated,
        )

    def _key(self, x: Exchange) -> str:
        """The endpoint; where only the path is one, the first that the path has."""
        if x.endpoint.key:
            return x.endpoint.key
        for method in x.allow[0][1].decode("ascii").split(", ") if x.allow else ():
            _, found = x.service.versions.find(msgspec.structs.replace(x.request, method=method), x.query)
            if isinstance(found, Found):
                return found.endpoint.key
        return ""

    def _names(self, fields: HeaderFields) -> tuple[int, tuple[str, ...]]:
        bits, others = 0, list[str]()
        for name, _ in fields:
            number = self._headers.get(name)
            if number is None:
                others.append(name.decode("ascii", "replace"))
            else:
                bits |= 1 << number
        return bits, tuple(others[:MOST_NAMES])

    # ── Refusals ──────────────────────────────────────────────────────────────────────────────────────────────

    def _refusals(self, x: Exchange, route: Served | None) -> Iterator[Refused]:
        """The failure that counts, then those that are told with it: of its rank and its code, about fields."""
        problems, own = x.version.problems, x.endpoint.errors
        first = min(x.failures, key=lambda failure: problems.rank(failure, own))
        name, rank = problems.code(first, own), problems.rank(first, own)
        code = -1 if name is None else self._codes.get(name, -1)
        admission = _admission(x, route)
        nodes = () if route is None or admission < 0 else conditions(route.admissions[admission])
        yield from self._refused(x, route, first, code, nodes)
        for failure in x.failures:
            if failure is not first and failure.fields:
                if problems.code(failure, own) == name and problems.rank(failure, own) == rank:
                    yield from self._refused(x, route, failure, code, nodes)

    def _refused(
        self, x: Exchange, route: Served | None, failure: Failure, code: int, nodes: Sequence[Condition]
    ) -> Iterator[Refused]:
        condition = _CONDITIONS[failure.condition]
        if failure in refused_for(x.told):
            for told in x.told:
                if told.refused and of_rate(told) == failure:
                    yield Refused(condition, self._rates.get(told.rate.name, -1), code)
            return
        node = _node(failure, nodes)
        if not failure.fields:
            yield Refused(condition, node, code)
        for field in failure.fields:
            where, target, at, depth = "", -1, -1, -1
            if route is not None:
                where, target, at, depth = _value(route, field, x.endpoint.case)
            yield Refused(condition, node, code, where, target, field.rule, at, depth)


def _outcome(x: Exchange, response: Response) -> Outcome:
    if x.failures:
        return "refused"
    if response.status == 304:
        return "not modified"
    if response.status == 408:
        return "stalled"
    if response.status == 426:
        return "not upgraded"
    if x.asked is not None:
        return "answered"
    return "methods" if x.request.method == "OPTIONS" else "not in force"


def _admission(x: Exchange, route: Served | None) -> int:
    if x.admission is None or route is None:
        return -1
    who = x.admission.who
    wanted = (who, x.endpoint.case)
    return next((number for number, each in enumerate(route.admissions) if (each.who, each.case) == wanted), -1)


def _operation(x: Exchange, route: Served | None) -> Operation | None:
    number = _admission(x, route)
    return None if route is None or number < 0 else route.admissions[number].operation


def _end(x: Exchange, route: Served | None, status: int) -> int:
    """Which good end it was: by its status; where two have the same, by what was done."""
    operation = _operation(x, route)
    statuses = [] if operation is None else [each.status for each in ends(operation)]
    if statuses.count(status) == 1:
        return statuses.index(status)
    return x.asked.call.end if len(statuses) > 1 and x.asked is not None else 0


def _node(failure: Failure, nodes: Sequence[Condition]) -> int:
    """Which condition of the plan a failure is; -1: the server told it without the database."""
    wanted = (failure.condition, failure.subject, failure.code, failure.trace)
    same = [
        number
        for number, each in enumerate(nodes)
        if (each.condition, each.subject, each.code, each.trace) == wanted
        and (each.location is None or _is_one_of((each.location, *each.others), failure))
    ]
    return same[0] if same and (failure.trace or not failure.fields) else -1


def _is_one_of(locations: Sequence[Location], failure: Failure) -> bool:
    return bool(failure.fields) and any(_is_at(each.pointer, failure.fields[0].pointer) for each in locations)


def _is_at(planned: str, told: str) -> bool:
    """Whether a place is the planned one: an item at some position is at `*`."""
    if planned == told:
        return True
    parts = planned.split("/"), told.split("/")
    return len(parts[0]) == len(parts[1]) and all(
        one == other or (one == "*" and other.isdecimal()) for one, other in zip(*parts, strict=True)
    )


# ── Values of the request ─────────────────────────────────────────────────────────────────────────────────────


def _value(route: Served, field: FieldFailure, case: int) -> tuple[str, int, int, int]:
    """Where a value is, which field or parameter it is for, which of its rules it does not keep, and how deep the
    object is that the rule is about."""
    if field.place == "body":
        return "body", *_in_body(body_fields(route), fields_of_case(route, case), field)
    if field.place == "row":
        return "row", -1, -1, -1
    written, *path = _path(field) or ("",)  # a name that is too long to be told is none of the contract's
    name = written.lower() if field.place == "header" else written
    match field.place:
        case "header":
            names, own = header_parameters(route), route.headers
        case "path":
            own = (*route.stored, *route.path)
            names = tuple(each.name for each in own)
        case _:
            names, own = query_parameters(route), route.query
    target = names.index(name) if name in names else -1
    parameter = next((each for each in own if each.name in (written, name)), None)
    return field.place, target, -1 if parameter is None else _rule(parameter, tuple(path), field.rule), -1


def _path(field: FieldFailure) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in field.pointer.split("/")[1:])


def _in_body(every: Sequence[BodyField], own: range, failed: FieldFailure) -> tuple[int, int, int]:
    fields = [(number, every[number]) for number in own]
    path = _path(failed)
    for number, field in fields:
        if path[: len(field.pointer)] == field.pointer:
            return number, _rule(field, path[len(field.pointer) :], failed.rule), -1
    for number, field in fields:
        if field.pointer[: len(path)] == path:
            return number, -1, len(path)
    if failed.rule == "unknown":
        return -1, -1, -1
    # A value that no body gave, and that nothing else could make, is told by the field's own name.
    return next((number for number, field in fields if path == (field.field,)), -1), -1, -1


def _rule(field: BodyField | Parameter, path: tuple[str, ...], keyword: str) -> int:
    for number, rule in enumerate(field.rules):
        if rule.keyword == keyword and len(rule.path) == len(path):
            if all(named in (part, "*") for named, part in zip(rule.path, path, strict=True)):
                return number
    return -1
