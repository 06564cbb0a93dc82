"""What is called before a write is not called where a condition of the request on the row does not hold."""

from __future__ import annotations

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

pytestmark = pytest.mark.serves

CONTRACT = b"""
purpose: Keeps parcels.
resources:
  parcel:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      weight: {type: integer}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  functions:
    weigh: {takes: {n: {type: integer}}, gives: {type: integer}}
  POST /parcels: {does: create parcel, body: [weight], responses: {201: parcel}}
  PATCH /parcels/{id}:
    does: [call weigh, update parcel]
    body: [weight]
    patch: merge
    with: {n: request.body.weight}
    responses: {200: {weight: parcel.weight, weighed: result.weigh}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: none
  codes:
    wrong: {status: 422, for: invalid}
    nothing: {status: 404, for: not found}
    cut: {status: 400, for: malformed}
    unread: {status: 415, for: unsupported media type}
limits: {rates: none, timeout: none, body size: none, pages: none}
versioning: none
"""


@pytest.mark.parametrize(
    ("condition", "status"),
    [({"If-None-Match": "*"}, 412), ({"If-Match": '"another"'}, 412), ({"If-Match": "*"}, 200), ({}, 200)],
)
def test_a_condition_that_does_not_hold_comes_first(
    condition: dict[str, str], status: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    plan = plan_of(CONTRACT, "parcels.yaml")
    called: list[int] = []

    def weigh(n: int) -> int:
        called.append(n)
        return n * 2

    directory = tmp_path_factory.mktemp("calls")
    with serving(plan, directory / "parcels.db", {}, functions={"weigh": weigh}) as http:
        assert http.post("/parcels", json={"weight": 1}).status_code == 201
        answer = http.patch("/parcels/1", json={"weight": 3}, headers=condition)
    assert isinstance(answer, httpx.Response)
    assert answer.status_code == status
    assert called == ([3] if status == 200 else [])
