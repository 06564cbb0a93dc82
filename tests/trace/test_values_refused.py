"""A trace tells of the value that was refused, by the name that its caller gave it, and of the rule that refused it:
what an older version had is not what the newest has, and a member that has a field's name need not be that field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import compiled_once, plan_of
from tests.http_cases import serving

from ninefold.plan.service import ServicePlan
from ninefold.tools.explain.traced import explain_response
from ninefold.trace.attribution import attribution
from ninefold.trace.causes import places

CONTRACT = """\
resources:
  note:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      rank:
        type: string
        enum: [low, middle, high]
      text:
        type: string
        maxLength: 9
      slug:
        type: string
        pattern: "^[a-z]+$"
        on create: note.text
states: none
endpoints:
  requests:
    media type: application/json
    unknown members: refused
    unknown parameters: refused
  produces: application/json
  POST /notes: {does: create note, body: [rank, text], responses: {201: note}}
  POST /templates: {does: create note, body: {level: note.rank}, responses: {201: note}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: not shown
limits: {rates: none, body size: none, timeout: none}
versioning:
  in: header
  name: Api-Version
  default: "2"
  versions:
    "2": {}
    "1":
      changes:
        - change: note.rank
          is: "note.rank == 'middle' ? 'low' : note.rank"
          stored: value
          was:
            type: string
            enum: [low, high] # of the older
        - {rename: note.rank, to: grade}
        - change: note.text
          was:
            type: string
            maxLength: 5
"""
UNKNOWN = "    unknown members: refused"


def told(plan: ServicePlan, answer: httpx.Response) -> list[tuple[str | None, str | None, list[str]]]:
    """Of each refusal the place and the rule, and the lines that are named."""
    lines = CONTRACT.splitlines()
    found = attribution(plan, answer.headers["Ninefold-Trace"]).refusals
    return [(each.pointer, each.rule, [lines[at.line - 1] for at in places(each.causes)]) for each in found]


@pytest.mark.serves
@pytest.mark.parametrize(
    ("version", "path", "body", "at", "rule", "line"),
    [
        ("2", "/notes", {"rank": "x"}, "/rank", "enum", "        enum: [low, middle, high]"),
        ("1", "/notes", {"grade": "middle"}, "/grade", "enum", "            enum: [low, high] # of the older"),
        ("1", "/notes", {"rank": "low"}, None, "unknown", UNKNOWN),
        ("2", "/notes", {"text": "abcdef" * 2}, "/text", "maxLength", "        maxLength: 9"),
        ("1", "/notes", {"text": "abcdef"}, "/text", "maxLength", "            maxLength: 5"),
        ("2", "/templates", {"level": "low", "rank": "low"}, None, "unknown", UNKNOWN),
        ("2", "/notes", {"text": "A"}, "/text", "pattern", "        on create: note.text"),
    ],
)
def test_a_trace_names_the_value_and_the_rule(
    version: str, path: str, body: dict[str, Any], at: str | None, rule: str, line: str, tmp_path: Path
) -> None:
    plan = plan_of(CONTRACT, "contract.yaml")
    with serving(plan, tmp_path / "service.db", {}, trace=True) as client:
        answer = client.post(path, json=body, headers={"Api-Version": version})
    assert answer.status_code == 422, answer.text
    [(pointer, keyword, lines)] = told(plan, answer)
    assert (pointer, keyword) == (at, rule)
    assert line in lines, lines
    assert version == "2" or "        enum: [low, middle, high]" not in lines


@pytest.mark.serves
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"text": "A"}, "`/text` in the body does not keep the rule `pattern`"),
        ({"x": 1}, "something that no fact names in the body does not keep the rule `unknown`"),
        ([], "the body does not keep the rule `type`"),
    ],
)
def test_what_is_told_to_have_no_name_has_none(body: Any, words: str, tmp_path: Path) -> None:
    """What only breaks a rule somewhere is not what no fact names."""
    loaded = compiled_once("contract.yaml", CONTRACT.encode())
    assert loaded.plan is not None
    with serving(loaded.plan, tmp_path / "service.db", {}, trace=True) as client:
        answer = client.post("/notes", json=body)
    explanation = explain_response(loaded, attribution(loaded.plan, answer.headers["Ninefold-Trace"]))
    [refused] = [each for section in explanation.sections[:1] for each in section.items]
    assert words in refused.text
