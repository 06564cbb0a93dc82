"""Types are JSON Schemas of any kind, and what refers to one is held to it, with what is said beside."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import ROOT, plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

CONTRACT = f"""# Types

## 1. What the service does

Keeps notes.

## 2. Resources and their fields

```yaml
note:
  primary key: id
  fields:
    id:    {{type: integer, on create: serial()}}
    title: {{$ref: "#/types/title"}}
    brief: {{$ref: "#/types/title", maxLength: 3}}
    tags:  {{$ref: "#/types/tags"}}
    at:    {{$ref: "#/types/moment"}}
    state: {{$ref: "#/types/state"}}
types:
  title:  {{type: string, maxLength: 5}}
  moment: {{type: string, format: date-time}}
  tags:   {{type: array, items: {{$ref: "#/types/title"}}, maxItems: 2}}
  state:  {{enum: [new, old]}}
  named:  {{type: object, properties: {{title: {{$ref: "#/types/title"}}}}, required: [title]}}
  given:
    allOf:
      - {{$ref: "#/types/named"}}
      - {{type: object, properties: {{tags: {{$ref: "#/types/tags"}}, why: {{$ref: "#/types/title"}}}}}}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {{media type: application/json, unknown members: refused, unknown parameters: refused}}
produces: application/json
POST /notes: {{does: create note, body: [title, brief, tags, at, state], responses: {{201: note}}}}
POST /given:
  does: create note
  body: {{$ref: "#/types/given"}}
  sets: {{brief: request.body.why}}
  responses: {{201: {{title: note.title, brief: note.brief, tags: note.tags}}}}
GET /notes: {{does: list note, where: note.at < now, sort: [-at], pages: {{by: none}}, responses: {{200: page.items}}}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {{all others: anyone}}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape:
  media type: application/problem+json
  body: {{code: error.code, at: "error.fields.map(f, f.pointer + ' ' + f.rule)"}}
codes:
  wrong: {{status: 422, title: Wrong, for: invalid}}
```

{LIMITS_AND_VERSIONS}"""


@pytest.mark.serves
def test_what_refers_to_a_type_is_held_to_it(tmp_path: Path) -> None:
    plan = plan_of(CONTRACT)
    whole = {"title": "ab", "brief": "abc", "tags": ["a", "b"], "at": "2020-01-01T00:00:00.000000Z", "state": "new"}
    wrong = {
        "title": ("abcdef", "/title maxLength"),
        "brief": ("abcd", "/brief maxLength"),
        "tags": (["a", "abcdef"], "/tags/1 maxLength"),
        "at": ("yesterday", "/at format"),
        "state": ("other", "/state enum"),
    }
    with serving(plan, tmp_path / "db", {}) as service:
        assert service.post("/notes", json=whole).json() == {"id": 1, **whole}
        for name, (value, told) in wrong.items():
            assert service.post("/notes", json={**whole, name: value}).json()["at"] == [told]
        assert service.post("/notes", json={**whole, "brief": "abcdef"}).json()["at"] == ["/brief maxLength"]
        assert [each["id"] for each in service.get("/notes").json()] == [1]
        given = service.post("/given", json={"title": "ab", "tags": ["x"], "why": "abc"})
        assert given.json() == {"title": "ab", "brief": "abc", "tags": ["x"]}
        assert service.post("/given", json={"tags": []}).json()["at"] == ["/title required"]
        assert service.post("/given", json={"title": "a", "why": "abcdef"}).json()["at"] == ["/why maxLength"]
        assert service.post("/given", json={"title": "a", "else": 1}).json()["at"] == ["/else unknown"]


def test_openapi_has_them_by_their_names() -> None:
    loaded = compile_document("contract.md", CONTRACT.encode())
    assert loaded.checked is not None and loaded.plan is not None
    service = Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions)
    found = openapi(service)["components"]["schemas"]
    assert found["title"] == {"type": "string", "maxLength": 5}
    assert found["tags"] == {"type": "array", "items": {"$ref": "#/components/schemas/title"}, "maxItems": 2}


TYPES = [
    ("title:  {type: string, maxLength: 5}", "title:  {maxLength: 5}", "the type of `types.title`"),
    ("title:  {type: string, maxLength: 5}", "title: not shown", "the type of `types.title`"),
    ('items: {$ref: "#/types/title"}, maxItems', "items: {maxLength: 3}, maxItems", "the type of `types.tags`"),
    ("tags:   {type: array", "tags:   {type: not shown", "the type of `types.tags`"),
    ("state:  {enum: [new, old]}", "state:  {not: {const: new}}", "the type of `types.state`"),
    ("state:  {enum: [new, old]}", "state:  {enum: [new, old], not: {minLength: 9}, if: {maxLength: 2}}", None),
]


@pytest.mark.parametrize(("old", "new", "asks"), TYPES)
def test_what_a_type_is_is_asked(old: str, new: str, asks: str | None) -> None:
    assert old in CONTRACT
    gaps = compile_document("contract.md", CONTRACT.replace(old, new).encode()).open_questions
    assert [each.text for each in gaps if each.question.part == 2] == ([] if asks is None else [asks])


@pytest.mark.parametrize(
    ("type_", "code"),
    [
        ("{type: string}", "NF0770"),
        ("{type: [object, 'null'], properties: {email: {type: string}}}", "NF0770"),
        ("{enum: [one, two]}", "NF0770"),
        ("{allOf: [{type: object, properties: {email: {type: string}}}, {type: array}], type: object}", "NF0770"),
        ("{type: object, properties: {email: {type: string}}, required: [mail]}", "NF0771"),
        ("{type: object, properties: {email: {type: string}}, allOf: [{required: [mail]}]}", "NF0771"),
        (
            "{type: object, properties: {email: {type: string}}, additionalProperties: {type: string}, required: [x]}",
            None,
        ),
        ("{type: object, properties: {email: {type: string}}, minProperties: 1}", None),
    ],
)
def test_what_no_body_can_be_is_no_type_of_one(type_: str, code: str | None) -> None:
    text = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")
    text = text.replace("types:\n", f"types:\n  given: {type_}\n", 1)
    text = text.replace("  body: [email, name]\n", '  body: {$ref: "#/types/given"}\n', 1)
    found = compile_document("orders.md", text.encode()).diagnostics
    assert {each.code.id for each in found} & {"NF0770", "NF0771"} == ({code} if code else set())
