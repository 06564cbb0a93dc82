"""`put` whose `where` names the row: what comes of it where it is there, where it is not, and where it is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events.service import Running, running
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document

CONTRACT = (
    """# Seats

## 1. What the service does

Keeps seats.

## 2. Resources and their fields

```yaml
person:
  primary key: name
  fields:
    name: {type: string}
    key:  {type: string, secret: token, on create: token()}
    seat: {references: seat, on delete: set null, inverse: people}
seat:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    code:  {type: string, unique: true}
    row:   {type: string, on create: "'a'"}
    place: {type: integer, on create: "1"}
    open:  {type: boolean, on create: "true"}
    note:  {type: [string, "null"]}
    owner: {references: person, on create: caller.person, on delete: cascade}
    edits: {type: integer, on create: "0", on change: seat.edits + 1}
  required: [code]
  unique: [[row, place]]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /people: {does: create person, body: [name], responses: {201: {key: issued.key}}}
GET /seats:
  does: list seat
  sort: [id]
  pages: none
  responses: {200: "page.items.map(s, {'code': s.code, 'edits': s.edits})"}
PUT /code:
  does: put seat
  where: seat.code == request.query.code
  query: {code: {type: string}}
  body: [code, note, row, place]
  etag: true
  check: {that: "seat.note != 'bad'", else: bad}
  responses: {created: {201: {id: seat.id}}, replaced: {200: {id: seat.id}}, unchanged: {202: {id: seat.id}}}
PUT /either:
  does: put seat
  where: seat.row == request.query.row && 1 == seat.place
  query: {row: {type: string}}
  body: [note]
  sets: {code: "'of-' + request.query.row", row: request.query.row}
  responses: {created: {201: none}, unchanged: {202: none}}
PUT /mine:
  does: put seat
  where: seat == caller.person.seat
  body: [code, note, row]
  responses: {created: {201: none}, replaced: {200: none}}
PUT /open/{code}:
  does: put seat
  where: seat.open
  body: [note, open]
  sets: {row: "'o-' + seat.code"}
  responses: {created: {201: none}, replaced: {200: none}, unchanged: {202: none}}
PUT /known:
  does: put seat
  where: seat.code == request.query.code
  query: {code: {type: string}}
  body: [note]
  responses: {replaced: {200: none}, unchanged: {202: none}}
PUT /there: {does: put seat, where: seat.code == 'x', body: [note], responses: {unchanged: {202: none}}}
POST /sit/{name}:
  does: update person
  body: none
  sets: {seat: "all(seat).filter(s, s.code == 'x').first()"}
  responses: {200: none}
```

## 5. Authentication

