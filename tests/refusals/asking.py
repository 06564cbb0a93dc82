"""Requests that are refused, made from a contract: of each endpoint, each thing wrong that a request can have, as one
caller of each kind, of rows that are there and of none, and the same once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.owasp.asking import NO_BODY, Asking, also
from tests.owasp.world import NOBODY, Person

from ninefold.checked import endpoints as checked
from ninefold.plan.routes import Served, query_parameters
from ninefold.runtime.request.service import LARGEST_BODY

WRONG: Final[tuple[Any, ...]] = (None, "nobody-has-this", -1, [], {})
"""Values of which each kind of rule refuses some."""

ROWS: Final = 2
"""Rows of which an endpoint is asked."""

_TAKES_AWAY: Final = {"delete": 1, "sign out": 2}
"""When an endpoint that does it is asked, after all others."""

FALSE: Final = {"Authorization": "Bearer nobody-has-this"}


def provoke(a: Asking) -> None:
    """Ask everything. What refuses the requests, whoever looks at the answers notes (`tests.refusals_met`)."""
    # What streams has no end to wait for; what takes rows or callers away leaves nothing to ask of.
    ending = [each for each in a.endpoints.values() if each.verb != "stream event"]
    large = b" " * ((a.served.limits.body_bytes or LARGEST_BODY) + 1)
    for endpoint in sorted(ending, key=lambda each: _TAKES_AWAY.get(each.verb, 0)):
        for person in a.kinds(endpoint):
            a.ask(endpoint.key, person, _of_nobody(a, endpoint), large)
            for row in a.some_rows(endpoint)[:ROWS]:
                _of_row(a, endpoint, person, a.path(endpoint, row) or _of_nobody(a, endpoint))
    # What removes rows or ends credentials comes last: what refers to them is refused, and who was known is not.
    for _ in range(2):
        for endpoint in ending:
            for person in (NOBODY, *a.world.people):
                for row in a.some_rows(endpoint):
                    if (path := a.path(endpoint, row)) is not None:
                        a.ask(endpoint.key, person, path, a.body(endpoint, person))


def _of_nobody(a: Asking, endpoint: checked.Endpoint) -> str:
    """A path where no row says what stands in it."""
    parts = (each if isinstance(each, str) else "nobody-has-this" for each in a.routes[endpoint.key].segments)
    return "/" + "/".join((*a.before, *parts))


def _of_row(a: Asking, endpoint: checked.Endpoint, person: Person, path: str) -> None:
    route = a.routes[endpoint.key]
    # A condition on the row comes before what removes it.
    for headers in ({"If-Match": '"another"'}, {}, FALSE, {"Accept": "text/x-none"}, {"Content-Type": "text/x-none"}):
        a.ask(endpoint.key, person, path, a.body(endpoint, person), headers=headers)
    a.ask(endpoint.key, person, path, {"nobody_knows_this": 1}, headers={"Content-Type": "text/x-none"})
    for body in _bodies(a, endpoint, person):
        a.ask(endpoint.key, person, path, body)
    if route.idempotency_key is not None:
        for _ in range(2):
            a.ask(endpoint.key, person, path, a.body(endpoint, person), headers={"Idempotency-Key": "the-same"})
    for row in a.rows(endpoint)[:ROWS]:
        a.ask(endpoint.key, person, path, a.body(endpoint, person, {**row.fields}))
    same = a.body(endpoint, person)
    for _ in range(2):
        a.ask(endpoint.key, person, path, same)
    for name in (*query_parameters(route), "nobody-knows-this"):
        for value in ("nobody-has-this", "-1"):
            a.ask(endpoint.key, person, path, a.body(endpoint, person), query={name: value})
    for header in route.headers:
        for value in ("nobody-has-this", "-1"):
            a.ask(endpoint.key, person, path, a.body(endpoint, person), headers={header.name: value})
    for other in _paths(a, route, path):
        a.ask(endpoint.key, person, other, a.body(endpoint, person))
    if (absent := a.absent(endpoint, path)) is not None:
        a.ask(endpoint.key, person, absent, a.body(endpoint, person))


def _bodies(a: Asking, endpoint: checked.Endpoint, person: Person) -> Iterator[Any]:
    """Bodies with one thing wrong each."""
    body = a.routes[endpoint.key].body
    good = a.body(endpoint, person)
    yield from (b"{", {"nobody_knows_this": 1})
    if body is None or good is NO_BODY:
        return
    yield from (None, "", [], {}, [{"op": "test", "path": "/nobody", "value": 1}], also(good, "nobody_knows", 1))
    for field in body.fields:
        for wrong in WRONG:
            yield also(good, field.pointer[0], wrong)
        if isinstance(good, dict):
            yield {name: value for name, value in good.items() if name != field.pointer[0]}
        else:
            yield [{"op": "remove", "path": f"/{field.pointer[0]}"}]
            yield [{"op": "test", "path": f"/{field.pointer[0]}", "value": "nobody-has-this"}]


def _paths(a: Asking, route: Served, path: str) -> Iterator[str]:
    """The same path with another text in each place that a request fills."""
    parts = path.split("/")
    for number, segment in enumerate(route.segments, 1 + len(a.before)):
        if not isinstance(segment, str):
            for text in ("nobody-has-this", "-1", "x" * 300):
                yield "/".join((*parts[:number], text, *parts[number + 1 :]))
