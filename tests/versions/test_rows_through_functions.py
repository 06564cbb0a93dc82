"""What an older version shows in the place of a field it shows of every row, whatever leads to the row."""

from __future__ import annotations

import pytest
from tests.parts import contract, in_two_versions
from tests.questions.test_rows_through_functions import ALL

from ninefold.expressions.ast import Member, every
from ninefold.language.expressions import expressions_in
from ninefold.language.fact import value_of
from ninefold.pipeline import compile_document

RESOURCES = """
room:
  primary key: id
  fields: {id: {type: integer, on create: serial()}}
cart:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    room: {references: room, inverse: carts, on delete: restrict}
    size: {type: integer}
"""


OF_VALUES = ("distinct", "sort")
"""What is asked of no rows: with these a contract is not served, and has no older version."""


@pytest.mark.parametrize("name", [each for each in ALL if each not in OF_VALUES])
def test_an_older_version_reads_of_each_row_what_it_shows(name: str) -> None:
    read = f"{ALL[name]}.size" if name == "first" else f"{ALL[name]}.map(c, c.size)"
    endpoints = f"GET /rooms/{{id}}: {{does: read room, responses: {{200: {{found: '{read}'}}}}}}"
    change = '{change: cart.size, was: {type: string}, is: string(cart.size) + "!"}'
    loaded = compile_document("contract.md", in_two_versions(contract(RESOURCES, endpoints), change).encode())
    older = loaded.of("1")
    assert older is not None
    [endpoint] = value_of(older.contract.endpoints.endpoints) or ()
    [found] = expressions_in(endpoint.responses)
    names = {each.name for each in every(found.ast) if isinstance(each, Member)}
    assert "size of 1" in names and "size" not in names
