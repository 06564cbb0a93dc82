"""What is not shown of the document blocks an older version where that has it; what is not shown of a change, too."""

from __future__ import annotations

import pytest
from tests.contracts import compiled_once
from tests.parts import contract
from tests.versions.test_none import WRITE
from tests.versions.test_none import contract as changed

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


def asked(text: str) -> list[tuple[str, int, str, str, tuple[str, ...], str]]:
    """What is open; which conditions have no code follows from what else is."""
    found = compiled_once("notes.yaml", text.encode()).open_questions
    return [
        (each.question.id, each.question.part, each.subject, each.effect, each.blocks, each.left_out)
        for each in found
        if each.question.part != 7
    ]


@pytest.mark.parametrize("word", ["not shown", "!proposed "])
@pytest.mark.parametrize("key", (*WRITE, "does", "body", "responses", "patch"))
def test_what_is_open_of_what_an_endpoint_was_costs_what_it_costs_in_the_newest(key: str, word: str) -> None:
    newest = changed("PATCH /notes/{id}", "etag").replace("was: {etag: none}", "was: {timeout: PT1S}")
    line = next(each for each in newest.splitlines() if each.startswith(f"    {key}: "))
    value = word + line.partition(": ")[2] if word.startswith("!") else word
    alone = newest.replace(line, f"    {key}: {value}")
    older = newest.replace("was: {timeout: PT1S}", f"was: {{{key}: {value}}}")
    assert asked(newest) == []
    assert asked(older) == asked(alone) != []
