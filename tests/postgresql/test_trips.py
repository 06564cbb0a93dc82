"""How often PostgreSQL is asked for a request that is like an earlier one, as its own log has it: what waits for one
answer after another costs as many ways there and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx
import pytest
from tests.contracts import compiled
from tests.http_cases import serving
from tests.postgresql import server

pytestmark = pytest.mark.serves

CONTRACT: Final = Path(__file__).parent / "contract.md"

TRIPS: Final = {
    # What is due, who calls, and the rows.
    "read": 3,
    "list": 3,
    "not there": 4,
    "who is nobody": 2,
    # What is due, who calls; to begin, the lock that all write under, and to commit; the row, what its event tells,
    # the event, those who are told, the row that is shown; that it may lapse; and of the hall whether it is full.
    "create": 12,
    "transition": 11,
    # Also: the key is held, looked for, stored, and others that have expired go.
    "create with a key": 16,
    # What was done is undone.
    "refused create": 11,
}


def asked(database: str) -> list[str]:
    """What a database was asked so far, but for what a node asks by itself once a second, and that it lets a key go,
    which nobody waits for."""
    lines = (server.directory() / "log").read_text(encoding="utf-8", errors="replace").splitlines()
    found = [re.match(rf"{database} LOG: +(?:execute [^:]+|statement): (.*)", line) for line in lines]
    return [each[1] for each in found if each and each[1] != "SELECT 1" and "pg_advisory_unlock" not in each[1]]


def test_requests_ask_as_often_as_is_written_here() -> None:
    url, plan = server.database(), compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    name = url.partition("?")[0].rpartition("/")[2]
    server.run(url, f"ALTER DATABASE {name} SET log_statement = 'all'")
    with serving(plan, url, {}) as client:
        who = {"Authorization": f"Bearer {client.post('/people', json={'name': 'p'}).json()['token']}"}
        hall = client.post("/halls", json={"most": 1000}).json()["id"]
        full = client.post("/halls", json={"most": 0}).json()["id"]

        def seat(number: int, of: int = hall, key: str = "") -> httpx.Response:
            headers = who | ({"Idempotency-Key": key} if key else {})
            return client.post("/seats", json={"hall": of, "name": f"{of}-{key}-{number}"}, headers=headers)

        requests: dict[str, tuple[int, Callable[[int], httpx.Response]]] = {
            "create": (201, seat),
            "create with a key": (201, lambda number: seat(number, key=f"k{number}")),
            "refused create": (409, lambda number: seat(number, full)),
            "read": (200, lambda _: client.get("/seats/1", headers=who)),
            "not there": (404, lambda _: client.get("/seats/1000", headers=who)),
            "list": (200, lambda _: client.get("/seats", headers=who)),
            "who is nobody": (401, lambda _: client.get("/seats/1", headers={"Authorization": "Bearer x"})),
            "transition": (200, lambda number: client.post(f"/seats/{number + 1}/keep", headers=who)),
        }
        counted = {}
        for what, (status, ask) in requests.items():
            found = []
            # The first ones prepare what they ask; a node that looks by itself what is due asks one thing more.
            for number in range(6):
                before = len(asked(name))
                assert ask(number).status_code == status, what
                found.append(asked(name)[before:])
            shortest = min(found[2:], key=len)
            counted[what] = len(shortest)
    assert counted == TRIPS
