"""A `where` that names one row by unique fields of which a row may lack a value: what has none is no row's name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.events.service import Running, running
from tests.parts import CALLERS_AND_EVENTS, LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document

CONTRACT = (
    """# Hits

## 1. What the service does

Keeps hits.

## 2. Resources and their fields

```yaml
hit:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    code: {type: [string, "null"], unique: true}
    at:   {type: [integer, "null"]}
    of:   {type: [integer, "null"]}
    note: {type: [string, "null"]}
  unique: [[at, of]]
room:
  primary key: id
  fields:
    id:   {type: integer}
    name: {type: [string, "null"]}
slot:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    room: {references: room, unique: true, on delete: restrict}
    at:   {type: integer, on create: 0}
mark:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    code: {type: [string, "null"]}
    at:   {type: [integer, "null"]}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /hits: {does: create hit, body: [code, at, of], responses: {201: {id: hit.id}}}
GET /hits: {does: list hit, sort: [id], pages: none, responses: {200: page.items}}
GET /x:   {does: read hit, where: hit.code == 'x', responses: {200: {id: hit.id}}}
GET /hit:
  does: read hit
  where: hit.code == request.query.code
  query: {code: {type: string}}
  responses: {200: {id: hit.id}}
POST /rooms: {does: create room, body: [id], responses: {201: room}}
POST /slots: {does: create slot, body: [room], responses: {201: slot}}
GET /slots/{id}: {does: read slot, responses: {200: slot}}
GET /slot:
  does: read slot
  where: slot.room.id == request.query.of
  query: {of: {type: integer}}
  responses: {200: slot.id}
PATCH /slot:
  does: update slot
  where: request.query.of == slot.room.id
  query: {of: {type: integer}}
  body: none
  sets: {at: slot.at + 1}
  also: [{does: update room, where: room == this.room, sets: {name: "'taken'"}}]
  responses: {200: slot.id}
DELETE /slot:
  does: delete slot
  where: slot.room.id == request.query.of
  query: {of: {type: integer}}
  responses: {deleted: {204: none}, absent: {200: none}}
GET /pair:
  does: read hit
  where: hit.of == request.query.of && hit.at == request.query.at
  query: {at: {type: integer}, of: {type: integer}}
  responses: {200: {id: hit.id}}
GET /both/{code}:
  does: read hit
  where: hit.at == request.query.at
  query: {at: {type: integer}}
  responses: {200: {id: hit.id}}
PATCH /hit:
  does: update hit
  where: hit.code == request.query.code
  query: {code: {type: string}}
  body: [note]
  patch: merge
  responses: {200: {id: hit.id}}
PATCH /pair:
  does: update hit
  where: hit.of == request.query.of && hit.at == request.query.at
  query: {at: {type: integer}, of: {type: integer}}
  body: [note]
  patch: merge
  responses: {200: {id: hit.id}}
DELETE /hit:
  does: delete hit
  where: hit.code == request.query.code
  query: {code: {type: string}}
  responses: {deleted: {204: none}, absent: {200: none}}
PUT /hit:
  does: put hit
  where: hit.code == request.query.code
  query: {code: {type: string}}
  body: [note]
  responses: {created: {201: none}, replaced: {200: none}}
POST /marks:
  does: create mark
  body: [code, at]
  also:
  - {does: update hit, where: hit.code == this.code, sets: {note: "'by code'"}}
  - {does: update hit, where: hit.at == this.at && hit.of == 1, sets: {note: "'by pair'"}}
  responses: {201: none}
```

"""
    + CALLERS_AND_EVENTS
    + """## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes:
  missing: {status: 404, for: not found}
  invalid: {status: 422, for: invalid}
  taken:   {status: 409, for: conflict}
