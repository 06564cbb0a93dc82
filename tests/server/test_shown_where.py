"""Templates between which a condition on the row chooses: in one statement, by the caller's row rules, in events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import plan_of
from tests.events.service import running
from tests.events.stream import listening
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.cli import main
from ninefold.runtime.store.sqlite import SQLite

pytestmark = pytest.mark.serves

CONTRACT = f"""# Deals

## 1. What the service does

Shows deals, and to each caller what it may see of them.

## 2. Resources and their fields

```yaml
person:
  primary key: id
  fields:
    id:   {{type: integer, on create: serial()}}
    name: {{type: string}}
    key:  {{type: string, secret: token, on create: token()}}
deal:
  primary key: id
  fields:
    id:     {{type: integer, on create: serial()}}
    owner:  {{references: person, inverse: deals, on delete: cascade}}
    kind:   {{enum: [sale, swap, gift]}}
    price:  {{type: integer}}
    parts:  {{type: integer}}
    other:  {{references: deal, inverse: others, on delete: set null}}
  required: [kind]
  views:
    sale: {{price: deal.price, each: deal.price / deal.parts}}
    full:
      id: deal.id
      mine: "deal.owner == caller.person ? {{'price': deal.price, 'by': person(deal.owner)}} : null"
      what: "deal.kind == 'sale' ? sale(deal) : deal.kind == 'swap' ? {{'for': sale(deal.other)}} : 'a gift'"
      dear: "deal.price / deal.parts > 10 ? {{'dear': true}} : {{'cheap': true}}"
      swaps: "deal.others.map(o, o.owner == caller.person ? {{'mine': o.id}} : o.price != null ? o.price : null)"
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {{media type: application/json, unknown members: refused, unknown parameters: refused}}
produces: application/json
POST /people: {{does: create person, body: [name], responses: {{201: {{id: person.id, key: issued.key}}}}}}
POST /deals:
  does: create deal
  body: [kind, price, parts, other]
  sets: {{owner: caller.person}}
  responses: {{201: full(deal)}}
GET /deals:
  does: list deal
  sort: [id]
  pages: {{by: none}}
  responses: {{200: full(page.items)}}
GET /chosen/{{id}}:
  does: read deal
  responses: {{200: "deal.kind == 'gift' ? {{'gift': deal.id}} : deal"}}
  query: {{fields: {{selects: [id, kind], always: none, explode: false}}}}
GET /events: {{does: stream event, responses: {{200: stream}}}}
```

## 5. Authentication

```yaml
schemes: {{key: {{type: apiKey, in: header, name: Key, matches: person.key}}}}
permissions: {{all others: [key], POST /people: [anyone]}}
rows:
  person: {{anyone: true, key: true}}
  deal:   {{key: "deal.owner == caller.person || deal.kind != 'sale'"}}
unseen rows: not found
```

## 6. Events

```yaml
kinds:
  deal.made:
    upon: create deal
    payload: {{deal: deal.id, of: "deal.kind == 'sale' ? sale(deal) : {{'kind': deal.kind}}"}}
delivery: {{stream: server-sent events}}
kept: P1D
```

## 7. Errors

Errors: none.

{LIMITS_AND_VERSIONS}"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    plan = plan_of(CONTRACT)
    with serving(plan, tmp_path_factory.mktemp("shown") / "service.db", {}) as client:
        for name in ("ada", "bob"):
            keys[name] = {"Key": client.post("/people", json={"name": name}).json()["key"]}
        for who, body in DEALS:
            assert client.post("/deals", json=body, headers=keys[who]).status_code == 201
        yield client


keys: dict[str, dict[str, str]] = {}

DEALS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ada", {"kind": "sale", "price": 30, "parts": 2}),
    ("ada", {"kind": "swap", "price": 5, "parts": 0, "other": 1}),
    ("bob", {"kind": "swap", "other": 2}),
    ("bob", {"kind": "gift", "price": 7, "other": 2}),
)


def test_each_row_is_shown_as_it_is(service: httpx.Client) -> None:
    ada = {"id": 1, "name": "ada"}
    assert service.get("/deals", headers=keys["ada"]).json() == [
        {
            "id": 1,
            "mine": {"price": 30, "by": ada},
            "what": {"price": 30, "each": 15},
            "dear": {"dear": True},
            "swaps": [{"mine": 2}],
        },
        {
            "id": 2,
            "mine": {"price": 5, "by": ada},
            "what": {"for": {"price": 30, "each": 15}},
            # That it cannot be divided is not true.
            "dear": {"cheap": True},
            "swaps": [7],
        },
        {"id": 3, "what": {"for": {"price": 5}}, "dear": {"cheap": True}, "swaps": []},
        {"id": 4, "what": "a gift", "dear": {"cheap": True}, "swaps": []},
    ]


def test_row_rules_hold_in_each_branch(service: httpx.Client) -> None:
    shown = service.get("/deals", headers=keys["bob"]).json()
    assert [each["id"] for each in shown] == [2, 3, 4]
    assert shown[0] == {"id": 2, "what": {}, "dear": {"cheap": True}, "swaps": [{"mine": 3}, {"mine": 4}]}


def test_a_list_is_one_statement(service: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    select = SQLite.select

    def recorded(database: SQLite, text: str, binds: Any) -> Any:
        if 'FROM "deal" AS "deal"' in text:
            ran.append(text)
        return select(database, text, binds)

    monkeypatch.setattr(SQLite, "select", recorded)
    assert len(service.get("/deals", headers=keys["ada"]).json()) == 4
    assert len(ran) == 1


def test_a_request_chooses_of_the_row_and_not_of_what_stands_instead(service: httpx.Client) -> None:
    of = {name: service.get(f"/chosen/{name}?fields=kind", headers=keys["bob"]).json() for name in (3, 4)}
    assert of == {3: {"kind": "swap"}, 4: {"gift": 4}}


def test_events_tell_of_each_row_what_it_is(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", CONTRACT) as running_service:
        http = running_service.http
        key = {"Key": http.post("/people", json={"name": "ada"}).json()["key"]}
        for _, body in DEALS:
            assert http.post("/deals", json=body, headers=key).status_code == 201
        with listening(http, key, 0) as stream:
            came = [event.data["of"] for event in stream.take(4)]
    assert came == [{"price": 30, "each": 15}, {"kind": "swap"}, {"kind": "swap"}, {"kind": "gift"}]


def test_openapi_has_a_schema_of_each_branch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deals.md"
    path.write_text(CONTRACT, encoding="utf-8")
    assert main(["export", "openapi", str(path)]) == 0
    schemas = json.loads(capsys.readouterr().out)["components"]["schemas"]
    full = schemas["deal.full"]
    assert full["required"] == ["id", "what", "dear", "swaps"]
    assert full["properties"]["what"]["anyOf"][0] == {"$ref": "#/components/schemas/deal.sale"}
    assert full["properties"]["mine"]["type"] == "object", "what is not shown has no schema"
