"""An effect on one row, however it is named, is refused where that row is gone, and is told to be; one on all rows of
which something holds leaves such rows out, and nothing is told of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

from ninefold.plan.routes import Served
from ninefold.trace.refusals import refusals

CONTRACT = """\
resources:
  card:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      name:  {type: string, unique: true}
      level: {type: integer, on create: 0}
      state: {state: true}
    required: [name]
  house:
    primary key: none
    fields: {level: {type: integer, on create: 0}, state: {state: true}}
  ring:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, card: {references: card}}
    required: [card]
states:
  ring: none
  card: &
  house: &
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /cards: {does: create card, body: [name], responses: {201: card}}
  POST /cards/{id}/leave: {does: leave card, body: none, responses: {204: none}}
  POST /house/leave: {does: leave house, body: none, responses: {204: none}}
  POST /rings: {does: create ring, body: [card], also: {EFFECT}, responses: {201: none}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: not shown
limits: {rates: none, body size: none, timeout: none}
versioning: none
""".replace("&", "{initial: here, states: [here, left], gone: left, transitions: {leave: {from: here, to: left}}}")

LEVEL = "sets: {level: 1}"
ONE = [
    f"does: update card, where: card.name == 'one', {LEVEL}",
    f"does: update card, where: card.id == 1 && card.level < 5, {LEVEL}",
    "does: leave card, where: card == all(card).first()",
    f"does: update house, where: house.level < 5, {LEVEL}",
]
SEVERAL = [
    f"does: update card, where: card.level < 5, {LEVEL}",
    f"does: update card, where: card.name != 'two', {LEVEL}",
    "does: leave card, where: card.name.startsWith('o')",
]


@pytest.mark.serves
@pytest.mark.parametrize("effect", [*ONE, *SEVERAL])
def test_what_an_effect_on_rows_that_are_gone_is_answered(effect: str, tmp_path: Path) -> None:
    plan = plan_of(CONTRACT.replace("EFFECT", effect), "contract.yaml")
    (posting,) = (each for each in plan.routes if isinstance(each, Served) and each.key == "POST /rings")
    told = {each.condition for each in refusals(posting, plan)}
    with serving(plan, tmp_path / "service.db", {}) as client:
        for name in ("one", "two"):
            client.post("/cards", json={"name": name})
        for path in ("/cards/1", "/house"):
            assert client.post(f"{path}/leave").status_code == 204
        assert client.post("/rings", json={"card": 2}).status_code == (410 if effect in ONE else 201)
    assert ("gone" in told) == (effect in ONE)
