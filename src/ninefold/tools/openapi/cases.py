"""Part 4: the cases of an endpoint, which OpenAPI has as one operation."""

from __future__ import annotations

from ninefold.language.cases import Case
from ninefold.language.fact import value_of
from ninefold.tools.openapi.responses import either
from ninefold.tools.openapi.schemas import component, reference
from ninefold.tools.openapi.service import Endpoint, Json, Service

OTHERWISE = "otherwise"


def described(case: Case, service: Service) -> Json:
    by = value_of(case.by)
    return {
        "case": case.name or OTHERWISE,
        "by": "" if by is None else by.text,
        "line": service.line(case.span),
    }


def with_named_body(operation: Json, endpoint: Endpoint, schemas: Json) -> Json:
    """A case that its body names: the body's schema is one of `schemas`, by a name of its own, since no other schema
    can be told by a discriminator."""
    case = endpoint.stated.case
    if case is None or _member(endpoint) is None or "requestBody" not in operation:
        return operation
    name = component(f"{endpoint.stated.key}.{case.name or OTHERWISE}")
    content = operation["requestBody"]["content"]
    for body in content.values():
        schemas[name] = body["schema"]
    named = {media_type: {"schema": reference(name)} for media_type in content}
    return operation | {"requestBody": operation["requestBody"] | {"content": named}}


def together(known: Json, another: Json) -> Json:
    """One operation in the place of two cases: a body of one of them, and the responses of both."""
    found = {**another, **known}
    if bodies := [each["requestBody"] for each in (known, another) if "requestBody" in each]:
        found["requestBody"] = bodies[0] if len(bodies) == 1 else _either_body(*bodies)
        if len(bodies) == 1:
            found["requestBody"] = {**bodies[0], "required": False}
    responses = dict(known["responses"])
    for status, response in another["responses"].items():
        first = responses.get(status)
        responses[status] = response if first is None or first == response else either(first, response)
    found["responses"] = responses
    beyond = {**another["x-ninefold"], **known["x-ninefold"]}
    beyond["cases"] = [*known["x-ninefold"]["cases"], *another["x-ninefold"]["cases"]]
    return found | {"x-ninefold": beyond}


def _either_body(first: Json, second: Json) -> Json:
    content = dict(first["content"])
    for media_type, body in second["content"].items():
        one = content.get(media_type)
        content[media_type] = body if one is None else {"schema": {"anyOf": [*_schemas(one), *_schemas(body)]}}
    changed = [each for body in (first, second) for each in body.get("x-ninefold", {}).get("normalised before", ())]
    unique = [each for number, each in enumerate(changed) if each not in changed[:number]]
    beyond = {"x-ninefold": {"normalised before": unique}} if unique else {}
    return {"required": first["required"] and second["required"], "content": content} | beyond


def _schemas(body: Json) -> list[Json]:
    schema = body["schema"]
    return list(schema["anyOf"]) if set(schema) == {"anyOf"} else [schema]


def finished(operation: Json, endpoint: Endpoint) -> None:
    """Of bodies that a member names, exactly one fits; of others, which one has to depends on the request. Where
    every case has a name, the member is always there."""
    case, member = endpoint.stated.case, _member(endpoint)
    for body in operation.get("requestBody", {}).get("content", {}).values():
        schema = body["schema"]
        if case is not None and member is not None and "anyOf" in schema:
            schema["oneOf"] = schema.pop("anyOf")
            if not case.has_rest:
                mapping = dict(zip(case.all, (each["$ref"] for each in schema["oneOf"]), strict=True))
                schema["discriminator"] = {"propertyName": member, "mapping": mapping}


def _member(endpoint: Endpoint) -> str | None:
    """The member that names the case, as callers of this version know it."""
    return None if endpoint.checked.case is None else endpoint.checked.case.member
