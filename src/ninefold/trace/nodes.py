"""How the nodes of a plan are numbered: the same for whoever writes an identifier and whoever reads it."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.events import RESUME
from ninefold.plan.limits import Rate
from ninefold.plan.operations import Operation, Stream
from ninefold.plan.problems import Condition, Problems
from ninefold.plan.responses import Carried, Response, carried
from ninefold.plan.routes import Admission, BodyField, Route, Served, bodies
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import Version
from ninefold.plan.writes import Write
from ninefold.trace.refusals import of_admission

OF_HTTP = {
    "date": "RFC 9110, section 6.6.1",
    "content-length": "RFC 9110, section 8.6",
    "transfer-encoding": "RFC 9112, section 7.1",
    "connection": "RFC 9112, section 9.6",
}
"""Headers that HTTP itself has in a response, whatever the service is."""

OF_STATUSES = {
    "allow": "RFC 9110, section 10.2.1",
    "www-authenticate": "RFC 9110, section 11.6.1",
}
"""Headers that HTTP wants with a status."""

OF_UPGRADES = {
    "sec-websocket-version": "RFC 6455, section 4.4",
    "upgrade": "RFC 9110, section 15.5.22",
}
"""Headers with 426, where a stream is had over WebSocket alone."""

OF_OTHER_ORIGINS = (
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "access-control-max-age",
    "vary",
)
"""Headers that tell browsers what scripts of other origins may do (https://fetch.spec.whatwg.org/#http-cors-protocol)."""

IDEMPOTENCY_KEY = "idempotency-key"


@dataclass(frozen=True)
class Edition:
    """What a plan does in one version. `version` None: it has none."""

    plan: ServicePlan
    routes: tuple[Route, ...]
    problems: Problems
    version: Version | None = None

    def rates(self, key: str | None) -> tuple[Rate, ...]:
        """The rates that count the requests to an endpoint, by its key."""
        rates, counted = self.plan.limits.rates, None if self.version is None else self.version.counted
        if self.version is None or self.version.problems is None or counted is None:
            return tuple(rate for rate in rates if key in rate.endpoints)
        return tuple(rate for rate in rates if rate.name in counted.get(key or "", ()))

    def carries(self, route: Served | None) -> tuple[Carried, ...]:
        """What each response of a route does, in the case that it is in; None: of no endpoint."""
        of_all = () if self.plan.versions is None else self.plan.versions.carries
        own = () if self.version is None else self.version.carries
        return carried(of_all, own, () if route is None else route.carries)


def editions(plan: ServicePlan) -> tuple[Edition, ...]:
    """The versions of a plan, in the order in which identifiers count them; one where it has none."""
    if plan.versions is None:
        return (Edition(plan, plan.routes, plan.problems),)
    return tuple(
        Edition(plan, plan.routes, plan.problems, each)
        if each.problems is None
        else Edition(plan, each.routes, each.problems, each)
        for each in plan.versions.versions
    )


def conditions(admission: Admission) -> tuple[Condition, ...]:
    """The conditions that may refuse an operation to whom it is admitted, in the order in which they are derived."""
    return tuple(each.of for each in of_admission(admission) if each.of is not None)


def ends(operation: Operation) -> tuple[Response, ...]:
    """The good ends of an operation: what it answers where it did what was to be done, and where nothing was."""
    return operation.ends_well if isinstance(operation, Write) else (operation.response,)


def header_parameters(route: Served) -> tuple[str, ...]:
    """The request headers that an endpoint reads, in lower case: its own, the idempotency key, what resumes a
    stream."""
    found = [each.name.lower() for each in route.headers] + [IDEMPOTENCY_KEY]
    for admission in route.admissions:
        if isinstance(admission.operation, Stream):
            found.append(RESUME.lower())
    return tuple(dict.fromkeys(found))


def body_fields(route: Served) -> tuple[BodyField, ...]:
    """Those of its bodies, in the order of the cases where there are any, and what is in them beside fields."""
    return tuple(field for body in bodies(route) for field in (*body.fields, *body.beside))


def fields_of_case(route: Served, case: int) -> range:
    """Which of these are of one case, by its number."""
    if not case or route.cases is None:
        return range(0 if route.cases is not None else len(body_fields(route)))
    sizes = [0 if each.body is None else len(each.body.fields) + len(each.body.beside) for each in route.cases.cases]
    start = sum(sizes[: case - 1])
    return range(start, start + sizes[case - 1])


def header_names(plan: ServicePlan) -> tuple[str, ...]:
    """Every header that a response of the service can have, in lower case, sorted."""
    return tuple(sorted({*OF_HTTP, *OF_STATUSES, *_names(plan)}))


def _names(plan: ServicePlan) -> Iterator[str]:
    yield from ("content-type", "etag", "retry-after", "cache-control")
    yield from OF_OTHER_ORIGINS if plan.cors is not None else ()
    yield from (header.name.lower() for header in plan.limits.headers)
    for edition in editions(plan):
        yield from (name.lower() for code in edition.problems.codes for name in code.headers)
        yield from (each.name.lower() for each in edition.carries(None))
        for route in (each for each in edition.routes if isinstance(each, Served)):
            of_cases = () if route.cases is None else (case.carries for case in route.cases.cases)
            yield from (each.name.lower() for own in (route.carries, *of_cases) for each in own)
            for admission in route.admissions:
                for response in ends(admission.operation):
                    yield from (name.lower() for name, _ in response.headers)
                if isinstance(admission.operation, Stream) and not admission.operation.lines:
                    yield from OF_UPGRADES
