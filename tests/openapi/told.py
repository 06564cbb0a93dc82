"""An exchange is told by the OpenAPI document of its version: what came, and what was taken."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import httpx
import jsonschema_rs

from ninefold.pipeline import Loaded
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service
from ninefold.trace.attribution import attribution
from ninefold.trace.identifier import HEADER
from ninefold.values.pointers import pointer

OF_HTTP: Final = frozenset(
    ("allow", "cache-control", "connection", "content-length", "content-type", "date", "transfer-encoding", "vary")
) | {HEADER.lower()}
"""Headers of responses that HTTP itself has, of which no document tells, and that of the trace. Those of CORS are for
browsers."""


OF_NO_OPERATION: Final = frozenset(("method not allowed", "unknown version"))
"""Conditions that arise before there is an operation."""


@cache
def _document(loaded: int, version: str | None) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """With its operations by their endpoints."""
    of = _loaded[loaded].of(version) if version is not None else _loaded[loaded]
    assert of is not None and of.checked is not None and of.plan is not None
    found = openapi(Service(of.contract, of.checked, of.plan, of.open_questions))
    operations = {
        each["x-ninefold"]["endpoint"]: each for methods in found["paths"].values() for each in methods.values()
    }
    return found, operations


_loaded: Final[dict[int, Loaded]] = {}
"""By their identities: they are kept as long as the process (`tests/contracts.py`)."""


def untold(loaded: Loaded, response: httpx.Response) -> Iterator[str]:
    """What of an exchange its document does not tell."""
    assert loaded.plan is not None
    _loaded[id(loaded)] = loaded
    found = attribution(loaded.plan, response.headers[HEADER])
    if found.endpoint is None or response.status_code == 501 or response.request.method == "OPTIONS":
        return
    if any(each.condition in OF_NO_OPERATION for each in found.refusals):
        return
    document, operations = _document(id(loaded), found.version)
    operation = operations[found.endpoint]
    told = operation["responses"].get(str(response.status_code))
    if told is None and response.status_code in (304, 412) and operation["x-ninefold"]["endpoint"].startswith("GET"):
        return  # it asks a condition on a tag that nobody was given
    if told is None:
        yield f"the document has no such status, only {list(operation['responses'])}"
        return
    yield from _of_response(document, _whole(document, told), response)
    if response.status_code < 300:
        yield from _of_request(document, operation, response.request)


def _of_response(document: dict[str, Any], told: dict[str, Any], response: httpx.Response) -> Iterator[str]:
    headers = {name.lower(): each for name, each in told.get("headers", {}).items()}
    for name in response.headers:
        if name not in headers and name not in OF_HTTP and not name.startswith("access-control-"):
            yield f"the document does not tell of the header {name}"
    for name, each in headers.items():
        if each.get("required") and name not in response.headers:
            yield f"the document has the header {name}, which is not there"
    if not response.content:
        return
    body = _of_type(told.get("content", {}), response.headers["content-type"])
    if body is None:
        yield f"the document has no content of {response.headers['content-type']}"
    elif "json" in response.headers["content-type"]:
        yield from (f"the document has another body: {each}" for each in _wrong(document, body, response.json()))


def _of_request(document: dict[str, Any], operation: dict[str, Any], request: httpx.Request) -> Iterator[str]:
    """What was taken. Where unknown parameters are ignored, no document has them; a body that nobody asks for is
    ignored too."""
    parameters = {(each["in"], each["name"].lower()): each for each in operation.get("parameters", ())}
    schemes = document["components"].get("securitySchemes", {}).values()
    known = {name for where, name in parameters if where == "query"} | {
        each["name"].lower() for each in schemes if each.get("in") == "query"
    }
    if operation["x-ninefold"].get("unknown parameters") == "refused":
        for name in request.url.params:
            if name.lower() not in known:
                yield f"the document has no parameter {name}"
    for (where, name), each in parameters.items():
        given = request.headers if where == "header" else request.url.params
        if each.get("required") and where in ("header", "query") and name not in {key.lower() for key in given}:
            yield f"the document asks for {each['name']}, which was not given"
    stated = operation.get("requestBody")
    if stated is None or "texts" in stated.get("x-ninefold", {}):
        return
    if not request.content:
        if stated.get("required"):
            yield "the document asks for a body, and there was none"
        return
    sent = request.headers["content-type"]
    body = _of_type(stated["content"], sent)
    if body is None:
        yield f"the document has no body of {sent}"
    elif "json" in sent:
        normalised = [each["pointer"] for each in stated.get("x-ninefold", {}).get("normalised before", ())]
        yield from (
            f"the document takes another body: {each}"
            for each in _wrong(document, body, json.loads(request.content), normalised)
        )


def _of_type(content: dict[str, Any], media_type: str) -> dict[str, Any] | None:
    """What is told of a media type, whatever its parameters."""
    bare = media_type.partition(";")[0].strip().lower()
    return next((each for name, each in content.items() if name.partition(";")[0].lower() == bare), None)


def _whole(document: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """A response that may be told by its name (`#/components/responses/NAME`)."""
    if "$ref" not in told:
        return told
    named: dict[str, Any] = document["components"]["responses"][told["$ref"].rpartition("/")[2]]
    return named


def _wrong(document: dict[str, Any], body: dict[str, Any], value: Any, normalised: Sequence[str] = ()) -> list[str]:
    """`normalised`: where values stand that become others before they are judged."""
    schema = {**body.get("schema", {}), "components": document["components"]}
    found = jsonschema_rs.Draft202012Validator(schema).iter_errors(value)
    return [each.message for each in found if pointer(each.instance_path) not in normalised][:1]
