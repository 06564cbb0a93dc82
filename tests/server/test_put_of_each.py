"""`put` with `each` among effects: a row for each item, changed where it is there, and made where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.events.service import Running, running
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document

CONTRACT = (
    """# Stock

## 1. What the service does

Keeps stock.

## 2. Resources and their fields

```yaml
types:
  counted:
    type: object
    properties:
      note: {type: string}
      items:
        type: array
        maxItems: 5
        items:
          type: object
          properties:
            sku:   {type: [string, "null"]}
            count: {type: integer}
            price: {type: integer}
          required: [sku, count]
    required: [items]
person:
  primary key: name
  fields:
    name: {type: string}
    key:  {type: string, secret: token, on create: token()}
count:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    note: {type: string}
shelf:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    sku:    {type: [string, "null"], unique: true}
    count:  {type: integer, maximum: 100}
    last:   {type: string}
    writes: {type: integer, on create: "1", on change: shelf.writes + 1}
    state:  {state: true}
  required: [count]
  check: {that: shelf.count != 13, else: unlucky}
mine:
  primary key: [owner, sku]
  fields:
    owner: {references: person, on create: caller.person, on delete: cascade}
    sku:   {type: string}
    count: {type: integer}
    price: {type: integer}
```

## 3. States and transitions

```yaml
person: none
count: none
mine: none
shelf: {initial: open, states: [open, shut], gone: [shut], transitions: {shut: {from: open, to: shut}}}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /people: {does: create person, body: [name], responses: {201: {key: issued.key}}}
POST /counts:
  does: create count
  body: {$ref: "#/types/counted"}
  also:
  - does: put shelf
    each: request.body.items
    where: each.count != 7
    sets: {sku: each.sku, count: each.count, last: this.note}
  responses: {201: {id: count.id}}
POST /prices:
  does: create count
  body: {$ref: "#/types/counted"}
  also:
  - {does: put mine, each: request.body.items, sets: {sku: each.sku + '', count: each.count, price: each.price}}
  responses: {201: none}
POST /price:
  does: create count
  body: [note]
  also: {does: put mine, sets: {sku: this.note, count: "1"}}
  responses: {201: none}
POST /shelves/{id}/shut: {does: shut shelf, body: none, responses: {200: none}}
GET /shelves:
  does: list shelf
  sort: [id]
  pages: none
  responses: {200: "page.items.map(s, [s.sku, s.count, s.writes])"}
GET /mine:
  does: list mine
  where: mine.owner == caller.person
  sort: [sku]
  pages: none
  responses: {200: "page.items.map(m, [m.sku, m.count, m.price])"}
GET /events:
  does: list event
  sort: [position]
  pages: none
  responses: {200: "page.items.map(e, {'kind': e.kind, 'row': e.row})"}
```

## 5. Authentication

```yaml
schemes: {key: {type: http, scheme: bearer, matches: person.key}}
permissions: {POST /people: anyone, all others: key}
rows: all
```

## 6. Events

```yaml
kinds:
  made:    {upon: create shelf, payload: {sku: shelf.sku}}
  changed: {upon: update shelf, payload: {sku: shelf.sku}}
delivery: {stream: not shown}
kept: all
```

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code, fields: "error.fields.map(f, f.pointer)"}}
codes:
  invalid: {status: 422, for: invalid}
  missing: {status: 404, for: not found}
  gone:    {status: 410, for: gone}
  taken:   {status: 409, for: conflict}
  unlucky: {status: 409}
