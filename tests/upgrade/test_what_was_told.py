"""The log of events is read whatever the rows that they are about were then, over SQLite and PostgreSQL."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest
from tests.events.service import running
from tests.postgresql import server
from tests.upgrade.test_what_is_issued import deciding, loaded, plan_of

from ninefold.runtime.operator.audit import Audit
from ninefold.runtime.store.upgrading import upgrade_database

pytestmark = pytest.mark.serves

CONTRACT = """\
purpose: Notes of which something is remembered.
resources:
  note:
    primary key: code
    fields:
      code: {type: string}
      size: {type: string}
      flag: {type: string}
      tags: {type: string}
      kg:   {type: string}
    required: [code]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: [code, size, flag, tags, kg], responses: {201: note}}
  GET /events: {does: list event, sort: [position], pages: none, responses: {200: "page.items.map(e, e.payload.code)"}}
authentication:
  schemes: none
  rows: {note: {anyone: "note.size != 'none'"}, event: all}
  unseen rows: not found
  permissions: {all others: anyone}
events:
  kinds: {note.made: {upon: create note, payload: {code: note.code}}}
  delivery: {stream: server-sent events}
  kept: all
errors: none
limits: {rates: none, body size: none, timeout: none}
versioning: none
"""
KEYS = {"integer": "int(old.code.substring(1))", "number": "double(old.code.substring(1))", "boolean": "true"}
"""Types of a primary key that was a text, and what its value is made of."""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("key", KEYS)
def test_it_is_read_where_rows_have_other_types_now(tmp_path: Path, key: str, kind: str) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    where = Path(database) if kind == "sqlite" else database
    with running(where, CONTRACT, name="contract.yaml") as service:
        given = {"code": "a1", "size": "1e5", "flag": "yes", "tags": "[a", "kg": "1e999"}
        assert service.http.post("/notes", json=given).status_code == 201
        assert service.http.get("/events").json() == ["a1"]
    text = CONTRACT.replace("code: {type: string}", f"code: {{type: {key}}}").replace(
        "size: {type: string}", "size: {type: integer}"
    )
    text = text.replace("flag: {type: string}", "flag: {type: boolean}").replace(
        "kg:   {type: string}", "kg:   {type: number}"
    )
    text = text.replace("tags: {type: string}", "tags: {type: array, items: {type: string}}")
    text = text.replace("note.size != 'none'", "note.size > 0 || note.flag || note.kg > 0.0 || 'a' in note.tags")
    plan = plan_of(loaded(text), database)
    others = (f"{{set: note.{name}, is: null}}" for name in ("size", "flag", "tags", "kg"))
    decide = deciding(plan.schema, f'{{set: note.code, is: "{KEYS[key]}"}}', *others)
    done = upgrade_database(database, plan, decide, Audit(plan.stored, inf), True, None)
    assert done.made, done.changes
    with running(where, text, name="contract.yaml") as service:
        code = {"integer": 7, "number": 7.5, "boolean": False}[key]
        assert service.http.post("/notes", json={"code": code, "size": 1}).status_code == 201
        assert service.http.get("/events").json() == [code]
