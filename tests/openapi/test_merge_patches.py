"""What a merge patch may give an object is told alike however the schema of the field says that it is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.contracts import compiled_once
from tests.http_cases import serving
from tests.parts import contract

from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

SAYS_SO = {
    "type": "{type: object, properties: {a: {type: integer}}}",
    "$ref": '{$ref: "#/types/own"}',
    "allOf": "{type: object, properties: {a: {type: integer}}, allOf: [{minProperties: 0}]}",
    "if": "{type: object, if: {required: [a]}, then: {properties: {a: {type: integer}}}}",
}
GIVEN: tuple[Any, ...] = ({}, {"a": 1}, {"a": None}, None, 1, "x", [], True)


@pytest.mark.parametrize("way", SAYS_SO)
@pytest.mark.parametrize("required", [False, True])
def test_what_is_no_object_is_told_as_it_is_answered(way: str, required: bool, tmp_path: Path) -> None:
    resources = f"""
item:
  primary key: id
  fields:
    id:  {{type: integer, on create: serial()}}
    own: {SAYS_SO[way]}
  {"required: [own]" if required else ""}
types:
  own: {{type: object, properties: {{a: {{type: integer}}}}}}
"""
    endpoints = """POST /items: {does: create item, body: [own], responses: {201: item}}
PATCH /items/{id}: {does: update item, body: [own], patch: merge, responses: {200: item}}
"""
    loaded = compiled_once("contract.md", contract(resources, endpoints).encode())
    assert loaded.checked is not None and loaded.plan is not None, loaded.diagnostics
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    content = document["paths"]["/items/{id}"]["patch"]["requestBody"]["content"]["application/merge-patch+json"]
    told = jsonschema_rs.validator_for({**content["schema"], "components": document["components"]})
    with serving(loaded.plan, tmp_path / "service.db", {}) as client:
        assert client.post("/items", json={"own": {"a": 3}}).status_code == 201
        for given in GIVEN:
            answer = client.patch(
                "/items/1", json={"own": given}, headers={"content-type": "application/merge-patch+json"}
            )
            assert answer.status_code in (200, 422), answer.text
            assert told.is_valid({"own": given}) == (answer.status_code == 200), (given, answer.text)
