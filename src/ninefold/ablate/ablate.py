"""A contract without each of its facts, one after another, asked its fixed requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from ninefold.ablate.facts import Written, written
from ninefold.ablate.fixed import Asked, Whole
from ninefold.ablate.law import Change, Found, judge
from ninefold.ablate.removal import REMOVALS, Removal, without
from ninefold.pipeline import compile_tree
from ninefold.plan.service import ServicePlan

_SAID = frozenset(("gaps", "not_in_force", "places", "proposals"))
"""What of a plan is words for people, and changes nothing that it does."""


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A plan, encoded piece by piece: by route, and all else."""

    routes: dict[str, bytes]
    rest: bytes


def ablate(
    whole: Whole, facts: Iterable[Written] | None = None, removals: Sequence[Removal] = REMOVALS
) -> Iterator[Found]:
    """What comes of each removal of each fact, or of some facts."""
    pieces = _pieces(whole.plan)
    for fact in written(whole.loaded.document) if facts is None else facts:
        for removal in removals:
            yield _removed(whole, pieces, fact, removal)


def _removed(whole: Whole, pieces: _Pieces, fact: Written, removal: Removal) -> Found:
    loaded = compile_tree(without(whole.loaded.document, fact, removal))
    if loaded.plan is None:
        return judge(whole, fact, removal, loaded, (), None)
    asked = _concerned(whole.asked, pieces, _pieces(loaded.plan))
    rehearsal = whole.rehearsal(loaded.plan)
    opened = rehearsal.opened()
    changes = []
    for each in asked:
        rehearsal.put(each.moment)
        new = rehearsal.ask(each.told, each.moment)
        if new != each.seen:
            changes.append(Change(each, new))
    rehearsal.close()
    opened_less = None if opened == whole.opened else set(opened) <= set(whole.opened)
    return judge(whole, fact, removal, loaded, tuple(changes), opened_less)


def _pieces(plan: ServicePlan) -> _Pieces:
    routes = {route.key: msgspec.msgpack.encode(route) for route in plan.routes}
    rest = {name: getattr(plan, name) for name in plan.__struct_fields__ if name not in _SAID and name != "routes"}
    return _Pieces(routes, msgspec.msgpack.encode(rest))


def _concerned(asked: tuple[Asked, ...], old: _Pieces, new: _Pieces) -> tuple[Asked, ...]:
    """The requests that a difference between two plans can concern: what else happens to a request is in its route."""
    if old.rest != new.rest or old.routes.keys() != new.routes.keys():
        return asked
    other = {key for key, route in old.routes.items() if route != new.routes[key]}
    return tuple(each for each in asked if each.seen.endpoint in other)
