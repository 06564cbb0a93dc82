"""API8 and API9: what is not expected, and what no contract states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.owasp.asking import Asking, Finding, admitted, anyone_may
from tests.owasp.world import ANYONE, NOBODY


def what_is_not_expected(a: Asking) -> Iterator[Finding]:
    """Whatever comes, the answer is one of the contract's, and has no word of the program."""
    for endpoint in a.endpoints.values():
        path = a.path(endpoint, next(iter(a.rows(endpoint)), None))
        if path is None or endpoint.verb == "stream event":
            continue
        for person in a.kinds(endpoint):
            for words, more in _ODD:
                response, same = a.untouched(endpoint.key, person, path, **more)
                if response.status_code >= 500 and response.status_code not in a.statuses("unavailable", endpoint):
                    yield Finding("API8", endpoint.key, str(person), f"{words}: {response.status_code}")
                if any(word in response.text for word in ("Traceback", "sqlite", "ninefold", "apsw", "SELECT ")):
                    yield Finding(
                        "API8", endpoint.key, str(person), f"{words}: the program speaks: {response.text[:80]}"
                    )
                if "server" in response.headers or "x-powered-by" in response.headers:
                    yield Finding("API8", endpoint.key, str(person), f"{words}: a header names the program")
                if a.world.plan.cors is None and "access-control-allow-origin" in response.headers:
                    yield Finding("API8", endpoint.key, str(person), f"{words}: another origin is allowed")
                if not same and not admitted(endpoint, person) and not anyone_may(endpoint):
                    yield Finding("API8", endpoint.key, str(person), f"{words}: something was stored")


_ODD: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a body that is no object", {"body": [[[]]]}),
    ("numbers beyond all bounds", {"body": {"x": 10**400}}),
    ("a query that is SQL", {"query": {"id": "1' OR '1'='1", "sort": "1; DROP TABLE x"}}),
    ("a header that is odd", {"headers": {"Accept": "*/*;q=nan, \x7f", "If-Match": '"', "Idempotency-Key": '"'}}),
    ("another origin", {"headers": {"Origin": "https://evil.example"}}),
    ("another host", {"headers": {"X-Forwarded-Host": "evil.example", "X-Original-URL": "/admin"}}),
)


def what_no_contract_states(a: Asking) -> Iterator[Finding]:
    """Nothing answers but what the contract states: no page, no method, no old version."""
    stated = {each.key for each in a.world.checked.endpoints} | {each.key for each in a.world.checked.stopped}
    for key in {route.key for route in a.served.routes} - stated:
        yield Finding("API9", key, "", "is served, and not in the contract")
    statuses = a.statuses("no such path")
    for person in a.kinds(next(iter(a.endpoints.values()))) if a.endpoints else ():
        for path in _GUESSES:
            if any(route.segments == tuple(path.strip("/").split("/")) for route in a.world.plan.routes):
                continue
            response = a.ask("", person, path)
            if response.status_code not in statuses | {401}:
                yield Finding("API9", path, str(person), f"answers {response.status_code}")
    for endpoint in a.endpoints.values():
        there_is = a.path(endpoint, next(iter(a.rows(endpoint)), None))
        if there_is is None:
            continue
        length = len(a.routes[endpoint.key].segments)
        there = {each.method for each in a.routes.values() if len(each.segments) == length}
        for method in ("PUT", "PATCH", "DELETE", "POST", "TRACE", "CONNECT", "PROPFIND", "PURGE"):
            if method in there or method == "CONNECT":
                continue
            response, same = a.untouched("", NOBODY, there_is, method=method)
            if response.status_code not in a.statuses("method not allowed") | {404} or not same:
                yield Finding("API9", f"{method} {there_is}", ANYONE, f"answers {response.status_code}")


_GUESSES = (
    "/docs", "/openapi.json", "/swagger.json", "/metrics", "/health", "/health/live", "/admin", "/.env", "/.git/config",
    "/.well-known/openid-configuration", "/debug", "/console", "/clock", "/v0", "/internal", "//",
    "/..%2f..%2fetc/passwd",
)  # fmt: skip
