"""Whoever reads of an older version reads the names that it has: none that only the program gives what it works out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import ALL, compiled, title
from tests.slices import some

from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import all_items
from ninefold.tools.explain.render import to_text

OLDER = some([path for path in ALL if b"changes:" in path.read_bytes()], 4)


def told(loaded: Loaded, version: str) -> list[str]:
    """What is explained of every endpoint of a version."""
    own = loaded.of(version)
    if own is None or own.checked is None:
        return []
    return [to_text(explain_endpoint(own, each)) for each in value_of(own.contract.endpoints.endpoints) or ()]


@pytest.mark.long
@pytest.mark.parametrize("path", OLDER, ids=title)
def test_no_name_is_told_that_no_document_has(path: Path) -> None:
    loaded = compiled(path)
    said = [
        text for each in loaded.diagnostics for text in (each.message, *each.help, *(of.text for of in each.labels))
    ]
    for version in [each.version for each in loaded.older]:
        found = [text for text in (*said, *told(loaded, version)) if f" of {version}`" in text]
        assert not found, found[0]


RENAMED = """purpose: Stops of a railway.
resources:
  stop:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      zone: {type: [integer, "null"]}
      fare: {type: integer, on create: 1}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /stops:
    does: list stop
    sort: [id]
    pages: none
    query: {zone: stop.zone == value, most: stop.fare <= value}
    responses: {200: page.items}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    bad_zone: {status: 400, title: No such zone, for: [invalid query.zone, invalid query.most]}
    bad_word: {status: 400, title: Not understood, for: invalid}
limits: none
versioning:
  in: header
  name: Version
  default: "2"
  compatible: none
  versions:
    "2": {}
    "1":
      changes:
        - {rename: stop.zone, to: ring}
        - {rename: GET /stops.query.most, to: up_to}
        - {rename: bad_zone, to: wrong_ring}
"""


def test_a_code_is_explained_of_a_parameter_by_whatever_name_a_version_has_for_it() -> None:
    own = compile_document("stops.yaml", RENAMED.encode()).of("1")
    assert own is not None and own.plan is not None
    (endpoint,) = value_of(own.contract.endpoints.endpoints) or ()
    answers = {
        item.text: [each.text.partition(": ")[2] for each in item.items]
        for item in all_items(explain_endpoint(own, endpoint))
        if item.items and item.items[0].cause is not None
    }
    found = answers["400 `wrong_ring`, No such zone"]
    assert [each.split("`")[1] for each in found] == ["ring", "up_to"]
