"""Answers: what a response shows, and how a refusal is said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from tests.reference import (
    bodies,
    callers,
    shows,
    writes,
)
from tests.reference.asking import Asking
from tests.reference.expressions import Reading, at_hand
from tests.reference.failures import Failure, error_value, in_written_order, place_in_order, refusal
from tests.reference.messages import NOTHING, Response
from tests.reference.rows import Row

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.service import Scheme
from ninefold.expressions.tree import Variable
from ninefold.language.verbs import GRANT


def on_condition(asking: Asking, endpoint: Endpoint, response: Response) -> Response:
    """What is shown, or what the request asks of it makes of it (RFC 9110, sections 13.2.1 and 13.2.2)."""
    if endpoint.method != "GET" or not 200 <= response.status < 300:
        return response
    tag = response.headers.get("etag")
    if not writes.matches(asking.request, tag):
        return refused(asking, Failure("precondition failed", endpoint.resource))
    if writes.is_known(asking.request, tag):
        return Response(304, {name: value for name, value in response.headers.items() if name != "content-type"})
    return response


def shown_row(asking: Asking, endpoint: Endpoint, row: Row) -> Response:
    reading = asking.seen().also(**{row.resource.name: at_hand(row)})
    response = respond(asking, endpoint, reading)
    if endpoint.operation.validator and endpoint.verb != "delete":
        tag = f'"{writes.opaque_tag(row)}"'
        response = replace(response, headers={"etag": tag, **response.headers})
    return response


def respond(asking: Asking, endpoint: Endpoint, reading: Reading, rows: list[Row] | None = None) -> Response:
    headers: dict[str, str] = {}
    body: Any = NOTHING
    if endpoint.response.content is not None:
        body = shows.shown(endpoint.response.content, reading, rows or [], asking.chosen)
        body = None if body is shows.LEFT_OUT else body
        headers["content-type"] = asking.of.produces or ""
    for name, leaf in endpoint.response.headers:
        value = shows.shown(leaf, reading)
        if value is not shows.LEFT_OUT and value is not None:
            headers |= _field(name, value)
    return Response(endpoint.response.status, headers, body)


def refused(asking: Asking, *failures: Failure) -> Response:
    errors, endpoint = asking.checked.errors, asking.endpoint
    refused = refusal(in_written_order(failures, endpoint), endpoint, errors)
    counts = min(failures, key=lambda each: place_in_order(each, endpoint, errors)).condition
    asking.is_limited = counts == "too many requests"
    headers: dict[str, str] = {}
    if refused.status == 401 and endpoint is not None:
        admitted = {each.who for each in endpoint.admissions}
        schemes = [each for each in asking.checked.schemes if each.name in admitted] or list(asking.checked.schemes)
        challenges = ", ".join(dict.fromkeys(_challenge(asking, each, failures) for each in schemes))
        headers |= {"www-authenticate": challenges} if challenges else {}
        if endpoint.verb == GRANT and endpoint.mutation is not None:
            realm = next(
                each.said.get("realm") for each in asking.checked.schemes if each.name == endpoint.mutation.issues
            )
            headers["www-authenticate"] = f'Basic realm="{realm}"'
    lacks = [] if asking.admission is None else list(asking.admission.scopes)
    if refused.status == 403 and not set(lacks) <= set(asking.caller.names.get("scopes", ())):
        if counts == "forbidden":
            needed = " ".join(lacks)
            headers["www-authenticate"] = f'Bearer error="insufficient_scope", scope="{needed}"'
    if refused.code is None:
        return Response(refused.status, headers)
    for name in refused.code.computed:
        value = None if name == "detail" else _said(asking, refused.code, name)
        if value is not None:
            headers |= _field(name, value)
    # An endpoint's own shape holds in place of that of part 7, also where it is none.
    shape = errors if endpoint is None or endpoint.error_shape is None else endpoint.error_shape
    if shape.content is None:
        return Response(refused.status, headers)
    reading = asking.seen()
    document = bodies.came(asking.request, endpoint, asking.checked)
    told = refused.fields if asking.edited is None else [each.edited(asking.edited.came) for each in refused.fields]
    refused = replace(refused, fields=tuple(dict.fromkeys(each.sent(document) for each in told)))
    error = error_value(refused, _said(asking, refused.code, "detail"), errors)
    body = shows.shown(shape.content, reading.also(error=error))
    headers["content-type"] = shape.media_type or ""
    return Response(refused.status, headers, None if body is shows.LEFT_OUT else body)


def _challenge(asking: Asking, scheme: Scheme, failures: Sequence[Failure]) -> str:
    """RFC 9110 11.6.1; RFC 6750 3.1 has a word for a bearer token that is not good, where that is why."""
    word, _, said = scheme.challenge.partition(" ")
    parameters = [said] if said else []
    is_why = any(each.condition == "unauthenticated" for each in failures)
    if is_why and word == "Bearer" and callers.credential(scheme, asking.request, asking.query) is not None:
        parameters.append('error="invalid_token"')
    return f"{word} {', '.join(parameters)}".rstrip()


def _said(asking: Asking, code: Any, name: str) -> Any:
    said = code.computed.get(name)
    if said is None:
        return None
    if asking.told_of is not None and asking.told_of.resource.name == code.resource:
        return asking.seen().also(**{code.resource: at_hand(asking.told_of)}).value_or_none(said)
    return None if _reads(said, code.resource) else asking.seen().value_or_none(said)


def _reads(node: Any, name: str) -> bool:
    """Whether an expression reads a root."""
    if isinstance(node, Variable):
        return node.name == name
    held = node if isinstance(node, tuple) else [getattr(node, each) for each in getattr(node, "__struct_fields__", ())]
    return any(_reads(each, name) for each in held)


def _field(name: str, text: str) -> dict[str, str]:
    """A header with its value; none, where the text is none."""
    if name.lower() in ("location", "content-location"):
        return {name.lower(): quote(text, safe="!#$%&'()*+,/:;=?@[]")}
    return {} if _NOT_IN_A_FIELD.search(text) else {name.lower(): quote(text, safe=_VISIBLE)}


_NOT_IN_A_FIELD = re.compile("[\x00-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$")
"""RFC 9110 5.5."""

_VISIBLE = "\t" + "".join(map(chr, range(0x20, 0x7F)))
