"""The names that a record uses, by its declaration: what they are names of is said by their shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ninefold.diagnostics.frozen import replace
from ninefold.language import shapes
from ninefold.language.declaration import Declared, members
from ninefold.language.fact import Name, Proposal, Shown

T = TypeVar("T")

Change = Callable[[Name], tuple[Name, ...]]
"""From a name to what stands instead of it; nothing: it goes."""


def uses(record: object) -> Iterator[tuple[str, Name]]:
    """Each name in a record and in those that it holds, with what it is the name of (`an endpoint`). What is proposed
    counts too."""
    for each in members(type(record)):
        fact = getattr(record, each.attribute)
        said = fact.candidate if isinstance(fact, Proposal) else fact
        value, what = said.value if isinstance(said, Shown) else said, _named(each)
        for item in value if isinstance(value, tuple) else (value,):
            if each.holding is not None and isinstance(item, each.holding.record):
                yield from uses(item)
            elif what is not None and isinstance(item, Name):
                yield what, item


def renamed(record: T, what: str, change: Change) -> T:
    """A record, and those that it holds, with the names of something changed, where they are shown."""
    found: dict[str, Any] = {}
    for each in members(type(record)):
        fact = getattr(record, each.attribute)
        if isinstance(fact, Shown) and (each.holding is not None or _named(each) == what):
            several = fact.value if isinstance(fact.value, tuple) else (fact.value,)
            kept = tuple(new for old in several for new in _changed(each, old, what, change))
            value = kept if isinstance(fact.value, tuple) else next(iter(kept), None)
            found[each.attribute] = None if value is None else replace(fact, value=value)
    return replace(record, **found) if found else record  # type: ignore[type-var]


def _changed(each: Declared, old: Any, what: str, change: Change) -> tuple[Any, ...]:
    return change(old) if each.holding is None else (renamed(old, what, change),)


def _named(each: Declared) -> str | None:
    shape = each.key.shape
    return shape.of if isinstance(shape, shapes.Name | shapes.Names) else None
