"""What an older version had none of: a change says so by `none`, of every key of an endpoint and of an error code."""

from __future__ import annotations

from functools import cache

import pytest
from tests.contracts import compiled_once

from ninefold.contract.service import Contract
from ninefold.contract.versions.derive import derive
from ninefold.diagnostics.render import render
from ninefold.language.declaration import members
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import ErrorCode
from ninefold.language.fact import Shown, StatedNone, value_of

WRITE = {
    "request headers": "{X-Why: {type: string}}",
    "query": "{why: {type: string}}",
    "where": "note.id > 0",
    "sets": "{by: \"'somebody'\"}",
    "check": '{that: "note.id > 1", else: nope}',
    "etag": "true",
    "idempotency key": "optional",
    "headers": "{X-Id: string(note.id)}",
    "also": "{does: create note, sets: {text: this.text}}",
}
CODE = {"title": "No", "detail": "\"'why'\"", "about": "note", "headers": "{X-Why: \"'so'\"}"}
ELSEWHERE = {
    "body": "asked: `none` was an answer always",
    "path": "names what stands in the path",
    "sort": "asked",
    "pages": "falls back",
    "ends": "asked, of what ends credentials",
    "error shape": "falls back",
    "grant": "of a sign in",
    "issues": "of credentials",
    "cases": "no version has others",
}
"""Keys that may be `none` and are not told here."""


def contract(of: str, key: str) -> str:
    was = f"{{{key}: none}}"
    return f"""purpose: Keeps notes.
resources:
  note:
    primary key: id
    fields: {{id: {{type: integer, on create: serial()}}, text: {{type: string}}, by: {{type: string}}}}
states: none
endpoints:
  requests: {{media type: application/json, unknown members: refused, unknown parameters: refused}}
  produces: application/json
  PATCH /notes/{{id}}:
    does: update note
    body: [text]
    patch: merge
    responses: {{200: note}}
{"".join(f"    {name}: {value}{chr(10)}" for name, value in WRITE.items())}
authentication: {{schemes: none, rows: all, permissions: {{all others: anyone}}}}
events: none
errors:
  error shape: {{media type: application/json, body: {{error: error.code, why: error.detail}}}}
  codes:
    nope:
      status: 409
{"".join(f"      {name}: {value}{chr(10)}" for name, value in CODE.items())}
limits: {{rates: none, body size: none, timeout: none, idempotency keys kept: P1D}}
versioning:
  in: header
  name: Version
  default: "2"
  versions: {{"2": {{}}, "1": {{changes: [{{change: "{of}", was: {was}}}]}}}}
  compatible: none
"""


def older(of: str, key: str) -> tuple[Contract, Contract]:
    """The newest version, and the older one."""
    loaded = compiled_once("notes.yaml", contract(of, key).encode())
    assert not loaded.diagnostics, render(loaded.diagnostics, loaded.source)
    (derived,) = derive(loaded.contract).value
    return loaded.contract, derived.contract


@cache
def may_be_none(record: type) -> dict[str, str]:
    return {each.key.name: each.attribute for each in members(record) if each.key.admits_none and each.key.name}


def test_each_key_that_may_be_none_is_told_here() -> None:
    assert {*may_be_none(Endpoint)} - {*ELSEWHERE} == {*WRITE}
    assert {*may_be_none(ErrorCode)} == {*CODE}


@pytest.mark.parametrize("key", WRITE)
def test_an_older_endpoint_had_none_of_it(key: str) -> None:
    newest, before = (value_of(each.endpoints.endpoints) for each in older("PATCH /notes/{id}", key))
    assert newest is not None and before is not None
    assert isinstance(getattr(newest[0], may_be_none(Endpoint)[key]), Shown)
    assert isinstance(getattr(before[0], may_be_none(Endpoint)[key]), StatedNone)


@pytest.mark.parametrize("key", CODE)
def test_an_older_code_had_none_of_it(key: str) -> None:
    newest, before = (value_of(each.errors.codes) for each in older("nope", key))
    assert newest is not None and before is not None
    assert isinstance(getattr(newest[0], may_be_none(ErrorCode)[key]), Shown)
    assert isinstance(getattr(before[0], may_be_none(ErrorCode)[key]), StatedNone)
