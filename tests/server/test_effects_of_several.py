"""Effects on many rows: all that `where` holds of, and one for `each` item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events.service import Running, running
from tests.looking import looking_into
from tests.parts import LIMITS_AND_VERSIONS

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Shop

## 1. What the service does

Keeps orders with their lines.

## 2. Resources and their fields

```yaml
product:
  primary key: id
  fields:
    id:    {type: string}
    price: {type: integer}
  required: [price]
order:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    note:  {type: string}
    total: {type: integer, computed: "order.lines.map(l, l.amount).sum()"}
    state: {state: true}
  check: {that: order.lines.size() <= 4, else: too_many}
line:
  primary key: id
  fields:
    id:       {type: integer, on create: serial()}
    order:    {references: order, inverse: lines, on delete: cascade}
    product:  {references: product, on delete: restrict}
    quantity: {type: integer, minimum: 1}
    amount:   {type: integer, on create: line.product.price * line.quantity}
    changed:  {type: integer, on create: "0", on change: line.changed + 1}
    state:    {state: true}
  required: [order, product, quantity]
  unique: [[order, product]]
  check:
    - {that: line.quantity <= 100, else: too_many}
    - {that: "!has(before.line) || line.quantity - before.line.quantity < 40", else: too_much}
  views: {shown: [product, state, changed, quantity]}
address:
  primary key: [owner, number]
  fields:
    owner:   {type: string}
    number:  {type: integer}
    default: {type: boolean}
types:
  wanted_line:
    type: object
    properties:
      product:  {type: string}
      quantity: {type: integer}
    required: [product]
  wanted_order:
    type: object
    properties:
      note:  {type: string}
      lines: {type: array, minItems: 1, items: {$ref: "#/types/wanted_line"}}
    required: [lines]
```

## 3. States and transitions

```yaml
product: none
address: none
order:
  initial: open
  states: [open, closed]
  transitions:
    close: {from: open, to: closed, also: [{does: ship line, where: line.order == this}]}
line:
  initial: waiting
  states: [waiting, shipped, lost]
  transitions:
    ship: {from: waiting, to: shipped, check: {that: line.quantity < 50, else: too_heavy}}
    lose: {from: [waiting, shipped], to: lost}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /products: {does: create product, body: [id, price], responses: {201: product}}
POST /orders:
  does: create order
  body: {$ref: "#/types/wanted_order"}
  also:
    - does: create line
      each: request.body.lines
      sets: {order: this, product: each.product, quantity: each.quantity}
  responses:
    201:
      id: order.id
      note: order.note
      total: order.total
      lines: order.lines.sortBy(l, l.id).map(l, l.product.id)
PUT /orders/{id}:
  does: put order
  body: {$ref: "#/types/wanted_order"}
  also:
    - {does: delete line, where: line.order == this}
    - does: create line
      each: request.body.lines
      sets: {order: this, product: each.product, quantity: each.quantity}
  responses: {replaced: {200: {note: order.note, total: order.total}}}
GET /orders/{id}:
  does: read order
  responses: {200: {total: order.total, lines: "shown(order.lines.sortBy(l, l.id))"}}
POST /orders/{id}/double:
  does: update order
  body: none
  patch: merge
  also: [{does: update line, where: line.order == this && line.quantity > 1, sets: {quantity: line.quantity * 2}}]
  responses: {200: {total: order.total}}
POST /orders/{id}/close: {does: close order, body: none, responses: {200: {state: order.state}}}
POST /addresses:
  does: create address
  body: [owner, number, default]
  also: [{does: update address, where: address.owner == this.owner, sets: {default: "false"}}]
  responses: {201: {default: address.default}}
GET /addresses:
  does: list address
  sort: [owner, number]
  pages: {by: none}
  responses: {200: {defaults: "page.items.map(a, a.default)"}}
```

## 5. Authentication

```yaml
schemes: none
permissions: {all others: anyone}
rows: all
```

## 6. Events

```yaml
kinds:
  line.added:   {upon: create line, payload: {line: line.id, product: line.product.id}}
  line.removed: {upon: delete line, payload: {line: line.id}}
  line.changed: {upon: update line, payload: {line: line.id, from: before.line.quantity, to: line.quantity}}
  line.shipped: {upon: ship line, payload: {line: line.id, state: line.state}}
delivery: {stream: server-sent events}
kept: P1D
```

## 7. Errors

```yaml
error shape:
  media type: application/problem+json
  body: {code: error.code, fields: error.fields}
codes:
  too_many:  {status: 409, title: Too many}
  too_much:  {status: 409, title: Too much at once}
  too_heavy: {status: 409, title: Too heavy}
  taken:     {status: 409, title: Taken, for: [conflict, illegal transition]}
  wrong:     {status: 422, title: Wrong, for: invalid}
```

"""
    + LIMITS_AND_VERSIONS
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "shop.db", CONTRACT) as service:
        for id, price in (("tea", 3), ("cup", 5), ("pot", 20)):
            made = service.http.post("/products", json={"id": id, "price": price})
            assert made.status_code == 201, made.text
        yield service


