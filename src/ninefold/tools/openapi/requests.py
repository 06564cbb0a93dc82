"""What a request sends: the parameters of its path, of its query and in headers, and its body."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.operations import PathValue
from ninefold.language.fact import value_of
from ninefold.plan.events import RESUME, RESUMED_BY
from ninefold.plan.json_patch import SCHEMA as JSON_PATCH
from ninefold.plan.operations import List, Stream
from ninefold.plan.routes import Body, BodyField, Parameter, in_one
from ninefold.tools.openapi.errors import page_parameters
from ninefold.tools.openapi.patches import as_patch
from ninefold.tools.openapi.schemas import field_schema, stated, type_schema
from ninefold.tools.openapi.service import Endpoint, Json, Service, version_parameters
from ninefold.values import Array

_OTHERWISE_DESCRIBED = frozenset(("accept", "authorization", "content-type"))
"""Header parameters that OpenAPI ignores: they are told by media types and security schemes."""


def parameters(endpoint: Endpoint, names: tuple[str, ...], service: Service) -> list[Json]:
    """All parameters; `names` are those of the path, as the document calls them."""
    found = [*_of_path(endpoint, names, service), *_of_query(endpoint, service), *_of_pages(endpoint)]
    found += [_declared(each, "header", service) for each in endpoint.route.headers]
    found += [*_conditional(endpoint), *_idempotency_key(endpoint), *version_parameters(service)]
    return [each for each in found if each["in"] != "header" or each["name"].lower() not in _OTHERWISE_DESCRIBED]


def _of_path(endpoint: Endpoint, names: tuple[str, ...], service: Service) -> Iterator[Json]:
    declared = {each.name: each for each in endpoint.route.path}
    for called, segment in zip(
        names, (each for each in endpoint.checked.segments if not isinstance(each, str)), strict=True
    ):
        if isinstance(segment, PathValue):
            yield _declared(declared[segment.text], "path", service) | {"name": called, "required": True}
            continue
        resource = service.checked.resources[segment.resource]
        schema = field_schema(resource.fields[segment.field], resource, service)
        parameter = {"name": called, "in": "path", "required": True, "schema": schema}
        beyond: Json = {} if called == segment.text else {"name": segment.text}
        changed = _normalised(segment.resource, segment.field, service)
        beyond |= {} if changed is None else {"normalised before": changed}
        yield parameter | ({"x-ninefold": beyond} if beyond else {})


def _of_pages(endpoint: Endpoint) -> Iterator[Json]:
    """They are the same for every kind of caller."""
    lists = (each.operation for each in endpoint.route.admissions if isinstance(each.operation, List))
    for first in [*lists][:1]:
        yield from page_parameters(first.paging)


def _of_query(endpoint: Endpoint, service: Service) -> Iterator[Json]:
    """Each with the condition that it asks for, where it narrows the rows."""
    words = {each.name: where.text for each in endpoint.stated.filters if (where := value_of(each.where)) is not None}
    lines = {each.name: each.place.line for each in endpoint.checked.takes.query}
    for each in endpoint.route.query:
        told = _declared(each, "query", service)
        if each.name in words:
            told["x-ninefold"] = {"where": words[each.name], "line": lines[each.name]}
        yield told


def _declared(parameter: Parameter, where: str, service: Service) -> Json:
    schema = stated(parameter.schema, service) or type_schema(parameter.type, service)
    if parameter.default:
        schema = {**schema, "default": parameter.default[0]}
    told: Json = {"name": parameter.name, "in": where, "required": parameter.required}
    if parameter.is_json:
        return {**told, "content": {"application/json": {"schema": schema}}}
    if isinstance(parameter.type, Array) and where == "query":
        told |= {"style": "form", "explode": parameter.explode}
    return {**told, "schema": schema}


def _conditional(endpoint: Endpoint) -> Iterator[Json]:
    """`If-Match` and `If-None-Match` (RFC 9110 13.1), where one of them can be why a request is refused; a stream goes
    on behind the event that its header names."""
    operations = [each.operation for each in endpoint.route.admissions]
    if any(each.condition == "precondition failed" for each in endpoint.refusals):
        yield {"name": "If-Match", "in": "header", "schema": {"type": "string"}}
        yield {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}}
    if any(isinstance(each, Stream) for each in operations):
        yield {"name": RESUME, "in": "header", "schema": {"type": "string"}}
        yield {"name": RESUMED_BY, "in": "query", "schema": {"type": "string"}}


def _idempotency_key(endpoint: Endpoint) -> Iterator[Json]:
    """A String of structured fields (RFC 9651 3.3.3), or visible ASCII as it stands."""
    stated = endpoint.route.idempotency_key
    if stated is not None:
        schema = {"type": "string", "pattern": _KEY, "maxLength": 255}
        yield {"name": "Idempotency-Key", "in": "header", "required": stated == "required", "schema": schema}


_KEY = r'^("([ !#-\[\]-~]|\\["\\])+"|[!#-+\--\[\]-~]+)$'


def request_body(endpoint: Endpoint, service: Service) -> Json | None:
    """None where the contract states none: then nothing needs to be sent."""
    body = endpoint.route.body
    if body is None or body.optional:
        return None
    schema = JSON_PATCH if body.edits else stated(_asked(body), service)
    content = {media_type: {"schema": schema} for media_type in body.media_types}
    resource = endpoint.checked.resource
    changed = [
        {"pointer": "".join(f"/{name}" for name in field.pointer), **found}
        for field in body.fields
        if resource is not None and (found := _normalised(resource, field.field, service)) is not None
    ]
    beyond: Json = {"normalised before": changed} if changed else {}
    beyond |= {"texts": "read"} if body.texts else {}
    return {"required": True, "content": content} | ({"x-ninefold": beyond} if beyond else {})


def _normalised(resource: str, name: str, service: Service) -> Json | None:
    """What is done to a value before its schema is asked; of a reference that says nothing itself, to the key."""
    field = service.checked.resources[resource].fields.get(name)
    if field is None or field.normalise is None:
        return None
    stated = next(
        each for each in value_of(service.contract.resources_by_name[resource].fields) or () if each.name == name
    )
    expression, target = value_of(stated.normalise), value_of(stated.references)
    if expression is None and target is not None:
        return _normalised(target.text, service.checked.resources[target.text].primary_key[0], service)
    return None if expression is None else {"is": expression.text, "line": service.line(expression.span)}


def _asked(body: Body) -> Json:
    """What is asked of a body; where something is asked of it as a whole, that says which members there are."""
    own = _schema(body.schema, body.fields, body)
    return own if body.whole is None else in_one(own, body.whole.schema, bool(body.whole.at_times))


def _schema(schema: Json, fields: tuple[BodyField, ...], body: Body, depth: int = 0) -> Json:
    """The schema of the plan, with what the server asks besides: no members that nobody named, and no value for a
    field that cannot change. A leaf's own schema is the field's, and says itself what it takes."""
    properties: Json = {}
    for name, member in schema.get("properties", {}).items():
        inside = tuple(each for each in fields if each.pointer[depth] == name)
        leaf = next((each for each in inside if len(each.pointer) == depth + 1), None)
        if leaf is None and not inside:
            properties[name] = member  # it chooses the case, and is no field's
        elif leaf is None:
            properties[name] = _schema(member, inside, body, depth + 1)
        else:
            given = as_patch(member) if leaf.merged else member
            properties[name] = {"not": {}} if leaf.fixed and leaf.known_as is None else given
    found = schema | ({"properties": properties} if properties else {})
    return found | ({"additionalProperties": False} if body.unknown == "refused" and body.whole is None else {})
