"""A request like an earlier one, where it is asked first what all processes know: what is due, who calls, and how its
rates stand. It is answered as the steps answer it, and takes none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.http_cases import serving
from tests.postgresql import server
from tests.postgresql.nodes import person

from ninefold.pipeline import compile_document
from ninefold.runtime.messages.message import Request
from ninefold.runtime.operations.timers import Timers
from ninefold.runtime.request.handed import Handed, asked_first
from ninefold.runtime.request.likewise import Likewise

pytestmark = pytest.mark.serves

SEATS = (Path(__file__).parent / "contract.md").read_text(encoding="utf-8").replace("after: PT2S", "after: P2D")
RATES = """rates:
  few: {of: address, allow: 20, per: PT1H, algorithm: sliding window, endpoints: [GET /limited]}
  looks: {of: caller, allow: 6, per: PT1H, algorithm: sliding window, endpoints: ["GET /seats/{id}", GET /seats]}
  makes: {of: caller, allow: 5, per: PT1H, algorithm: token bucket, burst: 5, endpoints: [POST /seats]}
"""
COUNTED = re.sub(r"rates:\n  few.*\n", RATES, SEATS)


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
