"""A code for what one field or parameter is refused for is that of every version, whatever a version calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.events.service import running

CONTRACT: Final = """purpose: Items.
resources:
  item:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      zone: {type: integer, minimum: 0, unique: true}
    required: [zone]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /items: {does: create item, body: [zone], responses: {201: {id: item.id}}}
  GET /items:
    does: list item
    sort: [id]
    pages: none
    query: {zone: {type: integer, minimum: 3, where: item.zone == value}}
    request headers: {X-Unit: {type: string, minLength: 3}}
    responses: {200: {ids: "page.items.map(i, i.id)"}}
  GET /sums/{zone}: {does: compute, path: {zone: {type: integer}}, responses: {200: {of: request.path.zone}}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {said: error.code, of: "error.fields.map(f, f.name)"}}
  codes:
    bad:        {status: 400, for: [invalid, malformed, not found]}
    taken:      {status: 409, for: conflict}
    zone_bad:   {status: 400, for: invalid item.zone}
    zone_taken: {status: 409, for: conflict item.zone}
    asked_bad:  {status: 400, for: invalid query.zone}
    unit_bad:   {status: 400, for: invalid header.X-Unit}
    path_bad:   {status: 404, for: not found path.zone}
limits: {rates: none, rate headers: none, timeout: none, body size: none}
versioning:
  in: header
  name: V
  default: "2"
  versions:
    "2": {}
    "1":
      changes:
        - {rename: item.zone, to: area}
        - {rename: GET /items.request headers.X-Unit, to: X-In}
        - {rename: "GET /sums/{zone}", to: "GET /parts/{zone}"}
  compatible: none
"""


@pytest.mark.serves
@pytest.mark.parametrize(
    ("version", "name", "unit", "sums"), [("2", "zone", "X-Unit", "sums"), ("1", "area", "X-In", "parts")]
)
def test_it_is_answered_in_each_version(tmp_path: Path, version: str, name: str, unit: str, sums: str) -> None:
    with running(tmp_path / "items.db", CONTRACT, name="items.yaml") as service:
        http = service.http
        http.headers["V"] = version
        assert http.post("/items", json={name: -1}).json() == {"said": "zone_bad", "of": [name]}
        assert http.post("/items", json={name: 5}).json() == {"id": 1}
        assert http.post("/items", json={name: 5}).json() == {"said": "zone_taken", "of": [name]}
        assert http.get("/items", params={name: 1}).json() == {"said": "asked_bad", "of": [name]}
        assert http.get("/items", headers={unit: "m"}).json() == {"said": "unit_bad", "of": [unit]}
        assert http.get(f"/{sums}/some").json() == {"said": "path_bad", "of": []}
