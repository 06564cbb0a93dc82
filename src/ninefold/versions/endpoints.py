"""Endpoints that an older version has at another path, does not have, has besides, or in which something differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TypeVar

from ninefold.contract.versioning import OF_ENDPOINT, Change
from ninefold.diagnostics.source import Span
from ninefold.language.authentication import Permission
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, Name, Shown, value_of
from ninefold.language.requests import Filter, Parameter
from ninefold.language.routes import Literal, Segment, with_values
from ninefold.language.uses import renamed
from ninefold.versions.way import Way

_SAID = tuple(each.name for each in fields(Endpoint) if each.name not in ("key", "method", "segments", "span", "case"))
"""What an endpoint states beside its key."""


def change_endpoint(way: Way, change: Change) -> None:
    if not way.only(change, ("endpoint", "permissions"), "an endpoint"):
        return
    key, known = change.subject.text, {each.key: each for each in way.endpoints()}
    found = known.get(key)
    if found is None and change.verb != "add":
        way.not_there(change, "an endpoint", known)
        return
    match change.verb:
        case "add":
            _add(way, change)
        case "change":
            if change.endpoint is None:
                way.refuse(change, f"how `{key}` was different is not said", ("write it beside: `endpoint: {…}`",))
                return
            said = {name: value for name in _SAID if (value := getattr(change.endpoint, name)) is not None}
            assert found is not None
            if found.case is not None and said.keys() & {"does", "body", "sets", "guards", "responses", "headers"}:
                way.refuse(change, f"what a case of `{key}` was is not said by what all of them were")
                return
            way.with_endpoints(_with(each, said) if each.key == key else each for each in way.endpoints())
        case "remove":
            way.with_endpoints(each for each in way.endpoints() if each.key != key)
            _called(way, key, None)
        case _:
            assert found is not None
            _rename(way, change, found)


def _with(endpoint: Endpoint, said: dict[str, object]) -> Endpoint:
    """An endpoint of which some keys were different."""
    if "does" in said:
        said = {"call": None, **said}
    changed = replace(endpoint, **said)  # type: ignore[arg-type]
    return replace(changed, segments=with_values(changed.segments, changed.path))


def _add(way: Way, change: Change) -> None:
    key = change.subject.text
    if change.endpoint is None:
        way.refuse(change, f"what `{key}` was is not said", ("write it beside: `endpoint: {does: …}`",))
        return
    if _is_taken(way, change.subject, change.endpoint.method, change.endpoint.segments, None):
        return
    way.with_endpoints((*way.endpoints(), change.endpoint))
    part = way.contract.authentication
    if change.permissions is not None and isinstance(part.permissions, Shown):
        line = Permission(change.subject, change.permissions)
        permissions = replace(part.permissions, value=(*part.permissions.value, line))
        way.contract = replace(way.contract, authentication=replace(part, permissions=permissions))


def _rename(way: Way, change: Change, found: Endpoint) -> None:
    if change.to is None or change.route is None:
        return
    method, segments = change.route
    if _is_taken(way, change.to, method, segments, found):
        return
    key = change.to.text

    def moved(each: Endpoint) -> Endpoint:
        own = with_values(segments, each.path)
        return replace(each, key=key, method=method, segments=own) if each.key == found.key else each

    way.with_endpoints(map(moved, way.endpoints()))
    way.moved[key] = way.moved.pop(found.key, found.key)
    _called(way, found.key, key)


def _is_taken(way: Way, at: Name, method: str, segments: tuple[Segment, ...], but: Endpoint | None) -> bool:
    """Whether another endpoint has the same method, and a path of the same form."""
    for each in way.endpoints():
        if (but is None or each.key != but.key) and (each.method, _form(each.segments)) == (method, _form(segments)):
            way.taken(at.text, at.span, "an endpoint for", each.span)
            return True
    return False


def _form(segments: tuple[Segment, ...]) -> tuple[str | None, ...]:
    return tuple(each.text if isinstance(each, Literal) else None for each in segments)


def _called(way: Way, key: str, to: str | None) -> None:
    """What names an endpoint, with its older key; without it, where there is none."""

    def named(name: Name) -> tuple[Name, ...]:
        if name.text != key:
            return (name,)
        return () if to is None else (replace(name, text=to),)

    def line(permission: Permission) -> tuple[Permission, ...]:
        return tuple(replace(permission, endpoint=name) for name in named(permission.endpoint))

    authentication = way.contract.authentication
    authentication = replace(authentication, permissions=_each(authentication.permissions, line))
    contract = replace(way.contract, authentication=authentication)
    way.contract = replace(contract, **{name: renamed(part, "an endpoint", named) for name, part in contract.parts})


T = TypeVar("T")


def _each(fact: Fact[tuple[T, ...]] | None, change: Callable[[T], tuple[T, ...]]) -> Fact[tuple[T, ...]] | None:
    """A list with `change` made to each of its items."""
    if not isinstance(fact, Shown):
        return fact
    return replace(fact, value=tuple(item for each in fact.value for item in change(each)))


# ── What belongs to an endpoint ───────────────────────────────────────────────────────────────────────────────


def change_parameter(way: Way, change: Change) -> None:
    """`GET /orders.filters.status`, `GET /orders.query.verbose`, `GET /orders.request headers.Prefer`."""
    named = OF_ENDPOINT.fullmatch(change.subject.text)
    assert named is not None
    key, kind, name = named.groups()
    endpoint = next((each for each in way.endpoints() if each.key == key), None)
    if endpoint is None:
        way.not_there(change, "part of an endpoint", [each.key for each in way.endpoints()])
        return
    if change.verb not in ("rename", "remove") or not way.only(change, (), "a parameter"):
        help = (f"say what the endpoint was: `{{change: {key}, endpoint: {{{kind}: {{…}}}}}}`",)
        way.refuse(change, f"`{change.verb}` is of the whole endpoint", help)
        return
    parameters_of = value_of(endpoint.query if kind == "query" else endpoint.request_headers) or ()
    there: dict[str, Span] = {each.name: each.span for each in parameters_of}
    if kind == "filters":
        there = {each.name: each.span for each in value_of(endpoint.filters) or ()}
    if name not in there:
        way.not_there(change, f"one of the {kind}", [f"{key}.{kind}.{each}" for each in there])
        return
    if change.verb == "rename":
        if change.to is None:
            return
        if kind != "filters":
            help = (f"say what the endpoint was: `{{change: {key}, endpoint: {{{kind}: {{…}}, …}}}}`",)
            way.refuse(change, "expressions read parameters by their names", help)
            return
        if change.to.text in there:
            way.taken(change.to.text, change.to.span, "a filter", there[change.to.text])
            return
    to = None if change.to is None else change.to.text

    def filters(each: Filter) -> tuple[Filter, ...]:
        if each.name != name:
            return (each,)
        return () if change.verb == "remove" or to is None else (replace(each, name=to),)

    def parameters(each: Parameter) -> tuple[Parameter, ...]:
        return () if each.name == name else (each,)

    match kind:
        case "filters":
            changed = replace(endpoint, filters=_each(endpoint.filters, filters))
        case "query":
            changed = replace(endpoint, query=_each(endpoint.query, parameters))
        case _:
            changed = replace(endpoint, request_headers=_each(endpoint.request_headers, parameters))
    own = {name: getattr(changed, name) for name in ("filters", "query", "request_headers")}
    way.with_endpoints(replace(each, **own) if each.key == key else each for each in way.endpoints())
