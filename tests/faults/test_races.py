"""Requests that race: for one entity tag, one transition, one unique value. Of each, one is done.

Races for one idempotency key are in tests/server/test_idempotency.py, for one rate in tests/server/test_rates.py.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.events.service import Running, running
from tests.faults.contracts import EVENTS_KEPT

pytestmark = pytest.mark.serves

CONTRACT = EVENTS_KEPT.replace("timeout: PT1S", "timeout: PT30S")
ROUNDS, RACERS = 60, 20


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db", CONTRACT) as service:
        yield service


def raced(service: Running, ask: Callable[[httpx.Client, int, int], httpx.Response]) -> list[Counter[tuple[int, str]]]:
    """For each round, how often there was which status with which code. `ask` is given the round and the racer."""
    begin = threading.Barrier(RACERS)

    def race(racer: int) -> list[tuple[int, str]]:
        answers = []
        with httpx.Client(base_url=service.url, timeout=60) as http:
            for round in range(ROUNDS):
                begin.wait(120)
                answer = ask(http, round, racer)
                answers.append((answer.status_code, answer.json().get("code", "")))
        return answers

    with ThreadPoolExecutor(RACERS) as pool:
        return [Counter(answers) for answers in zip(*pool.map(race, range(RACERS)), strict=True)]


def tickets(service: Running, ann: dict[str, str]) -> list[tuple[str, str]]:
    """The paths of new tickets and their entity tags."""
    made = [
        service.http.post("/tickets", json={"seat": f"R{number}", "price": 1}, headers=ann) for number in range(ROUNDS)
    ]
    paths = [f"/tickets/{each.json()['id']}" for each in made]
    return [(path, service.http.get(path, headers=ann).headers["etag"]) for path in paths]


def test_for_one_unique_value(service: Running) -> None:
    ann = service.person("Ann")

    def ask(http: httpx.Client, round: int, racer: int) -> httpx.Response:
        return http.post("/tickets", json={"seat": f"S{round}", "price": 1}, headers=ann)

    assert raced(service, ask) == [Counter({(201, ""): 1, (409, "taken"): RACERS - 1})] * ROUNDS
    assert service.rows("SELECT count(*) FROM ticket") == [(ROUNDS,)]


def test_for_one_entity_tag(service: Running) -> None:
    ann = service.person("Ann")
    seats = tickets(service, ann)

    def ask(http: httpx.Client, round: int, racer: int) -> httpx.Response:
        path, tag = seats[round]
        return http.patch(path, json={"price": 100 + racer}, headers={**ann, "If-Match": tag})

    assert raced(service, ask) == [Counter({(200, ""): 1, (412, "stale"): RACERS - 1})] * ROUNDS


def test_for_one_transition(service: Running) -> None:
    ann = service.person("Ann")
    seats = tickets(service, ann)

    def ask(http: httpx.Client, round: int, racer: int) -> httpx.Response:
        return http.post(f"{seats[round][0]}/buy", headers=ann)

    assert raced(service, ask) == [Counter({(200, ""): 1, (409, "wrong_state"): RACERS - 1})] * ROUNDS
    # Each was sold once, and told of once.
    assert service.rows("SELECT count(*) FROM \"$event\" WHERE kind = 'ticket.sold'") == [(ROUNDS,)]
