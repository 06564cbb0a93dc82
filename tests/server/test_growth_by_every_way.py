"""Whatever way a value takes into a row: what expressions make longer and longer is `too large` at the bound, the row
stays as it was, and the next request is served."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.conftest import Running, running

from ninefold.cli import main
from ninefold.expressions.operations import TooMuch, together
from ninefold.pipeline import compile_document
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.sources import Sources
from ninefold.runtime.store import sqlite
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.values import LONGEST_SUM

LONGEST = 200_000
HALF = "x" * (LONGEST // 2 + 10)
START = datetime(2026, 3, 1, 12, tzinfo=UTC)

CONTRACT = """purpose: Grows.
resources:
  client:
    primary key: id
    fields:
      id:     {type: string, pattern: '^[a-z]+$'}
      secret: {type: string, secret: password}
      scopes: {type: array, items: {type: string}, on create: "['all']"}
      text:   {type: string, on create: "'x'"}
    required: [id, secret]
  note:
    primary key: id
    fields:
      id:    {type: string, pattern: '^[a-z]+$'}
      given: {type: string}
      text:  {type: string, on create: note.given + note.given}
      list:  {type: array, items: {type: string}}
      free:  {type: object}
      since: {type: string, format: date-time, on create: now}
      state: {state: true}
    required: [id, given]
RECORDS
states:
  client: none
  note:
    initial: open
    states: [open, left]
    transitions:
      grow:  {from: open, to: open, sets: {text: note.text + note.text}}
      leave: {from: open, to: left, after: PT1H, sets: {text: note.text + note.text}}
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  functions: {long: {takes: {n: {type: integer}}, gives: {type: string}, refuses: []}}
  POST /clients: {does: create client, body: [id, secret], responses: {201: {id: client.id}}}
  POST /sessions:
    does: sign in client
    body: [id, secret]
    sets: {text: client.text + client.text}
    issues: badge
    responses: {201: {badge: caller.credential, n: client.text.size()}}
  POST /token:
    does: sign in client
    grant: client_credentials
    requests: {media type: application/x-www-form-urlencoded, unknown members: ignored}
    body: {client_id: client.id, client_secret: client.secret}
    sets: {text: client.text + client.text}
    issues: app
    responses: {200: {access_token: caller.credential, n: client.text.size()}}
  GET /clients/{id}: {does: read client, responses: {200: {n: client.text.size()}}}
  POST /notes: {does: create note, body: [id, given], responses: {201: {n: note.text.size()}}}
  PUT /notes/{id}:
    does: put note
    body: [given]
    sets: {text: note.given + note.given + note.given + note.given}
    responses: {created: {201: {n: note.text.size()}}, unchanged: {200: {n: note.text.size()}}}
  GET /notes/{id}: {does: read note, responses: {200: {n: note.text.size(), state: note.state}}}
  POST /notes/{id}/grow: {does: grow note, body: none, responses: {200: {n: note.text.size()}}}
  PATCH /notes/{id}:
    does: update note
    patch: merge
    body: [free, list]
    sets: {text: note.text + note.given}
    responses: {200: {n: note.text.size()}}
  POST /notes/{id}/called:
    does: [call long, update note]
    patch: merge
    body: none
    with: {n: "1"}
    sets: {text: result.long + result.long}
    responses: {200: {n: note.text.size()}}
authentication:
  schemes:
    badge: {type: apiKey, in: header, name: X-Badge, issued to: client, lasts: PT1H}
    app:
      {type: http, scheme: bearer, realm: Notes, issued to: client, lasts: PT1H, scopes: [all], granted: client.scopes}
  rows: {client: {badge: true, app: true, anyone: true}, note: {badge: true, app: true, anyone: true}}
  unseen rows: not found
  permissions: {all others: anyone}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code, fields: error.fields}}
  codes:
    large:  {status: 413, for: too large}
    other:  {status: 422, for: invalid}
limits: {rates: none, timeout: none, body size: 64 KiB}
versioning: none
"""


def contract(records: str = "") -> str:
    return CONTRACT.replace("RECORDS\n", records)


def plan_of(records: str = "") -> ServicePlan:
    loaded = compile_document("a.yaml", contract(records).encode())
    assert loaded.plan is not None, [each.message for each in loaded.diagnostics]
    return loaded.plan


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(autouse=True)
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that is reached sooner."""
    monkeypatch.setattr(sqlite, "LONGEST_SUM", LONGEST)


@contextmanager
def serving(path: Path) -> Iterator[tuple[Running, Clock]]:
    clock = Clock()
    functions: dict[str, Callable[..., Any]] = {"long": lambda n: HALF}
    with running(plan_of(), path / "a.db", Sources(clock=clock), functions=functions) as service:
        yield service, clock


def note(service: Running, given: str) -> Any:
    return service.http.post("/notes", json={"id": "a", "given": given})


