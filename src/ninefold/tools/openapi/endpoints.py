"""Parts 4 and 5: paths and operations, how callers are recognised, and who may call what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ninefold.language import authentication as stated
from ninefold.language.authentication import ANYONE, Every
from ninefold.language.fact import StatedNone, text_of, value_of
from ninefold.plan.routes import PathParameter, Segment
from ninefold.tools.openapi import responses as answers
from ninefold.tools.openapi import service as of_service
from ninefold.tools.openapi.names import named
from ninefold.tools.openapi.requests import parameters, request_body
from ninefold.tools.openapi.responses import responses
from ninefold.tools.openapi.schemas import component
from ninefold.tools.openapi.service import Endpoint, Json, Service

_NOT_IN_A_NAME = re.compile(r"\W")


def paths(service: Service, shared: Json, schemas: Json) -> Json:
    """Endpoints by path; `shared` are error responses by name, `schemas` those that have one, of which some are added.
    OpenAPI takes paths that differ in the names of their
    parameters alone for the same path, so the first endpoint of a path names them for all."""
    found: Json = {}
    called: dict[tuple[str, ...], tuple[str, ...]] = {}
    for endpoint in service.endpoints:
        segments = endpoint.route.segments
        shape = tuple(f"{{}}:{each.after}" if isinstance(each, PathParameter) else each for each in segments)
        names = called.setdefault(shape, _parameter_names(segments))
        operations = found.setdefault(_path(segments, names), {})
        method, operation = endpoint.route.method.lower(), _operation(endpoint, names, shared, service)
        operation = answers.with_named_body(operation, endpoint, schemas)
        known = operations.get(method)
        operations[method] = operation if known is None else answers.together(known, operation, shared)
        if endpoint.stated.case is not None and endpoint.stated.case.is_last:
            answers.finished(operations[method], endpoint)
    return named(found, schemas, service)


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
        f"{{{next(left)}}}" + (f":{segment.after}" if segment.after else "")
        if isinstance(segment, PathParameter)
        else segment
        for segment in segments
    )


def _operation(endpoint: Endpoint, names: tuple[str, ...], shared: Json, service: Service) -> Json:
    operation: Json = {}
    if endpoint.checked.resource is not None:
        operation["tags"] = [endpoint.checked.resource]
    operation["summary"] = endpoint.does
    if "Deprecation" in of_service.carried_headers("200", endpoint.route, service):
        operation["deprecated"] = True
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
    if (where := value_of(stated.where)) is not None:
        yield "where", {"is": where.text, "line": service.line(where.span)}
    mutation = endpoint.checked.mutation
    if mutation is not None and mutation.transition is not None:
        yield "transition", of_service.taken(mutation.transition.name, endpoint, service)
    if mutation is not None and (further := mutation.further):
        yield "further", [{"takes": each.name, **of_service.taken(each.name, endpoint, service)} for each in further]
    guards = [
        of_service.checked(guard, service) | {"line": service.line(guard.that.span)}
        for guard in value_of(stated.check) or ()
    ]
    if guards:
        yield "check", guards
    issued = value_of(stated.issues)
    if stated.case is not None:
        yield "cases", [answers.described(stated.case, endpoint.does, service)]
    if issued is not None:
        yield "issues", {"scheme": issued.text, "line": service.line(issued.span)}
    if (ended := value_of(stated.ends)) is not None:
        yield "ends", {"credentials": ended.text, "line": service.line(ended.span)}
    if not route.requests.ignores_unknown_parameters:
        yield "unknown parameters", "refused"
    needed = [value.name for value in service.plan.operator if stated.key in value.blocks]
    if needed:
        yield "answered 501 without", [f"operator.{name}" for name in needed]


def security_schemes(service: Service) -> Json:
    known = {scheme.name for scheme in service.checked.schemes}
    return {
        component(scheme.name): _scheme(scheme, service)
        for scheme in value_of(service.contract.authentication.schemes) or ()
        if scheme.name in known
    }


def _scheme(scheme: stated.Scheme, service: Service) -> Json:
    """A scheme in OpenAPI's words. One that needs an address of another system, which is the operator's and never in
    a contract, is told as what goes over the wire: a bearer token (RFC 6750)."""
    kind = text_of(scheme.type) or ""
    owner = value_of(scheme.issued_to)
    place = {"line": service.line(scheme.span)} | ({} if owner is None else {"issued to": owner.text})
    match kind:
        case "http":
            return {"type": "http", "scheme": text_of(scheme.scheme) or "", "x-ninefold": place}
        case "apiKey":
            where, name = text_of(scheme.location) or "", text_of(scheme.parameter) or ""
            return {"type": "apiKey", "in": where, "name": name, "x-ninefold": place}
        case "mutualTLS":
            return {"type": "mutualTLS", "x-ninefold": place}
        case _:
            issuer = value_of(scheme.issuer)
            known: Json = {"type": kind} | ({} if issuer is None else {"issuer": issuer.text})
            scopes = [name.text for name in value_of(scheme.scopes) or ()]
            known |= {"scopes": scopes} if scopes else {}
            flows = _granted(scheme, scopes, service)
            if kind == "oauth2" and flows is not None:
                return {"type": "oauth2", "flows": flows, "x-ninefold": place | known}
            return {"type": "http", "scheme": "bearer", "x-ninefold": place | known}


def _granted(scheme: stated.Scheme, scopes: list[str], service: Service) -> Json | None:
    """The flow of a scheme whose tokens an endpoint of the contract grants (RFC 6749, section 4.4). OpenAPI
    takes a URL that is relative to the server's."""
    for endpoint in service.endpoints:
        issued = text_of(endpoint.stated.issues)
        if endpoint.checked.kind.grants and issued == scheme.name:
            path = "/".join(each for each in endpoint.route.segments if isinstance(each, str))
            words = dict.fromkeys(scopes, "")
            return {"clientCredentials": {"tokenUrl": path, "scopes": words}}
    return None


def security(endpoint: Endpoint) -> list[Json]:
    """One requirement for each kind of caller; an empty one where anyone may call besides."""
    who = [admission.who for admission in endpoint.checked.admissions]
    if who == [ANYONE]:
        return []
    return [
        {} if each.who == ANYONE else {component(each.who): list(each.scopes)} for each in endpoint.checked.admissions
    ]


def callers(endpoint: Endpoint, service: Service) -> list[Json]:
    """Who may call, with the conditions that OpenAPI has no words for."""
    line = service.contract.permission(endpoint.stated.key)
    return [] if line is None else list(_admitted(value_of(line.admits) or (), service))


def _admitted(admissions: tuple[stated.Admission, ...], service: Service) -> Iterator[Json]:
    """Those of whom the contract says when; `when` is left out where that is always."""
    for admission in admissions:
        condition = value_of(admission.condition)
        if isinstance(admission.condition, StatedNone):
            when = {"when": "false"}
        elif condition is None:
            continue  # it is among the gaps
        else:
            when = {} if isinstance(condition, Every) else {"when": condition.text}
        yield {"who": admission.who.text, **when, "line": service.line(admission.who.span)}


def rows(service: Service) -> Json:
    """Which rows a caller sees at all: by resource and by who calls."""
    stated_rows = value_of(service.contract.authentication.rows)
    if stated_rows is None:
        return {}
    if isinstance(stated_rows, Every):
        return {"rows": "all"}
    rules = {rule.resource.text: list(_admitted(value_of(rule.admits) or (), service)) for rule in stated_rows}
    return {"rows": rules, "unseen rows": service.checked.unseen_rows}
