"""`nullable(e)` and `null` in what is shown: `null` where there is no value, at every place of a template, over SQLite
and PostgreSQL; and an error with its place where it stands elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from tests.events.service import running
from tests.parts import contract
from tests.postgresql import server

from ninefold.pipeline import Loaded, compile_document
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

pytestmark = pytest.mark.serves

RESOURCES = """
person: {primary key: id, fields: {id: {type: string}, name: {type: string}}}
note:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    text:   {type: string}
    parts:  {type: array, items: {type: integer}}
    author: {references: person}
    about:  {references: note, inverse: replies}
  views:
    line: [id, {text: nullable(note.text)}]
"""
SHOWN = """
          plain: note.text
          text: nullable(note.text)
          sum: nullable(note.parts[0] + 1)
          error: nullable(1 / (note.parts.size() - note.parts.size()))
          author: "nullable(note.author.name)"
          whole: nullable(line(note.about))
          chosen: "nullable(has(note.text) ? {'t': note.text} : null)"
          left: "has(note.text) ? {'t': note.text} : null"
          parts: "nullable(note.parts.map(p, {'n': null, 'p': nullable(p > 1 ? p : null)}))"
          list: "[note.id, nullable(note.text), nullable(line(note.about)), note.text]"
          within: "{'a': nullable(note.text), 'b': {'c': nullable(note.text)}}"
          replies: "note.replies.map(r, {'text': nullable(r.text), 'line': line(r)})"
          given: >-
            [1, 2].map(x, {'n': null, 'x': nullable(x > 1 ? x : null), 'e': nullable(1 / (x - 1)),
            'gone': x > 1 ? x : null})
          asked: {note: nullable(request.query.q), deep: "{'q': nullable(request.query.q), 'none': null}"}
"""
CONTRACT = contract(
    RESOURCES,
    f"""
POST /people: {{does: create person, body: [id, name], responses: {{201: person}}}}
POST /notes: {{does: create note, body: [text, parts, author, about], responses: {{201: line(note)}}}}
GET /notes/{{id}}:
  does: read note
  query: {{q: {{type: string}}}}
  responses:
    200:{SHOWN}
GET /notes:
  does: list note
  sort: [id]
  responses:
    200:
        count: page.items.size()
        next: "nullable(has(page.next) ? page.at(page.next) : null)"
        previous: nullable(page.previous)
        results: "page.items.map(n, {{'id': n.id, 'text': nullable(n.text)}})"
