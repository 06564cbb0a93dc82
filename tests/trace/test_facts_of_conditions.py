"""Which fact of an endpoint asked for what is refused: a key that nothing places would be told of no response."""

from __future__ import annotations

from tests.contracts import ROOT, compiled

from ninefold.language.conditions import CONDITIONS
from ninefold.plan.routes import Served


def test_each_fact_of_a_condition_stands_at_a_place() -> None:
    plan = compiled(ROOT / "examples" / "orders.md").plan
    assert plan is not None
    placed = {key for route in plan.routes if isinstance(route, Served) for key in route.places}
    assert {fact for each in CONDITIONS for fact in each.facts} <= placed
