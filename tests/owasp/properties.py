"""API3, broken object property level authorization: members that no view shows, fields that no body names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.owasp.asking import NOW, Asking, Finding, admitted, also, digest, is_good

from ninefold.checked import contents as checked


def members_that_no_view_shows(a: Asking) -> Iterator[Finding]:
    """A response has the members that the contract gives it, and no other."""
    for endpoint in a.endpoints.values():
        if endpoint.verb not in ("read", "list") or endpoint.response.content is None:
            continue
        for person in a.everybody():
            for row in a.rows(endpoint):
                path = a.path(endpoint, row)
                if path is None or not admitted(endpoint, person):
                    continue
                response = a.ask(endpoint.key, person, path)
                if response.status_code != endpoint.response.status or not response.content:
                    continue
                for name in _beyond(response.json(), endpoint.response.content):
                    yield Finding("API3", endpoint.key, str(person), f"shows the member {name}")


def _beyond(value: Any, content: Any, at: str = "") -> Iterator[str]:
    """Members of a value that its content does not have. What an expression shows whole is not looked into."""
    match content:
        case checked.Object(members=members) if isinstance(value, dict):
            known = dict(members)
            for name, inner in value.items():
                if name not in known:
                    yield f"{at}/{name}"
                else:
                    yield from _beyond(inner, known[name], f"{at}/{name}")
        case checked.Rows(item=item) if isinstance(value, list):
            for inner in value:
                yield from _beyond(inner, item, f"{at}/*")
        case checked.Array(items=items) if isinstance(value, list):
            for inner, each in zip(value, items, strict=False):
                yield from _beyond(inner, each, f"{at}/*")
        case _:
            return


def fields_that_no_body_names(a: Asking) -> Iterator[Finding]:
    """What a client cannot set it does not set: neither with a member of the field's name, nor in the query."""
    for endpoint in a.endpoints.values():
        route = a.routes[endpoint.key]
        if route.body is None or endpoint.resource is None or endpoint.verb not in ("create", "update", "replace"):
            continue
        resource = a.world.checked.resources[endpoint.resource]
        named = {each.field for each in route.body.fields if not each.fixed}
        for person in a.kinds(endpoint):
            row = next(
                (r for r in a.rows(endpoint) if a.world.sees(person, r, NOW) and a.admits(endpoint, person, r)), None
            )
            path = a.path(endpoint, row)
            if path is None or not admitted(endpoint, person) or (row is None and endpoint.verb != "create"):
                continue
            for name, each in resource.fields.items():
                if name in named or not each.stored:
                    continue
                others = a.world.of(endpoint.resource)
                value = next(
                    (other.fields[name] for other in others if other is not row and other.fields.get(name) is not None),
                    "planted",
                )
                body = a.body(endpoint, person)
                if not isinstance(body, dict | list):
                    continue
                before = _values(a, endpoint.resource, name)
                response = a.ask(endpoint.key, person, path, also(body, name, value))
                refused = a.world.checked.requests_of(endpoint).unknown_members == "refused" and not route.body.optional
                if refused and is_good(response):
                    yield Finding("API3", endpoint.key, str(person), f"takes the member {name}, which no body names")
                after = _values(a, endpoint.resource, name)
                if after.count(value) > before.count(value):
                    yield Finding("API3", endpoint.key, str(person), f"{name} is set by the client")


def _values(a: Asking, resource: str, name: str) -> list[Any]:
    return [value for (value,) in a.world.read(f'SELECT "{name}" FROM "{resource}"')]


def secrets_that_are_shown(a: Asking) -> Iterator[Finding]:
    """Over everything that was asked until now: no credential is ever shown again."""
    for sent in a.sent:
        text = sent.response.text + str(sent.response.headers)
        for words, secret in a.world.secrets.items():
            came = secret in f"{sent.response.request.headers.multi_items()} {sent.response.request.url}"
            if len(secret) >= 8 and ((secret in text and not came) or digest(secret) in text):
                yield Finding("API3", sent.endpoint, sent.who, f"{words} is shown")
        if "$argon2" in text:
            yield Finding("API3", sent.endpoint, sent.who, "the hash of a password is shown")
