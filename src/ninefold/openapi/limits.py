"""Part 8: the page of a list, and the limits that OpenAPI has no words for."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.openapi.schemas import INTEGER
from ninefold.openapi.service import Json, Service
from ninefold.plan.operations import Paging
from ninefold.values import duration_text


def page_parameters(paging: Paging) -> Iterator[Json]:
    """The parameters by which a request asks for a page; their bounds are refused, never clamped (fixed meaning 5)."""
    if paging.by == "none":
        return
    if paging.size is not None:
        bounds = {} if paging.largest is None else {"maximum": paging.largest}
        yield _query(paging.size, {**INTEGER, "minimum": 1, **bounds, "default": paging.default})
    if paging.by == "cursor" and paging.next is not None:
        yield _query(paging.next, {"type": "string"})
    if paging.by == "offset" and paging.start is not None:
        yield _query(paging.start, {**INTEGER, "minimum": 0})


def _query(name: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "schema": schema}


def limits(service: Service) -> Json:
    found: Json = {}
    if service.plan.limits.body_bytes is not None:
        found["body bytes"] = service.plan.limits.body_bytes
    if service.plan.limits.request_microseconds is not None:
        found["request"] = duration_text(service.plan.limits.request_microseconds)
    return {"limits": found} if found else {}
