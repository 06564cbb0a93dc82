"""API4, unrestricted resource consumption: pages, bodies and rates."""

from __future__ import annotations

from collections.abc import Iterator

from tests.owasp.asking import Asking, Finding, admitted
from tests.owasp.world import NOBODY
from tests.reference.operations import pages_of


def pages_beyond_their_bounds(a: Asking) -> Iterator[Finding]:
    for endpoint in a.endpoints.values():
        pages = pages_of(endpoint)
        if endpoint.verb != "list" or pages is None or pages.by == "none" or pages.maximum is None or not pages.size:
            continue
        for person in a.everybody():
            path = a.path(endpoint, next(iter(a.rows(endpoint)), None))
            if path is None or not a.admits(endpoint, person, None):
                continue
            for size in (pages.maximum + 1, 10**9, 2**63, pages.minimum - 1, -1):
                response = a.ask(endpoint.key, person, path, query={pages.size: str(size)})
                if response.status_code not in a.statuses("invalid", endpoint):
                    yield Finding("API4", endpoint.key, str(person), f"a page of {size}: {response.status_code}")


def bodies_beyond_their_size(a: Asking) -> Iterator[Finding]:
    limit = a.world.plan.limits.body_bytes
    for endpoint in a.endpoints.values():
        route = a.routes[endpoint.key]
        if route.body is None or route.body.optional or limit is None or limit > 1024 * 1024:
            continue
        for person in a.kinds(endpoint):
            path = a.path(endpoint, next(iter(a.rows(endpoint)), None))
            if path is None or not admitted(endpoint, person):
                continue
            body = {"x": "a" * limit}
            response, same = a.untouched(endpoint.key, person, path, body)
            first = a.statuses("too large", endpoint)
            if response.status_code not in first | {401, 403, 404} or not same:
                yield Finding("API4", endpoint.key, str(person), f"more than {limit} bytes: {response.status_code}")


def requests_beyond_their_rate(a: Asking, most: int = 150) -> Iterator[Finding]:
    """To be asked of a service of which nothing was asked until now, and where time stands still. A rate that takes
    more than `most` requests at once is left out."""
    for rate in a.world.checked.limits.rates:
        at_once = rate.burst if rate.algorithm == "token bucket" and rate.burst else rate.allow
        if at_once > most:
            continue
        keys = rate.endpoints or tuple(a.endpoints)
        endpoint = next((a.endpoints[key] for key in keys if key in a.endpoints), None)
        path = None if endpoint is None else a.path(endpoint, next(iter(a.rows(endpoint)), None))
        if endpoint is None or path is None:
            continue
        person = next((each for each in a.kinds(endpoint) if admitted(endpoint, each)), NOBODY)
        answers = [a.ask(endpoint.key, person, path).status_code for _ in range(at_once + 1)]
        if answers[-1] not in a.statuses("too many requests", endpoint):
            yield Finding("API4", endpoint.key, str(person), f"request {at_once + 1} of {rate.name}: {answers[-1]}")
