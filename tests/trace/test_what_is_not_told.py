"""An identifier tells no more than its response does, and each kind of response has one."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from tests.http_cases import serving

from ninefold.pipeline import load
from ninefold.trace.attribution import attribution
from ninefold.trace.causes import Fixed, Requested, Stated
from ninefold.trace.identifier import HEADER

ORDERS = Path(__file__).parents[2] / "examples" / "orders.md"
LINES = ORDERS.read_text(encoding="utf-8").splitlines()
LINE = {"sku": "ABC", "quantity": 1, "unit_price": 100}


@pytest.mark.serves
def test_responses_of_each_kind(tmp_path: Path) -> None:
    plan = load(str(ORDERS)).plan
    assert plan is not None
    with serving(plan, tmp_path / "orders.db", {}, trace=True) as client:

        def key_of(email: str) -> dict[str, str]:
            made = client.post("/customers", json={"email": email, "name": "A"})
            return {"Authorization": f"Bearer {made.json()['api_key']}"}

        ann, bob = key_of("ann@example.com"), key_of("bob@example.com")
        order = client.post("/orders", json={"lines": [LINE]}, headers=ann)
        path = f"/orders/{order.json()['id']}"

        # A row that is hidden, and one that never was.
        hidden, absent = client.get(path, headers=bob), client.get(f"/orders/{uuid4()}", headers=bob)
        assert hidden.status_code == absent.status_code == 404
        assert hidden.headers[HEADER] == absent.headers[HEADER]
        written = {
            LINES[each.place.line - 1].strip() for each in stated(attribution(plan, hidden.headers[HEADER]).causes)
        }
        assert 'order:    {key: "order.customer == caller.customer", staff: true}' in written
        assert "unseen rows: not found" in written

        # What a client sends is not in it.
        marked = client.post("/orders", json={"lines": "Quetzal", "Quetzal": 1}, headers=ann)
        assert marked.status_code == 422
        found = attribution(plan, marked.headers[HEADER])
        assert [each.rule for each in found.refusals] == ["type", "unknown"]
        assert "Quetzal" not in repr(found)

        # What has not changed.
        shown = client.get(path, headers=ann)
        again = client.get(path, headers={**ann, "If-None-Match": shown.headers["ETag"]})
        assert again.status_code == 304
        assert Requested("the header If-None-Match") in attribution(plan, again.headers[HEADER]).causes

        # HEAD has no body, and OPTIONS and 405 have an Allow.
        head = client.head(path, headers=ann)
        assert not attribution(plan, head.headers[HEADER]).members
        assert attribution(plan, shown.headers[HEADER]).members
        for answer in (client.options(path), client.put(path)):
            allow = next(each for each in attribution(plan, answer.headers[HEADER]).headers if each.name == "allow")
            lines = {LINES[each.place.line - 1].strip() for each in stated(allow.value)}
            assert {"GET /orders/{id}:", "PATCH /orders/{id}:", "DELETE /orders/{id}:"} <= lines

        # An event arises once, however often its cause is asked for.
        placed = attribution(plan, client.post(f"{path}/place", headers=ann).headers[HEADER])
        assert [each.kind for each in placed.events] == ["order.placed"]
        keyed = {**ann, "Idempotency-Key": "one"}
        first = client.post("/orders", json={"lines": [LINE]}, headers=keyed)
        second = client.post("/orders", json={"lines": [LINE]}, headers=keyed)
        assert first.content == second.content
        assert Fixed("idempotency keys") not in attribution(plan, first.headers[HEADER]).causes
        assert Fixed("idempotency keys") in attribution(plan, second.headers[HEADER]).causes


def stated(causes: tuple[object, ...]) -> list[Stated]:
    return [each for each in causes if isinstance(each, Stated)]


@pytest.mark.serves
def test_no_response_has_one_unless_it_is_asked_for(tmp_path: Path) -> None:
    plan = load(str(ORDERS)).plan
    assert plan is not None
    with serving(plan, tmp_path / "orders.db", {}) as client:
        assert HEADER not in client.get("/orders").headers
