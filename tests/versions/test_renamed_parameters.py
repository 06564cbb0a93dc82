"""A parameter that an older version calls otherwise is read by the name of the document: a rate counts by it in every
version, and responses, checks and errors tell of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from tests.events.service import Running, running

pytestmark = pytest.mark.serves

CONTRACT: Final = """purpose: Items.
resources:
  item:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      zone: {type: integer, minimum: 0}
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
    query: {zone: {type: integer, where: item.zone == value}}
    responses: {200: {of: request.query.zone, ids: "page.items.map(i, i.id)"}}
    headers: {X-Of: string(request.query.zone)}
  GET /sums:
    does: compute
    query: {zone: {type: integer}, least: {type: integer, default: 0}}
    request headers: {X-Unit: {type: string}}
    check: {that: request.query.least < 100, else: much}
    responses: {200: {of: request.query.zone, in: "request.headers['X-Unit']", more: request.query.least + 1}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {said: error.code}}
  codes:
    bad:  {status: 400, for: [invalid, malformed, not found, unknown version]}
    much: {status: 422}
    busy: {status: 429, for: too many requests}
limits:
  rates:
    zones: {of: request.query.zone, allow: 2, per: PT1H, algorithm: fixed window, endpoints: [GET /items, GET /sums]}
  rate headers: none
  timeout: none
  body size: none
versioning:
  in: header
  name: V
  default: "3"
  versions:
    "3": {}
    "2": {changes: [{rename: item.zone, to: area}, {rename: GET /sums.query.zone, to: area}]}
    "1":
      changes:
        - {rename: item.area, to: ring}
        - {rename: GET /sums.query.area, to: ring}
        - {rename: GET /sums.query.least, to: from}
        - {rename: GET /sums.request headers.X-Unit, to: X-In}
  compatible: none
"""
NAMES: Final = {
    "3": {"zone": "zone", "least": "least", "unit": "X-Unit"},
    "2": {"zone": "area", "least": "least", "unit": "X-Unit"},
    "1": {"zone": "ring", "least": "from", "unit": "X-In"},
}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db", CONTRACT, name="items.yaml") as found:
        yield found


def ask(service: Running, version: str, path: str, unit: str | None = None, **given: int) -> Any:
    names = NAMES[version]
    headers = {"V": version} | ({} if unit is None else {names["unit"]: unit})
    return service.http.get(path, params={names[name]: value for name, value in given.items()}, headers=headers)


@pytest.mark.parametrize("version", NAMES)
def test_expressions_read_it_by_the_name_of_the_document(service: Running, version: str) -> None:
    made = service.http.post("/items", json={"zone": 4}).json()["id"]
    found = ask(service, version, "/items", zone=4)
    assert found.json() == {"of": 4, "ids": [made]} and found.headers["X-Of"] == "4"
    assert ask(service, version, "/sums", unit="m", zone=9, least=6).json() == {"of": 9, "in": "m", "more": 7}
    assert ask(service, version, "/sums", least=100).json() == {"said": "much"}
    others = {name for names in NAMES.values() for name in names.values()} - {*NAMES[version].values()}
    for name in others - {"X-Unit", "X-In"}:
        unknown = service.http.get("/sums", params={name: 1}, headers={"V": version})
        assert unknown.json() == {"said": "bad"}, name


@pytest.mark.parametrize(("first", "then"), [each for each in product(NAMES, NAMES) if each[0] != each[1]])
def test_a_rate_counts_by_it_in_all_versions_together(service: Running, first: str, then: str) -> None:
    assert [ask(service, first, "/items", zone=4).status_code, ask(service, first, "/sums", zone=4).status_code] == [
        200, 200]  # fmt: skip
    for path in ("/items", "/sums"):
        assert ask(service, then, path, zone=4).json() == {"said": "busy"}
        assert ask(service, then, path, zone=5).status_code == 200
