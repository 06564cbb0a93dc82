"""Other rows that change in the transaction of an operation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.events.service import Running, running
from tests.looking import looking_into
from tests.parts import LIMITS_AND_VERSIONS
from tests.server.test_timers import Hands

from ninefold.pipeline import compile_document
from ninefold.runtime.sources import Sources

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Stock

## 1. What the service does

Keeps stock.

## 2. Resources and their fields

```yaml
product:
  primary key: id
  fields:
    id:    {type: string}
    stock: {type: integer}
    price: {type: integer}
  required: [stock, price]
  check: {that: product.stock >= 0, else: sold_out}
sale:
  primary key: id
  fields:
    id:       {type: integer, on create: serial()}
    product:  {references: product, inverse: sales}
    quantity: {type: integer}
    state:    {state: true}
    parcel:   {references: parcel, inverse: sales, on delete: set null}
  required: [product, quantity]
parcel:
  primary key: id
  fields:
    id:    {type: string}
    state: {state: true}
    note:  {type: string}
entry:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    sale:   {type: integer}
    text:   {type: string, unique: true}
    amount: {type: integer, on create: entry.product.price * entry.count}
    count:  {type: integer}
    product: {references: product}
  required: [text]
```

## 3. States and transitions

```yaml
product: none
entry: none
sale:
  initial: open
  states: [open, sent, lost]
  transitions:
    send:
      from: open
      to: sent
      also:
        - {does: seal parcel, where: parcel == this.parcel}
        - {does: create entry, sets: {sale: this.id, text: "'sent'", product: this.product, count: this.quantity}}
    lose:
      from: open
      to: lost
      after: PT1H
      also: [{does: update product, where: product == this.product, sets: {stock: "0"}}]
parcel:
  initial: open
  states: [open, sealed]
  transitions:
    seal: {from: open, to: sealed, check: {that: parcel.note != 'broken', else: broken}}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /products: {does: create product, body: [id, stock, price], responses: {201: product}}
GET /products/{id}: {does: read product, responses: {200: product}}
POST /parcels: {does: create parcel, body: [id, note], responses: {201: parcel}}
GET /parcels/{id}: {does: read parcel, responses: {200: parcel}}
POST /sales:
  does: create sale
  body: [product, quantity, parcel]
  also:
    - {does: update product, where: product == this.product, sets: {stock: product.stock - this.quantity}}
  responses: {201: {id: sale.id, left: sale.product.stock}}
POST /sales/{id}/send: {does: send sale, body: none, responses: {200: {state: sale.state, parcel: sale.parcel.state}}}
DELETE /sales/{id}:
  does: delete sale
  also:
    - {does: update product, where: product == this.product, sets: {stock: product.stock + this.quantity}}
    - {does: delete parcel, where: parcel == this.parcel}
  responses: {204: none}
GET /entries:
  does: list entry
  sort: [id]
  pages: {by: none}
  responses: {200: {items: "page.items.map(e, {'sale': e.sale, 'text': e.text, 'amount': e.amount})"}}
```

## 5. Authentication

```yaml
schemes: none
permissions: {all others: anyone}
rows: all
```

## 6. Events

```yaml
kinds: {stock.changed: {upon: update product, payload: {id: product.id, stock: product.stock}}}
delivery: {stream: not shown}
kept: P1D
```

## 7. Errors

```yaml
error shape: {media type: application/problem+json, body: {code: error.code}}
codes:
  sold_out: {status: 409, title: Sold out}
  broken:   {status: 409, title: Broken}
  taken:    {status: 409, title: Taken, for: [conflict, illegal transition]}
```

"""
    + LIMITS_AND_VERSIONS
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "stock.db", CONTRACT) as service:
        http = service.http
        made = http.post("/products", json={"id": "tea", "stock": 5, "price": 3})
        assert made.status_code == 201, made.text
        for id, note in (("p", "fine"), ("q", "broken")):
            assert http.post("/parcels", json={"id": id, "note": note}).status_code == 201
        yield service


def stock(service: Running) -> object:
    return service.http.get("/products/tea").json()["stock"]