def ordered(service: Running, *lines: tuple[str, int]) -> dict[str, object]:
    wanted = [{"product": product, "quantity": quantity} for product, quantity in lines]
    made = service.http.post("/orders", json={"note": "soon", "lines": wanted})
    assert made.status_code == 201, made.text
    found: dict[str, object] = made.json()
    return found


def kinds(service: Running) -> list[tuple[str, str]]:
    with looking_into(service.path) as database:
        found: list[tuple[str, str]] = database.execute('SELECT kind, payload FROM "$event" ORDER BY seq').fetchall()
    return found


def test_a_row_is_made_for_each_item(service: Running) -> None:
    made = ordered(service, ("tea", 2), ("cup", 1))
    assert made == {"id": 1, "note": "soon", "total": 11, "lines": ["tea", "cup"]}
    assert kinds(service) == [
        ("line.added", '{"line":1,"product":"tea"}'),
        ("line.added", '{"line":2,"product":"cup"}'),
    ]


@pytest.mark.parametrize(
    ("lines", "status", "pointers"),
    [
        (
            [{"product": "tea", "quantity": 1}, {"product": "cup", "quantity": 0}],
            422,
            [("/lines/1/quantity", "minimum")],
        ),
        ([{"product": "tea", "quantity": 1}, {"product": "cup"}], 422, [("/lines/1/quantity", "required")]),
        ([{"quantity": 1}], 422, [("/lines/0/product", "required")]),
        ([{"product": "tea", "quantity": 1, "x": 1}], 422, [("/lines/0/x", "unknown")]),
        ([], 422, [("/lines", "minItems")]),
        (None, 422, [("/lines", "required")]),
        (
            [{"product": "ten", "quantity": 1}, {"product": "tea", "quantity": 1}, {"product": "no", "quantity": 1}],
            422,
            [("/lines/0/product", "references"), ("/lines/2/product", "references")],
        ),
        (
            [{"product": "tea", "quantity": 1}, {"product": "cup", "quantity": 1}, {"product": "tea", "quantity": 1}],
            409,
            [("/lines/2/product", "unique")],
        ),
    ],
)
def test_what_is_wrong_with_an_item_is_told_at_its_place(
    service: Running, lines: list[object] | None, status: int, pointers: list[tuple[str, str]]
) -> None:
    refused = service.http.post("/orders", json={"note": "x"} | ({} if lines is None else {"lines": lines}))
    assert refused.status_code == status, refused.text
    assert [(each["pointer"], each["rule"]) for each in refused.json()["fields"]] == pointers
    assert service.http.get("/orders/1").status_code == 404
    assert kinds(service) == []


@pytest.mark.parametrize("made", ["on create", "on change"])
def test_an_item_that_leaves_out_what_a_row_always_has_is_told_at_its_place(tmp_path: Path, made: str) -> None:
    """What `sets` gives stands in the place of what would be made; nothing makes a value of no value."""
    stated = CONTRACT.replace("{type: integer, minimum: 1}", f"{{type: integer, minimum: 1, {made}: 1}}", 1)
    with running(tmp_path / "shop.db", stated.replace("[order, product, quantity]", "[order, product]")) as service:
        service.http.post("/products", json={"id": "tea", "price": 3})
        refused = service.http.post("/orders", json={"lines": [{"product": "tea", "quantity": 1}, {"product": "tea"}]})
        found = [(each["pointer"], each["rule"]) for each in refused.json()["fields"]]
        assert (refused.status_code, found) == (422, [("/lines/1/quantity", "required")]), refused.text


def test_invariants_hold_of_new_rows_and_of_those_that_read_them(service: Running) -> None:
    for id in ("a", "b"):
        service.http.post("/products", json={"id": id, "price": 1})
    wanted = [{"product": each, "quantity": 1} for each in ("tea", "cup", "pot", "a", "b")]
    refused = service.http.post("/orders", json={"lines": wanted})
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many"), refused.text
    refused = service.http.post("/orders", json={"lines": [{"product": "tea", "quantity": 101}]})
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many"), refused.text


def test_all_rows_are_replaced(service: Running) -> None:
    ordered(service, ("tea", 2), ("cup", 1))
    ordered(service, ("tea", 7))
    put = service.http.put("/orders/1", json={"note": "now", "lines": [{"product": "tea", "quantity": 5}]})
    assert (put.status_code, put.json()) == (200, {"note": "now", "total": 15}), put.text
    assert service.http.get("/orders/2").json()["total"] == 21
    assert [kind for kind, _ in kinds(service)[3:]] == ["line.removed", "line.removed", "line.added"]


