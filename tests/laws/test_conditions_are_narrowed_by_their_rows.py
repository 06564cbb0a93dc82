"""How far a condition may be narrowed is said by its row alone: whatever finds it tells all that it is about, also what
no condition is narrowed to yet. Here the rows say more than they do, and nothing else is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.events.service import running
from tests.laws.test_refusals_are_told_alike import told_otherwise

from ninefold.diagnostics.frozen import replace
from ninefold.language.conditions import BY_NAME, NARROWINGS, Narrowing
from ninefold.pipeline import compile_document

WAYS: Final = {
    "illegal transition": ("transition", Narrowing("a transition", "RESOURCE.TRANSITION", "transitions")),
    "too many requests": ("rate", Narrowing("a rate", "RATE", "rates")),
    "retired version": ("version", Narrowing("a version", "VERSION", "versions")),
}

CONTRACT: Final = """purpose: Orders.
resources:
  order:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      state: {state: true}
states:
  order:
    initial: cart
    states: [cart, paid, sent]
    transitions:
      pay:  {from: cart, to: paid}
      send: {from: paid, to: sent}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /orders: {does: create order, body: none, responses: {201: {id: order.id}}}
  POST /orders/{id}/pay: {does: pay order, body: none, responses: {200: order}}
  POST /orders/{id}/send: {does: send order, body: none, responses: {200: order}}
  GET /orders/{id}: {does: read order, responses: {200: order}}
  GET /sums: {does: compute, responses: {200: {sum: 1}}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {said: error.code}}
  codes:
    paid:  {status: 409, for: illegal transition order.pay}
    state: {status: 409, for: illegal transition order}
    often: {status: 429, for: too many requests reads}
    busy:  {status: 429, for: too many requests}
    old:   {status: 410, for: retired version 1}
    past:  {status: 410, for: retired version}
limits:
  rates:
    reads: {of: address, allow: 1, per: PT1H, algorithm: fixed window, endpoints: ["GET /orders/{id}"]}
    sums:  {of: address, allow: 1, per: PT1H, algorithm: fixed window, endpoints: [GET /sums]}
  rate headers: none
  timeout: none
  body size: none
versioning:
  in: header
  name: V
  default: "3"
  versions:
    "3": {}
    "2": {changes: [{rename: GET /sums, to: GET /sum}], retired: 2024-01-01}
    "1": {changes: [{rename: GET /sum, to: GET /all}], retired: 2024-01-01}
  compatible: none
"""


@pytest.fixture(autouse=True)
def narrower(monkeypatch: pytest.MonkeyPatch) -> None:
    for condition, (way, narrowing) in WAYS.items():
        row = BY_NAME[condition]
        monkeypatch.setitem(NARROWINGS, way, narrowing)
        monkeypatch.setitem(BY_NAME, condition, replace(row, narrowed=(*row.narrowed, way)))


def test_what_the_contract_and_the_plan_tell_is_as_narrow() -> None:
    loaded = compile_document("orders.yaml", CONTRACT.encode())
    assert loaded.plan is not None and [each.message for each in loaded.diagnostics] == []
    assert told_otherwise(loaded) == []


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("order.pay}", "order.paid}", "`paid` is not a transition of `order`"),
        ("order.pay}", "orders.pay}", "`orders` is not a resource"),
        ("requests reads}", "requests read}", "`read` is not a rate"),
        ("version 1}", "version 7}", "`7` is not a version"),
    ],
)
def test_what_is_not_declared_is_told(right: str, wrong: str, message: str) -> None:
    loaded = compile_document("orders.yaml", CONTRACT.replace(right, wrong).encode())
    assert message in [each.message for each in loaded.diagnostics]


@pytest.mark.serves
def test_codes_are_answered_for_it(tmp_path: Path) -> None:
    with running(tmp_path / "orders.db", CONTRACT, name="orders.yaml") as service:
        http = service.http
        assert http.post("/orders").json() == {"id": 1}
        assert http.post("/orders/1/send").json() == {"said": "state"}
        assert http.post("/orders/1/pay").status_code == 200
        assert http.post("/orders/1/pay").json() == {"said": "paid"}
        assert [http.get("/orders/1").status_code for _ in range(2)] == [200, 429]
        assert http.get("/orders/1").json() == {"said": "often"}
        assert [http.get("/sums").json() for _ in range(2)] == [{"sum": 1}, {"said": "busy"}]
        assert http.get("/sum", headers={"V": "2"}).json() == {"said": "past"}
        assert http.get("/all", headers={"V": "1"}).json() == {"said": "old"}