""",
    limits="pages: {by: page, default: 2, maximum: 10, size: limit, at: page, first: 1}",
).replace(
    "fields: error.fields}",
    "detail: nullable(error.detail), "
    "fields: \"error.fields.map(f, {'name': f.name, 'no': null, 'message': nullable(f.message)})\"}",
)


@pytest.fixture(params=["sqlite", "postgresql"])
def http(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[httpx.Client]:
    database: Path | str = tmp_path / "a.db" if request.param == "sqlite" else server.database()
    with running(database, CONTRACT) as service:
        yield service.http


def described(path: str, status: str) -> dict[str, Any]:
    return schema_of(compile_document("c.md", CONTRACT.encode()), path, status)


def schema_of(loaded: Loaded, path: str, status: str) -> dict[str, Any]:
    assert loaded.checked is not None and loaded.plan is not None
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    schema = document["paths"][path]["get"]["responses"][status]["content"]["application/json"]["schema"]
    named = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    return {**named, "components": document["components"]}


def test_what_has_no_value_is_null_where_the_template_says_so(http: httpx.Client) -> None:
    assert http.post("/people", json={"id": "ann", "name": "Ann"}).status_code == 201
    assert http.post("/notes", json={}).json() == {"id": 1, "text": None}
    full = {"text": "a", "parts": [1, 2], "author": "ann", "about": 1}
    assert http.post("/notes", json=full).json() == {"id": 2, "text": "a"}
    given = [{"n": None, "x": None, "e": None}, {"n": None, "x": 2, "e": 1, "gone": 2}]
    empty, whole = http.get("/notes/1").json(), http.get("/notes/2?q=b").json()
    assert empty == {
        "text": None,
        "sum": None,
        "error": None,
        "author": None,
        "whole": None,
        "chosen": None,
        "parts": None,
        "list": [1, None, None],
        "within": {"a": None, "b": {"c": None}},
        "replies": [{"text": "a", "line": {"id": 2, "text": "a"}}],
        "given": given,
        "asked": {"note": None, "deep": {"q": None, "none": None}},
    }
    assert whole == {
        "plain": "a",
        "text": "a",
        "sum": 2,
        "error": None,
        "author": "Ann",
        "whole": {"id": 1, "text": None},
        "chosen": {"t": "a"},
        "left": {"t": "a"},
        "parts": [{"n": None, "p": None}, {"n": None, "p": 2}],
        "list": [2, "a", {"id": 1, "text": None}, "a"],
        "within": {"a": "a", "b": {"c": "a"}},
        "replies": [],
        "given": given,
        "asked": {"note": "b", "deep": {"q": "b", "none": None}},
    }
    schema = described("/notes/{id}", "200")
    for each in (empty, whole):
        jsonschema_rs.validate(schema, each)
    assert set(schema["required"]) >= {"text", "sum", "whole", "chosen", "parts", "list", "within"}


def test_the_last_page_has_null_for_the_next(http: httpx.Client) -> None:
    for _ in range(3):
        assert http.post("/notes", json={}).status_code == 201
    first = http.get("/notes").json()
    assert first["count"] == 2 and first["next"] is not None and first["previous"] is None
    last = http.get(first["next"]).json()
    assert last == {"count": 1, "next": None, "previous": last["previous"], "results": [{"id": 3, "text": None}]}
    for each in (first, last):
        jsonschema_rs.validate(described("/notes", "200"), each)


def test_an_error_says_null_of_its_fields_too(http: httpx.Client) -> None:
    refused = http.get("/notes?limit=many")
    assert refused.status_code == 422
    assert refused.json() == {
        "code": "invalid",
        "detail": None,
        "fields": [{"name": "limit", "no": None, "message": None}],
    }
    assert http.get("/notes/7").json() == {"code": "not_found", "detail": None, "fields": []}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plain: note.text", "plain: nullable(note.text) + '!'"),
        ("plain: note.text", "plain: \"has(note.text) ? nullable(note.text) : 'a'\""),
        ("plain: note.text", "plain: \"has(note.text) ? nullable({'a': note.text}) : {'b': 1}\""),
        ("plain: note.text", 'plain: "[1, 2].map(x, nullable(x))"'),
        ("plain: note.text", 'plain: "note.replies.map(x, nullable(line(x)))"'),
        ("plain: note.text", "plain: nullable(note.text, 1)"),
        ("plain: note.text", "plain: nullable()"),
        ("text:   {type: string}", "text:   {type: string, on create: \"nullable('a')\"}"),
        ("text:   {type: string}", "text:   {type: string, computed: nullable(note.id)}"),
        ("body: [id, name], responses", "body: [id, name], check: {that: nullable(true), else: invalid}, responses"),
        ("body: [id, name], responses", "body: [id, name], headers: {X-A: nullable(person.name)}, responses"),
    ],
)
def test_elsewhere_it_is_an_error_with_its_place(old: str, new: str) -> None:
    assert CONTRACT.count(old) == 1
    loaded = compile_document("c.md", CONTRACT.replace(old, new).encode())
    wrong = [each for each in loaded.diagnostics if "`nullable`" in each.message]
    assert [each.code.id for each in wrong] == ["NF0406"], loaded.diagnostics
    assert loaded.plan is None or wrong


@pytest.mark.parametrize("shown", ["nullable(note.id)", "nullable(page.items)", "nullable([1])", "nullable('a')"])
def test_of_what_always_has_a_value_it_says_nothing(shown: str) -> None:
    text = CONTRACT.replace(
        "previous: nullable(page.previous)", f'previous: "{shown.replace("note.id", "page.items.size()")}"'
    )
    found = [each.code.id for each in compile_document("c.md", text.encode()).diagnostics]
    assert "NF0535" in found, found


def test_a_view_that_is_called_so_is_a_view() -> None:
    loaded = compile_document(
        "c.md",
        contract(
            RESOURCES.replace("line: [id, {text: nullable(note.text)}]", "nullable: [id, text]"),
            """GET /notes/{id}:
  does: read note
  responses: {200: {about: nullable(note.about), both: "{'a': nullable(note), 'b': null}"}}
""",
        ).encode(),
    )
    assert loaded.plan is not None, loaded.diagnostics
    content = schema_of(loaded, "/notes/{id}", "200")
    assert content["properties"]["about"] == {"$ref": "#/components/schemas/note.nullable"}
