"""What gives rows of an array again, or one of them, leads on to what these rows refer to: each function of the table
that gives what is in the array which it takes, and what chooses between arrays."""

from __future__ import annotations

import pytest
from tests.parts import contract

from ninefold.contract.integrity import upheld_by
from ninefold.contract.survey import Survey
from ninefold.expressions.functions import TABLE
from ninefold.pipeline import compile_document

RESOURCES = """
owner:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    code: {type: string, secret: token, on create: token()}
    age:  {type: integer}
room:
  primary key: id
  fields: {id: {type: integer, on create: serial()}}
CHECK
cart:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    room:  {references: room, inverse: carts, on delete: restrict}
    owner: {references: owner, on delete: restrict}
    size:  {type: integer}
"""

CALLERS = """
schemes: {key: {type: apiKey, in: header, name: X-Key, matches: owner.code}}
permissions: {all others: key}
rows: {room: {key: true}, cart: {key: true}}
unseen rows: not found
"""

ALL = {
    "+": "(room.carts + room.carts)",
    **{each.name: f"room.carts.{each.name}()" for each in TABLE if callable(each.result) and each.style == "method"},
    "filter": "room.carts.filter(c, true)",
    "sortBy": "room.carts.sortBy(c, c.id)",
    "map": "room.carts.map(c, c)",
    "flatMap": "room.carts.flatMap(c, room.carts)",
    "?:": "(true ? room.carts : room.carts)",
}


@pytest.mark.parametrize("name", ALL)
def test_what_is_read_of_such_a_row_is_asked_for(name: str) -> None:
    read = f"{ALL[name]}.owner.age" if name == "first" else f"{ALL[name]}.map(c, c.owner.age)"
    endpoints = f"GET /rooms/{{id}}: {{does: read room, responses: {{200: {{found: '{read}'}}}}}}"
    loaded = compile_document(
        "contract.md", contract(RESOURCES.replace("CHECK", ""), endpoints, callers=CALLERS).encode()
    )
    asked = [each.text for each in loaded.open_questions]
    assert "which rows of `owner` may be seen by `key` (`GET /rooms/{id}`, its response)" in asked


@pytest.mark.parametrize("name", ALL)
def test_a_check_that_reads_such_a_row_may_be_broken_by_a_change_of_it(name: str) -> None:
    holds = f"{ALL[name]}.size > 0" if name == "first" else f"{ALL[name]}.all(c, c.size > 0)"
    endpoints = "PATCH /carts/{id}: {does: update cart, body: [size], patch: merge, responses: {200: cart}}"
    resources = RESOURCES.replace("CHECK", f"  check: {{that: '{holds}'}}")
    loaded = compile_document("contract.md", contract(resources, endpoints, callers=CALLERS).encode())
    survey = Survey(loaded.contract)
    assert [resource for resource, _ in upheld_by(survey, survey.endpoints[0])] == ["room"]
