"""API1, broken object level authorization: other people's rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
from tests.owasp.asking import NOW, Asking, Finding, admitted, is_good
from tests.owasp.world import Person
from tests.reference.operations import filters_of, pages_of, sorts_of
from tests.reference.rows import Row

from ninefold.checked import endpoints as checked

ON_A_ROW = frozenset(("read", "update", "replace", "delete", "transition", "remove", "ensure"))
"""The verbs that act on one row."""


def other_peoples_rows(a: Asking) -> Iterator[Finding]:
    """A row that the caller may not see, or may not do this to, is acted on by nobody's identifier."""
    for endpoint in a.endpoints.values():
        if endpoint.verb not in ON_A_ROW or (endpoint.operation.where is not None and not endpoint.operation.names):
            continue
        for person in a.everybody():
            if not admitted(endpoint, person):
                continue
            for row in a.rows(endpoint):
                seen = a.world.sees(person, row, NOW)
                if a.is_refused_anyway(endpoint, person) or (seen and a.admits(endpoint, person, row)):
                    continue
                path = a.path(endpoint, row)
                if path is None:
                    continue
                body = a.body(endpoint, person)
                response, same = a.untouched(endpoint.key, person, path, body)
                told = f"{endpoint.resource} {row.key}"
                if is_good(response):
                    yield Finding("API1", endpoint.key, str(person), f"acts on {told}: {response.status_code}")
                if not same:
                    yield Finding("API1", endpoint.key, str(person), f"something is stored of a refusal of {told}")
                if not seen:
                    if shown := _shown(a, response, row):
                        yield Finding("API1", endpoint.key, str(person), f"the answer shows {shown!r} of {told}")
                    nowhere = a.absent(endpoint, path)
                    if a.world.checked.unseen_rows == "not found" and nowhere is not None and endpoint.verb != "ensure":
                        other = a.ask(endpoint.key, person, nowhere, body)
                        if (other.status_code, other.content) != (response.status_code, response.content):
                            words = (
                                f"{told} is answered {response.status_code}, and what is not there {other.status_code}"
                            )
                            yield Finding("API1", endpoint.key, str(person), words)


def references_to_other_peoples_rows(a: Asking) -> Iterator[Finding]:
    """A reference to a row that the caller may not see is answered as one to a row that is not there."""
    for endpoint in a.endpoints.values():
        route = a.routes[endpoint.key]
        if route.body is None or endpoint.resource is None or endpoint.verb not in ("create", "update", "replace"):
            continue
        resource = a.world.checked.resources[endpoint.resource]
        for person in a.everybody():
            own = next(
                (r for r in a.rows(endpoint) if a.world.sees(person, r, NOW) and a.admits(endpoint, person, r)), None
            )
            path = a.path(endpoint, own)
            if not admitted(endpoint, person) or path is None or (own is None and endpoint.verb != "create"):
                continue
            for each in route.body.fields:
                target = resource.fields[each.field].references if each.field in resource.fields else None
                for row in a.world.of(target) if target else ():
                    if a.world.sees(person, row, NOW):
                        continue
                    body = a.body(endpoint, person, {each.field: row.key})
                    response, same = a.untouched(endpoint.key, person, path, body)
                    told = f"a reference to {target} {row.key}"
                    if is_good(response) or not same:
                        yield Finding("API1", endpoint.key, str(person), f"{told} is taken: {response.status_code}")
                    key = str(row.key)
                    away: Any = key[:-4] + "9999" if isinstance(row.key, str) else 987654
                    a.count -= 1
                    other = a.ask(endpoint.key, person, path, a.body(endpoint, person, {each.field: away}))
                    if (other.status_code, other.text.replace(str(away), key)) != (response.status_code, response.text):
                        yield Finding("API1", endpoint.key, str(person), f"{told} is told from one to nothing")


def lists_of_other_peoples_rows(a: Asking) -> Iterator[Finding]:
    """No list, however it is filtered and sorted, shows what its caller may not see."""
    for endpoint in a.endpoints.values():
        if endpoint.verb not in ("list", "read", "compute") or endpoint.resource is None:
            continue
        for person in a.everybody():
            if not a.admits(endpoint, person, None) and endpoint.verb != "read":
                continue
            hidden = [row for rows in a.world.rows.of.values() for row in rows if not a.world.sees(person, row, NOW)]
            for row in a.some_rows(endpoint):
                path = a.path(endpoint, row)
                if path is None or (row is not None and endpoint.verb == "read" and not admitted(endpoint, person)):
                    continue
                for query in queries(a, endpoint, hidden):
                    response = a.ask(endpoint.key, person, path, query=query)
                    for other in hidden:
                        if is_good(response) and (shown := _shown(a, response, other, str(query) + path)):
                            words = f"{query} shows {shown!r} of {other.resource.name} {other.key}"
                            yield Finding("API1", endpoint.key, str(person), words)
                if endpoint.verb == "list" and not endpoint.names:
                    break


def queries(a: Asking, endpoint: checked.Endpoint, hidden: list[Row]) -> Iterator[dict[str, str]]:
    pages, sorts = pages_of(endpoint), sorts_of(endpoint)
    size = {pages.size: str(pages.maximum)} if pages and pages.size and pages.maximum else {}
    yield size
    if sorts is not None and sorts.parameter:
        for order in sorts.offered:
            called = ",".join(("-" if down else "") + name for name, down in order.keys)
            yield {**size, sorts.parameter: order.name or called}
    for each in filters_of(endpoint):
        texts = {
            str(v)
            for row in hidden
            for v in row.fields.values()
            if isinstance(v, str | int) and not isinstance(v, bool)
        }
        for text in sorted(texts)[:12]:
            yield {**size, each.name: text}


def _shown(a: Asking, response: httpx.Response, row: Row, asked: str = "") -> str | None:
    """Something of a row that is in a response, and was not in the request."""
    text = response.text + str(response.headers)
    asked += str(response.request.url) + response.request.content.decode("utf-8", "replace")
    referring = {
        str(value)
        for rows in a.world.rows.of.values()
        for each in rows
        for name, value in each.fields.items()
        if each.resource.fields[name].references is not None
    }
    markers = a.world.markers(row) - referring
    return next((mark for mark in sorted(markers) if mark in text and mark not in asked), None)


def what_one_does_not_see(a: Asking, without: Asking, person: Person, away: set[tuple[str, str]]) -> Iterator[Finding]:
    """What a person reads where there are other people's rows, and where the rows `away` are not there at all, is the
    same to the last byte: no count, no order, no entity tag and no error tells of them."""
    for endpoint in a.endpoints.values():
        if endpoint.verb not in ("list", "read", "compute") or not admitted(endpoint, person):
            continue
        for row in a.some_rows(endpoint):
            if row is not None and (row.resource.name, str(row.key)) in away:
                continue
            path = a.path(endpoint, row)
            if path is None:
                continue
            for query in queries(a, endpoint, []):
                first, second = (each.ask(endpoint.key, person, path, query=query) for each in (a, without))
                if (first.status_code, first.content) != (second.status_code, second.content):
                    words = f"{query} {first.status_code} {first.text[:300]} {second.status_code} {second.text[:300]}"
                    yield Finding("API1", endpoint.key, str(person), f"what is not seen makes a difference: {words}")
                if first.headers.get("etag") != second.headers.get("etag"):
                    yield Finding("API1", endpoint.key, str(person), "what is not seen changes the entity tag")
