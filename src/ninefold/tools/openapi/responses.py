"""What an endpoint answers: the good ends, and beside them the errors; and its cases, which OpenAPI has as one
operation."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.checked.contents import Content, Leaf, Response
from ninefold.checked.operations import Ensure, Remove
from ninefold.expressions.tree import Constant
from ninefold.language.cases import Case
from ninefold.language.fact import value_of
from ninefold.plan.operations import Stream
from ninefold.plan.responses import NO_FIELD_VALUE, REFERENCES
from ninefold.tools.openapi import errors
from ninefold.tools.openapi.errors import rate_headers
from ninefold.tools.openapi.schemas import component, is_certain, reference, shown, value_or_null
from ninefold.tools.openapi.service import Endpoint, Json, Service, carried_headers, has_tag, is_shown_with_tag
from ninefold.values import Text

TEXT: Json = {"type": "string"}


def responses(endpoint: Endpoint, shared: Json, service: Service) -> Json:
    """Responses by status; `shared` are error responses that have a name of their own."""
    headers = _headers(endpoint, service)
    found: Json = {}
    operations = [each.operation for each in endpoint.route.admissions]
    for words, response in _ends(endpoint):
        good: Json = {"description": words} | headers
        if response.content is not None and endpoint.route.offers is not None:
            good["content"] = {endpoint.route.offers: {"schema": value_or_null(response.content, service)}}
        elif endpoint.checked.kind.streams and endpoint.route.offers is not None:
            # A stream of events never ends, and is no JSON: OpenAPI 3.1 has no schema for its pieces.
            good["content"] = {endpoint.route.offers: {"schema": TEXT}}
        if any(isinstance(each, Stream) and each.websocket for each in operations):
            found["101"] = {"description": f"{words}, over WebSocket"} | headers
            if endpoint.route.offers is None:
                found["426"] = {"description": "It is had over WebSocket alone"} | headers
                continue
        status = str(response.status)
        found[status] = either(found[status], good) if status in found else good
    if any(is_shown_with_tag(each) for each in operations):
        found["304"] = {"description": "Not Modified"} | headers
    for each in errors.responses(endpoint, service):
        if each.status in found:
            found[each.status] = either(found[each.status], each.response)
        elif shared.get(each.name) == each.response:
            found[each.status] = reference(each.name, "responses")
        else:
            found[each.status] = each.response
    return found


def _ends(endpoint: Endpoint) -> list[tuple[str, Response]]:
    """The good ends, each in words: some verbs have several, where the contract tells them apart."""
    operation = endpoint.checked.operation
    ends = operation.ends_well
    if not isinstance(operation, Ensure | Remove):
        return [(endpoint.does, end) for end in ends]
    if all(each == ends[0] for each in ends):
        return [(endpoint.does, ends[0])]
    return [(f"{endpoint.does}: {outcome}", end) for outcome, end in operation.outcomes.items()]


def is_field_value(name: str, content: Content) -> bool:
    """Whether what a header is given is a field value, whatever somebody may have written."""
    if name.lower() in REFERENCES or not (isinstance(content, Leaf) and isinstance(content.expression.type, Text)):
        return True
    said = content.expression
    return isinstance(said, Constant) and NO_FIELD_VALUE.search(str(said.value)) is None


def _headers(endpoint: Endpoint, service: Service) -> Json:
    """The headers that the contract gives the response, and its entity tag (RFC 9110 8.8.3)."""
    headers: Json = {}
    for name, value in endpoint.checked.response.headers:
        required = is_certain(value, service) and is_field_value(name, value)
        headers[name] = {"required": required, "schema": shown(value, service)}
    tagged = [each.operation.response for each in endpoint.route.admissions]
    if any(has_tag(response) for response in tagged):
        headers["ETag"] = {"required": True, "schema": TEXT}
    status = str(endpoint.checked.response.status)
    headers |= rate_headers(endpoint.route, service) | carried_headers(status, endpoint.route, service)
    return {"headers": headers} if headers else {}


def either(first: Json, second: Json) -> Json:
    """One response in the place of two that have the same status."""
    content = dict(first.get("content", {}))
    for media_type, body in second.get("content", {}).items():
        known = content.get(media_type)
        content[media_type] = body if known is None else {"schema": _any_of(known, body)}
    description = "; ".join(dict.fromkeys((first["description"], second["description"])))
    found = {**second, **first, "description": description} | ({"content": content} if content else {})
    if headers := _of_either(first.get("headers", {}), second.get("headers", {})):
        found["headers"] = headers
    return found


def _of_either(first: Json, second: Json) -> Json:
    """Headers: those that only one of two responses has are not always there."""
    return {
        name: header if name in first and name in second else header | {"required": False}
        for name, header in {**second, **first}.items()
    }


def described(case: Case, does: str, service: Service) -> Json:
    by = value_of(case.by)
    return {
        "case": case.called,
        "does": does,
        "by": "" if by is None else by.text,
        "line": service.line(case.span),
    }


def with_named_body(operation: Json, endpoint: Endpoint, schemas: Json) -> Json:
    """A case that its body names: the body's schema is one of `schemas`, by a name of its own, since no other schema
    can be told by a discriminator."""
    case = endpoint.stated.case
    if case is None or _member(endpoint) is None or "requestBody" not in operation:
        return operation
    name = component(f"{endpoint.stated.key}.{case.called}")
    content = operation["requestBody"]["content"]
    for body in content.values():
        schemas[name] = body["schema"]
    named = {media_type: {"schema": reference(name)} for media_type in content}
    return operation | {"requestBody": operation["requestBody"] | {"content": named}}


def together(known: Json, another: Json, shared: Json) -> Json:
    """One operation in the place of two cases: a body of one of them, the parameters and the responses of both."""
    found = {**another, **known}
    if tags := list(dict.fromkeys((*known.get("tags", ()), *another.get("tags", ())))):
        found["tags"] = tags
    summaries = known["summary"].split(_OR)
    found["summary"] = _OR.join(dict.fromkeys((*summaries, another["summary"])))
    if parameters := _of_both(known.get("parameters", ()), another.get("parameters", ())):
        found["parameters"] = parameters
    if bodies := [each["requestBody"] for each in (known, another) if "requestBody" in each]:
        found["requestBody"] = bodies[0] if len(bodies) == 1 else _either_body(*bodies)
        if len(bodies) == 1:
            found["requestBody"] = {**bodies[0], "required": False}
    responses = dict(known["responses"])
    for status, response in another["responses"].items():
        first = responses.get(status, response)
        same = first == response
        responses[status] = response if same else either(_whole(first, shared), _whole(response, shared))
    found["responses"] = responses
    beyond = {**another["x-ninefold"], **known["x-ninefold"]}
    beyond["cases"] = [*known["x-ninefold"]["cases"], *another["x-ninefold"]["cases"]]
    return found | {"x-ninefold": beyond}


_OR = " or "


def _of_both(first: Sequence[Json], second: Sequence[Json]) -> list[Json]:
    """Parameters: what only one of two cases has need not be given."""
    found = {(each["in"], each["name"]): each for each in first}
    others = {(each["in"], each["name"]): each for each in second}
    for key, each in others.items():
        known = found.get(key)
        if known is None:
            found[key] = each | {"required": False}
        elif known != each:
            found[key] = {**each, **known, "schema": {"anyOf": _unlike(known, each)}}
    alone = [key for key in found if key not in others and key[0] != "path"]
    return [each | {"required": False} if key in alone else each for key, each in found.items()]


def _whole(response: Json, shared: Json) -> Json:
    """A response that is told by its name, as it is."""
    return next((each for name, each in shared.items() if response == reference(name, "responses")), response)


def _either_body(first: Json, second: Json) -> Json:
    content = dict(first["content"])
    for media_type, body in second["content"].items():
        one = content.get(media_type)
        content[media_type] = body if one is None else {"schema": {"anyOf": [*_schemas(one), *_schemas(body)]}}
    changed = [each for body in (first, second) for each in body.get("x-ninefold", {}).get("normalised before", ())]
    unique = [each for number, each in enumerate(changed) if each not in changed[:number]]
    beyond = {"x-ninefold": {"normalised before": unique}} if unique else {}
    return {"required": first["required"] and second["required"], "content": content} | beyond


def _any_of(first: Json, second: Json) -> Json:
    schemas = _unlike(first, second)
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _unlike(first: Json, second: Json) -> list[Json]:
    """The schemas of both, each once."""
    every = [*_schemas(first), *_schemas(second)]
    return [each for number, each in enumerate(every) if each not in every[:number]]


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
