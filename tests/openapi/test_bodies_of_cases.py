"""Of the bodies that a member tells apart exactly one takes a body, whatever says which members it has."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from tests.contracts import compiled_once
from tests.parts import contract

from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

RESOURCES = """
item:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    kind: {type: string, on create: "'a'"}
    n:    {type: integer, on create: 1}
types:
  fields: {type: object, properties: {kind: {type: string}, n: {type: integer}}, required: [kind]}
  others: {type: object, properties: {what: {type: string}, m: {type: integer}}, required: [what]}
  either:
    type: object
    required: [what]
    anyOf:
      - {properties: {what: {type: string}, m: {type: integer}}}
      - {properties: {what: {type: string}, k: {type: integer}}}
"""

WAYS = {
    "a list of fields": ("kind", "does: create item", "body: [kind, n], responses: {201: item}"),
    "a type of fields": ("kind", "does: create item", 'body: {$ref: "#/types/fields"}, responses: {201: item}'),
    "a type of no fields": (
        "what",
        "does: delete all item",
        'body: {$ref: "#/types/others"}, where: item.n == request.body.m, responses: {204: none}',
    ),
    "a type that holds at times": (
        "what",
        "does: delete all item",
        'body: {$ref: "#/types/either"}, where: "item.n in [request.body.m, request.body.k]", responses: {204: none}',
    ),
    "what is computed": (
        "what",
        "does: compute",
        'body: {$ref: "#/types/others"}, responses: {200: {is: request.body.m}}',
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("has_rest", [False, True])
def test_one_body_fits(way: str, has_rest: bool) -> None:
    member, does, states = WAYS[way]
    rest = f"\n    all others: {{{states}}}" if has_rest else ""
    cases = f"  {does}\n  cases:\n    by: request.body.{member}\n    a: {{{states}}}\n    b: {{{states}}}{rest}"
    loaded = compiled_once("contract.md", contract(RESOURCES, f"POST /items:\n{cases}\n").encode())
    assert loaded.checked is not None and loaded.plan is not None, loaded.diagnostics
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    content = document["paths"]["/items"]["post"]["requestBody"]["content"]["application/json"]["schema"]

    def takes(schema: dict[str, Any], body: dict[str, Any]) -> bool:
        return jsonschema_rs.validator_for({**schema, "components": document["components"]}).is_valid(body)

    bodies = document["components"]["schemas"][content["$ref"].rpartition("/")[2]]["oneOf"]
    assert [takes(each, {member: "a"}) for each in bodies] == [True, False, False][: len(bodies)]
    assert [takes(each, {member: "b"}) for each in bodies] == [False, True, False][: len(bodies)]
    assert [takes(each, {member: "c"}) for each in bodies] == [False, False, True][: len(bodies)]
