"""Whoever calls is shown as any row is where a value is wanted: by its primary key. All that it has is shown by the
name of its resource, or by a view."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

CONTRACT = """
purpose: Keeps dogs.
resources:
  keeper:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      key:  {type: string, secret: token, on create: token()}
      name: {type: string, on create: "'Ada'"}
  dog:
    primary key: id
    fields:
      id:     {type: integer, on create: serial()}
      name:   {type: string}
      keeper: {references: keeper, on create: caller.keeper}
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /keepers: {does: create keeper, body: none, responses: {201: {key: issued.key}}}
  POST /dogs: {does: create dog, body: [name], responses: {201: SHOWN}}
  GET /dogs/{id}: {does: read dog, responses: {200: SHOWN}}
  GET /dogs: {does: list dog, sort: [id], responses: {200: SHOWN}}
  PATCH /dogs/{id}: {does: update dog, body: [name], patch: merge, responses: {200: SHOWN}}
  PUT /dogs/{id}: {does: put dog, body: [name], responses: {replaced: {200: SHOWN}}}
  GET /who: {does: compute, responses: {200: SHOWN}}
  DELETE /dogs/{id}: {does: delete dog, responses: {200: SHOWN}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: keeper.key}}
  permissions: {POST /keepers: anyone, all others: key}
  rows: all
events: none
errors: none
limits: {rates: none, body size: none, timeout: none, pages: none}
versioning: none
"""
SHOWN = """{by: caller.keeper, in: "{'by': caller.keeper}", all: "[caller.keeper]", whole: keeper(caller.keeper)}"""


def test_a_caller_is_its_primary_key(tmp_path: Path) -> None:
    with serving(plan_of(CONTRACT.replace("SHOWN", SHOWN), "dogs.yaml"), tmp_path / "db", {}) as service:
        service.headers["Authorization"] = f"Bearer {service.post('/keepers').json()['key']}"
        for method, path, body in (
            ("POST", "/dogs", {}),
            ("GET", "/dogs/1", None),
            ("GET", "/dogs", None),
            ("PATCH", "/dogs/1", {"name": "Rex"}),
            ("PUT", "/dogs/1", {"name": "Max"}),
            ("GET", "/who", None),
            ("DELETE", "/dogs/1", None),
        ):
            shown = service.request(method, path, json=body).json()
            assert shown == {"by": 1, "in": {"by": 1}, "all": [1], "whole": {"id": 1, "name": "Ada"}}, (method, path)


def test_a_caller_that_several_fields_identify_is_no_value() -> None:
    two = CONTRACT.replace("SHOWN", "{by: caller.keeper}").replace(
        "keeper:\n    primary key: id", "keeper:\n    primary key: [id, name]"
    )
    found = compile_document(
        "dogs.yaml", two.replace("      keeper: {references: keeper, on create: caller.keeper}\n", "").encode()
    )
    said = [each for each in found.diagnostics if each.code.id == "NF0410"]
    assert len(said) == 7 and {each.message for each in said} == {
        "a row of `keeper` is no value: its primary key is `id` and `name`"
    }
