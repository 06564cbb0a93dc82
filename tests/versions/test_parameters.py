"""A parameter keeps the schema that it states, whatever is said of the field that it narrows by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events.service import Running, running

pytestmark = pytest.mark.serves

CONTRACT = """purpose: Orders.
resources:
  types:
    status: {type: string, enum: [open, done, archived]}
  order:
    primary key: id
    fields:
      id:     {type: integer, on create: serial()}
      status: {$ref: "#/types/status"}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /orders: {does: create order, body: [status], responses: {201: order}}
  GET /orders:
    does: list order
    sort: [id]
    pages: none
    query:
      stated: {type: string, enum: [open, done, archived], where: order.status == value}
      shared: {$ref: "#/types/status", where: order.status == value}
    responses: {200: "page.items.map(o, o.id)"}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: {error shape: none, codes: none}
limits: none
versioning:
  in: header
  name: Version
  default: "3"
  versions:
    "3": {}
    "2":
      changes:
        - change: order.status
          is: "order.status == 'archived' ? 'done' : order.status"
          stored: value
          was: {type: string, enum: [open, done]}
    "1":
      changes:
        - change: GET /orders
          was: {query: {stated: {type: string, enum: [open, done], where: order.status == value}}}
  compatible: none
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path: Path = tmp_path_factory.mktemp("orders") / "orders.db"
    with running(path, CONTRACT, name="orders.yaml") as found:
        for status in ("open", "done", "archived"):
            assert found.http.post("/orders", json={"status": status}).status_code == 201
        yield found


@pytest.mark.parametrize(
    ("version", "parameter", "archived", "done"),
    [
        ("3", "stated", [3], [2]),
        ("3", "shared", [3], [2]),
        ("2", "stated", [], [2, 3]),
        ("2", "shared", [], [2, 3]),
        ("1", "stated", None, [2, 3]),
    ],
)
def test_its_enum_is_another_only_where_a_change_says_so(
    service: Running, version: str, parameter: str, archived: list[int] | None, done: list[int]
) -> None:
    def found(value: str) -> list[int] | None:
        answer = service.http.get("/orders", params={parameter: value}, headers={"Version": version})
        assert answer.status_code in (200, 422)
        return answer.json() if answer.status_code == 200 else None

    assert (found("archived"), found("done"), found("other")) == (archived, done, None)
