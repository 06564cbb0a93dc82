"""How a patch is read is asked where a body may give fields, and not where all that it gives is read alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.events.service import running

from ninefold.pipeline import compile_document

CONTRACT = """purpose: Notes.
resources:
  types:
    field:   {type: object, properties: {text: {type: string}, why: {type: string}}}
    why:     {type: object, properties: {why: {type: string}}, required: [why]}
    through: {$ref: "#/types/why"}
    open:    not shown
  note:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, text: {type: string}, reason: {type: string}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: none, responses: {201: note}}
  POST /notes/{id}: {does: update note, body: %s, sets: {reason: %s}, responses: {200: note}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: {error shape: none, codes: none}
limits: none
versioning: none
"""

BODIES = {
    "[text]": True,
    "{why: note.text}": True,
    '{$ref: "#/types/field"}': True,
    '{$ref: "#/types/open"}': True,
    "not shown": True,
    "none": False,
    '{$ref: "#/types/why"}': False,
    '{$ref: "#/types/through"}': False,
}


def _of(body: str) -> str:
    return CONTRACT % (body, "request.body.why" if "$ref" in body and "open" not in body else "\"'a'\"")


@pytest.mark.parametrize(("body", "asked"), BODIES.items())
def test_it_is_asked_where_fields_may_be_given(body: str, asked: bool) -> None:
    loaded = compile_document("notes.yaml", _of(body).encode())
    assert any("how a patch is read" in each.text for each in loaded.open_questions) == asked


@pytest.mark.serves
def test_what_is_not_asked_is_read_as_it_is_stated(tmp_path: Path) -> None:
    with running(tmp_path / "notes.db", _of('{$ref: "#/types/why"}'), name="notes.yaml") as service:
        assert service.http.post("/notes").status_code == 201
        assert service.http.post("/notes/1", json={"why": "b"}).json() == {"id": 1, "reason": "b"}
        merge = {"content-type": "application/merge-patch+json"}
        assert service.http.post("/notes/1", content='{"why": "c"}', headers=merge).status_code == 415
