"""A field may be called as the meaning `names` says, wherever a contract names fields."""

from __future__ import annotations

import re

import pytest

from ninefold.language.meanings import meaning_named
from ninefold.pipeline import compile_document

CONTRACT = """
purpose: Keeps rows.
resources:
  row:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      WORD: {type: string, unique: true}
      other: {type: string}
      seen: {type: string, format: date-time, on change: {WORD or other: now}}
      upper: {type: string, computed: row.WORD.upperAscii()}
    required: [WORD]
    unique: [[WORD, other]]
    views: {some: [id, WORD, {again: row.WORD}], one: [WORD]}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /rows: {does: create row, body: [WORD, other], responses: {201: some(row)}}
  POST /others: {does: create row, body: {of: row.WORD, WORD: row.other}, responses: {201: {WORD: row.WORD}}}
  PATCH /rows/{WORD}: {does: update row, body: [WORD], patch: merge, sets: {other: row.WORD}, responses: {200: row}}
  GET /rows/{row.WORD}:
    does: read row
    query: {show: {selects: [id, WORD], always: [WORD], explode: false}}
    responses: {200: row}
  GET /rows:
    does: list row
    sort: [WORD]
    query: {WORD: row.WORD == value, order: {sorts: [WORD, -WORD]}}
    responses: {200: one(page.items)}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {fields: error.fields}}
  codes:
    bad: {status: 422, for: [invalid, invalid row.WORD]}
    taken: {status: 409, for: conflict row.WORD, detail: row.WORD}
  precedence: [conflict row.WORD, invalid]
limits: {rates: none, timeout: none, pages: none}
versioning:
  in: header
  name: Version
  default: "2"
  versions: {"2": {}, "1": {changes: [{rename: row.WORD, to: older}]}}
"""

SAID = meaning_named("names").text
WORDS, NOT_OF_FIELDS = (
    set(re.findall(r"`(\w+)`", part)) for part in (SAID, SAID.partition("A field may be called so, but not")[2])
)


@pytest.mark.parametrize("word", sorted(WORDS))
def test_a_field_is_called_as_it_may_be(word: str) -> None:
    found = compile_document("rows.yaml", CONTRACT.replace("WORD", word).encode())
    assert (found.plan is None) == (word in NOT_OF_FIELDS), [each.message for each in found.diagnostics]
