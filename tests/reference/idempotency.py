"""Idempotency keys: what one belongs to, and what makes a request the same (RFC draft Idempotency-Key)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.reference import (
    bodies,
)
from tests.reference.asking import Asking

from ninefold.checked.endpoints import Endpoint


def _key(asking: Asking, endpoint: Endpoint) -> str | None:
    """The key that came, with quotes or without."""
    text = asking.request.headers.get("idempotency-key")
    if "idempotency key" not in endpoint.said or text is None:
        return None
    return text.strip(" \t").strip('"') or None


def broken_key(asking: Asking, endpoint: Endpoint) -> Iterator[str]:
    """The rule that the key does not keep, if any."""
    text = asking.request.headers.get("idempotency-key")
    if endpoint.said.get("idempotency key") == "required" and text is None:
        yield "required"
    elif "idempotency key" in endpoint.said and text is not None and _key(asking, endpoint) is None:
        yield "minLength" if '"' in text else "format"


def held(asking: Asking, endpoint: Endpoint, given: bodies.Given) -> tuple[Any, ...] | None:
    """What a key belongs to: the caller, a row or none, and the endpoint. A body that is no JSON came with it, too."""
    key, malformed = _key(asking, endpoint), any(each.condition == "malformed" for each in asking.failures)
    if key is None or not (given.readable or malformed):
        return None
    return (asking.caller.who, None if asking.caller.row is None else asking.caller.row.identity, endpoint.key, key)


def whole_request(asking: Asking, endpoint: Endpoint) -> tuple[str, bytes, list[str | None]]:
    """What makes it the same request: path, query, body and declared headers but those of credentials, byte for byte. A
    body that is not read is none."""
    members = asking.checked.requests_of(endpoint).unknown_members
    unread = endpoint.takes.body is None or (bodies.is_none(endpoint) and members == "ignored")
    named = {each.name.lower() for each in endpoint.takes.headers} - {"idempotency-key"}
    for scheme in asking.checked.schemes:
        named.discard(scheme.parameter.lower() if scheme.where == "header" else scheme.where)
    fields = [asking.request.headers.get(name) for name in sorted(named)]
    return (asking.sent, b"" if unread else asking.request.body or b"", fields)
