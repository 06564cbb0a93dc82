"""Callers are told apart by all of their primary key, whatever stands in it; and what they chose breaks no line of a
log."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.server.conftest import Running, recorded, running

from ninefold.cli.logs import log_to_stderr
from ninefold.runtime.http.access_log import LONGEST_CALLER, Record
from ninefold.runtime.http.access_log import lines as written_as
from ninefold.values.texts import apart

CONTRACT = """
purpose: Keeps notes of members.
resources:
  member:
    primary key: [team, name]
    fields: {team: {type: string}, name: {type: string}, key: {type: string, secret: token, on create: token()}}
  guest:
    primary key: name
    fields: {name: {type: string}, key: {type: string, secret: token, on create: token()}}
  note:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, text: {type: string}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /members: {does: create member, body: [team, name], responses: {201: {key: issued.key}}}
  POST /guests: {does: create guest, body: [name], responses: {201: {key: issued.key}}}
  POST /notes: {does: create note, body: [text], idempotency key: optional, responses: {201: note}}
  GET /notes: {does: list note, sort: [id], pages: none, responses: {200: {notes: page.items}}}
authentication:
  schemes:
    "nobody/from": {type: apiKey, in: header, name: Key-Of-Member, matches: member.key}
    "a b": {type: apiKey, in: header, name: Key-Of-Guest, matches: guest.key}
    nobody: {type: apiKey, in: header, name: Key-Of-Nobody, matches: guest.key}
  rows: all
  permissions: {POST /members: anyone, POST /guests: anyone, all others: ["nobody/from", "a b", nobody, anyone]}
events: none
errors: none
limits:
  rates: {calls: {of: caller, allow: 1, per: PT1M, algorithm: fixed window, endpoints: [GET /notes]}}
  idempotency keys kept: PT1H
  timeout: none
  body size: 1 MiB
versioning: none
"""

MEMBERS = [("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("a/b/c", ""), ("", "a/b/c"), ("from", "127.0.0.1"), ("", "")]
GUESTS = ["", "a/b/c", "a%2Fb/c", "from 127.0.0.1", "from/127.0.0.1", "b a"]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(plan_of(CONTRACT, "notes.yaml"), tmp_path / "service.db") as service:
        yield service


def credentials(service: Running) -> list[dict[str, str]]:
    """A header of each caller; of who has none, none."""
    found: list[dict[str, str]] = [{}]
    for team, name in MEMBERS:
        made = service.http.post("/members", json={"team": team, "name": name})
        found.append({"Key-Of-Member": made.json()["key"]})
    for name in GUESTS:
        made = service.http.post("/guests", json={"name": name})
        found += [{header: made.json()["key"]} for header in ("Key-Of-Guest", "Key-Of-Nobody")]
    return found


@pytest.mark.serves
def test_each_caller_has_its_own_rate(service: Running) -> None:
    callers = credentials(service)
    assert [service.http.get("/notes", headers=each).status_code for each in callers] == [200] * len(callers)
    assert [service.http.get("/notes", headers=each).status_code for each in callers] == [429] * len(callers)


@pytest.mark.serves
def test_each_caller_has_its_own_idempotency_keys(service: Running) -> None:
    callers = credentials(service)
    made = [
        service.http.post("/notes", json={"text": "a"}, headers={**each, "Idempotency-Key": "one"}) for each in callers
    ]
    assert [each.json()["id"] for each in made] == [*range(1, len(callers) + 1)]


@pytest.mark.serves
@pytest.mark.parametrize(
    "name",
    [
        "ada\n2026-12-01T00:00:00.000000Z 10.0.0.9 key:admin DELETE /notes 204 0 B 0.1 ms",
        "\x1b[31mred",
        "a b",
        "\u2028\u202e\x7f\x9b",
        "x" * 5000,
        "",
    ],
)
def test_what_a_caller_chose_is_one_word_of_one_line(service: Running, name: str) -> None:
    key = service.http.post("/guests", json={"name": name}).json()["key"]
    service.http.get("/notes", headers={"Key-Of-Nobody": key})
    record: Record = recorded(service.records, 2)[-1]
    line = written_as("text")(record)
    assert line.isprintable() and len(line) < LONGEST_CALLER + 120
    assert line.split()[2].startswith("nobody:") and line.split()[3:6] == ["GET", "/notes", "200"]
    said = json.loads(written_as("json")(record))["caller"]
    assert said == name or (said == name[:LONGEST_CALLER] + "…")


def test_what_errors_quote_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, root.handlers = root.handlers, []
    try:
        log_to_stderr()
        try:
            raise ValueError("a\x1b[31m")
        except ValueError as error:
            logging.getLogger("ninefold.server").error("it failed: %s", "b\nc\x9b", exc_info=error)
    finally:
        root.handlers = before
    first, *rest = capsys.readouterr().err.split("\n")
    assert "it failed: b␊c" in first and first.isprintable()
    assert rest[0].startswith("Traceback") and all(each.isprintable() for each in rest)


PARTS = ["", "a", "/", "%", "a/", "/a", "%2F", "%25", "a%2F", "2F"]


def test_several_texts_are_one_that_no_others_are() -> None:
    several = [("a",), *((one, two) for one in PARTS for two in PARTS), *((a, b, "c") for a in PARTS for b in PARTS)]
    whole = [apart(*each) for each in several]
    assert not [(one, two) for one, two in combinations(several, 2) if apart(*one) == apart(*two)]
    assert len(whole) == len(set(whole)) and apart("a/b%") == "a/b%"
