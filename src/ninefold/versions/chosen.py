"""What a request chooses of a response, by the names that an older version has for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.expression import Template
from ninefold.contract.fact import Fact, Name, Shown
from ninefold.language.endpoints import Expanded

T = TypeVar("T")

Called = Callable[[str], str | None]
"""From the name that a field has to the older one; None: it is not shown."""


def called_so(endpoint: Endpoint, own: str, called: Called) -> Endpoint:
    """The endpoint with what it offers called as `called` says. `own`: the name that the field has."""

    def member(name: Name) -> Name | None:
        if name.text != own:
            return name
        older = called(name.text)
        return None if older is None else replace(name, text=older)

    def asked(each: Expanded) -> Expanded | None:
        if each.name != own:
            return each
        older = called(each.name)
        return None if older is None else replace(each, name=older)

    projection, expand = endpoint.projection, endpoint.expand
    if isinstance(projection, Shown):
        stated = projection.value
        stated = replace(stated, offered=_each(stated.offered, member), always=_each(stated.always, member))
        projection = replace(projection, value=stated)
    if isinstance(expand, Shown):
        expand = replace(expand, value=replace(expand.value, offered=_each(expand.value.offered, asked)))
    return replace(endpoint, projection=projection, expand=expand)


def showing(endpoint: Endpoint, shown: Callable[[Template], Template]) -> Endpoint:
    """The endpoint with `shown` made of each template that it shows on request."""

    def asked(each: Expanded) -> Expanded:
        return each if each.shows is None else replace(each, shows=shown(each.shows))

    expand = endpoint.expand
    if isinstance(expand, Shown):
        expand = replace(expand, value=replace(expand.value, offered=_each(expand.value.offered, asked)))
    return replace(endpoint, expand=expand)


def _each(fact: Fact[tuple[T, ...]] | None, change: Callable[[T], T | None]) -> Fact[tuple[T, ...]] | None:
    if not isinstance(fact, Shown):
        return fact
    changed = (change(each) for each in fact.value)
    return replace(fact, value=tuple(each for each in changed if each is not None))
