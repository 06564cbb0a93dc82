"""What is not shown of the document blocks an older version where that has it."""

from __future__ import annotations

import pytest
from tests.parts import contract

from ninefold.diagnostics.render import render
from ninefold.pipeline import compile_document

ENDPOINTS = """
GET /zones:
  does: list zone
  sort: [id]
  pages: none
  path: PATH
  query: {id: {where: zone.id in value, explode: EXPLODE}}
  responses: {200: page.items}
GET /zones/{id}: {does: read zone, responses: {200: zone}}
"""
VERSIONS = """```yaml
in: header
name: V
default: "2"
versions: {"2": {}, "1": {changes: CHANGES}}
compatible: none
```"""


@pytest.mark.parametrize("gap", ["EXPLODE", "PATH"])
@pytest.mark.parametrize(
    ("changes", "served"),
    [
        ("none", ["GET /zones/{id}"]),
        ('[{remove: "GET /zones"}]', ["GET /zones/{id}"]),
        ('[{rename: "GET /zones", to: "GET /areas"}]', ["GET /zones/{id}"]),
        ('[{rename: "GET /zones/{id}", to: "GET /areas/{id}"}]', ["GET /areas/{id}"]),
    ],
)
def test_a_gap_blocks_its_own_endpoint_in_every_version(gap: str, changes: str, served: list[str]) -> None:
    endpoints = ENDPOINTS.replace(gap, "not shown").replace("EXPLODE", "true").replace("  path: PATH\n", "")
    text = contract("zone: {primary key: id, fields: {id: {type: integer}}}", endpoints)
    assert "Versioning: none." in text
    versions = VERSIONS.replace("CHANGES", changes)
    loaded = compile_document("zones.md", text.replace("Versioning: none.", versions).encode())
    older = loaded.of("1")
    assert older is not None and older.checked is not None, render(loaded.diagnostics, loaded.source)
    assert [each.key for each in older.checked.endpoints] == served
