"""What only one thing can be meant by: zero, the order of text, U+0000 wherever it comes, and the order of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

pytestmark = pytest.mark.serves

CONTRACT = """\
resources:
  note:
    primary key: name
    fields:
      name: {type: string}
      text: {type: string, unique: true}
      num: {type: number, unique: true}
      neg: {type: number, computed: "note.num * -1.0"}
      free: {type: object}
      list: {type: array, items: {type: number}}
  part:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, of: {references: note, on delete: cascade}, x: {type: number}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes:
    does: create note
    body: [name, text, num, free, list]
    also:
      - {does: create part, each: this.list, sets: {of: this, x: each}}
      - {does: create part, sets: {of: this, x: "99.0"}}
    responses: {201: {note: note, low: "-note.num", neg: note.neg, same: "note.num == note.neg"}}
  GET /notes/fixed/first: {does: list note, sort: [name], responses: {200: page.items}}
  GET /notes/{note.name}: {does: read note, responses: {200: note}}
  DELETE /notes/{note.name}: {does: delete note, responses: {deleted: {200: note}, absent: {204: none}}}
  GET /notes:
    does: list note
    query: {text: note.text == value, num: note.num == value, sort: {sorts: [name, text, num]}, q: {type: string}}
    sort: [name]
    responses: {200: "page.items.map(n, n.name)"}
  GET /given/{x}: {does: compute, path: {x: {type: string}}, responses: {200: {x: request.path.x}}}
  GET /events: {does: list event, sort: [position], responses: {200: "page.items.map(e, e.payload)"}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events:
  kinds:
    note.made: {upon: create note, payload: {name: note.name}}
    part.made: {upon: create part, payload: {x: part.x}}
  kept: P1D
  delivery: none
errors:
  error shape:
    media type: application/json
    body: {code: error.code, fields: "error.fields.map(f, [f.pointer, f.rule])"}
  codes:
    invalid: {status: 422, for: invalid}
    missing: {status: 404, for: not found}
    no_path: {status: 404, for: no such path}
    taken: {status: 409, for: conflict}
limits: {rates: none, body size: 64 KiB, pages: none, timeout: none}
versioning: none
"""


@pytest.fixture
def http(tmp_path: Path) -> Iterator[httpx.Client]:
    plan = plan_of(CONTRACT, "notes.yaml")
    with serving(plan, tmp_path / "service.db", {}) as client:
        client.headers["content-type"] = "application/json"
        yield client


def test_there_is_one_zero(http: httpx.Client) -> None:
    body = '{"name": "a", "num": -0.0, "free": {"a": -0.0, "b": [-0.0, -0]}, "list": [-0.0, -1e-400]}'
    made = http.post("/notes", content=body)
    assert made.status_code == 201 and "-0" not in made.text
    assert made.json()["same"] is True
    assert "-0" not in http.get("/notes/a").text
    for zero in ("0", "0.0", "-0", "-0.0", "1e-400"):
        taken = http.post("/notes", content=f'{{"name": "b", "num": {zero}}}')
        assert (taken.status_code, taken.json()["fields"]) == (409, [["/num", "unique"]])
        assert http.get("/notes", params={"num": zero}).json() == ["a"]


def test_text_is_ordered_by_code_point_and_as_it_came(http: httpx.Client) -> None:
    names = ["\U0001f600", "\uff5e", "z", "a", "Z", "A", "\u00e9", "e\u0301", "e", "\u00df", "SS", "ss", "10", "9", " "]
    for name in names:
        assert http.post("/notes", content=json.dumps({"name": name, "text": name})).status_code == 201
    for field in ("name", "text"):
        assert http.get("/notes", params={"sort": field}).json() == sorted(names)
    for name in names:
        assert http.get("/notes", params={"text": name}).json() == [name]
        assert http.post("/notes", content=json.dumps({"name": name})).status_code == 409


def test_text_with_nul_is_of_no_type(http: httpx.Client) -> None:
    assert http.post("/notes", content='{"name": "a\\u0000"}').json()["fields"] == [["/name", "range"]]
    for query in ("text=%00", "q=a%00b"):
        name = query.partition("=")[0]
        refused = http.get("/notes?" + query)
        assert (refused.status_code, refused.json()["fields"]) == (422, [["/" + name, "range"]])
    for path in ("/notes/%00", "/notes/a%00b", "/given/%00"):
        assert http.get(path).json() == {"code": "missing", "fields": []}
    assert http.delete("/notes/%00").json()["code"] == "missing"
    for path in ("/%00", "/notes%00", "/notes/fixed%00/first", "/notes/fixed/%00", "/notes/%ff"):
        assert http.get(path).json()["code"] == "no_path"


def test_events_of_effects_come_after_what_they_follow_from(http: httpx.Client) -> None:
    for name in ("a", "b"):
        assert http.post("/notes", content=json.dumps({"name": name, "list": [2, 1]})).status_code == 201
    one = [{"x": 2.0}, {"x": 1.0}, {"x": 99.0}]
    assert http.get("/events").json() == [{"name": "a"}, *one, {"name": "b"}, *one]
