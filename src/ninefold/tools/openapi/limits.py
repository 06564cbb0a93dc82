"""Part 8: the page of a list, and the limits that OpenAPI has no words for."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.plan.limits import Rate
from ninefold.plan.operations import Paging
from ninefold.plan.routes import Served
from ninefold.tools.openapi.schemas import INTEGER
from ninefold.tools.openapi.service import Json, Service
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
    if paging.by == "page" and paging.number is not None:
        yield _query(paging.number, {**INTEGER, "minimum": paging.first, "default": paging.first})


def _query(name: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "schema": schema}


def rates(route: Served, service: Service) -> list[Rate]:
    """The rates that count the requests of an endpoint."""
    return [rate for rate in service.plan.limits.rates if route.key in rate.endpoints]


def rate_headers(route: Served | None, status: str, service: Service) -> Json:
    """The headers that tell a caller how its rates stand. When to try again is told where a rate, or the load, is why
    a request was refused."""
    if route is None or not rates(route, service):
        return {}
    return {
        header.name: {"schema": {"type": "string"} if header.carries in ("policies", "standings") else dict(INTEGER)}
        for header in service.plan.limits.headers
        if header.carries != "retry after" or status in ("429", "503")
    }


def limits(service: Service) -> Json:
    stated = service.plan.limits
    found: Json = {}
    if stated.rates:
        found["rates"] = [_rate(rate) for rate in stated.rates]
    if stated.body_bytes is not None:
        found["body bytes"] = stated.body_bytes
    if stated.request_microseconds is not None:
        found["request"] = duration_text(stated.request_microseconds)
    if stated.keys_kept_microseconds is not None:
        found["idempotency keys"] = duration_text(stated.keys_kept_microseconds)
    return {"limits": found} if found else {}


def _rate(rate: Rate) -> Json:
    """One that counts by an expression is told without it: the line has it."""
    of = {"of": rate.of} if isinstance(rate.of, str) else {}
    burst = {"burst": rate.burst} if rate.burst else {}
    told: Json = {"name": rate.name, **of, "allow": rate.allow, "per": duration_text(rate.per_microseconds)}
    return told | {"algorithm": rate.algorithm, **burst, "line": rate.trace[0].line if rate.trace else None}
