"""Operations on all rows: in few statements however many there are, by several keys, in cases and in older versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.events.service import Running, running

from ninefold.runtime.store.writer import Transaction

pytestmark = pytest.mark.serves

CONTRACT = """# Stock

## 1. What the service does

Keeps what lies where.

## 2. Resources and their fields

```yaml
place:
  primary key: [hall, shelf]
  fields:
    hall:  {type: string}
    shelf: {type: integer}
    label: {type: string}
    cents: {type: integer, on create: "0"}
    slug:  {type: string, on change: {label: slug(place.label)}}
    moved: {type: integer, on create: "0", on change: place.moved + 1}
    audit: {type: string, on create: uuid(), on change: uuid()}
  required: [label]
  views: {short: [hall, shelf, label, cents, slug, moved]}
note:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    text: {type: string}
    under: {references: note, inverse: notes, on delete: cascade}
types:
  relabelling:
    type: object
    properties:
      kind:  {const: label}
      label: {type: string}
    required: [kind, label]
  pricing:
    type: object
    properties:
      kind:  {const: price}
      cents: {type: integer}
    required: [kind, cents]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /places: {does: create place, body: [hall, shelf, label], responses: {201: short(place)}}
GET /places: {does: list place, sort: [hall, shelf], pages: none, responses: {200: short(page.items)}}
PATCH /places:
  does: update all place
  query: {hall: place.hall == value, cents: place.cents == value}
  body: [label, cents]
  patch: merge
  responses: {200: short(page.items)}
DELETE /places:
  does: delete all place
  query: {hall: {where: place.hall == value, default: "A"}}
  responses: {200: short(page.items)}
  headers: {X-Deleted: string(page.total)}
POST /changes:
  does: update all place
  patch: merge
  query: {hall: place.hall == value}
  cases:
    by: request.body.kind
    label: {body: {$ref: "#/types/relabelling"}, responses: {200: {labelled: page.total}}}
    price:
      body: {$ref: "#/types/pricing"}
      check: {that: "place.cents == 0", else: priced}
      responses: {200: {priced: page.items}}
POST /notes:
  does: create note
  body: [text, under]
  also: [{does: update place, where: place.hall == this.text, sets: {cents: place.cents + 1}}]
  responses: {201: note}
DELETE /notes:
  does: delete all note
  query: {text: note.text == value}
  responses: {200: {deleted: "page.items.map(n, n.text)"}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code, fields: error.fields}}
codes:
  invalid: {status: 422, title: Invalid, for: [invalid, malformed]}
  priced:  {status: 409, title: Priced already}
  other:   {status: 400, title: Something else, for: [not found, no such path, conflict, too large]}
```

## 8. Limits

```yaml
rates: none
timeout: none
body size: 64 KiB
```

## 9. Versioning

```yaml
in: path
default: none
compatible: [add an optional field]
versions:
  v2: {}
  v1:
    changes:
      - {rename: place.hall, to: room}
      - change: place.cents
        is: "double(place.cents) / 100.0"
        stored: "int(value * 100.0)"
        was: {type: number, minimum: 0}
```
"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "stock.db", CONTRACT) as started:
        for hall, shelf in (("B", 1), ("A", 2), ("A", 10)):
            made = started.http.post("/v2/places", json={"hall": hall, "shelf": shelf, "label": f"{hall} {shelf}"})
            assert made.status_code == 201, made.text
        yield started


def shown(hall: str, shelf: int, **others: Any) -> dict[str, Any]:
    row = {"hall": hall, "shelf": shelf, "label": f"{hall} {shelf}", "cents": 0, "slug": f"{hall.lower()}-{shelf}"}
    return {**row, "moved": 0, **others}


def test_rows_come_in_the_order_of_their_identifiers(service: Running) -> None:
    changed = service.http.patch("/v2/places", json={"cents": 5})
    assert changed.json() == [
        shown("A", 2, cents=5, moved=1), shown("A", 10, cents=5, moved=1), shown("B", 1, cents=5, moved=1)
    ]  # fmt: skip


