"""A reference in a body is the identifier of a row, in whatever form JSON has it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from benchmarks.families import contract
from tests.http_cases import serving
from tests.postgresql import server

from ninefold.pipeline import compile_document

FORMS: Final = {
    "whole": ("{type: integer}", "1", ("1", "1.0", "10e-1")),
    "number": ("{type: number}", "2.0", ("2", "2.0", "20e-1")),
    "time": (
        "{type: string, format: date-time}",
        '"2026-01-01T00:00:00.000000Z"',
        ('"2026-01-01T00:00:00Z"', '"2026-01-01T02:00:00+02:00"', '"2026-01-01T00:00:00.000000Z"'),
    ),
}
"""The schema of a key, a key as it is shown, and the forms in which it may be written."""

SERVED: Final = contract(
    [
        *(f"  {name}: {{primary key: id, fields: {{id: {schema}}}}}" for name, (schema, _, _) in FORMS.items()),
        "  referring: {primary key: id, fields: {id: {type: integer, on create: serial()}, "
        + ", ".join(f"to_{name}: {{references: {name}}}" for name in FORMS)
        + "}}",
    ],
    (),
    [
        *(f"  POST /{name}: {{does: create {name}, body: [id], responses: {{201: {name}}}}}" for name in FORMS),
        f"  POST /referring: {{does: create referring, body: [{', '.join(f'to_{name}' for name in FORMS)}],"
        " responses: {201: referring}}",
        f"  PATCH /referring/{{id}}: {{does: update referring, patch: merge,"
        f" body: [{', '.join(f'to_{name}' for name in FORMS)}], responses: {{200: referring}}}}",
    ],
)


@pytest.mark.serves
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_it_is_told_as_the_row_is_known(database: str, tmp_path: Path) -> None:
    loaded = compile_document("contract.yaml", SERVED.encode())
    plan = loaded.plan_for(database)
    assert plan is not None, loaded.diagnostics
    where = tmp_path / "service.db" if database == "sqlite" else server.database()
    with serving(plan, where, {}) as client:
        for name, (_, shown, written) in FORMS.items():
            json, merge = ({"content-type": f"application/{each}"} for each in ("json", "merge-patch+json"))
            assert client.post(f"/{name}", content=f'{{"id":{shown}}}', headers=json).status_code == 201
            for form in written:
                given = f'{{"to_{name}":{form}}}'
                made = client.post("/referring", content=given, headers=json)
                changed = client.patch(f"/referring/{made.json().get('id')}", content=given, headers=merge)
                for answer in (made, changed):
                    assert answer.is_success and f'"to_{name}":{shown}' in answer.text, (given, answer.text)
