"""What generators of code call things by: an operationId for each operation, and a component for each body.

A body that is written out in two media types is two models of one name to them, of which they take neither; as a
component it is one.
"""

from __future__ import annotations

import re

from ninefold.tools.openapi.schemas import component, reference
from ninefold.tools.openapi.service import Endpoint, Json, Service

_WORD = re.compile(r"[^\W_]+")


def named(paths: Json, schemas: Json, service: Service) -> Json:
    """The paths with names; the bodies are added to `schemas`."""
    endpoints = {each.stated.key: each for each in reversed(service.endpoints)}
    names = _operation_ids(service)
    return {
        path: {
            method: _named(operation, names[key], _body_name(endpoints[key], names[key], service), schemas)
            for method, operation in operations.items()
            for key in (operation["x-ninefold"]["endpoint"],)
        }
        for path, operations in paths.items()
    }


def _operation_ids(service: Service) -> dict[str, str]:
    """By endpoint, in written order: what it does (`listOrder`), of a second that does the same with its path
    (`listOrder_books_id_orders`). What is added below changes no name above."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for endpoint in service.endpoints:
        key = endpoint.stated.key
        if key in found:
            continue
        method, _, path = key.partition(" ")
        words = _WORD.findall(path)
        computes = endpoint.stated.call is None and endpoint.checked.kind.acts_on == "nothing"
        told_by_path = computes or key in service.doing_several
        name = camel(method.lower(), *words) if told_by_path else camel(*_WORD.findall(endpoint.does))
        if name in taken:
            name = "_".join((name, *words))
        if name in taken:
            name = f"{name}_{method.lower()}"
        while name in taken:
            name += "_"
        found[key] = name
        taken.add(name)
    return found


def camel(first: str, *words: str) -> str:
    """`list order` as `listOrder`."""
    return first[:1].lower() + first[1:] + "".join(word[:1].upper() + word[1:] for word in words)


def _named(operation: Json, name: str, body_name: str, schemas: Json) -> Json:
    body, responses = operation.get("requestBody"), dict(operation["responses"])
    if body is not None:
        body = body | {"content": _components(body["content"], body_name, schemas, f"{name}.body")}
    for status, response in responses.items():
        content = response.get("content", {})
        if status.startswith("2") and any("properties" in each["schema"] for each in content.values()):
            responses[status] = response | {"content": _components(content, f"{name}.{status}", schemas)}
    found: Json = {}
    for member, value in operation.items():
        if member == "summary":
            found["operationId"] = name
        found[member] = {"requestBody": body, "responses": responses}.get(member, value)
    return found


def _body_name(endpoint: Endpoint, name: str, service: Service) -> str:
    """`order.create` of what does `create order`."""
    verb, _, resource = endpoint.does.rpartition(" ")
    is_one = endpoint.stated.call is None and endpoint.stated.key not in service.doing_several
    return f"{resource}.{verb}" if is_one and verb and "," not in verb else f"{name}.body"


def _components(content: Json, name: str, schemas: Json, instead: str | None = None) -> Json:
    """Each schema of a content as a reference to a component. The first of them has the `name`, where no other schema
    has it, and else `instead`; another has the media type besides."""
    known = schemas.get(component(name))
    first = next(each["schema"] for each in content.values())
    name = instead if instead is not None and known is not None and known != first else name
    found: Json = {}
    for media_type, body in content.items():
        schema = body["schema"]
        if "$ref" not in schema:
            own = name if schema == first else f"{name}.{media_type.rpartition('/')[2]}"
            schemas[component(own)] = schema
            body = body | {"schema": reference(own)}
        found[media_type] = body
    return found
