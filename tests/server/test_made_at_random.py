"""Values that are made at random and unique: made again where they are taken, and `conflict` where all are."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS
from tests.server.conftest import running

from ninefold.cli import main
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Refused
from ninefold.runtime.store.sqlite import Opened, open_sqlite

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Codes

## 1. What the service does

Gives codes of one letter or digit.

## 2. Resources and their fields

```yaml
one:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    code: {type: string, unique: true, on create: random(1)}
key:
  primary key: id
  fields:
    id: {type: string, on create: random(1)}
host:
  primary key: id
  fields: {id: {type: integer, on create: serial()}}
pair:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    host: {references: host, on delete: cascade}
    code: {type: string, on create: "'c-' + random(1)"}
  unique: [[host, code]]
named:
  primary key: name
  fields:
    name: {type: string}
    code: {type: string, unique: true, on create: random(1)}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /ones: {does: create one, body: none, responses: {201: one}}
POST /given: {does: create one, body: [code], responses: {201: one}}
PATCH /ones/{id}: {does: update one, patch: merge, body: none, sets: {code: random(1)}, responses: {200: one}}
POST /keys: {does: create key, body: none, responses: {201: key}}
POST /hosts: {does: create host, body: none, also: [{does: create one, sets: {}}], responses: {201: host}}
POST /pairs:
  does: create host
  body: none
  also: [{does: create pair, each: "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]", sets: {host: this}}]
  responses: {201: host}
POST /changes:
  does: create host
  body: none
  also: [{does: update one, where: one.id < 3, sets: {code: random(1)}}]
  responses: {201: host}
PUT /named/{name}: {does: put named, body: none, responses: {created: {201: named}, unchanged: {200: named}}}
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
error shape: {media type: application/problem+json, body: {code: error.code}}
codes:
  wrong: {status: 422, title: Wrong, for: invalid}
  taken: {status: 409, title: Taken, for: conflict}
```

"""
    + LIMITS_AND_VERSIONS
)


def test_what_is_taken_is_made_again_and_then_told(tmp_path: Path) -> None:
    plan = plan_of(CONTRACT)
    with serving(plan, tmp_path / "db", {}) as service:
        for path in ("/ones", "/keys"):
            assert _all_but_few(service, "POST", [path] * 120)
        assert _all_but_few(service, "PUT", [f"/named/{number}" for number in range(120)])
        # Of those that are there, one may be given the code that it has; an effect meets the same.
        told = [service.patch("/ones/1"), service.post("/changes"), service.post("/hosts")]
        assert {each.status_code for each in told} <= {200, 201, 409}, told
        # What the body gives is told at once.
        letters = "abcdefghijklmnopqrstuvwxyz0123456789"
        given = [service.post("/given", json={"code": each}).status_code for each in letters]
        assert set(given) <= {201, 409} and given.count(409) >= 33
        # Twelve of thirty-six, among themselves.
        assert [service.post("/pairs").status_code for _ in range(10)].count(201) > 0


def _all_but_few(service: httpx.Client, method: str, paths: list[str]) -> bool:
    """Whether nearly all values that there are were given, and then `conflict` told."""
    statuses = [service.request(method, path).status_code for path in paths]
    assert set(statuses) <= {201, 409}, statuses
    return 33 <= statuses.count(201) <= 36


LETTERS = 36
"""How many texts `random(1)` makes."""

ALONE = """purpose: Gives codes.
resources:
  one:
    primary key: id
    fields:
      id:    {type: integer}
      code:  {type: string, unique: true, on create: random(1)}
      since: {type: string, format: date-time, on create: now}
      state: {state: true}
    required: [id]
RECORDS
states:
  one:
    initial: new
    states: [new, old]
    transitions: {age: {from: new, to: old, after: PT1H, sets: {code: random(1)}}}
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /ones: {does: create one, body: [id], responses: {201: one}}
  GET /ones:
    does: list one
    query: {state: one.state == value}
    sort: [id]
    pages: {by: none}
    responses: {200: page.items}
authentication:
  schemes: none
  rows: all
  permissions: {all others: anyone}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes: {taken: {status: 409, for: conflict}}
limits: {rates: none, timeout: none, body size: none}
versioning: none
"""


def alone(count: int = 0) -> str:
    records = ", ".join(f"{{id: {number}}}" for number in range(count))
    return ALONE.replace("RECORDS\n", f"    records: [{records}]\n" if count else "")


def planned(contract: str) -> ServicePlan:
    return plan_of(contract, "ones.yaml")


@pytest.mark.parametrize("count", [10, LETTERS + 1])
def test_records_are_made_again_and_refused_in_words(tmp_path: Path, count: int) -> None:
    plan = planned(alone(count))
    opened = open_sqlite(str(tmp_path / "ones.db"), plan.schema, stated_rows(plan, Caller({})))
    if count <= LETTERS:
        assert isinstance(opened, Opened), opened
        assert len(set(opened.database.read("SELECT code FROM one", ()))) == count
        opened.database.close()
    else:
        assert isinstance(opened, Refused)
        assert "conflict" in opened.message


@pytest.mark.parametrize("count", [10, LETTERS + 1])
def test_rows_that_are_added_are_made_again_and_refused_in_words(
    tmp_path: Path, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ones.yaml").write_text(alone())
    (tmp_path / "rows.json").write_text(json.dumps([{"id": number} for number in range(count)]))
    command = ["add", str(tmp_path / "ones.yaml"), "one", "--from", str(tmp_path / "rows.json")]
    code = main([*command, "--database", str(tmp_path / "ones.db")])
    said = capsys.readouterr()
    assert code == (0 if count <= LETTERS else 1), said
    assert "Traceback" not in said.out + said.err


def test_a_timer_makes_it_again_and_waits_where_all_are_taken(tmp_path: Path) -> None:
    now = [datetime(2026, 3, 1, 12, tzinfo=UTC)]
    with running(planned(alone()), tmp_path / "ones.db", Sources(clock=lambda: now[0])) as service:
        for number in range(200):
            service.http.post("/ones", json={"id": number})
        made = len(service.http.get("/ones").json())
        assert LETTERS - 3 <= made <= LETTERS
        now[0] += timedelta(hours=2)
        found = service.http.get("/ones").json()
        assert len({each["code"] for each in found}) == made
        # A code of one's own is free while it is made again; whoever meets no other waits, and is served as it was.
        assert {each["state"] for each in found} <= {"new", "old"}
        assert service.http.post("/ones", json={"id": 1_000}).status_code in (201, 409)
