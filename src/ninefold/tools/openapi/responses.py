"""What an endpoint answers: the good ends, and beside them the errors."""

from __future__ import annotations

from ninefold.checked.contents import Response
from ninefold.plan.operations import Compute, List, Read
from ninefold.tools.openapi import errors
from ninefold.tools.openapi.limits import rate_headers
from ninefold.tools.openapi.schemas import is_certain, reference, shown, value_or_null
from ninefold.tools.openapi.service import Endpoint, Json, Service

TEXT: Json = {"type": "string"}


def responses(endpoint: Endpoint, shared: Json, service: Service) -> Json:
    """Responses by status; `shared` are error responses that have a name of their own."""
    headers = _headers(endpoint, service)
    found: Json = {}
    for words, response in _ends(endpoint):
        good: Json = {"description": words} | headers
        if response.content is not None and endpoint.route.offers is not None:
            good["content"] = {endpoint.route.offers: {"schema": value_or_null(response.content, service)}}
        elif endpoint.checked.verb == "stream events" and endpoint.route.offers is not None:
            # A stream of events never ends, and is no JSON: OpenAPI 3.1 has no schema for its pieces.
            good["content"] = {endpoint.route.offers: {"schema": TEXT}}
        status = str(response.status)
        found[status] = either(found[status], good) if status in found else good
    operations = [each.operation for each in endpoint.route.admissions]
    if any(isinstance(each, Read | List | Compute) and each.validator for each in operations):
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
    ends, outcomes = endpoint.checked.operation.ends_well, endpoint.checked.kind.outcomes
    if all(each == ends[0] for each in ends):
        return [(endpoint.does, ends[0])]
    return [(f"{endpoint.does}: {outcome}", end) for outcome, end in zip(outcomes, ends, strict=True)]


def _headers(endpoint: Endpoint, service: Service) -> Json:
    """The headers that the contract gives the response, and its entity tag (RFC 9110 8.8.3)."""
    headers: Json = {}
    for name, value in endpoint.checked.response.headers:
        headers[name] = {"required": is_certain(value, service), "schema": shown(value, service)}
    tagged = [each.operation.response for each in endpoint.route.admissions]
    if any(response.revision is not None or response.digested for response in tagged):
        headers["ETag"] = {"required": True, "schema": TEXT}
    headers |= rate_headers(endpoint.route, str(endpoint.checked.response.status), service)
    return {"headers": headers} if headers else {}


def either(first: Json, second: Json) -> Json:
    """One response in the place of two that have the same status."""
    content = dict(first.get("content", {}))
    for media_type, body in second.get("content", {}).items():
        known = content.get(media_type)
        content[media_type] = body if known is None else {"schema": {"anyOf": [known["schema"], body["schema"]]}}
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