def grow(service: Running) -> int:
    """Until it is refused: how long the text has become."""
    for _ in range(30):
        answer = service.http.post("/notes/a/grow")
        if answer.status_code != 200:
            assert (answer.status_code, answer.json()["code"]) == (413, "large"), answer.text
            break
    found = service.http.get("/notes/a").json()["n"]
    assert LONGEST / 8 < found < LONGEST
    return int(found)


CREDENTIALS = {"id": "ann", "secret": "a long secret of hers"}
FORM = {"grant_type": "client_credentials", "client_id": "ann", "client_secret": CREDENTIALS["secret"]}


@pytest.mark.serves
def test_what_a_request_gives_is_not_made_too_long(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, _):
        assert note(service, "x" * 60_000).status_code == 201
        grown = service.http.get("/notes/a").json()["n"]
        answers = [service.http.put("/notes/a", json={"given": "x" * 60_000}) for _ in range(4)]
        assert answers[-1].status_code == 413, answers[-1].text
        for _ in range(4):
            answer = service.http.patch("/notes/a", json={"free": {"a": 1}})
        assert (answer.status_code, answer.json()["code"]) == (413, "large"), answer.text
        assert grown <= service.http.get("/notes/a").json()["n"] < LONGEST
        assert service.http.put("/notes/b", json={"given": "x"}).status_code == 201


@pytest.mark.serves
@pytest.mark.parametrize("way", ["sign in", "grant"])
def test_what_knowing_a_client_makes_longer_is_bounded(tmp_path: Path, way: str) -> None:
    with serving(tmp_path) as (service, _):
        assert service.http.post("/clients", json=CREDENTIALS).status_code == 201
        for _ in range(25):
            if way == "sign in":
                answer = service.http.post("/sessions", json=CREDENTIALS)
            else:
                answer = service.http.post("/token", data=FORM)
            if answer.status_code >= 300:
                break
        assert (answer.status_code, answer.json()["code"]) == (413, "large"), answer.text
        assert LONGEST / 8 < service.http.get("/clients/ann").json()["n"] < LONGEST
        assert service.http.get("/clients/ann").status_code == 200


@pytest.mark.serves
def test_what_a_function_gives_is_bounded(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, _):
        assert note(service, "x").status_code == 201
        answer = service.http.post("/notes/a/called")
        assert (answer.status_code, answer.json()["code"]) == (413, "large"), answer.text
        assert service.http.get("/notes/a").json()["n"] == 2


@pytest.mark.serves
def test_a_timer_that_would_make_too_much_waits(tmp_path: Path) -> None:
    with serving(tmp_path) as (service, clock):
        assert note(service, "x" * 30_000).status_code == 201
        assert service.http.post("/notes", json={"id": "b", "given": "x"}).status_code == 201
        grown = grow(service)
        clock.now = START + timedelta(hours=2)
        assert service.http.get("/notes/a").json() == {"n": grown, "state": "open"}
        assert service.http.get("/notes/b").json() == {"n": 4, "state": "left"}


RECORDS = "    records: [{id: a, given: GIVEN}]\n"


def test_a_record_that_is_made_too_long_is_refused(tmp_path: Path) -> None:
    for value, fits in (("x" * 100, True), (HALF, False)):
        plan = plan_of(RECORDS.replace("GIVEN", value))
        opened = open_sqlite(str(tmp_path / f"{fits}.db"), plan.schema, stated_rows(plan, Caller({})))
        if isinstance(opened, Opened):
            opened.database.close()
        assert isinstance(opened, Opened) == fits, opened
        assert fits or "too large" in str(opened)


def test_a_row_that_is_added_is_not_made_too_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(contract())
    for value, fits in (("x" * 100, True), (HALF, False)):
        rows = tmp_path / "rows.json"
        rows.write_text(json.dumps([{"id": "b" if fits else "c", "given": value}]))
        command = ["add", str(tmp_path / "a.yaml"), "note", "--from", str(rows), "--database", str(tmp_path / "a.db")]
        code = main(command)
        said = capsys.readouterr()
        assert (code == 0) == fits, said
        assert fits or "too large" in said.out + said.err


@given(st.sampled_from([-1, 0, 1]), st.integers(0, LONGEST_SUM), st.booleans())
def test_what_plus_makes_has_a_bound(beyond: int, first: int, text: bool) -> None:
    """Of texts by code points, of arrays by items: in Python as in the database, which counts bytes."""
    size = LONGEST_SUM + beyond
    first = min(first, size)
    one, other = ("x", "x") if text else ([None], [None])
    if beyond > 0:
        with pytest.raises(TooMuch):
            together(one * first, other * (size - first))
    else:
        assert len(together(one * first, other * (size - first))) == size


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_the_database_has_the_same_bound(beyond: int) -> None:
    connection = apsw.Connection(":memory:")
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, LONGEST)
    half = LONGEST // 2
    wanted = "SELECT length(? || ?)", ("x" * half, "x" * (half + beyond))
    if beyond > 0:
        with pytest.raises(apsw.TooBigError):
            connection.execute(*wanted).fetchall()
    else:
        assert connection.execute(*wanted).fetchall() == [(LONGEST + beyond,)]
