"""The names that a record uses, by its declaration: what they are names of is said by their shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from ninefold.language import shapes
from ninefold.language.declaration import Declared, One, members
from ninefold.language.fact import Gap, Name, Proposal, Shown, StatedNone

T = TypeVar("T")

Change = Callable[[Name], tuple[Name, ...]]
"""From a name to what stands instead of it; nothing: it goes."""


def uses(record: object) -> Iterator[tuple[str, Name]]:
    """Each name in a record and in those that it holds, with what it is the name of (`an endpoint`). What is proposed
    counts too."""
    for each in members(type(record)):
        value = _said(getattr(record, each.attribute))
        what = _named(each)
        if value is None or (what is None and each.holding is None):
            continue
        for item in value if isinstance(value, tuple) else (value,):
            if what is None:
                yield from uses(item)
            elif isinstance(item, Name):
                yield what, item


def renamed(record: T, what: str, change: Change) -> T:
    """A record, and those that it holds, with the names of something changed, where they are shown."""
    found: dict[str, Any] = {}
    for each in members(type(record)):
        fact = getattr(record, each.attribute)
        if not isinstance(fact, Shown):
            continue
        if each.holding is not None:
            holds_one = isinstance(each.holding, One)
            value = renamed(fact.value, what, change) if holds_one else _each_renamed(fact.value, what, change)
            found[each.attribute] = replace(fact, value=value)
        elif _named(each) == what and isinstance(fact.value, Name):
            found[each.attribute] = next((replace(fact, value=name) for name in change(fact.value)), None)
        elif _named(each) == what:
            found[each.attribute] = replace(fact, value=tuple(name for old in fact.value for name in change(old)))
    return replace(record, **found) if found else record  # type: ignore[type-var]


def _each_renamed(records: tuple[Any, ...], what: str, change: Change) -> tuple[Any, ...]:
    return tuple(renamed(each, what, change) for each in records)


def _named(each: Declared) -> str | None:
    shape = each.key.shape
    return shape.of if isinstance(shape, shapes.Name | shapes.Names) else None


def _said(fact: Any) -> Any:
    """A value that is shown, or proposed; within a fact, the value itself."""
    match fact:
        case Shown(value) | Proposal(Shown(value)):
            return value
        case StatedNone() | Gap() | Proposal():
            return None
        case value:
            return value
