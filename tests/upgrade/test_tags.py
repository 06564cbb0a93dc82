"""Who read a row before an upgrade gave it another value has a tag of something else, over SQLite and PostgreSQL."""

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
purpose: Notes on shelves.
resources:
  shelf:
    primary key: id
    fields: {id: {type: string}, code: {type: string, unique: true}}
    required: [id, code]
  note:
    primary key: id
    fields:
      id:    {type: string}
      text:  {type: string, maxLength: 40}
      shelf: {references: shelf}
      state: {state: true}
    required: [id]
states: {shelf: none, note: {initial: new, states: [new, old, gone], transitions: {end: {from: new, to: gone}}}}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /shelves: {does: create shelf, body: [id, code], responses: {201: none}}
  POST /notes: {does: create note, body: [id, text, shelf], responses: {201: note}}
  GET /notes/{id}: {does: read note, etag: true, responses: {200: note}}
  PATCH /notes/{id}: {does: update note, body: [text], patch: merge, etag: true, responses: {200: note}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: none
limits: {rates: none, body size: none, timeout: none}
versioning: none
"""
WAYS: dict[str, tuple[tuple[str, str], str | None]] = {
    "a value": (("maxLength: 40", "maxLength: 5"), "{set: note.text, is: \"'short'\"}"),
    "a state": (("[new, old, gone]", "[newest, old, gone]"), "{state: note.new, to: old, since: kept}"),
    "a reference": (("  shelf:\n    primary key: id", "  shelf:\n    primary key: code"), None),
}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("way", WAYS)
def test_a_tag_of_before_is_none_of_another_value(tmp_path: Path, way: str, kind: str) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    where = Path(database) if kind == "sqlite" else database
    with running(where, CONTRACT, name="contract.yaml") as service:
        assert service.http.post("/shelves", json={"id": "s", "code": "c"}).status_code == 201
        assert service.http.post("/notes", json={"id": "n", "text": "long enough", "shelf": "s"}).status_code == 201
        before = service.http.get("/notes/n")
    edit, line = WAYS[way]
    assert CONTRACT.count(edit[0]) == 1
    text = CONTRACT.replace(*edit).replace("initial: new", "initial: old" if "newest" in edit[1] else "initial: new")
    text = text.replace("end: {from: new", "end: {from: old" if "newest" in edit[1] else "end: {from: new")
    plan = plan_of(loaded(text), database)
    decide = deciding(plan.schema, line) if line is not None else deciding(plan.schema)
    done = upgrade_database(database, plan, decide, Audit(plan.stored, inf), True, None)
    assert done.made, done.changes
    with running(where, text, name="contract.yaml") as service:
        tag = before.headers["ETag"]
        after = service.http.get("/notes/n", headers={"If-None-Match": tag})
        assert after.status_code == 200 and after.json() != before.json()
        assert service.http.patch("/notes/n", json={"text": "x"}, headers={"If-Match": tag}).status_code == 412