def test_another_row_changes_with_it(service: Running) -> None:
    sale = service.http.post("/sales", json={"product": "tea", "quantity": 2})
    assert (sale.status_code, sale.json()["left"], stock(service)) == (201, 3, 3), sale.text


def test_what_refuses_an_effect_refuses_the_whole(service: Running) -> None:
    refused = service.http.post("/sales", json={"product": "tea", "quantity": 6})
    assert (refused.status_code, refused.json()["code"], stock(service)) == (409, "sold_out", 5)
    assert service.http.post("/sales", json={"product": "tea", "quantity": 1}).json()["id"] == 1


def test_a_transition_takes_another_and_makes_a_row(service: Running) -> None:
    service.http.post("/sales", json={"product": "tea", "quantity": 2, "parcel": "p"})
    sent = service.http.post("/sales/1/send")
    assert (sent.status_code, sent.json()) == (200, {"state": "sent", "parcel": "sealed"}), sent.text
    assert service.http.get("/entries").json() == {"items": [{"sale": 1, "text": "sent", "amount": 6}]}


def test_guards_and_uniqueness_of_the_other_rows_hold(service: Running) -> None:
    for parcel in ("q", "p", "p"):
        service.http.post("/sales", json={"product": "tea", "quantity": 1, "parcel": parcel})
    refused = service.http.post("/sales/1/send")
    assert (refused.status_code, refused.json()["code"]) == (409, "broken")
    assert service.http.get("/parcels/q").json()["state"] == "open"
    assert service.http.post("/sales/2/send").status_code == 200
    again = service.http.post("/sales/3/send")
    assert (again.status_code, again.json()["code"]) == (409, "taken")
    service.http.post("/sales", json={"product": "tea", "quantity": 1})
    taken = service.http.post("/sales/4/send")
    assert (taken.status_code, taken.json()["code"]) == (409, "taken")
    assert len(service.http.get("/entries").json()["items"]) == 1


def test_a_deleted_row_is_read_as_it_was(service: Running) -> None:
    service.http.post("/sales", json={"product": "tea", "quantity": 2, "parcel": "p"})
    assert service.http.delete("/sales/1").status_code == 204
    assert stock(service) == 5
    assert service.http.get("/parcels/p").status_code == 404
    assert service.http.delete("/sales/1").status_code == 404


def test_without_a_row_nothing_happens(service: Running) -> None:
    service.http.post("/sales", json={"product": "tea", "quantity": 2})
    assert service.http.post("/sales/1/send").json() == {"state": "sent"}


def test_a_timer_does_what_follows_too(tmp_path: Path) -> None:
    hands = Hands()
    with running(tmp_path / "stock.db", CONTRACT, Sources(clock=hands)) as service:
        service.http.post("/products", json={"id": "tea", "stock": 5, "price": 3})
        service.http.post("/sales", json={"product": "tea", "quantity": 2})
        assert stock(service) == 3
        hands.time += timedelta(hours=2)
        assert stock(service) == 0


def test_what_follows_from_a_timer_reads_no_request() -> None:
    reading = CONTRACT.replace('sets: {stock: "0"}', "sets: {stock: caller.stock}").replace(
        "schemes: none", "schemes: {key: {type: apiKey, in: header, name: Key, matches: seller.key}}"
    )
    reading = reading.replace("caller.stock", "caller.seller.stock").replace(
        "product:\n  primary key: id",
        "seller: {primary key: key, fields: {key: {type: string}, stock: {type: integer}}}\n"
        "product:\n  primary key: id",
        1,
    )
    loaded = compile_document("stock.md", reading.encode())
    assert "NF0570" in {each.code.id for each in loaded.diagnostics}, [each.message for each in loaded.diagnostics]


def test_an_event_of_the_other_row_arises(service: Running) -> None:
    service.http.post("/sales", json={"product": "tea", "quantity": 2})
    with looking_into(service.path) as database:
        found = database.execute('SELECT kind, payload FROM "$event"').fetchall()
    assert found == [("stock.changed", '{"id":"tea","stock":3}')]
