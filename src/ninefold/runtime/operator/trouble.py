"""Why a request was refused, blocked or failed: a caller is told what the contract says, its author all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.language.conditions import BY_NAME
from ninefold.plan.routes import Admission, Blocked, Route, Served
from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.access_log import Reason
from ninefold.runtime.messages.message import Response
from ninefold.runtime.messages.problems import Failure, FieldFailure
from ninefold.runtime.request.exchange import Exchange
from ninefold.values.pointers import pointer

MOST_REASONS = 3
"""Reasons of one request that are logged."""


@dataclass(frozen=True, slots=True)
class Cause:
    """`condition` as the language calls it, narrowed where it is. `pointer` and `rule` where it is about a value: a
    pointer into the body, or `query`, `header` or `path` and one into that. `words` is what else there is to say.
    `places` are of the lines of the contract that say so."""

    condition: str
    pointer: str = ""
    rule: str = ""
    words: str = ""
    places: tuple[Place, ...] = ()


_UNREFUSED = {
    408: Cause("stalled"),
    426: Cause("not upgraded", words="the stream is had over WebSocket alone"),
}
"""By their statuses, answers of HTTP itself that no condition stands for."""


class Causes:
    """The causes of what a service answers, from its plan and from what was found of a request."""

    def __init__(self, plan: ServicePlan, given: Mapping[str, object]) -> None:
        self._plan = plan
        self._given = given
        self._routes: dict[tuple[str | None, str], Route] = {(None, route.key): route for route in plan.routes}
        for version in () if plan.versions is None else plan.versions.versions:
            self._routes |= {(version.name, route.key): route for route in version.routes or plan.routes}

    def of(self, x: Exchange, response: Response) -> tuple[Cause, ...]:
        """The causes of a response, the one that counts first; none for a good one."""
        if response.status < 400:
            return ()
        route = self._routes.get((x.version.name, x.route or ""))
        if not x.failures:
            return (_UNREFUSED.get(response.status) or self._blocked(route),)
        own = x.endpoint.errors
        problems = x.version.problems
        rank = min(problems.rank(failure, own) for failure in x.failures)
        counting = [failure for failure in x.failures if problems.rank(failure, own) == rank]
        return tuple(dict.fromkeys(cause for failure in counting for cause in self._causes(failure, x, route)))

    def reasons(self, x: Exchange, response: Response) -> tuple[Reason, ...]:
        """The same for the log, which names nothing that a client has made up: conditions and lines, each once."""
        causes = self.of(x, response)
        if not causes:
            return ()
        found = (Reason(each.condition, tuple(dict.fromkeys(place.line for place in each.places))) for each in causes)
        return tuple(dict.fromkeys(found))[:MOST_REASONS]

    def _blocked(self, route: Route | None) -> Cause:
        """A 501: a gap, an operator value that is not given, or something that is not in force."""
        match route:
            case Blocked(reasons=reasons, trace=trace):
                return Cause("blocked", words="; ".join(reasons), places=trace)
            case Served(trace=trace):
                missing = [
                    value
                    for value in self._plan.operator
                    if value.name not in self._given and route.key in value.blocks
                ]
                if missing:
                    names = ", ".join(f"operator.{value.name}" for value in missing)
                    return Cause("blocked", words=f"{names} is not given (--set)", places=missing[0].places or trace)
                return Cause("not in force", words="the request asks for another version", places=trace)
            case None:
                return Cause("not in force")

    def _causes(self, failure: Failure, x: Exchange, route: Route | None) -> Iterator[Cause]:
        # Of what is wrong with a value its place in the request tells more than its field.
        narrowed = failure.subject is not None and not failure.fields
        name = f"{failure.condition} {failure.subject}" if narrowed else failure.condition
        if failure.code is not None:
            name += f" ({failure.code})"
        served = route if isinstance(route, Served) else None
        for each in failure.fields:
            places = failure.trace or (() if served is None else tuple(_places_of(each, served)))
            where = each.pointer if each.place == "body" else f"{each.place} {each.pointer}"
            yield Cause(name, where, each.rule, places=places or (() if served is None else served.trace))
        if not failure.fields:
            words = BY_NAME[failure.condition].words
            yield Cause(name, words=words, places=failure.trace or self._places(failure, x, served))

    def _places(self, failure: Failure, x: Exchange, route: Served | None) -> tuple[Place, ...]:
        """Where the contract says what a condition without a place of its own comes from."""
        limit = self._plan.limits.places.get(failure.condition)
        if limit is not None:
            return (limit,)
        if route is None:
            return ()
        match failure.condition:
            case "unauthenticated" | "forbidden":
                admitted: Sequence[Admission] = [each for each in route.admissions if each.who == x.caller.who]
                admitted = admitted or route.admissions
                return admitted[0].trace if admitted else route.trace
            case "internal" | "unavailable":
                return ()
            case _:
                return route.trace


def _places_of(failure: FieldFailure, route: Served) -> Iterator[Place]:
    """Where the contract states the field or the parameter in whose value a failure is."""
    match failure.place:
        case "body":
            for field in () if route.body is None else route.body.fields:
                at = pointer(field.pointer)
                if failure.pointer == at or failure.pointer.startswith(at + "/"):
                    yield from field.trace
        case "query" | "header" | "path":
            stated = {"query": route.query, "header": route.headers}.get(failure.place, (*route.stored, *route.path))
            for parameter in stated:
                if parameter.name.lower() == failure.name.lower():
                    yield from parameter.trace
