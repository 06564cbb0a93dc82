"""What is given on create and on change, where it reads other rows: the statement that writes the row makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events.service import Running, running
from tests.parts import CALLERS_AND_EVENTS, LIMITS_AND_VERSIONS

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Tills

## 1. What the service does

Keeps tills.

## 2. Resources and their fields

```yaml
shop:
  primary key: id
  fields:
    id:       {type: string}
    discount: {type: integer}
    next:     {type: string}
product:
  primary key: id
  fields:
    id:    {type: string}
    shop:  {references: shop}
    price: {type: integer}
    code:  {type: string}
  required: [shop]
line:
  primary key: id
  fields:
    id:       {type: integer, on create: serial()}
    product:  {references: product, inverse: lines}
    quantity: {type: integer}
    price:    {type: integer, on change: {product: line.product.price - line.product.shop.discount}}
    total:    {type: integer, on change: line.price * line.quantity}
    shop:     {references: shop, on create: line.product.shop}
    number:   {type: integer, on create: "all(line).size() + 1"}
    code:     {type: string, unique: true, on create: line.product.code}
  required: [product, quantity, price]
  check: {that: line.total < 1000}
tag:
  primary key: [product, text]
  fields:
    product: {references: product}
    text:    {type: string}
    shop:    {references: shop, on create: tag.product.shop}
    count:   {type: integer, on create: tag.product.lines.size()}
    note:    {type: string}
  required: [shop, text]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /shops: {does: create shop, body: [id, discount, next], responses: {201: shop}}
POST /products: {does: create product, body: [id, shop, price, code], responses: {201: product}}
POST /lines:
  does: create line
  body: [product, quantity, price]
  responses: {201: line}
POST /dear-lines:
  does: create line
  body: [product, quantity]
  check: {that: line.price > 50}
  responses: {201: line}
PATCH /lines/{id}: {does: update line, body: [product, quantity], patch: merge, responses: {200: line}}
PUT /lines/{id}: {does: put line, body: [product, quantity], responses: {replaced: {200: line}}}
PUT /products/{product.id}/tags/{text}:
  does: put tag
  body: [note]
  responses: {created: {201: tag}, unchanged: {200: tag}}
```

"""
    + CALLERS_AND_EVENTS
    + """## 7. Errors

```yaml
error shape: {media type: application/problem+json, body: {code: error.code, fields: error.fields}}
codes: {invalid: {status: 422, title: Invalid, for: [invalid]}}
```

"""
    + LIMITS_AND_VERSIONS
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "till.db", CONTRACT) as service:
        http = service.http
        assert http.post("/shops", json={"id": "s", "discount": 5}).status_code == 201
        assert http.post("/shops", json={"id": "free"}).status_code == 201
        for id, shop, price in (("tea", "s", 105), ("ink", "s", 25), ("air", "free", None)):
            product = {"id": id, "shop": shop, "code": id} | ({} if price is None else {"price": price})
            assert http.post("/products", json=product).status_code == 201
        yield service


def test_a_new_row_has_what_is_made_of_others(service: Running) -> None:
    made = service.http.post("/lines", json={"product": "tea", "quantity": 3})
    assert made.status_code == 201, made.text
    line = made.json()
    assert (line["price"], line["total"], line["shop"], line["number"], line["code"]) == (100, 300, "s", 1, "tea")


def test_what_the_body_gives_comes_first(service: Running) -> None:
    line = service.http.post("/lines", json={"product": "tea", "quantity": 3, "price": 7}).json()
    assert (line["price"], line["total"]) == (7, 21)


def test_guards_invariants_and_uniqueness_judge_what_is_made(service: Running) -> None:
    assert service.http.post("/dear-lines", json={"product": "ink", "quantity": 1}).status_code == 409
    assert service.http.post("/lines", json={"product": "tea", "quantity": 10}).status_code == 409
    assert service.http.post("/dear-lines", json={"product": "tea", "quantity": 1}).status_code == 201
    assert service.http.post("/lines", json={"product": "tea", "quantity": 1}).status_code == 409


def test_a_required_value_that_cannot_be_made_refuses_the_row(service: Running) -> None:
    refused = service.http.post("/lines", json={"product": "air", "quantity": 1})
    assert refused.status_code == 422, refused.text
    assert [(each["pointer"], each["rule"]) for each in refused.json()["fields"]] == [("/product", "stored")]
    assert service.http.post("/lines", json={"product": "air", "quantity": 1, "price": 3}).status_code == 201


def test_a_change_makes_it_again(service: Running) -> None:
    line = service.http.post("/lines", json={"product": "tea", "quantity": 3}).json()
    path = f"/lines/{line['id']}"
    changed = service.http.patch(path, json={"quantity": 2})
    assert (changed.status_code, changed.json()["price"], changed.json()["total"]) == (200, 100, 200)
    changed = service.http.patch(path, json={"product": "ink"})
    assert (changed.status_code, changed.json()["price"], changed.json()["total"]) == (200, 20, 40)
    assert service.http.patch(path, json={"product": "air"}).status_code == 422
    replaced = service.http.put(path, json={"product": "tea", "quantity": 1})
    assert (replaced.status_code, replaced.json()["total"]) == (200, 100), replaced.text
    assert service.http.patch(path, json={"quantity": 11}).status_code == 409


def test_ensure_makes_it_once(service: Running) -> None:
    service.http.post("/lines", json={"product": "tea", "quantity": 3})
    tags = [service.http.put("/products/tea/tags/hot", json={"note": "x"}) for _ in range(2)]
    assert [each.status_code for each in tags] == [201, 200], tags[0].text
    assert tags[0].json() == tags[1].json()
    assert (tags[0].json()["shop"], tags[0].json()["count"]) == ("s", 1)
    assert service.http.put("/products/milk/tags/hot", json={}).status_code == 404
