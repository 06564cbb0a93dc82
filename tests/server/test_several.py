"""Several operations of one endpoint: one row, one transaction, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from tests.events.service import Running, running
from tests.looking import looking_into
from tests.server.test_timers import Hands

from ninefold.runtime.sources import Sources

pytestmark = pytest.mark.serves

CONTRACT = """# Orders in steps

## 1. What the service does

Takes orders, several steps at a time.

## 2. Resources and their fields

```yaml
order:
  primary key: id
  fields:
    id:        {type: integer, on create: serial()}
    note:      {type: string}
    total:     {type: integer}
    code:      {type: [string, "null"], unique: true}
    status:    {state: true}
    placed_at: {type: [string, "null"], format: date-time}
    moves:     {type: integer, on create: "0", on change: order.moves + 1}
    key:       {type: string, secret: token, on change: token()}
  required: [total]
  check:
    - {that: "order.status != 'draft' || order.total < 1000", else: too_much}
    - {that: "order.status != 'placed' || order.total < 500", else: too_much}
  views:
    seen: [id, note, total, code, status, moves]
entry:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    order: {references: order, inverse: entries, on delete: cascade}
    text:  {type: string}
limit:
  primary key: id
  fields:
    id:   {type: string}
    most: {type: integer}
  required: [most]
  check: {that: "size(all(order).filter(o, o.status == 'paid')) <= limit.most", else: all_paid}
cart:
  primary key: id
  fields:
    id:    {type: string}
    owner: {type: string}
    state: {state: true}
    times: {type: integer, on create: "0"}
user:
  primary key: id
  fields:
    id:       {type: integer, on create: serial()}
    name:     {type: string, unique: true}
    password: {type: string, secret: password, minLength: 4}
    state:    {state: true}
  required: [name, password]
```

## 3. States and transitions

```yaml
entry: none
limit: none
order:
  initial: draft
  states: [draft, placed, paid, cancelled]
  gone: [cancelled]
  transitions:
    place:
      from: draft
      to: placed
      check: {that: order.total > 0, else: nothing_in_it}
      sets: {placed_at: now}
      also: [{does: create entry, sets: {order: this, text: "'placed at ' + string(this.total)"}}]
    pay:
      from: placed
      to: paid
      check: {that: order.total <= 100 && order.placed_at != null, else: unasked}
    cancel: {from: [draft, placed], to: cancelled}
cart:
  initial: closed
  states: [closed, open]
  transitions: {open: {from: closed, to: open, sets: {times: cart.times + 1}}}
user:
  initial: invited
  states: [invited, active]
  transitions: {join: {from: invited, to: active}}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /drafts: {does: create order, body: [note, total, code], responses: {201: seen(order)}}
POST /orders:
  does: [create order, place order]
  body: [note, total, code]
  idempotency key: optional
  responses: {201: seen(order)}
GET /orders/{id}: {does: read order, etag: true, responses: {200: seen(order)}}
PATCH /orders/{id}:
  does: [update order, place order, pay order]
  body: [note, total]
  patch: merge
  etag: true
  also: [{does: create entry, sets: {order: this, text: "'paid, ' + this.status"}}]
  responses: {200: {id: order.id, status: order.status, moves: order.moves, key: issued.key}}
PUT /orders/{id}:
  does: [put order, place order]
  body: [note, total, code]
  responses: {replaced: {200: seen(order)}}
POST /orders/{id}/finish: {does: [place order, pay order], body: none, responses: {200: seen(order)}}
POST /orders/{id}/drop: {does: [place order, cancel order], body: none, responses: {200: seen(order)}}
GET /entries:
  does: list entry
  sort: [id]
  pages: {by: none}
  responses: {200: "page.items.map(e, e.text)"}
PUT /limits/{id}: {does: put limit, body: [most], responses: {created or unchanged: {200: limit}}}
PUT /carts/{id}:
  does: [put cart, open cart]
  body: [owner]
  responses: {created: {201: cart}, unchanged: {200: cart}}
POST /users: {does: create user, body: [name, password], responses: {201: {id: user.id, state: user.state}}}
POST /join:
  does: [sign in user, join user]
  body: [name, password]
  issues: token
  responses: {200: {name: user.name, state: user.state, token: caller.credential}}
GET /me: {does: read user, where: user == caller.user, responses: {200: {name: user.name, state: user.state}}}
```

