"""`false` of a kind of caller admits nobody: what is told of such a line is what is told of one that does not name
it, and what the service does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.contracts import compiled_once, plan_of
from tests.http_cases import serving
from tests.parts import contract, told

from ninefold.pipeline import Loaded
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service
from ninefold.tools.permissions.matrix import matrix

ALIKE = [
    ("{key: false, anyone: true}", "anyone"),
    ("{key: false, pass: true}", "pass"),
    ("{key: false, pass: true, anyone: true}", "[pass, anyone]"),
    ("{key: true, anyone: false}", "key"),
    ("{key: false}", "none"),
    ("{key: false, pass: false, anyone: false}", "none"),
]


def of(line: str) -> str:
    return contract(
        """
        note:
          primary key: id
          fields:
            id: {type: integer, on create: serial()}
            key: {type: string, secret: token, on create: token()}
            pass: {type: string, secret: token, on create: token()}
        """,
        """
        POST /notes: {does: create note, body: none, responses: {201: {key: issued.key, pass: issued.pass}}}
        GET /notes: {does: list note, sort: [id], pages: none, responses: {200: {notes: page.items}}}
        """,
        callers=f"""
        schemes:
          key: {{type: http, scheme: bearer, matches: note.key}}
          pass: {{type: apiKey, in: header, name: X-Pass, matches: note.pass}}
        rows: {{note: {{key: true, pass: true, anyone: true}}}}
        permissions: {{POST /notes: anyone, GET /notes: {line}}}
        """,
    )


def loaded(line: str) -> Loaded:
    return compiled_once("notes.md", of(line).encode())


def described(found: Loaded) -> dict[str, Any]:
    assert found.checked is not None and found.plan is not None
    document = openapi(Service(found.contract, found.checked, found.plan, found.open_questions))
    operation: dict[str, Any] = document["paths"]["/notes"]["get"]
    return operation


@pytest.mark.parametrize(("line", "without"), ALIKE)
def test_what_is_told_is_told_without_it(line: str, without: str) -> None:
    one, other = loaded(line), loaded(without)
    assert [each.text for each in one.open_questions] == [each.text for each in other.open_questions]
    operations = [described(each) for each in (one, other)]
    for each in operations:
        del each["x-ninefold"]
    assert operations[0] == operations[1]
    cells = [
        [(each.who, each.verdict) for each in matrix(found.contract, found.checked).lines[1].cells]
        for found in (one, other)
    ]
    assert cells[0] == cells[1]


@pytest.mark.parametrize(("line", "without"), ALIKE)
def test_it_is_what_the_service_does(line: str, without: str, tmp_path: Path) -> None:
    answers = []
    statuses = described(loaded(line))["responses"]
    for number, each in enumerate((line, without)):
        with serving(plan_of(of(each), "notes.md"), tmp_path / f"{number}.db", {}) as client:
            made = client.post("/notes").json()
            asked = [
                client.get("/notes", headers=headers)
                for headers in (
                    {},
                    {"Authorization": f"Bearer {made['key']}"},
                    {"X-Pass": made["pass"]},
                    {"Authorization": "Bearer nobody's"},
                )
            ]
        assert all(str(answer.status_code) in statuses for answer in asked)
        answers.append([told(answer) for answer in asked])
    assert answers[0] == answers[1]


def test_rows_that_a_caller_never_sees_are_told_so() -> None:
    text = of("key").replace("pass: true, anyone: true", "pass: note.id > 1, anyone: false")
    found = compiled_once("notes.md", text.encode())
    assert found.checked is not None and found.plan is not None
    document = openapi(Service(found.contract, found.checked, found.plan, found.open_questions))
    rules = document["x-ninefold"]["rows"]["note"]
    assert {each["who"]: each.get("when") for each in rules} == {"key": None, "pass": "note.id > 1", "anyone": "false"}


def test_whom_a_line_admits_never_is_told_so() -> None:
    line = "{key: false, pass: true, anyone: true}"
    listed = {each["who"]: each.get("when") for each in described(loaded(line))["x-ninefold"]["callers"]}
    assert listed == {"key": "false", "pass": None, "anyone": None}
