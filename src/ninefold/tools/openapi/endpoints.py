"""Part 4: paths and operations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ninefold.language.fact import value_of
from ninefold.plan.routes import PathParameter, Segment
from ninefold.tools.openapi import cases, extensions
from ninefold.tools.openapi.authentication import callers, security
from ninefold.tools.openapi.requests import parameters, request_body
from ninefold.tools.openapi.responses import responses
from ninefold.tools.openapi.service import Endpoint, Json, Service

_NOT_IN_A_NAME = re.compile(r"\W")


def paths(service: Service, shared: Json, schemas: Json) -> Json:
    """Endpoints by path; `shared` are error responses by name, `schemas` those that have one, of which some are added.
    OpenAPI takes paths that differ in the names of their
    parameters alone for the same path, so the first endpoint of a path names them for all."""
    found: Json = {}
    called: dict[tuple[str | None, ...], tuple[str, ...]] = {}
    for endpoint in service.endpoints:
        segments = endpoint.route.segments
        shape = tuple(None if isinstance(each, PathParameter) else each for each in segments)
        names = called.setdefault(shape, _parameter_names(segments))
        operations = found.setdefault(_path(segments, names), {})
        method, operation = endpoint.route.method.lower(), _operation(endpoint, names, shared, service)
        operation = cases.with_named_body(operation, endpoint, schemas)
        known = operations.get(method)
        operations[method] = operation if known is None else cases.together(known, operation)
        if endpoint.stated.case is not None and endpoint.stated.case.is_last:
            cases.finished(operations[method], endpoint)
    return found


def _parameter_names(segments: Sequence[Segment]) -> tuple[str, ...]:
    """`article.slug` as `article_slug`: what generators of code can make a name of. No two are the same."""
    names: list[str] = []
    for segment in segments:
        if isinstance(segment, PathParameter):
            name = _NOT_IN_A_NAME.sub("_", segment.name)
            while name in names:
                name += "_"
            names.append(name)
    return tuple(names)


def _path(segments: Sequence[Segment], names: Sequence[str]) -> str:
    left = iter(names)
    return "/" + "/".join(
        f"{{{next(left)}}}" if isinstance(segment, PathParameter) else segment for segment in segments
    )


def _operation(endpoint: Endpoint, names: tuple[str, ...], shared: Json, service: Service) -> Json:
    operation: Json = {}
    if endpoint.checked.resource is not None:
        operation["tags"] = [endpoint.checked.resource]
    operation["summary"] = endpoint.does
    if found := parameters(endpoint, names, service):
        operation["parameters"] = found
    if (body := request_body(endpoint, service)) is not None:
        operation["requestBody"] = body
    operation["responses"] = responses(endpoint, shared, service)
    operation["security"] = security(endpoint)
    operation["x-ninefold"] = dict(_beyond(endpoint, service))
    return operation


def _beyond(endpoint: Endpoint, service: Service) -> Iterator[tuple[str, object]]:
    """What OpenAPI has no words for."""
    stated, route = endpoint.stated, endpoint.route
    yield "endpoint", stated.key
    yield "line", service.line(stated.span)
    yield "callers", callers(endpoint, service)
    for name in ("row", "where"):
        expression = value_of(getattr(stated, name))
        if expression is not None:
            yield name, {"is": expression.text, "line": service.line(expression.span)}
    mutation = endpoint.checked.mutation
    if mutation is not None and mutation.transition is not None:
        yield "transition", extensions.taken(mutation.transition.name, endpoint, service)
    if mutation is not None and (further := mutation.further):
        yield "further", [{"takes": each.name, **extensions.taken(each.name, endpoint, service)} for each in further]
    guards = [
        {
            "when": guard.when.text,
            **({} if guard.otherwise is None else {"otherwise": guard.otherwise.text}),
            "line": service.line(guard.when.span),
        }
        for guard in value_of(stated.guards) or ()
    ]
    if guards:
        yield "guards", guards
    issued = value_of(stated.issues)
    if stated.case is not None:
        yield "cases", [cases.described(stated.case, service)]
    if issued is not None:
        yield "issues", {"scheme": issued.text, "line": service.line(issued.span)}
    if (ended := value_of(stated.ends)) is not None:
        yield "ends", {"credentials": ended.text, "line": service.line(ended.span)}
    if route.unknown_parameters == "refused":
        yield "unknown parameters", "refused"
    needed = [value.name for value in service.plan.operator if stated.key in value.blocks]
    if needed:
        yield "answered 501 without", [f"operator.{name}" for name in needed]
