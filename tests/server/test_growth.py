"""A field that expressions make longer, request by request: what the database does not take is `too large`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.runtime.store import sqlite

pytestmark = pytest.mark.serves

LONGEST = 200_000

DOUBLED = "patch: merge, body: none, responses: {200: {n: w.t.size()}}"
CONTRACT = f"""# Growth

## 1. What the service does

Grows.

## 2. Resources and their fields

```yaml
w:
  primary key: id
  fields:
    id: {{type: integer, on create: serial()}}
    t:  {{type: string, on create: "'xx'"}}
    u:  {{type: string, on create: "''"}}
    l:  {{type: array, items: {{type: string}}, on create: "['x']"}}
types:
  texts: {{type: object, properties: {{v: {{type: string}}, l: {{type: array, items: {{type: string}}}}}}}}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {{media type: application/json, unknown members: refused, unknown parameters: refused}}
produces: application/json
POST /w:              {{does: create w, body: none, responses: {{201: w}}}}
GET /w/{{id}}:          {{does: read w, responses: {{200: {{n: w.t.size()}}}}}}
POST /w/{{id}}/doubled: {{does: update w, sets: {{t: w.t + w.t}}, {DOUBLED}}}
POST /w/{{id}}/longer:  {{does: update w, sets: {{t: "w.t.replace('x', 'xxxx')"}}, {DOUBLED}}}
POST /w/{{id}}/beside:  {{does: update w, sets: {{u: w.t + w.u}}, {DOUBLED}}}
POST /w/{{id}}/given:
  does: update w
  patch: merge
  body: {{$ref: "#/types/texts"}}
  sets: {{t: w.t + request.body.v}}
  responses: {{200: {{n: w.t.size()}}}}
POST /w/{{id}}/also:
  does: update w
  patch: merge
  body: none
  also: [{{does: update w, where: w.id > 1, sets: {{t: w.t + w.t}}}}]
  responses: {{200: {{n: w.t.size()}}}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {{all others: anyone}}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {{media type: application/problem+json, body: {{code: error.code}}}}
codes:
  wrong:  {{status: 422, title: Wrong, for: invalid}}
  large:  {{status: 413, title: Too large, for: too large}}
```

{LIMITS_AND_VERSIONS}"""


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """With a database that takes shorter values than others."""
    plan = plan_of(CONTRACT)
    monkeypatch.setattr(sqlite, "LONGEST_SUM", LONGEST)
    with serving(plan, tmp_path / "db", {}) as client:
        yield client


@pytest.mark.parametrize("way", ["doubled", "longer", "given", "also", "beside"])
def test_what_the_database_does_not_take_is_too_large(service: httpx.Client, way: str) -> None:
    for _ in range(2):
        assert service.post("/w").status_code == 201
    body = {"v": "x" * 30_000} if way == "given" else None
    stored = 2
    for _ in range(20):
        if way == "beside":
            assert service.post("/w/1/doubled").status_code in (200, 413)
        response = service.post(f"/w/1/{way}", json=body) if body else service.post(f"/w/1/{way}")
        if response.status_code != 200:
            break
        stored = response.json()["n"]
    if way == "longer":
        assert response.status_code in (409, 413), response.text
    else:
        assert (response.status_code, response.json()["code"]) == (413, "large"), response.text
    if way not in ("beside", "also"):
        assert stored > LONGEST / 10
        assert service.get("/w/1").json() == {"n": stored}
    assert service.post("/w").status_code == 201, "the next one is served"
