"""What a request sends."""

from __future__ import annotations

from ninefold.openapi.schemas import stated
from ninefold.openapi.service import Endpoint, Json, Service
from ninefold.plan.routes import Body, BodyField


def request_body(endpoint: Endpoint, service: Service) -> Json | None:
    """None where the contract states none: then nothing needs to be sent."""
    body = endpoint.route.body
    if body is None or body.optional:
        return None
    schema = stated(_schema(body.schema, body.fields, body), service)
    return {"required": True, "content": {media_type: {"schema": schema} for media_type in body.media_types}}


def _schema(schema: Json, fields: tuple[BodyField, ...], body: Body, depth: int = 0) -> Json:
    """The schema of the plan, with what the server asks besides: no members that nobody named, and no value for a
    field that cannot change. A leaf's own schema is the field's, and says itself what it takes."""
    properties: Json = {}
    for name, member in schema.get("properties", {}).items():
        inside = tuple(each for each in fields if each.pointer[depth] == name)
        leaf = next((each for each in inside if len(each.pointer) == depth + 1), None)
        if leaf is None:
            properties[name] = _schema(member, inside, body, depth + 1)
        else:
            properties[name] = {"not": {}} if leaf.fixed else member
    found = schema | ({"properties": properties} if properties else {})
    return found | ({"additionalProperties": False} if body.unknown == "refused" else {})
