"""What stands in another order and says the same: what is first is done first, or is told of first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ninefold.diff.alone import Alone, Both
from ninefold.diff.changes import Change
from ninefold.diff.verdicts import Effect, Promise, effects, side_of
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan

_TAKEN: Final = frozenset(("body", "query", "request headers", "properties"))
"""Keys of what requests give, or of what stands in it: all of it is looked at whatever its order."""


def of_order(change: Change, alone: Alone, both: Both, promise: Promise) -> Iterator[Effect]:
    """Of a change that is nothing but another order."""
    if _TAKEN & {*change.key.path.split(".")}:
        if _tells_of_one(both.old_plan) or _tells_of_one(both.new_plan):
            yield Effect("readers", "look", None, "where several values are wrong, another one is told of")
        return
    yield from effects(side_of(change.part, change.key.path), "unproved", promise)
    if "tells" in alone.felt.sides:
        yield from effects("tells", "unproved", promise, said="events arise in another order")


def swapped(both: Both) -> str:
    """The first two conditions of which the other one is told now, where both hold."""
    was, now = (plan.problems.precedence for plan in (both.old_plan, both.new_plan))
    pairs = ((one, other) for at, one in enumerate(was) for other in was[at + 1 :] if {one, other} <= {*now})
    for one, other in pairs:
        if now.index(other) < now.index(one):
            return f"where both hold, `{other}` is told now and `{one}` was"
    return "what is told first where several conditions hold is another one"


def _tells_of_one(plan: ServicePlan) -> bool:
    """Whether a value that is wrong has a code of its own: of several the first one is told of."""
    own = (each for route in plan.routes if isinstance(route, Served) for each in route.errors)
    return any(each.startswith(("invalid ", "not found path.")) for each in (*plan.problems.conditions, *own))