## 5. Authentication

```yaml
schemes:
  token: {type: http, scheme: bearer, issued to: user, lasts: P1D}
permissions:
  GET /me: token
  all others: anyone
rows: all
```

## 6. Events

```yaml
kinds:
  order.created: {upon: create order, payload: {status: order.status, total: order.total}}
  order.changed: {upon: [update order, update order], payload: {status: order.status, total: order.total}}
  order.moved:   {upon: [place order, pay order], payload: {status: order.status, total: order.total}}
  entry.made:    {upon: create entry, payload: {text: entry.text}}
delivery: {stream: not shown}
kept: P1D
```

## 7. Errors

```yaml
error shape: {media type: application/problem+json, body: {code: error.code, detail: error.detail}}
codes:
  nothing_in_it:
    status: 409
    title: Nothing in it
    detail: "'the total of ' + order.note + ' is ' + string(order.total)"
  too_much: {status: 409, title: Too much}
  all_paid: {status: 409, title: No more are paid}
  bad:      {status: 422, title: Bad, for: [invalid]}
  illegal:  {status: 409, title: Illegal, for: [illegal transition]}
  unasked:  {status: 409, title: Not so}
  taken:    {status: 409, title: Taken, for: [conflict]}
  changed:  {status: 412, title: Changed, for: [precondition failed]}
```

## 8. Limits

```yaml
rates: none
body size: 64 KiB
timeout: none
idempotency keys kept: P1D
```

## 9. Versioning

