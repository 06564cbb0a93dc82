"""What a request sends."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.fact import value_of
from ninefold.plan.json_patch import SCHEMA as JSON_PATCH
from ninefold.plan.routes import Body, BodyField
from ninefold.tools.openapi.schemas import stated
from ninefold.tools.openapi.service import Endpoint, Json, Service


def request_body(endpoint: Endpoint, service: Service) -> Json | None:
    """None where the contract states none: then nothing needs to be sent."""
    body = endpoint.route.body
    if body is None or body.optional:
        return None
    schema = JSON_PATCH if body.edits else stated(_schema(body.schema, body.fields, body), service)
    content = {media_type: {"schema": schema} for media_type in body.media_types}
    changed = list(_normalised(endpoint, service))
    beyond: Json = {"normalised before": changed} if changed else {}
    beyond |= {"texts": "read"} if body.texts else {}
    return {"required": True, "content": content} | ({"x-ninefold": beyond} if beyond else {})


def _normalised(endpoint: Endpoint, service: Service) -> Iterator[Json]:
    """What is done to values before the schema is asked."""
    body = {field.field: field for field in endpoint.route.body.fields} if endpoint.route.body else {}
    for resource in value_of(service.contract.resources.resources) or ():
        if resource.name == endpoint.checked.resource:
            for field in value_of(resource.fields) or ():
                expression = value_of(field.normalise)
                if field.name in body and expression is not None:
                    pointer = "".join(f"/{name}" for name in body[field.name].pointer)
                    yield {"pointer": pointer, "is": expression.text, "line": service.line(expression.span)}


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
            properties[name] = {"not": {}} if leaf.fixed and leaf.known_as is None else member
    found = schema | ({"properties": properties} if properties else {})
    return found | ({"additionalProperties": False} if body.unknown == "refused" else {})