```yaml
schemes: {key: {type: http, scheme: bearer, matches: person.key}}
rows: {seat: {key: seat.owner == caller.person}, person: all}
unseen rows: not found
permissions: {POST /people: anyone, all others: key}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes:
  invalid:   {status: 422, for: invalid}
  missing:   {status: 404, for: not found}
  taken:     {status: 409, for: conflict}
  other:     {status: 409, for: different}
  bad:       {status: 409}
  stale:     {status: 412, for: precondition failed}
```
"""
    + LIMITS_AND_VERSIONS
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db", CONTRACT) as found:
        yield found


class Caller:
    """Who puts; what comes is the status, or the code of what is refused."""

    def __init__(self, service: Running, name: str) -> None:
        made = service.http.post("/people", json={"name": name})
        assert made.status_code == 201, made.text
        self._http, self._key = service.http, {"Authorization": f"Bearer {made.json()['key']}"}

    def put(self, path: str, headers: dict[str, str] | None = None, **body: object) -> object:
        answer = self._http.put(path, json=body, headers=self._key | (headers or {}))
        return answer.status_code if answer.status_code < 400 else answer.json()["code"]

    def seats(self) -> object:
        return [(each["code"], each["edits"]) for each in self._http.get("/seats", headers=self._key).json()]

    def sit(self, name: str) -> None:
        assert self._http.post(f"/sit/{name}", headers=self._key).status_code == 200


def test_a_unique_field_names_the_row(service: Running) -> None:
    ann = Caller(service, "ann")
    assert ann.put("/code?code=x", code="x", note="n") == 201
    assert ann.put("/code?code=x", code="x", note="n") == 202, "it is there as it is wanted"
    assert ann.put("/code?code=x", code="x", note="bad") == "bad"
    assert ann.put("/code?code=x", code="x") == 200
    assert ann.seats() == [("x", 1)]
    assert ann.put("/code?code=x", code="y") == 200, "the row that `where` names has another code afterwards"
    assert ann.seats() == [("y", 2)]
    assert ann.put("/code?code=y", code="y", row="b") == 200
    assert ann.put("/code?code=z", code="y", row="c") == "taken", "none has the code `z`; what is made has another's"
    assert ann.put("/code?code=z", code="z", row="b") == "taken"
    assert ann.put("/code?code=z", code="z", row="c") == 201
    assert ann.put("/code?code=z", code="y", row="c") == "taken"
    assert ann.put("/code?code=z", code="z", row="b") == "taken"
    assert ann.put("/code", code="z", row="d") == "taken", "no value is no row's"
    assert ann.put("/code", code="w", row="d") == 201
    assert ann.put("/code?code=z", code=1) == "invalid"
    assert ann.put("/code?code=nobody", code=None) == "invalid"


def test_what_a_request_asks_of_the_row_is_of_the_one_that_where_names(service: Running) -> None:
    ann = Caller(service, "ann")
    assert ann.put("/code?code=x", {"If-Match": "*"}, code="x") == "stale"
    assert ann.put("/code?code=x", {"If-None-Match": "*"}, code="x") == 201
    assert ann.put("/code?code=x", {"If-None-Match": "*"}, code="x") == "stale"
    assert ann.put("/code?code=x", {"If-Match": "*"}, code="x", note="m") == 200
    assert ann.put("/known?code=x", {"If-Match": "*"}, note="m") == 202
    assert ann.put("/known?code=y", {"If-None-Match": "*"}, note="m") == "missing"


def test_fields_that_are_unique_together_name_the_row(service: Running) -> None:
    ann = Caller(service, "ann")
    assert ann.put("/either?row=q", note="n") == 201
    assert ann.put("/either?row=q", note="n") == 202
    assert ann.put("/either?row=q", note="m") == "other"
    assert ann.put("/either?row=r", note="n") == 201
    assert ann.seats() == [("of-q", 0), ("of-r", 0)]


def test_what_leads_to_a_row_names_it(service: Running) -> None:
    ann = Caller(service, "ann")
    assert ann.put("/mine", code="x") == 201, "nobody sits, so there is no such row"
    assert ann.put("/mine", code="y") == "taken", "`row` and `place` are as of the first"
    ann.sit("ann")
    assert ann.put("/mine", code="y", note="n") == 200
    assert ann.seats() == [("y", 1)]


def test_the_path_and_where_hold_both(service: Running) -> None:
    ann = Caller(service, "ann")
    assert ann.put("/open/x", note="n") == 201
    assert ann.put("/open/x", note="n", open=True) == 202
    assert ann.put("/open/x", note="n", open=False) == 200
    assert ann.put("/open/x", note="n") == "taken", "none that is open has the code, and another has it"
    assert ann.seats() == [("x", 1)]


def test_what_is_not_named_as_an_outcome_is_refused(service: Running) -> None:
    ann = Caller(service, "ann")
    assert ann.put("/known?code=x", note="n") == "missing"
    assert ann.put("/there", note="n") == "missing"
    assert ann.put("/code?code=x", code="x", note="n") == 201
    assert ann.put("/known?code=x", note="n") == 202
    assert ann.put("/there", note="n") == 202
    assert ann.put("/there", note="m") == "other"
    assert ann.put("/known?code=x", note="m") == 200


def test_a_row_that_the_caller_does_not_see_is_not_found_and_not_made_again(service: Running) -> None:
    ann, bob = Caller(service, "ann"), Caller(service, "bob")
    assert ann.put("/code?code=x", code="x", note="n") == 201
    assert bob.put("/code?code=x", code="x", row="b") == "missing"
    assert bob.put("/known?code=x", note="n") == "missing"
    assert bob.seats() == []
    assert ann.seats() == [("x", 0)]


@pytest.mark.parametrize(
    "where", ["seat.open", "seat.row == request.query.code", "seat.note == 'x' && seat.place == 1"]
)
def test_a_where_that_names_no_row_is_told(where: str) -> None:
    text = CONTRACT.replace("where: seat.code == request.query.code\n", f"where: {where}\n", 1)
    told = compile_document("contract.md", text.encode()).diagnostics
    errors = [each for each in told if each.code.severity.value == "error"]
    assert [(each.code.id, each.message) for each in errors] == [("NF0505", "`PUT /code` does not say which `seat`")]
