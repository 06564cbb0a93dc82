"""What makes a request with an idempotency key the same as an earlier one: declared headers too, which may choose what
is done, and with which values. Over SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.events.service import Running, running
from tests.parts import contract
from tests.postgresql import server

pytestmark = pytest.mark.serves

CONTRACT = contract(
    """
    note:
      primary key: id
      fields: {id: {type: integer, on create: serial()}, text: {type: string}, why: {type: string}}
    memo: {primary key: id, fields: {id: {type: integer, on create: serial()}, text: {type: string}}}
    desk: {primary key: name, fields: {name: {type: string}, word: {type: string, secret: password}}, required: [word]}
    """,
    """
    POST /things:
      request headers: {Prefer: {type: string, default: note}}
      idempotency key: optional
      body: [text]
      cases:
        by: request.headers.Prefer
        note: {does: create note, responses: {201: {note: note.id}}}
        memo: {does: create memo, responses: {202: {memo: memo.id}}}
    POST /notes:
      request headers: {X-Why: {type: string, default: plain}, X-Nothing: {type: string}}
      idempotency key: optional
      does: create note
      body: [text]
      sets: {why: "request.headers['X-Why']"}
      responses: {201: {note: note.id, why: note.why}}
    POST /keys:
      request headers: {Idempotency-Key: {type: string}, Authorization: {type: string}, Cookie: {type: string}}
      idempotency key: optional
      does: create note
      body: [text]
      responses: {201: {note: note.id}}
    """,
    callers="""
schemes:
  basic: {type: http, scheme: basic, realm: notes, matches: desk.name}
permissions: {all others: anyone}
rows: all
""",
    limits="idempotency keys kept: PT1H",
)


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    database = tmp_path / "a.db" if request.param == "sqlite" else server.database()
    with running(database, CONTRACT) as one:
        yield one


def asked(service: Running, path: str, text: str = "a", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.http.post(path, json={"text": text}, headers=named)


def mismatches(answer: httpx.Response) -> bool:
    return answer.status_code == 422 and answer.json()["code"] == "mismatch"


def test_another_case_is_another_request(service: Running) -> None:
    first = asked(service, "/things", Idempotency_Key="k", Prefer="note")
    assert (first.status_code, first.json()) == (201, {"note": 1})
    for other in ({"Prefer": "memo"}, {}):
        assert mismatches(asked(service, "/things", Idempotency_Key="k", **other))
    memo = asked(service, "/things", Idempotency_Key="l", Prefer="memo")
    assert (memo.status_code, memo.json()) == (202, {"memo": 1})
    assert asked(service, "/things", Idempotency_Key="l", Prefer="memo").json() == {"memo": 1}
    assert asked(service, "/things", Idempotency_Key="k", Prefer="note").json() == {"note": 1}
    assert service.rows("SELECT (SELECT count(*) FROM note), (SELECT count(*) FROM memo)") == [(1, 1)]


@pytest.mark.parametrize("header", ["X_Why", "X_Nothing"])
def test_another_value_of_a_declared_header_is_another_request(service: Running, header: str) -> None:
    """Also of requests that are like an earlier one, of which fewer steps are taken."""
    for number in range(1, 5):
        key = f"k{number}"
        given = {header: "one"} if number % 2 else {}
        first = asked(service, "/notes", Idempotency_Key=key, **given)
        assert first.json() == {"note": number, "why": "one" if number % 2 and header == "X_Why" else "plain"}
        for other in ({header: "one"}, {header: "two"}, {}):
            again = asked(service, "/notes", Idempotency_Key=key, **other)
            assert again.json() == first.json() if other == given else mismatches(again), (given, other, again.text)


def test_other_headers_say_nothing_of_it(service: Running) -> None:
    """What nobody declared; by what credential the caller is known; and how the key itself is written."""
    first = asked(service, "/notes", Idempotency_Key="k").json()
    assert asked(service, "/notes", Idempotency_Key="k", X_Other="x", Accept="*/*").json() == first
    first = asked(service, "/keys", Idempotency_Key="k").json()
    assert asked(service, "/keys", Idempotency_Key='"k"').json() == first
    assert asked(service, "/keys", Idempotency_Key="k", Authorization="x").json() == first
    assert mismatches(asked(service, "/keys", Idempotency_Key="k", Cookie="x"))