Versions: none.
"""

MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "orders.db", CONTRACT) as service:
        yield service


def events(service: Running) -> list[tuple[str, str]]:
    with looking_into(service.path) as database:
        found: list[tuple[str, str]] = database.execute('SELECT kind, payload FROM "$event" ORDER BY rowid').fetchall()
    return found


def draft(service: Running, **fields: object) -> int:
    made = service.http.post("/drafts", json={"total": 0, "note": "a draft", **fields})
    assert made.status_code == 201, made.text
    return int(made.json()["id"])


def entries(service: Running) -> object:
    return service.http.get("/entries").json()


def code(response: object) -> tuple[int, str]:
    return response.status_code, response.json()["code"]  # type: ignore[attr-defined]


def test_a_row_is_made_and_goes_on(service: Running) -> None:
    placed = service.http.post("/orders", json={"note": "tea", "total": 7})
    assert placed.status_code == 201, placed.text
    assert placed.json() == {"id": 1, "note": "tea", "total": 7, "code": None, "status": "placed", "moves": 1}
    assert service.http.get("/orders/1").json() == placed.json()
    assert entries(service) == ["placed at 7"]


def test_each_guard_sees_the_row_as_the_one_before_left_it(service: Running) -> None:
    draft(service)
    refused = service.http.post("/orders/1/finish")
    assert code(refused) == (409, "nothing_in_it")
    paid = service.http.patch("/orders/1", json={"total": 20}, headers=MERGE)
    assert paid.status_code == 200, paid.text
    assert (paid.json()["status"], paid.json()["moves"]) == ("paid", 3)
    assert entries(service) == ["placed at 20", "paid, paid"]


def test_what_refuses_one_refuses_all_of_them(service: Running) -> None:
    draft(service)
    # The last one asks for at most 100: what the first two did is undone, with events and other rows.
    before = service.http.get("/orders/1")
    refused = service.http.patch("/orders/1", json={"total": 200, "note": "more"}, headers=MERGE)
    assert code(refused) == (409, "unasked")
    after = service.http.get("/orders/1")
    assert (after.json(), after.headers["etag"]) == (before.json(), before.headers["etag"])
    assert entries(service) == []
    assert [kind for kind, _ in events(service)] == ["order.created"]
    refused = service.http.post("/orders", json={"note": "milk", "total": 0})
    assert (code(refused), refused.json()["detail"]) == ((409, "nothing_in_it"), "the total of milk is 0")
    assert service.http.post("/drafts", json={"total": 1}).json()["id"] == 2


def test_the_events_of_each_arise_in_order(service: Running) -> None:
    draft(service)
    service.http.patch("/orders/1", json={"total": 20}, headers=MERGE)
    assert events(service)[1:] == [
        ("order.changed", '{"status":"draft","total":20}'),
        ("order.moved", '{"status":"placed","total":20}'),
        ("entry.made", '{"text":"placed at 20"}'),
        ("order.moved", '{"status":"paid","total":20}'),
        ("entry.made", '{"text":"paid, paid"}'),
    ]


def test_invariants_see_what_has_become_of_the_row(service: Running) -> None:
    # 600 is too much for a placed order, and for a draft 1000 would be.
    draft(service)
    assert code(service.http.put("/orders/1", json={"note": "", "total": 600})) == (409, "too_much")
    # In between it is a draft of too much, and placed; what has become of it is neither.
    draft(service, total=999)
    dropped = service.http.post("/orders/2/drop")
    assert (dropped.status_code, dropped.json()["status"]) == (200, "cancelled"), dropped.text
    assert service.http.get("/orders/2").status_code == 410


def test_invariants_of_other_rows_are_asked_at_the_end(service: Running) -> None:
    assert service.http.put("/limits/one", json={"most": 1}).status_code == 200
    draft(service, total=10)
    draft(service, total=10)
    assert service.http.post("/orders/1/finish").status_code == 200
    assert code(service.http.post("/orders/2/finish")) == (409, "all_paid")
    assert service.http.get("/orders/2").json()["status"] == "draft"


def test_conditions_hold_for_the_whole(service: Running) -> None:
    draft(service)
    tag = service.http.get("/orders/1").headers["etag"]
    stale = service.http.patch("/orders/1", json={"total": 5}, headers={**MERGE, "If-Match": '"another"'})
    assert code(stale) == (412, "changed")
    done = service.http.patch("/orders/1", json={"total": 5}, headers={**MERGE, "If-Match": tag})
    assert done.status_code == 200, done.text
    assert done.headers["etag"] == service.http.get("/orders/1").headers["etag"] != tag


def test_a_key_stands_for_all_of_them(service: Running) -> None:
    key = {"Idempotency-Key": '"k"'}
    first = service.http.post("/orders", json={"note": "tea", "total": 7}, headers=key)
    again = service.http.post("/orders", json={"note": "tea", "total": 7}, headers=key)
    assert (first.status_code, again.status_code, first.json()) == (201, 201, again.json())
    assert entries(service) == ["placed at 7"]


def test_the_earlier_operation_is_refused_first(service: Running) -> None:
    draft(service, code="x", total=3)
    # The total is nothing, which `place` would refuse; the code is taken, which `create` refuses.
    assert code(service.http.post("/orders", json={"total": 0, "note": "", "code": "x"})) == (409, "taken")
    assert code(service.http.post("/orders", json={"total": "many", "note": ""})) == (422, "bad")
    assert service.http.post("/orders/1/finish").status_code == 200
    assert code(service.http.patch("/orders/1", json={"total": 0}, headers=MERGE)) == (409, "illegal")
    assert service.http.post("/orders/9/finish").status_code == 404


def test_a_token_that_a_later_one_makes_is_told(service: Running) -> None:
    draft(service)
    paid = service.http.patch("/orders/1", json={"total": 20}, headers=MERGE)
    with looking_into(service.path) as database:
        [(kept,)] = database.execute('SELECT key FROM "order"')
    assert kept == sha256(paid.json()["key"].encode()).digest()


def test_a_row_that_is_there_goes_nowhere(service: Running) -> None:
    made = service.http.put("/carts/a", json={"owner": "Ann"})
    assert (made.status_code, made.json()) == (201, {"id": "a", "owner": "Ann", "state": "open", "times": 1}), made.text
    again = service.http.put("/carts/a", json={"owner": "Ann"})
    assert (again.status_code, again.json()) == (200, made.json())


def test_who_signs_in_goes_on(service: Running) -> None:
    assert service.http.post("/users", json={"name": "ann", "password": "secret"}).json()["state"] == "invited"
    assert service.http.post("/join", json={"name": "ann", "password": "other!"}).status_code == 401
    joined = service.http.post("/join", json={"name": "ann", "password": "secret"})
    assert (joined.status_code, joined.json()["state"]) == (200, "active"), joined.text
    bearer = {"Authorization": f"Bearer {joined.json()['token']}"}
    assert service.http.get("/me", headers=bearer).json() == {"name": "ann", "state": "active"}
    assert code(service.http.post("/join", json={"name": "ann", "password": "secret"})) == (409, "illegal")


def test_an_older_version_does_them_too(tmp_path: Path) -> None:
    versions = """```yaml
in: path
default: "2"
versions:
  "2": {}
  "1": {changes: [{rename: order.total, to: sum}, {rename: order.note, to: text}]}
compatible: [add an endpoint]
```"""
    contract = CONTRACT.replace("Versions: none.", versions)
    with running(tmp_path / "orders.db", contract) as service:
        placed = service.http.post("/1/orders", json={"text": "tea", "sum": 7})
        assert (placed.status_code, placed.json()["status"], placed.json()["sum"]) == (201, "placed", 7), placed.text
        paid = service.http.post("/drafts", json={"note": "rice", "total": 0})
        refused = service.http.patch(f"/1/orders/{paid.json()['id']}", json={"sum": 0}, headers=MERGE)
        assert code(refused) == (409, "nothing_in_it")
        assert service.http.get("/1/orders/1").json() == placed.json()


def test_a_timer_counts_from_the_state_that_the_last_one_leads_to(tmp_path: Path) -> None:
    contract = CONTRACT.replace(
        "cancel: {from: [draft, placed], to: cancelled}",
        "cancel: {from: [draft, placed], to: cancelled}\n    lapse: {from: placed, to: paid, after: PT1H}",
    )
    hands = Hands()
    with running(tmp_path / "orders.db", contract, Sources(clock=hands)) as service:
        assert service.http.post("/orders", json={"note": "tea", "total": 700 - 250}).status_code == 201
        hands.time += timedelta(minutes=50)
        assert service.http.get("/orders/1").json()["status"] == "placed"
        hands.time += timedelta(minutes=20)
        assert service.http.get("/orders/1").json()["status"] == "paid"


def test_a_case_of_an_endpoint_gives_the_first_its_values(tmp_path: Path) -> None:
    contract = CONTRACT.replace(
        """  does: [create order, place order]
  body: [note, total, code]
  idempotency key: optional
  responses: {201: seen(order)}
""",
        """  does: [create order, place order]
  query: {size: {type: string}}
  cases:
    by: request.query.size
    small:     {body: [note], sets: {total: "1"}, responses: {201: seen(order)}}
    all others: {body: [note, total], responses: {200: seen(order)}}
""",
    )
    assert contract != CONTRACT
    with running(tmp_path / "orders.db", contract) as service:
        small = service.http.post("/orders?size=small", json={"note": "tea"})
        assert (small.status_code, small.json()["total"], small.json()["status"]) == (201, 1, "placed"), small.text
        large = service.http.post("/orders", json={"note": "tea", "total": 9})
        assert (large.status_code, large.json()["status"]) == (200, "placed"), large.text
        assert entries(service) == ["placed at 1", "placed at 9"]