```
"""
    + LIMITS_AND_VERSIONS
)


class Service:
    def __init__(self, running: Running) -> None:
        self._http = running.http
        self.ann, self.bob = self.person("ann"), self.person("bob")

    def person(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._http.post('/people', json={'name': name}).json()['key']}"}

    def count(self, *items: tuple[object, object], to: str = "/counts", note: str = "n", by: Any = None) -> object:
        given = [{"sku": sku, "count": count} for sku, count in items]
        answer = self._http.post(to, json={"note": note, "items": given}, headers=by or self.ann)
        return answer.status_code if answer.status_code < 400 else (answer.json()["code"], *answer.json()["fields"])

    def send(self, path: str, body: object, by: Any) -> int:
        return self._http.post(path, json=body, headers=by).status_code

    def get(self, path: str, by: Any = None) -> Any:
        return self._http.get(path, headers=by or self.ann).json()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path / "service.db", CONTRACT) as found:
        yield Service(found)


@pytest.mark.serves
def test_each_item_makes_its_row_or_changes_it(service: Service) -> None:
    assert service.count(("a", 1), ("b", 2)) == 201
    assert service.get("/shelves") == [["a", 1, 1], ["b", 2, 1]]
    assert service.count(("c", 3), ("b", 5), ("a", 1)) == 201
    assert service.get("/shelves") == [["a", 1, 1], ["b", 5, 2], ["c", 3, 1]]
    events = [(each["kind"], each["row"]) for each in service.get("/events")]
    assert events == [("made", "1"), ("made", "2"), ("changed", "2"), ("made", "3")], "what is as it is wanted stays"
    assert service.count(("a", 1), note="other") == 201
    assert service.get("/shelves")[0] == ["a", 1, 2]


@pytest.mark.serves
def test_where_is_asked_of_each_item(service: Service) -> None:
    assert service.count(("a", 1), ("b", 7), ("c", 3)) == 201
    assert service.count(("a", 7), ("c", 4)) == 201
    assert service.get("/shelves") == [["a", 1, 1], ["c", 4, 2]]
    assert service.count() == 201


@pytest.mark.serves
@pytest.mark.parametrize("there", [(), (("a", 1),), (("a", 2),), (("a", 9),)])
def test_two_items_of_one_row_are_a_conflict_whatever_is_there(service: Service, there: tuple[Any, ...]) -> None:
    assert service.count(*there) == 201
    before = service.get("/shelves")
    assert service.count(("b", 1), ("a", 1), ("a", 2)) == ("taken", "/items/2/sku")
    assert service.get("/shelves") == before


@pytest.mark.serves
def test_what_refuses_one_refuses_the_whole(service: Service) -> None:
    assert service.count(("a", 1), ("b", 2)) == 201
    assert service.count(("a", 3), ("b", 101)) == ("invalid", "/items/1/count")
    assert service.count(("a", 3), ("z", 101)) == ("invalid", "/items/1/count")
    assert service.count(("a", 3), ("b", 13)) == ("unlucky",)
    assert service.count(("a", 3), ("z", 13)) == ("unlucky",)
    assert service.send("/shelves/2/shut", None, service.ann) == 200
    assert service.count(("a", 3), ("b", 3)) == ("gone",)
    assert service.get("/shelves") == [["a", 1, 1]]


@pytest.mark.serves
def test_an_item_without_a_value_for_its_key_makes_another_row(service: Service) -> None:
    assert service.count((None, 1), (None, 2)) == 201
    assert service.count((None, 1)) == 201
    assert service.get("/shelves") == [[None, 1, 1], [None, 2, 1], [None, 1, 1]]


@pytest.mark.serves
def test_what_on_create_makes_of_the_caller_is_of_the_key(service: Service) -> None:
    assert service.count(("a", 1), ("b", 2), to="/prices") == 201
    assert service.count(("b", 5), to="/prices", by=service.bob) == 201
    assert service.count(("a", 4), to="/prices") == 201
    assert service.get("/mine") == [["a", 4, None], ["b", 2, None]]
    assert service.get("/mine", service.bob) == [["b", 5, None]]
    for by in (service.ann, service.bob, service.bob):
        assert service.send("/price", {"note": "b"}, by) == 201
    assert service.get("/mine") == [["a", 4, None], ["b", 1, None]]
    assert service.get("/mine", service.bob) == [["b", 1, None]]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("sets: {sku: each.sku, count", "sets: {count", "NF0760"),
        ("- does: put shelf\n    each", "- does: update shelf\n    each", "NF0584"),
    ],
)
def test_what_cannot_be_is_told(before: str, after: str, code: str) -> None:
    assert before in CONTRACT
    told = compile_document("contract.md", CONTRACT.replace(before, after, 1).encode()).diagnostics
    assert [each.code.id for each in told if each.code.severity.value == "error"] == [code]
