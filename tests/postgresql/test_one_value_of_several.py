"""What rows that change together would have alike is told as on a file: the same requests, the same answers."""

from __future__ import annotations

import httpx
from tests.agreement.test_one_value_of_several import DONE, REFUSED, ROWS, contract_of_items
from tests.agreement.writing import written
from tests.http_cases import serving
from tests.postgresql import server

from ninefold.pipeline import compile_document


def test_the_value_is_told_that_two_of_them_would_have() -> None:
    plan = compile_document("items.yaml", written(contract_of_items()).encode()).plan_for("postgresql")
    assert plan is not None
    with serving(plan, server.database(), {}) as client:

        def send(method: str, target: str, body: object) -> httpx.Response:
            return client.request(method, target) if body is None else client.request(method, target, json=body)

        assert send("POST", "/hosts", {"id": 1}).status_code == 201
        for _, row in ROWS:
            made = {name: value for name, value in row.items() if name != "state"}
            assert send("POST", "/items", made).status_code == 201
        for method, target, body, code, pointers in REFUSED:
            error = send(method, target, body).json()
            assert (error["code"], [each["pointer"] for each in error["fields"]]) == (code, pointers)
        for method, target, body, rows in DONE:
            assert send(method, target, body).status_code == 200
            assert client.get("/items").json() == rows