def test_all_rows_of_which_it_holds_are_updated(service: Running) -> None:
    ordered(service, ("tea", 2), ("cup", 1), ("pot", 3))
    ordered(service, ("tea", 2))
    doubled = service.http.post("/orders/1/double")
    assert doubled.status_code == 200, doubled.text
    lines = service.http.get("/orders/1").json()["lines"]
    assert [(each["quantity"], each.get("changed")) for each in lines] == [(4, 1), (1, 0), (6, 1)]
    assert service.http.get("/orders/2").json()["lines"][0]["quantity"] == 2
    assert kinds(service)[4:] == [
        ("line.changed", '{"line":1,"from":2,"to":4}'),
        ("line.changed", '{"line":3,"from":3,"to":6}'),
    ]


def test_each_row_is_held_to_what_it_was(service: Running) -> None:
    ordered(service, ("tea", 39), ("cup", 40))
    refused = service.http.post("/orders/1/double")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_much"), refused.text
    assert [each["quantity"] for each in service.http.get("/orders/1").json()["lines"]] == [39, 40]


def test_one_row_that_refuses_refuses_the_whole(service: Running) -> None:
    ordered(service, ("tea", 60), ("cup", 1))
    refused = service.http.post("/orders/1/double")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many"), refused.text
    refused = service.http.post("/orders/1/close")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_heavy"), refused.text
    assert [each["state"] for each in service.http.get("/orders/1").json()["lines"]] == ["waiting", "waiting"]


def test_a_transition_is_taken_of_all(service: Running) -> None:
    ordered(service, ("tea", 2), ("cup", 1))
    closed = service.http.post("/orders/1/close")
    assert (closed.status_code, closed.json()) == (200, {"state": "closed"}), closed.text
    assert [each["state"] for each in service.http.get("/orders/1").json()["lines"]] == ["shipped", "shipped"]
    assert kinds(service)[2:] == [
        ("line.shipped", '{"line":1,"state":"shipped"}'),
        ("line.shipped", '{"line":2,"state":"shipped"}'),
    ]


def test_the_other_rows_of_the_same_resource(service: Running) -> None:
    for owner, number in (("ann", 1), ("ann", 2), ("bob", 1), ("ann", 3)):
        made = service.http.post("/addresses", json={"owner": owner, "number": number, "default": True})
        assert (made.status_code, made.json()) == (201, {"default": True}), made.text
    assert service.http.get("/addresses").json() == {"defaults": [False, False, True, True]}


def test_many_items_are_no_many_statements(service: Running) -> None:
    """The statements are those of one item: what grows is the array that they read."""
    wanted = [{"product": f"p{number}", "quantity": 1} for number in range(1_000)]
    refused = service.http.post("/orders", json={"lines": wanted})
    assert refused.status_code == 422, refused.text
    assert len(refused.json()["fields"]) == 101  # a hundred, and that there are more


def test_an_item_names_no_row_that_its_caller_does_not_see(tmp_path: Path) -> None:
    rules = 'rows: {product: {anyone: "product.price > 1"}, order: all, line: all, address: all}\n'
    rules += "unseen rows: not found"
    with running(tmp_path / "shop.db", CONTRACT.replace("rows: all", rules)) as service:
        for id, price in (("tea", 3), ("secret", 1)):
            assert service.http.post("/products", json={"id": id, "price": price}).status_code == 201
        ordered(service, ("tea", 2))
        refused = service.http.post("/orders", json={"lines": [{"product": "secret", "quantity": 1}]})
        found = [(each["pointer"], each["rule"]) for each in refused.json()["fields"]]
        assert (refused.status_code, found) == (422, [("/lines/0/product", "references")]), refused.text


def test_what_is_wrong_in_an_item_is_told_alike_where_it_is_not_said_which_members_items_have(tmp_path: Path) -> None:
    described = """    type: object
    properties:
      product:  {type: string}
      quantity: {type: integer}
    required: [product]
"""
    assert described in CONTRACT
    wrong = [
        [{"product": "a", "quantity": 1}, {"product": "nobody", "quantity": 1}],
        [{"product": "a", "quantity": 1}, {"product": "a", "quantity": 1}],
        [{"product": "a", "quantity": 0}],
        [{"product": 3, "quantity": 1}],
        [{"product": "a", "quantity": "1"}],
        [{"product": "a"}],
    ]
    told = []
    for number, text in enumerate(
        (CONTRACT, CONTRACT.replace(described, "    type: object\n    required: [product]\n"))
    ):
        with running(tmp_path / f"{number}.db", text) as service:
            assert service.http.post("/products", json={"id": "a", "price": 1}).status_code == 201
            answers = [service.http.post("/orders", json={"lines": lines}) for lines in wrong]
            told.append([(each.status_code, each.json()) for each in answers])
    assert told[0] == told[1]
    assert [status for status, _ in told[0]] == [422, 409, 422, 422, 422, 422]
