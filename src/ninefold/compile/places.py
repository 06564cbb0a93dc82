"""Places of the contract in the plan."""

from __future__ import annotations

from collections.abc import Iterable

from ninefold.checked.resources import Rule as CheckedRule
from ninefold.checked.service import Places
from ninefold.diagnostics import source
from ninefold.plan.places import Place
from ninefold.plan.routes import Rule


def traced(*places: source.Place) -> tuple[Place, ...]:
    return tuple(Place(place.line, place.column) for place in places)


def stated(places: Places, *path: str) -> tuple[Place, ...]:
    """Where a fact is stated, by the keys that lead to it from its part; nothing where it is not."""
    return traced(*places.at(*path))


def by_key(places: Places, keys: Iterable[str], *path: str) -> dict[str, Place]:
    """Where those of some keys are stated that are."""
    return {key: place for key in keys for place in stated(places, *path, key)}


def rules(checked: Iterable[CheckedRule]) -> tuple[Rule, ...]:
    return tuple(Rule(each.path, each.keyword, *traced(each.place)) for each in checked)
