"""`compute` with a `check`: what reads no row is judged too, and may refuse whatever is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.http_cases import serving

from ninefold.pipeline import compile_document
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

CONTRACT = """
purpose: Refuses.
resources:
  note: {primary key: id, fields: {id: {type: integer, on create: serial()}, text: {type: string}}}
  types: {asked: {type: object, properties: {n: {type: integer}}, required: [n]}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: [text], responses: {201: note}}
  GET /old: {does: compute, check: {that: false, else: moved}}
  POST /small:
    does: compute
    body: {$ref: "#/types/asked"}
    check: [{that: request.body.n < 10, else: large}, {that: all(note).size() < 1, else: full}]
    responses: {200: {n: request.body.n}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/problem+json, body: {code: error.code}}
  codes:
    moved: {status: 410, title: Moved}
    large: {status: 422, title: Large}
    full: {status: 409, title: Full}
    wrong: {status: 422, title: Wrong, for: invalid}
limits: {rates: none, timeout: PT5S, body size: 1 KiB}
versioning: none
"""


def test_what_is_computed_is_judged(tmp_path: Path) -> None:
    loaded = compile_document("contract.yaml", CONTRACT.encode())
    assert loaded.plan is not None and loaded.checked is not None, [each.message for each in loaded.diagnostics]
    assert [each.text for each in loaded.open_questions if each.question.part == 4] == []
    with serving(loaded.plan, tmp_path / "db", {}) as service:
        assert (service.get("/old").status_code, service.get("/old").json()) == (410, {"code": "moved"})
        assert service.post("/small", json={"n": 1}).json() == {"n": 1}
        assert service.post("/small", json={"n": 10}).json() == {"code": "large"}
        assert service.post("/small", json={"n": "x"}).json() == {"code": "wrong"}
        assert service.post("/notes", json={"text": "a"}).status_code == 201
        assert service.post("/small", json={"n": 1}).json() == {"code": "full"}
        assert service.post("/small", json={"n": 10}).json() == {"code": "large"}
    told = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))["paths"]
    assert not {"200", "204"} & told["/old"]["get"]["responses"].keys()
    assert {"200", "409", "422"} <= told["/small"]["post"]["responses"].keys()


@pytest.mark.parametrize("check", ["that: true", "that: request.query.a == '1'"])
def test_responses_are_asked_where_something_may_be_answered(check: str) -> None:
    text = CONTRACT.replace("check: {that: false,", "query: {a: {type: string}}, check: {" + check + ",")
    found = compile_document("contract.yaml", text.encode()).open_questions
    assert [each.text for each in found if each.question.part == 4] == ["the responses of `GET /old`"]