```
"""
    + LIMITS_AND_VERSIONS
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """Of the hits that are there, two have no code and no place, one each; and one has both."""
    with running(tmp_path / "service.db", CONTRACT) as found:
        for hit in ({}, {"of": 1}, {"of": 1}, {"code": "x", "at": 1, "of": 1}):
            assert found.http.post("/hits", json=hit).status_code == 201
        yield found


def notes(service: Running) -> list[str | None]:
    return [each["note"] for each in service.http.get("/hits").json()]


@pytest.mark.serves
@pytest.mark.parametrize("path", ["/x", "/hit?code=x", "/pair?at=1&of=1", "/both/x?at=1"])
def test_a_value_names_the_row_that_has_it(service: Running, path: str) -> None:
    assert service.http.get(path).json() == {"id": 4}


@pytest.mark.serves
@pytest.mark.parametrize("path", ["/hit", "/hit?code=y", "/pair", "/pair?of=1", "/pair?at=1"])
def test_no_value_names_none(service: Running, path: str) -> None:
    assert service.http.get(path).status_code == 404
    assert service.http.patch(path, json={"note": "all of them"}).status_code == 404
    assert notes(service) == [None] * 4


@pytest.mark.serves
def test_what_may_be_absent_is(service: Running) -> None:
    assert service.http.delete("/hit").status_code == 200
    assert len(notes(service)) == 4
    assert service.http.put("/hit", json={"note": "new"}).status_code == 201
    assert notes(service) == [None, None, None, None, "new"]
    assert service.http.delete("/hit?code=x").status_code == 204
    assert notes(service) == [None, None, None, "new"]


@pytest.mark.serves
def test_so_it_is_of_effects(service: Running) -> None:
    assert service.http.post("/marks", json={}).status_code == 201
    assert notes(service) == [None] * 4
    assert service.http.post("/marks", json={"code": "x"}).status_code == 201
    assert notes(service) == [None, None, None, "by code"]
    assert service.http.post("/marks", json={"at": 1}).status_code == 201
    assert notes(service) == [None, None, None, "by pair"]


@pytest.mark.serves
def test_a_reference_is_known_by_what_it_refers_to(service: Running) -> None:
    for room in (7, 8):
        service.http.post("/rooms", json={"id": room})
    for slot in ({"room": 7}, {"room": 8}, {}, {}):
        assert service.http.post("/slots", json=slot).status_code == 201
    assert (service.http.get("/slot?of=8").json(), service.http.patch("/slot?of=8").json()) == (2, 2)
    for method in ("GET", "PATCH"):
        assert service.http.request(method, "/slot").status_code == 404
    assert service.http.delete("/slot").status_code == 200
    assert service.http.delete("/slot?of=7").status_code == 204
    assert [service.http.get(f"/slots/{each}").json().get("at") for each in (1, 2, 3, 4)] == [None, 1, 0, 0]


@pytest.mark.parametrize("where", ["slot.room.name == 'a'", "slot.at == 1", "slot.room.id == slot.at"])
def test_what_it_refers_to_names_it_by_its_key_alone(where: str) -> None:
    text = CONTRACT.replace("where: slot.room.id == request.query.of", f"where: {where}", 1)
    told = compile_document("contract.md", text.encode()).diagnostics
    assert [each.code.id for each in told if each.code.severity.value == "error"] == ["NF0505"]


@pytest.mark.parametrize(
    "where", ["hit.code == null", "hit.at == null && hit.of == 1", "hit.at == 1", "hit.code == hit.note"]
)
def test_what_holds_of_several_names_none(where: str) -> None:
    text = CONTRACT.replace("where: hit.code == 'x'", f"where: {where}", 1)
    told = compile_document("contract.md", text.encode()).diagnostics
    assert [each.code.id for each in told if each.code.severity.value == "error"] == ["NF0505"]


def test_where_it_is_written_is_known_of_what_is_narrowed() -> None:
    """What is said of an expression is said where that stands, also where it asks for a value besides."""
    text = CONTRACT.replace(
        "note: {type: [string", "size: {type: integer, computed: all(hit).size()}\n    note: {type: [string", 1
    )
    text = text.replace("where: hit.code == 'x'", "where: hit.code == 'x' && hit.size > 0", 1)
    text = text.replace(
        '    at:   {type: [integer, "null"]}\n```',
        '    at:   {type: [integer, "null"]}\n    state: {state: true}\n```',
        1,
    )
    states = (
        "```yaml\nhit: none\nmark:\n  initial: a\n  states: [a, b]\n  transitions:\n    go: {from: a, to: b, "
        "after: PT1H, also: {does: update hit, where: hit.code == this.code, sets: {note: \"'gone'\"}}}\n```"
    )
    plan_of(text.replace("States: none.", states, 1))
