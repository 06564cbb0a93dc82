"""What refuses a request before its case is known is told of the resource that all cases are about, as explain tells
it; where they are about several, of none."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.contracts import compiled_once
from tests.events.service import running
from tests.parts import contract

from ninefold.language.fact import value_of
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import every

pytestmark = pytest.mark.serves

CASES = """
  path: {verb: {type: string, enum: [close, open]}}
  body: none
  cases:
    by: request.path.verb
    open: {does: open note, responses: {200: note}}
"""
CONTRACT = contract(
    """
    note: {primary key: id, fields: {id: {type: integer, on create: serial()}, status: {state: true}}}
    sheet: {primary key: id, fields: {id: {type: integer, on create: serial()}, status: {state: true}}}
    """,
    f"""
    POST /notes/{{id}}/{{verb}}:
    {CASES.replace(chr(10), chr(10) + "    ")}
        close: {{does: close note, responses: {{200: note}}}}
    POST /things/{{id}}/{{verb}}:
    {CASES.replace(chr(10), chr(10) + "    ")}
        close: {{does: close sheet, responses: {{200: sheet}}}}
    GET /notes/{{id}}:
      query: {{how: {{type: string}}}}
      cases:
        by: request.query.how
        short: {{does: read note, responses: {{200: {{id: note.id}}}}}}
        long:  {{does: read note, where: note.status == 'open', responses: {{200: note}}}}
    """,
    states="""
    note:
      initial: open
      states: [open, closed]
      transitions: {close: {from: open, to: closed}, open: {from: closed, to: open}}
    sheet: {initial: open, states: [open, closed], transitions: {close: {from: open, to: closed}}}
    """,
    codes="""
    no_note:  {status: 404, for: not found note}
    not_here: {status: 403, for: forbidden note}
    """,
)


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("notes") / "notes.db", CONTRACT) as found:
        yield found.http


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("POST", "/notes/1/burn", 404, "no_note"),
        ("POST", "/things/1/burn", 404, "not_found"),
        ("GET", "/notes/1?how=loud", 403, "not_here"),
    ],
)
def test_a_refusal_is_of_what_all_cases_are_about(
    http: httpx.Client, method: str, path: str, status: int, code: str
) -> None:
    answer = http.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_explain_tells_the_same() -> None:
    loaded = compiled_once("contract.md", CONTRACT.encode())
    endpoints = {each.key: each for each in value_of(loaded.contract.endpoints.endpoints) or ()}
    for key, words in {
        "POST /notes/{id}/{verb}": "`not found note`: `{verb}` is not as its schema says",
        "GET /notes/{id}": "`forbidden note`: the request is of no case",
    }.items():
        sections = explain_endpoint(loaded, endpoints[key]).sections
        assert words in [item.text for section in sections for item in every(section.items)]
