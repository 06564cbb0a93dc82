"""`put` as the language says it: which row, what comes of it, and what is asked of which row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.events.service import Running, running
from tests.parts import CALLERS_AND_EVENTS, LIMITS_AND_VERSIONS, contract, told

from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Sheets

## 1. What the service does

Keeps sheets.

## 2. Resources and their fields

```yaml
sheet:
  primary key: name
  fields:
    name:   {type: string, pattern: '^[a-z]+$'}
    text:   {type: string, on create: "''"}
    grade:  {type: integer, on create: "0"}
    kept:   {type: string}
    length: {type: integer, computed: sheet.text.size()}
    made:   {type: string, format: date-time, on create: now}
    edited: {type: integer, on create: "0", on change: sheet.edited + 1}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
GET /all/{name}: {does: read sheet, responses: {200: {grade: sheet.grade, edited: sheet.edited}}}
PUT /all/{name}:
  does: put sheet
  body: [text, grade]
  check:
  - {that: sheet.text != 'bad', else: bad}
  - {that: "!has(before.sheet) || before.sheet.length <= sheet.length", else: shorter}
  - {that: sheet.grade <= 9, else: steep}
  responses:
    created:   {201: {grade: sheet.grade}}
    replaced:  {200: {grade: sheet.grade}}
    unchanged: {202: {grade: sheet.grade}}
PUT /rises/{name}:
  does: put sheet
  body: [grade]
  check: {that: "has(before.sheet) && before.sheet.grade < sheet.grade", else: falls}
  responses: {created: {201: none}, replaced: {200: none}, unchanged: {202: none}}
PUT /made/{name}:
  does: put sheet
  body: [text]
  check: {that: "!has(before.sheet)", else: there}
  responses: {created: {201: none}, unchanged: {202: none}}
PUT /new/{name}: {does: put sheet, body: [grade], responses: {created: {201: none}}}
PUT /known/{name}: {does: put sheet, body: [grade], responses: {replaced: {200: none}, unchanged: {202: none}}}
PUT /changed/{name}:
  does: put sheet
  body: [grade]
  check: {that: before.sheet.grade < sheet.grade, else: falls}
  responses: {replaced: {200: {grade: sheet.grade}}}
```

"""
    + CALLERS_AND_EVENTS
    + """## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes:
  invalid:  {status: 422, title: Invalid,  for: invalid}
  missing:  {status: 404, title: Missing,  for: not found}
  other:    {status: 409, title: Other,    for: different}
  taken:    {status: 409, title: Taken,    for: conflict}
  bad:      {status: 409, title: Bad}
  shorter:  {status: 409, title: Shorter}
  steep:    {status: 409, title: Steep}
  falls:    {status: 409, title: Falls}
  there:    {status: 409, title: There}
```

"""
    + LIMITS_AND_VERSIONS
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db", CONTRACT) as found:
        yield found


def put(service: Running, path: str, **body: object) -> httpx.Response:
    return service.http.put(path, json=body)


def test_checks_read_the_row_as_it_becomes_and_before_as_it_was(service: Running) -> None:
    assert told(put(service, "/all/a", text="abc", grade=10)) == "steep"
    assert told(service.http.get("/all/a")) == "missing"
    assert told(put(service, "/all/a", text="abc", grade=9)) == 201
    assert told(put(service, "/all/a", text="abc", grade=10)) == "steep"
    assert told(put(service, "/all/a", text="ab", grade=9)) == "shorter"
    assert service.http.get("/all/a").json() == {"grade": 9, "edited": 0}
    assert put(service, "/all/a", text="abcd", grade=1).json() == {"grade": 1}
    assert told(put(service, "/all/a", text="bad", grade=10)) == "bad"


def test_what_is_created_was_nothing_and_what_is_unchanged_was_as_it_is(service: Running) -> None:
    assert told(put(service, "/rises/a", grade=1)) == "falls"
    assert told(put(service, "/all/a", text="x", grade=1)) == 201
    assert told(put(service, "/rises/a", grade=1)) == "falls"
    assert told(put(service, "/rises/a", grade=2)) == 200
    assert told(put(service, "/rises/a", grade=1)) == "falls"
    assert told(put(service, "/made/b", text="x")) == 201
    assert told(put(service, "/made/b", text="x")) == "there"
    assert told(put(service, "/made/b", text="y")) == "other"


def test_where_replaced_alone_is_stated_there_was_a_row(service: Running) -> None:
    assert told(put(service, "/changed/a", grade=1)) == "missing"
    assert told(put(service, "/all/a", text="x", grade=1)) == 201
    assert told(put(service, "/changed/a", grade=1)) == "falls"
    assert told(put(service, "/changed/a", grade=2)) == 200


def test_a_path_value_that_breaks_its_schema_is_invalid_where_a_row_may_be_made_else_not_there(
    service: Running,
) -> None:
    assert told(put(service, "/all/A1", text="x", grade=1)) == "invalid"
    assert told(put(service, "/all/A1", text="x", grade=99)) == "invalid"
    assert told(put(service, "/made/A1", text="x")) == "invalid"
    assert told(put(service, "/changed/A1", grade=1)) == "missing"
    assert told(put(service, "/known/A1", grade=1)) == "missing"


def test_what_has_no_answer_is_refused(service: Running) -> None:
    assert told(put(service, "/known/a", grade=1)) == "missing"
    assert told(put(service, "/new/a", grade=1)) == 201
    assert told(put(service, "/new/a", grade=1)) == "taken"
    assert told(put(service, "/known/a", grade=1)) == 202
    assert told(put(service, "/known/a", grade=2)) == 200
    assert told(put(service, "/made/a", text="other")) == "other"


def test_what_has_not_changed_changes_nothing(service: Running) -> None:
    assert told(put(service, "/all/a", text="abc", grade=1)) == 201
    assert told(put(service, "/all/a", text="abc", grade=1)) == 202
    assert service.http.get("/all/a").json() == {"grade": 1, "edited": 0}
    assert told(put(service, "/changed/a", grade=2)) == 200
    assert service.http.get("/all/a").json() == {"grade": 2, "edited": 1}


@pytest.mark.parametrize(
    ("key", "body", "outcomes", "expected"),
    [
        ("/tags/{id}", "[code]", "replaced: {200: tag}", ["`tag.code` is required"]),
        ("/tags/{id}", "[code]", "created: {201: tag}, replaced: {200: tag}", ["`tag.code` is required"]),
        ("/tags/{id}", "[code]", "created: {201: tag}, unchanged: {200: tag}", []),
        ("/tags/{id}", "[id, made]", "replaced: {200: tag}", []),
        (
            "/tags",
            "[id, code]",
            "created: {201: tag}, replaced: {200: tag}",
            ["`tag.id` is required", "`tag.code` is required"],
        ),
        ("/tags/{id}", "[free]", "replaced: {200: tag}", []),
    ],
)
def test_a_put_that_refuses_whatever_it_is_given_is_an_error(
    key: str, body: str, outcomes: str, expected: list[str]
) -> None:
    resources = """
tag:
  primary key: id
  fields:
    id:   {type: string, immutable: true}
    code: {type: string, immutable: true}
    made: {type: string, immutable: true, on create: "'x'"}
    free: {type: string, immutable: true}
  required: [code, made]
"""
    text = contract(resources, f"PUT {key}: {{does: put tag, body: {body}, responses: {{{outcomes}}}}}\n")
    said = compile_document("tags.md", text.encode()).diagnostics
    errors = [each.message.partition(",")[0] for each in said if each.code.id == "NF0503"]
    assert errors == expected
