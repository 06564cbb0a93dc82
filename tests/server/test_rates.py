"""Rates over a real socket: who is counted, what is refused, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import http_sf
import httpx
import pytest
from tests.server.conftest import Running, running
from tests.server.payments import Clock, new_key, payments

pytestmark = pytest.mark.serves

TWO = "{calls: {of: caller, allow: 2, per: PT1M, algorithm: fixed window}}"


@contextmanager
def limited(rates: str, path: Path, clock: Clock | None = None, **more: str) -> Iterator[Running]:
    plan = payments(rates, **more)
    with running(plan, path / "service.db", (clock or Clock()).sources()) as service:
        yield service


def customer(service: Running) -> dict[str, str]:
    made = service.http.post("/customers", json={"name": "Ann"})
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['secret']}"}


def structured(response: httpx.Response, name: str) -> list[tuple[str, dict[str, Any]]]:
    parsed: Any = http_sf.parse(response.headers[name].encode(), tltype="list")
    return [(str(item), dict(parameters)) for item, parameters in parsed]


@pytest.mark.parametrize(
    "algorithm",
    [
        "fixed window",
        "sliding window",
        "token bucket, burst: 5",
    ],
)
def test_it_takes_no_more_than_allowed(algorithm: str, tmp_path: Path) -> None:
    clock = Clock()
    rate = f"{{calls: {{of: address, allow: 5, per: PT10S, algorithm: {algorithm}}}}}"
    with limited(rate, tmp_path, clock) as service:
        for _ in range(2):
            taken = [service.http.get("/payments") for _ in range(5)]
            assert [each.status_code for each in taken] == [200] * 5
            assert [structured(each, "ratelimit")[0][1]["r"] for each in taken] == [4, 3, 2, 1, 0]
            assert {each.headers["ratelimit-policy"] for each in taken} == {'"calls";q=5;w=10'}
            assert not any("retry-after" in each.headers for each in taken)
            refused = service.http.get("/payments")
            assert (refused.status_code, refused.json()["code"]) == (429, "slow_down")
            [(name, standing)] = structured(refused, "ratelimit")
            assert (name, standing["r"]) == ("calls", 0) and standing["t"] >= int(refused.headers["retry-after"])
            clock.move(seconds=int(refused.headers["retry-after"]))
            assert service.http.get("/payments").status_code == 200
            clock.move(seconds=10)


def test_thousands_of_racing_requests_get_no_more_than_allowed(tmp_path: Path) -> None:
    rate = "{calls: {of: address, allow: 700, per: PT1H, algorithm: token bucket, burst: 700}}"
    with limited(rate, tmp_path) as service, ThreadPoolExecutor(16) as pool:

        def call(_: int) -> list[int]:
            with httpx.Client(base_url=service.http.base_url) as http:
                return [http.get("/payments").status_code for _ in range(125)]

        statuses = [status for found in pool.map(call, range(16)) for status in found]
    assert (statuses.count(200), statuses.count(429), len(statuses)) == (700, 1300, 2000)


def test_callers_are_counted_each_for_itself(tmp_path: Path) -> None:
    with limited(TWO, tmp_path) as service:
        # Whoever has no credential is told apart by the address, and two callers were made without one.
        ann, bob = customer(service), customer(service)
        assert service.http.get("/payments").status_code == 429
        for headers in (ann, bob):
            statuses = [service.http.get("/payments", headers=headers).status_code for _ in range(3)]
            assert statuses == [200, 200, 429]
        # A credential that is none counts for the address as well.
        guess = service.http.get("/payments", headers={"Authorization": "Bearer guess"})
        assert (guess.status_code, structured(guess, "ratelimit")[0][1]["r"]) == (429, 0)


def test_a_request_counts_whatever_becomes_of_it_and_a_refused_one_does_not(tmp_path: Path) -> None:
    clock = Clock()
    with limited(TWO.replace("allow: 2", "allow: 3"), tmp_path, clock) as service:
        assert service.http.post("/customers", json={}).status_code == 422
        assert service.http.post("/payments", json={}).status_code == 401
        assert service.http.get("/payments?page=1").status_code == 422
        assert [service.http.get("/payments").status_code for _ in range(5)] == [429] * 5
        # What is no endpoint is not counted, and says nothing of rates.
        nothing = service.http.get("/nothing")
        assert nothing.status_code == 404 and "ratelimit" not in nothing.headers
        clock.move(minutes=1)
        assert service.http.get("/payments").status_code == 200


def test_precedence_decides_what_a_request_beyond_a_rate_is_answered(tmp_path: Path) -> None:
    order = "[invalid, too many requests, unauthenticated]"
    with limited(TWO, tmp_path, precedence=order) as service:
        for _ in range(2):
            service.http.get("/payments")
        wrong = service.http.get("/payments?page=1")
        assert (wrong.status_code, "retry-after" in wrong.headers) == (422, False)
        assert structured(wrong, "ratelimit")[0][1]["r"] == 0
        assert service.http.post("/customers", json={}).status_code == 422
        assert service.http.post("/payments", json={"amount": 1}).status_code == 422
        key = {"Idempotency-Key": new_key()}
        assert service.http.post("/payments", json={"amount": 1}, headers=key).status_code == 429


def test_rates_of_several_endpoints_and_expressions(tmp_path: Path) -> None:
    rates = (
        "{region: {of: request.query.region, allow: 1, per: PT1M, algorithm: sliding window, "
        "endpoints: [GET /payments]}, all: {of: address, allow: 10, per: PT0.5S, algorithm: fixed window}}"
    )
    with limited(rates, tmp_path) as service:
        first = service.http.get("/payments", params={"region": "north"})
        assert [name for name, _ in structured(first, "ratelimit")] == ["region", "all"]
        assert first.headers["ratelimit-policy"] == '"region";q=1;w=60, "all";q=10'
        assert service.http.get("/payments", params={"region": "north"}).status_code == 429
        assert service.http.get("/payments", params={"region": "south"}).status_code == 200
        # Without a value the rate takes no part; a request that one rate refused counted for none.
        other = service.http.get("/payments")
        assert [(name, standing["r"]) for name, standing in structured(other, "ratelimit")] == [("all", 7)]
        made = service.http.post("/customers", json={"name": "x"})
        assert [name for name, _ in structured(made, "ratelimit")] == ["all"]


def test_headers_of_the_contracts_own(tmp_path: Path) -> None:
    names = "[X-Calls-Limit, X-Calls-Remaining, X-Calls-Reset]"
    with limited(TWO, tmp_path, headers=names) as service:
        response = service.http.get("/payments")
        told = {name: response.headers[name] for name in ("x-calls-limit", "x-calls-remaining", "x-calls-reset")}
        assert told == {"x-calls-limit": "2", "x-calls-remaining": "1", "x-calls-reset": "60"}
        service.http.get("/payments")
        refused = service.http.get("/payments")
        assert refused.status_code == 429 and "retry-after" not in refused.headers


def test_a_rate_of_a_row_counts_by_its_identifier(tmp_path: Path) -> None:
    rate = "{calls: {of: caller.customer, allow: 2, per: PT1M, algorithm: fixed window}}"
    with limited(rate, tmp_path) as service:
        ann = customer(service)
        assert "ratelimit" not in service.http.get("/payments").headers
        made = [
            service.http.post("/payments", json={"amount": 1}, headers={**ann, "Idempotency-Key": new_key()})
            for _ in range(3)
        ]
        assert [each.status_code for each in made] == [201, 201, 429]
