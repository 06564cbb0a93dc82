"""A field that an older version does not have, and what gives it a value there: one that is wrong is one mistake."""

from __future__ import annotations

from typing import Final

import pytest

from ninefold.pipeline import compile_document

CONTRACT: Final = """
purpose: Keeps units.
resources:
  fridge: {primary key: id, fields: {id: {type: string}}}
  unit:
    primary key: id
    fields:
      id:     {type: integer, on create: serial()}
      name:   {type: string}
      fridge: {references: fridge}
    required: [name, fridge]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /fridges: {does: create fridge, body: [id], responses: {201: fridge}}
  POST /units: {does: create unit, body: [name, fridge], responses: {201: unit}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: {error shape: none, codes: none}
limits: none
versioning:
  in: path
  default: none
  compatible: none
  versions: {v2: {}, v1: {changes: [CHANGE]}}
"""
WRONG: Final = ("3", "unit.nmae", "nmae()", "unit.id", "all(unit)", "all(fridge)", "1 +")


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("field", ["name", "fridge"])
def test_a_value_that_is_wrong_is_told_once(field: str, value: str) -> None:
    change = f'{{remove: unit.{field}, on create: "{value}"}}'
    told = compile_document("units.yaml", CONTRACT.replace("CHANGE", change).encode()).diagnostics
    assert len(told) == 1, [(each.code.id, each.message) for each in told]
