"""How often PostgreSQL is asked for a request that is like an earlier one, as its own log has it: what waits for one
answer after another costs as many ways there and back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx
import pytest
from tests.http_cases import serving
from tests.postgresql import server

from ninefold.pipeline import compile_document
from ninefold.runtime.store.postgresql_servers import CLOCK
from ninefold.sql import nodes

pytestmark = pytest.mark.serves

CONTRACT: Final = Path(__file__).parent / "contract.md"

TRIPS: Final = {
    # What is due, who calls, and the row, of one snapshot; of a list, the rows by themselves, whose order counts.
    "read": 1,
    "list": 2,
    # Whether it is there, or may not be seen.
    "not there": 2,
    # Nobody was before, so each is asked for when it is wanted: what is due (see `asked`), and who calls.
    "who is nobody": 1,
    # What is due and who calls; the lock that all write under, where the end of the last transaction began this one,
    # and to commit; the row, what its event tells, the event, those who are told, the row that is shown; that it may
    # lapse; and of the hall whether it is full.
    "create": 10,
    "transition": 9,
    # Also: the key is held, looked for and stored; at every eighth, those that have expired go. What is due is asked
    # by itself.
    "create with a key": 13,
    # It begins, and what was done is undone.
    "refused create": 10,
}


BY_ITSELF: Final = ("SELECT 1", CLOCK, nodes.DUE)
"""What a node asks again and again, whatever it is asked: whether PostgreSQL is there, what time it is, what is due."""


def asked(database: str) -> list[str]:
    """What a database was asked so far, but for what a node asks by itself, and that it lets a key go, which nobody
    waits for."""
    found = logged(database, "(?:execute [^:]+|statement)")
    return [each for each in found if each not in BY_ITSELF and "pg_advisory_unlock" not in each]


def logged(database: str, how: str) -> list[str]:
    """What its log has of a database that was done in this way."""
    lines = (server.directory() / "log").read_text(encoding="utf-8", errors="replace").splitlines()
    found = [re.match(rf"{database} LOG: +{how}: (.*)", line) for line in lines]
    return [each[1] for each in found if each]


def test_requests_ask_as_often_as_is_written_here() -> None:
    # Nothing falls due meanwhile.
    text = CONTRACT.read_text(encoding="utf-8").replace("after: PT2S", "after: P2D")
    url, plan = server.database(), compile_document("contract.md", text.encode()).plan_for("postgresql")
    assert plan is not None and plan.timers
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
    # What a node asks again and again is read and planned once a connection.
    anew = Counter(logged(name, "execute <unnamed>"))
    often = {text for text, number in anew.items() if number > 20 and text not in BY_ITSELF}
    assert not often and len(set(logged(name, "execute ninefold [0-9]+"))) > 10
