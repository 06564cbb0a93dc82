"""`put` with what follows it in its transaction, of the one row that there is, and where it is written otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events.service import Running, running
from tests.parts import CALLERS_AND_EVENTS, LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document

CONTRACT = (
    """# Shelves

## 1. What the service does

Keeps shelves.

## 2. Resources and their fields

```yaml
shelf:
  primary key: name
  fields:
    name:  {type: string}
    books: {type: integer, on create: "0"}
    state: {state: true}
label:
  primary key: text
  fields:
    text:  {type: string, maxLength: 3}
    count: {type: integer, on create: "1"}
word:
  primary key: text
  fields:
    text:   {type: string}
    last:   {type: [string, "null"]}
    seen:   {type: string, format: date-time}
    first:  {type: [string, "null"], immutable: true}
    writes: {type: integer, on create: "1", on change: word.writes + 1}
line:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    text: {type: string}
    note: {type: [string, "null"]}
config:
  primary key: none
  fields:
    colour: {type: string, on create: "'red'"}
    note:   {type: [string, "null"]}
    edits:  {type: integer, on create: "0", on change: config.edits + 1}
```

## 3. States and transitions

```yaml
shelf: {initial: open, states: [open, full], transitions: {fill: {from: open, to: full}, clear: {from: full, to: open}}}
label: none
word: none
line: none
config: none
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
GET /shelves/{name}:    {does: read shelf, responses: {200: {books: shelf.books, state: shelf.state}}}
DELETE /shelves/{name}: {does: delete shelf, responses: {204: none}}
GET /labels/{text}:     {does: read label, responses: {200: {count: label.count}}}
PUT /shelves/{name}:
  does: put shelf
  body: [books]
  check: {that: shelf.books < 10, else: many}
  also: [{does: create label, sets: {text: this.name}}]
  responses: {created: {201: none}, replaced: {200: none}, unchanged: {202: none}}
PUT /filled/{name}:
  does: [put shelf, fill shelf]
  body: [books]
  check: {that: shelf.books < 10, else: many}
  responses: {replaced: {200: none}}
GET /words/{text}: {does: read word, responses: {200: {last: word.last, first: word.first, writes: word.writes}}}
POST /lines:
  does: create line
  body: [text, note]
  also:
  - {does: put word, where: this.text != 'none', sets: {text: this.text, last: this.note, first: this.note, seen: now}}
  responses: {201: none}
GET /config: {does: read config, responses: {200: config}}
PUT /config: {does: put config, body: [colour, note], responses: {replaced: {200: config}}}
```

"""
    + CALLERS_AND_EVENTS
    + """## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes:
  invalid: {status: 422, for: invalid}
  missing: {status: 404, for: not found}
  taken:   {status: 409, for: conflict}
  state:   {status: 409, for: illegal transition}
  many:    {status: 409}
```
"""
    + LIMITS_AND_VERSIONS
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db", CONTRACT) as found:
        yield found


def put(service: Running, path: str, **body: object) -> object:
    response = service.http.put(path, json=body)
    return response.status_code if response.status_code < 400 else response.json().get("code")


@pytest.mark.serves
def test_its_checks_are_asked_before_what_follows(service: Running) -> None:
    """What follows would be refused as well: a label is there already, and a shelf is full."""
    assert put(service, "/shelves/a", books=1) == 201
    assert service.http.get("/labels/a").json() == {"count": 1}
    assert put(service, "/shelves/a", books=1) == 202, "of what stays as it is nothing follows"
    assert put(service, "/shelves/a", books=10) == "many"
    assert put(service, "/shelves/a", books=2) == "taken"
    service.http.delete("/shelves/a")
    assert put(service, "/shelves/a", books=10) == "many"
    assert put(service, "/shelves/a", books=1) == "taken"
    assert put(service, "/shelves/b", books=1) == 201
    assert put(service, "/filled/b", books=10) == "many"
    assert put(service, "/filled/b", books=3) == 200
    assert service.http.get("/shelves/b").json() == {"books": 3, "state": "full"}
    assert put(service, "/filled/b", books=10) == "many"
    assert put(service, "/filled/b", books=4) == "state"
    assert service.http.get("/shelves/b").json() == {"books": 3, "state": "full"}


@pytest.mark.serves
def test_among_effects_it_makes_a_row_or_changes_the_one_that_is_there(service: Running) -> None:
    for note, expected in (
        ("a", {"last": "a", "first": "a", "writes": 1}),
        ("a", {"last": "a", "first": "a", "writes": 1}),
        ("b", {"last": "b", "first": "a", "writes": 2}),
        (None, {"last": None, "first": "a", "writes": 3}),
        (None, {"last": None, "first": "a", "writes": 3}),
        ("b", {"last": "b", "first": "a", "writes": 4}),
    ):
        for text in ("w", "none"):
            assert service.http.post("/lines", json={"text": text, "note": note}).status_code == 201
        assert service.http.get("/words/w").json() == expected
        assert service.http.get("/words/none").status_code == 404


@pytest.mark.serves
def test_the_one_row_that_there_is_is_replaced(service: Running) -> None:
    assert service.http.get("/config").json() == {"colour": "red", "note": None, "edits": 0}
    for edits, (body, colour, note) in enumerate(
        (
            ({"colour": "blue", "note": "x"}, "blue", "x"),
            ({"note": "y"}, "red", "y"),
            ({"colour": "blue"}, "blue", None),
            ({"colour": "blue"}, "blue", None),
        )
    ):
        changed = service.http.put("/config", json=body)
        expected = {"colour": colour, "note": note, "edits": edits + 1}
        assert (changed.status_code, changed.json()) == (200, expected)
        assert service.http.get("/config").json() == expected
    assert service.http.put("/config", json={}, headers={"If-None-Match": "*"}).status_code == 412


@pytest.mark.parametrize(
    ("endpoint", "code", "help"),
    [
        (
            "PUT /config: {does: put config, body: [colour], responses: {created or replaced: {200: config}}}",
            "NF0590",
            "the row is always there: state `replaced` alone",
        ),
        (
            "PUT /config: {does: put config, body: [colour], responses: {unchanged: {200: config}}}",
            "NF0590",
            "the row is always there: state `replaced` alone",
        ),
        (
            "PUT /one: {does: put label, where: label.count == 1, body: [text, count], "
            "responses: {created or replaced: {200: label}}}",
            "NF0505",
            "a `label` is known by `text`: name it in the path, or in `where`",
        ),
        (
            "DELETE /all: {does: delete all label, responses: {deleted or absent: {204: none}}}",
            "NF0581",
            "it acts on all rows that there are, and that there is none is as good: write the status alone",
        ),
    ],
)
def test_what_cannot_be_is_told_with_what_can(endpoint: str, code: str, help: str) -> None:
    text = CONTRACT.replace("GET /config: ", endpoint + "\nGET /config: ", 1)
    text = text.replace(
        "PUT /config: {does: put config, body: [colour, note]", "PUT /old: {does: put config, body: [note]"
    )
    told = compile_document("contract.md", text.encode()).diagnostics
    assert [(each.code.id, each.help) for each in told if each.code.severity.value == "error"] == [(code, (help,))]
    assert "ensured" not in "".join(each.message for each in told)
