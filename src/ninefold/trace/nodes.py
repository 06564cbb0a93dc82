"""How the nodes of a plan are numbered: the same for whoever writes an identifier and whoever reads it."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.plan.operations import List, Operation, Read, Stream, Write
from ninefold.plan.problems import Condition
from ninefold.plan.responses import Response
from ninefold.plan.routes import BodyField, Served
from ninefold.plan.service import ServicePlan

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


def conditions(operation: Operation) -> tuple[Condition, ...]:
    """What the database can refuse an operation for: the conditions of its judge, then its invariants."""
    judge = operation.judge if isinstance(operation, Read | List | Write) else None
    judged = () if judge is None else judge.conditions
    return (*judged, *operation.invariants) if isinstance(operation, Write) else judged


def ends(operation: Operation) -> tuple[Response, ...]:
    """The good ends of an operation: what it answers where it did what was to be done, and where nothing was."""
    if isinstance(operation, Write) and operation.untouched is not None:
        return operation.response, operation.untouched.response
    return (operation.response,)


def query_parameters(route: Served) -> tuple[str, ...]:
    """The query parameters that an endpoint knows: its own, then those of its list."""
    found = [each.name for each in route.query]
    for admission in route.admissions:
        operation = admission.operation
        if isinstance(operation, List):
            paging = operation.paging
            own = (operation.sort_parameter, paging.size, paging.next, paging.start)
            found += [each.name for each in operation.filters]
            found += [name for name in own if name is not None]
    return tuple(dict.fromkeys(found))


def header_parameters(route: Served) -> tuple[str, ...]:
    """The request headers that an endpoint reads, in lower case: its own, the idempotency key, what resumes a
    stream."""
    found = [each.name.lower() for each in route.headers] + [IDEMPOTENCY_KEY]
    for admission in route.admissions:
        if isinstance(admission.operation, Stream) and admission.operation.resume is not None:
            found.append(admission.operation.resume.lower())
    return tuple(dict.fromkeys(found))


def body_fields(route: Served) -> tuple[BodyField, ...]:
    return () if route.body is None else route.body.fields


def header_names(plan: ServicePlan) -> tuple[str, ...]:
    """Every header that a response of the service can have, in lower case, sorted."""
    return tuple(sorted({*OF_HTTP, *OF_STATUSES, *_names(plan)}))


def _names(plan: ServicePlan) -> Iterator[str]:
    yield from ("content-type", "etag", "retry-after", "cache-control")
    yield from OF_OTHER_ORIGINS if plan.cross_origin is not None else ()
    yield from (header.name.lower() for header in plan.limits.headers)
    for route in plan.routes:
        for admission in route.admissions if isinstance(route, Served) else ():
            for response in ends(admission.operation):
                yield from (name.lower() for name, _ in response.headers)
