"""A request like an earlier one, where it is asked first what all processes know: what is due, who calls, and how its
rates stand. It is answered as the steps answer it, and takes none."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from tests.http_cases import serving
from tests.postgresql import server
from tests.postgresql.nodes import person
from tests.postgresql.test_halves import AT_A_LOCK
from tests.waiting import until

from ninefold.pipeline import compile_document
from ninefold.runtime.http.deadlines import Deadlines
from ninefold.runtime.messages.message import Request
from ninefold.runtime.operations.timers import Timers
from ninefold.runtime.request.handed import Handed, asked_first
from ninefold.runtime.request.likewise import Likewise
from ninefold.runtime.request.sought import Sought

pytestmark = pytest.mark.serves

SEATS = (Path(__file__).parent / "contract.md").read_text(encoding="utf-8").replace("after: PT2S", "after: P2D")
RATES = """rates:
  few: {of: address, allow: 20, per: PT1H, algorithm: sliding window, endpoints: [GET /limited]}
  looks: {of: caller, allow: 6, per: PT1H, algorithm: sliding window, endpoints: ["GET /seats/{id}", GET /seats]}
  makes: {of: caller, allow: 5, per: PT1H, algorithm: token bucket, burst: 5, endpoints: [POST /seats]}
"""
COUNTED = re.sub(r"rates:\n  few.*\n", RATES, SEATS)

KILL = f"SELECT pg_terminate_backend(pid) {AT_A_LOCK}"


def told(contract: str, at_once: bool, patch: pytest.MonkeyPatch) -> tuple[list[Any], int]:
    """What some requests were answered, and how many of those that read took no steps before they waited: others may
    come in pieces."""
    plan = compile_document("contract.md", contract.encode()).plan_for("postgresql")
    assert plan is not None
    begun, taken = Likewise.begun, list[bool]()

    def noting(self: Likewise, request: Request, content: bytes) -> Any:
        found = begun(self, request, content) if at_once else None
        taken.append(found is not None and request.method == "GET")
        return found

    patch.setattr(Likewise, "begun", noting)
    came, url = list[Any](), server.database()
    with serving(plan, url, {}) as client:
        one, other = person(client), person(client)
        client.post("/halls", json={"most": 100})

        def ask(who: dict[str, str], method: str, path: str, **body: Any) -> None:
            found: httpx.Response = client.request(method, path, headers=who, json=body or None)
            stands = re.findall(r'"(\w+)";r=(\d+)', found.headers.get("ratelimit", ""))
            came.append((method, found.status_code, found.content, stands))

        for number in (1, 2, 2, 3, 4, 5):
            ask(one, "POST", "/seats", hall=1, name=f"s{number}")
        for number in (1, 2, 99, 2):
            ask(one, "GET", f"/seats/{number}")
        ask(one, "GET", "/seats")
        # What fell due meanwhile is shown to have happened.
        server.run(url, "UPDATE seat SET \"$entered\" = '2001-01-01T00:00:00.000000Z' WHERE id = 2")
        server.run(url, "UPDATE \"$due\" SET due = ''")
        for who in (one, one, other, other, one):
            ask(who, "GET", "/seats/2")
        # Who is nobody any more is nobody, whatever was worked out.
        ask(other, "GET", "/seats")
        assert client.post("/sign-out", headers=other).status_code == 204
        ask(other, "GET", "/seats/2")
        ask(other, "GET", "/seats")
    patch.undo()
    return came, sum(taken)


@pytest.mark.parametrize("contract", [SEATS, COUNTED], ids=["what falls due", "what rates count"])
def test_what_all_processes_know_is_asked_first(contract: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by_steps, _ = told(contract, False, monkeypatch)
    answers, taken = told(contract, True, monkeypatch)
    assert answers == by_steps
    assert taken > len([method for method, *_ in answers if method == "GET"]) / 2
    assert {status for _, status, *_ in answers} == {200, 201, 401, 404, 409} | (
        {429} if contract is COUNTED else set()
    )


def test_what_is_not_asked_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    by_steps, _ = told(COUNTED, False, monkeypatch)
    monkeypatch.setattr(Timers, "is_settled_by", lambda *_: True)
    assert told(COUNTED, True, monkeypatch)[0] != by_steps
    uncounted = lambda it, *rest: asked_first(Handed(it.x, it.step), *rest)  # noqa: E731
    monkeypatch.setattr("ninefold.runtime.request.likewise.asked_first", uncounted)
    assert told(COUNTED, True, monkeypatch)[0] != by_steps


@pytest.mark.parametrize("at_once", [False, True], ids=["by the steps", "likewise"])
def test_a_row_that_does_not_come_is_told_as_the_steps_tell_it(at_once: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = compile_document("contract.md", SEATS.encode()).plan_for("postgresql")
    assert plan is not None
    put, begun, found, hurries = Deadlines.put, Likewise.begun, list[Any](), Event()

    def putting(deadlines: Any, who: Any, at: float, loop: asyncio.AbstractEventLoop) -> None:
        put(deadlines, who, loop.time() if hurries.is_set() else at, loop)

    def noting(self: Likewise, request: Request, content: bytes) -> Any:
        found.append(begun(self, request, content) if at_once else None)
        return found[-1]

    monkeypatch.setattr(Deadlines, "put", putting)
    monkeypatch.setattr(Likewise, "begun", noting)
    url = server.database()
    with serving(plan, url, {}) as client, ThreadPoolExecutor() as threads:
        who = person(client)
        hall = client.post("/halls", json={"most": 100}).json()["id"]
        for number in (1, 2):
            client.post("/seats", headers=who, json={"hall": hall, "name": f"s{number}"})

        def read() -> tuple[int, Any]:
            answer = client.get("/seats/2", headers=who)
            return answer.status_code, answer.json()

        good = [read() for _ in range(3)][-1]
        assert good[0] == 200
        holder, beside = server.Asked(url), server.Asked(url)
        for asks, code in ((f"SELECT {AT_A_LOCK}", "late"), (KILL, "away")):
            holder.run("BEGIN")
            holder.run("LOCK TABLE seat IN ACCESS EXCLUSIVE MODE")
            if code == "late":
                hurries.set()
            reading = threads.submit(read)
            assert len(until(partial(beside.run, asks))) == 1
            assert reading.result() == (503, {"code": code, "status": 503})
            assert isinstance(found[-1], Sought) == at_once
            hurries.clear()
            holder.run("ROLLBACK")
            assert read() == good, "and what comes late is told to nobody"
        holder.close()
        beside.close()
