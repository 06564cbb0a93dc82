"""Places of the contract in the plan."""

from __future__ import annotations

from ninefold.diagnostics import source
from ninefold.plan.places import Place


def traced(*places: source.Place) -> tuple[Place, ...]:
    return tuple(Place(place.line, place.column) for place in places)