def test_what_is_made_again_is_made_where_the_body_gives_what_it_is_made_of(service: Running) -> None:
    changed = service.http.patch("/v2/places?hall=B", json={"label": "Far away"})
    assert changed.json() == [shown("B", 1, label="Far away", slug="far-away", moved=1)]
    changed = service.http.patch("/v2/places?hall=B&cents=0", json={})
    assert changed.json() == [shown("B", 1, label="Far away", slug="far-away", moved=2)]


def test_an_effect_on_several_rows_leaves_what_is_made_of_others(service: Running) -> None:
    assert service.http.post("/v2/notes", json={"text": "A"}).status_code == 201
    listed = service.http.get("/v2/places").json()
    assert listed == [shown("A", 2, cents=1, moved=1), shown("A", 10, cents=1, moved=1), shown("B", 1)]


def test_a_filter_has_its_default(service: Running) -> None:
    deleted = service.http.delete("/v2/places")
    assert deleted.json() == [shown("A", 2), shown("A", 10)]
    assert deleted.headers["x-deleted"] == "2"
    deleted = service.http.delete("/v2/places?hall=")
    assert (deleted.json(), deleted.headers["x-deleted"]) == ([], "0")


def test_one_request_and_another_are_of_different_cases(service: Running) -> None:
    changed = service.http.post("/v2/changes?hall=A", json={"kind": "label", "label": "Same"})
    assert changed.json() == {"labelled": 2}
    priced = service.http.post("/v2/changes?hall=A", json={"kind": "price", "cents": 7})
    assert [each["cents"] for each in priced.json()["priced"]] == [7, 7]
    again = service.http.post("/v2/changes", json={"kind": "price", "cents": 8})
    assert (again.status_code, again.json()) == (409, {"code": "priced", "fields": []})
    assert [each["cents"] for each in service.http.get("/v2/places").json()] == [7, 7, 0]
    wrong = service.http.post("/v2/changes?hall=B", json={"kind": "price", "cents": "many"})
    assert wrong.status_code == 422


def test_an_older_version_names_and_shows_them_as_it_did(service: Running) -> None:
    changed = service.http.patch("/v1/places?room=A", json={"cents": 0.25})
    assert [(each["room"], each["cents"]) for each in changed.json()] == [("A", 0.25), ("A", 0.25)]
    assert [each["cents"] for each in service.http.get("/v2/places").json()] == [25, 25, 0]
    unknown = service.http.patch("/v1/places?hall=A", json={})
    assert unknown.status_code == 422


def test_how_many_rows_there_are_makes_no_difference_to_the_statements(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    run = Transaction.run

    def recorded(transaction: Transaction, text: str, binds: Any) -> Any:
        ran.append(text)
        return run(transaction, text, binds)

    monkeypatch.setattr(Transaction, "run", recorded)
    service.http.patch("/v2/places", json={"cents": 1})
    few, ran[:] = list(ran), []
    for shelf in range(100, 180):
        service.http.post("/v2/places", json={"hall": "C", "shelf": shelf, "label": str(shelf)})
    ran.clear()
    assert len(service.http.patch("/v2/places", json={"cents": 2}).json()) == 83
    assert ran == few
    ran.clear()
    assert len(service.http.delete("/v2/places?hall=C").json()) == 80
    assert len(ran) <= 5
    assert len(service.http.get("/v2/places").json()) == 3


def test_rows_that_fall_with_others_are_deleted_once(service: Running) -> None:
    for text, under in (("a", None), ("b", 1), ("c", 2), ("d", None)):
        given = {"text": text} if under is None else {"text": text, "under": under}
        assert service.http.post("/v2/notes", json=given).status_code == 201
    assert service.http.delete("/v2/notes?text=b").json() == {"deleted": ["b"]}
    assert service.http.delete("/v2/notes").json() == {"deleted": ["a", "d"]}
    for text, under in (("e", None), ("f", 5), ("g", 6)):
        given = {"text": text} if under is None else {"text": text, "under": under}
        assert service.http.post("/v2/notes", json=given).status_code == 201
    assert service.http.delete("/v2/notes").json() == {"deleted": ["e", "f", "g"]}
