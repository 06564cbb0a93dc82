"""Part 4: the cases of an endpoint, which OpenAPI has as one operation."""

from __future__ import annotations

from ninefold.contract.endpoints import Case
from ninefold.contract.fact import value_of
from ninefold.openapi.responses import either
from ninefold.openapi.service import Json, Service


def described(case: Case, service: Service) -> Json:
    by = value_of(case.by)
    return {
        "case": "otherwise" if case.name is None else case.name,
        "by": "" if by is None else by.text,
        "line": service.line(case.span),
    }


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
        content[media_type] = body if one is None else {"schema": {"oneOf": [*_schemas(one), *_schemas(body)]}}
    changed = [each for body in (first, second) for each in body.get("x-ninefold", {}).get("normalised before", ())]
    unique = [each for number, each in enumerate(changed) if each not in changed[:number]]
    beyond = {"x-ninefold": {"normalised before": unique}} if unique else {}
    return {"required": first["required"] and second["required"], "content": content} | beyond


def _schemas(body: Json) -> list[Json]:
    schema = body["schema"]
    return list(schema["oneOf"]) if set(schema) == {"oneOf"} else [schema]


def finished(operation: Json) -> None:
    """Which member tells bodies apart is said where they can be told apart so."""
    by = next((each["by"] for each in operation.get("x-ninefold", {}).get("cases", ())), "")
    for body in operation.get("requestBody", {}).get("content", {}).values() if by.startswith("request.body.") else ():
        schema = body["schema"]
        if "oneOf" in schema:
            # Without `mapping`, which is of schemas with names of their own: each schema has its name as a constant.
            schema["discriminator"] = {"propertyName": by.removeprefix("request.body.")}
