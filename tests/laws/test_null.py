"""Meaning "no value": what a schema says of null is said in one way, to a body that gives it, to a row that has to have
a value, to a patch, and where a row without a value is shown; however the schema says it. A template that says
`nullable` shows null whatever the schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.http_cases import serving

from ninefold.pipeline import compile_document

NULL: dict[str, Any] = {"type": "null"}
TEXT: dict[str, Any] = {"type": "string"}
EITHER: dict[str, Any] = {"type": ["string", "null"]}
SCHEMAS: list[tuple[bool, dict[str, Any]]] = [
    (True, EITHER),
    (True, {**EITHER, "maxLength": 5}),
    (True, {"enum": ["a", None]}),
    (True, {"$ref": "#/types/either"}),
    (True, {"anyOf": [TEXT, NULL]}),
    (True, {"oneOf": [TEXT, NULL]}),
    (True, {"allOf": [EITHER, {"maxLength": 3}]}),
    (True, {"allOf": [{"$ref": "#/types/either"}]}),
    (True, {"anyOf": [{"$ref": "#/types/either"}, {"type": "integer"}]}),
    (True, {**EITHER, "if": TEXT, "then": {"maxLength": 3}}),
    (False, TEXT),
    (False, {"enum": ["a", "b"]}),
    (False, {**EITHER, "enum": ["a", "b"]}),
    (False, {**EITHER, "not": NULL}),
    (False, {"allOf": [EITHER, TEXT]}),
    (False, {"oneOf": [EITHER, NULL]}),
    (False, {**EITHER, "if": NULL, "then": TEXT}),
]

REST = """\
states: none
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: not shown
limits: {rates: none, body size: none, timeout: none}
versioning: none
"""


@pytest.mark.serves
def test_null_is_admitted_everywhere_or_nowhere(tmp_path: Path) -> None:
    resources: dict[str, Any] = {"types": {"either": EITHER}}
    endpoints: dict[str, Any] = {
        "requests": {"media type": "application/json", "unknown members": "refused", "unknown parameters": "refused"},
        "produces": "application/json",
    }
    for number, (_, schema) in enumerate(SCHEMAS):
        name = f"r{number}"
        fields = {"id": {"type": "integer", "on create": "serial()"}, "free": schema, "due": schema}
        resources[name] = {"primary key": "id", "fields": fields, "required": ["due"]}
        takes = {"body": ["free", "due"]}
        free = f"{name}.free"
        chosen = f"has({free}) ? {{'it': {free}}} : null"
        told = {"plain": free, "said": f"nullable({free})", "chosen": f"nullable({chosen})", "left": chosen}
        endpoints |= {
            f"POST /{name}": {"does": f"create {name}", **takes, "responses": {201: name}},
            f"PATCH /{name}/{{id}}": {"does": f"update {name}", **takes, "patch": "merge", "responses": {200: name}},
            f"PATCH /{name}/{{id}}/edits": {
                "does": f"update {name}", **takes, "patch": "json-patch", "responses": {200: name}
            },
            f"GET /{name}/{{id}}": {"does": f"read {name}", "responses": {200: told}},
        }  # fmt: skip
    text = REST + f"resources: {json.dumps(resources)}\nendpoints: {json.dumps(endpoints)}\n"
    found = compile_document("contract.yaml", text.encode())
    plan = found.plan
    assert plan is not None, [each.message for each in found.diagnostics]
    with serving(plan, tmp_path / "service.db", {}) as client:
        for number, (admitted, schema) in enumerate(SCHEMAS):
            path = f"/r{number}"
            whole = client.post(path, json={"due": "a"})
            assert whole.json() == {"id": 1, **({"free": None} if admitted else {}), "due": "a"}, schema
            shown = client.get(f"{path}/1").json()
            assert shown == {**({"plain": None} if admitted else {}), "said": None, "chosen": None}, schema
            edits = [{"op": "remove", "path": "/due"}]
            answers = [
                client.post(path, json={"due": "a", "free": None}),
                client.post(path, json={"due": None}),
                client.patch(f"{path}/1", json={"free": None}),
                client.patch(f"{path}/1", json={"due": None}),
                client.patch(f"{path}/1/edits", json=edits),
            ]
            expected = [201, 201, 200, 200, 200] if admitted else [422] * 5
            assert [each.status_code for each in answers] == expected, schema
            if admitted:
                assert answers[-1].json() == {"id": 1, "free": None, "due": None}, schema
            there = client.patch(f"{path}/1/edits", json=[{"op": "replace", "path": "/free", "value": "a"}])
            assert there.status_code == (200 if admitted else 409), schema
