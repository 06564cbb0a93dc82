"""`on change` of certain fields: a value that is given at creation, and again where a write changes one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.events.service import running
from tests.parts import contract

from ninefold.diagnostics.diagnostic import Severity
from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

CONTRACT = """
purpose: Notes.
resources:
  shelf:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      name:  {type: string}
      moves: {type: integer, on create: 0}
      label: {type: string, on change: {name: "shelf.name + ' ' + string(shelf.moves)"}}
    required: [name]
  note:
    primary key: id
    fields:
      id:       {type: integer, on create: serial()}
      shelf:    {references: shelf, inverse: notes, on delete: cascade}
      title:    {type: string}
      text:     {type: [string, "null"]}
      extra:    {type: [object, "null"], properties: {a: {type: integer}, b: {type: integer}}}
      password: {type: string, secret: password}
      status:   {state: true}
      slug:     {type: string, on change: {title: slug(note.title) + '-' + uuid()}}
      either:   {type: string, on change: {title or text: "uuid()"}}
      first:    {type: string, on change: {text: "'text'", title: "'title'", extra: "'extra'"}}
      further:  {type: string, on change: {slug: "'of ' + note.slug"}}
      entered:  {type: string, on create: "'new'", on change: {status: uuid()}}
      secured:  {type: string, on change: {password: uuid()}}
      of_rows:  {type: [integer, "null"], on change: {shelf: "note.shelf == null ? null : note.shelf.notes.size()"}}
      of_extra: {type: string, on change: {extra: uuid()}}
      fixed:    {type: object, properties: {a: {type: integer}}, on change: {const: {a: 1}}}
    required: [title, password]
states:
  shelf: none
  note:
    initial: open
    states: [open, closed]
    transitions:
      close: {from: open, to: closed, sets: {text: "'closed'"}}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /shelves: {does: create shelf, body: [name], responses: {201: shelf}}
  PATCH /shelves/{id}: {does: update shelf, body: [name], patch: merge, responses: {200: shelf}}
  POST /shelves/names:
    does: create note
    body: [title, password]
    also: [{does: update shelf, where: shelf.id > 0, sets: {name: this.title, moves: shelf.moves + 1}}]
    responses: {201: note}
  GET /shelves: {does: list shelf, sort: [id], pages: none, responses: {200: page.items}}
  POST /notes: {does: create note, body: [title, text, extra, password, shelf], responses: {201: note}}
  PATCH /notes/{id}:
    does: update note
    body: [title, text, extra, password, shelf, slug]
    patch: merge
    responses: {200: note}
  POST /notes/{id}/close: {does: close note, body: none, responses: {200: note}}
authentication:
  schemes: none
  rows: all
  permissions: {all others: anyone}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code, fields: error.fields}}
  codes: {invalid: {status: 422, for: invalid}}
limits: none
versioning: none
"""


@pytest.fixture
def http(tmp_path: Path) -> Iterator[httpx.Client]:
    with running(tmp_path / "notes.db", CONTRACT, name="contract.yaml") as service:
        yield service.http


def _note(http: httpx.Client, **more: object) -> dict[str, Any]:
    made = http.post("/notes", json={"title": "One", "password": "secret", **more})
    assert made.status_code == 201, made.text
    return dict(made.json())


def _changed(http: httpx.Client, note: dict[str, Any], **body: object) -> set[str]:
    """Which fields a patch changes, of those that it does not give; the note is as it is then."""
    patched = http.patch(f"/notes/{note['id']}", json=body)
    assert patched.status_code == 200, patched.text
    found = {name for name, value in patched.json().items() if note[name] != value} - set(body)
    note.update(patched.json())
    return found


def test_at_creation_every_one_is_given_by_the_first_written(http: httpx.Client) -> None:
    note = _note(http)
    assert note["slug"].startswith("one-") and note["either"] and note["secured"] and note["of_extra"]
    assert (note["first"], note["further"], note["entered"]) == ("text", f"of {note['slug']}", "new")
    assert note["fixed"] == {"a": 1}


def test_what_changes_is_made_anew_and_what_is_given_as_it_was_is_not(http: httpx.Client) -> None:
    note = _note(http, text="a", extra={"a": 1, "b": 2})
    assert _changed(http, note, title="One") == set()
    assert _changed(http, note, text="a", extra={"b": 2, "a": 1}) == set()
    assert _changed(http, note, title="Two") == {"slug", "either", "first", "further"}
    assert (note["first"], note["further"]) == ("title", f"of {note['slug']}")
    assert _changed(http, note, text=None) == {"either", "first"} and note["first"] == "text"
    assert _changed(http, note, title="Three", text="b") == {"slug", "either", "further"} and note["first"] == "text"
    assert _changed(http, note, extra={"a": 2}) == {"of_extra", "first"} and note["first"] == "extra"


def test_what_the_body_gives_stands_and_what_follows_from_it_follows(http: httpx.Client) -> None:
    note = _note(http)
    assert _changed(http, note, slug="mine") == {"further"} and note["further"] == "of mine"
    assert _changed(http, note, title="Two", slug="other") == {"either", "first", "further"}
    assert note["slug"] == "other" and note["further"] == "of other"


def test_a_secret_changes_where_it_is_given(http: httpx.Client) -> None:
    note = _note(http)
    assert _changed(http, note, text="a") == {"either"} and note["first"] == "text"
    assert _changed(http, note, password="secret") == {"secured"}


def test_a_transition_changes_the_state_and_what_it_sets(http: httpx.Client) -> None:
    note = _note(http)
    closed = http.post(f"/notes/{note['id']}/close").json()
    changed = {name for name, value in closed.items() if note[name] != value}
    assert changed == {"status", "text", "entered", "either"}


def test_what_is_made_of_rows_is_made_by_the_statement(http: httpx.Client) -> None:
    shelf = http.post("/shelves", json={"name": "A"}).json()["id"]
    note = _note(http, shelf=shelf)
    others = [_note(http, shelf=shelf) for _ in range(2)]
    assert [each["of_rows"] for each in (note, *others)] == [0, 1, 2]
    note = others[-1]
    assert _changed(http, note, title="Two", shelf=shelf) == {"slug", "either", "first", "further"}
    empty = http.post("/shelves", json={"name": "B"}).json()["id"]
    assert _changed(http, note, shelf=empty) == {"of_rows"} and note["of_rows"] == 0
    assert _changed(http, note, shelf=shelf, title="Two") == {"of_rows"} and note["of_rows"] == 2


def test_of_several_rows_each_by_itself(http: httpx.Client) -> None:
    for name in ("A", "B"):
        http.post("/shelves", json={"name": name})
    made = http.post("/shelves/names", json={"title": "B", "password": "secret"})
    assert made.status_code == 201, made.text
    shelves = http.get("/shelves").json()
    assert [(each["name"], each["moves"], each["label"]) for each in shelves] == [("B", 1, "B 1"), ("B", 1, "B 0")]


def test_what_is_named_there_has_to_be_a_field_that_changes(http: httpx.Client) -> None:
    wrong = CONTRACT.replace("{extra: uuid()}", "{missing: uuid()}")
    said = compile_document("contract.yaml", wrong.encode()).diagnostics
    assert any("missing" in each.message for each in said), said


WAYS = {
    "update": "PATCH /things/{id}: {does: update thing, body: none, sets: {n: thing.n + 1}, responses: {200: thing}}",
    "update all": "PATCH /things: {does: update all thing, body: none, sets: {n: thing.n + 1}, responses: {204: none}}",
    "update all, of rows": "PATCH /all: {does: update all thing, body: none, sets: {n: all(part).size()}, responses: "
    "{204: none}}",
    "put": "PUT /things/{id}: {does: put thing, body: none, sets: {n: thing.n + 1}, responses: {created: {201: thing}, "
    "replaced: {200: thing}}}",
    "put replaced": "PUT /things/{id}: {does: put thing, body: none, sets: {n: thing.n + 1}, responses: {replaced: "
    "{200: thing}}}",
    "transition": "POST /things/{id}/move: {does: move thing, body: none, responses: {200: thing}}",
    "effect": "POST /parts: {does: create part, body: [id], also: [{does: update thing, where: thing.id == this.id, "
    "sets: {n: thing.n + 1}}], responses: {201: part}}",
    "effect on several": "POST /parts: {does: create part, body: [id], also: [{does: update thing, where: thing.n > 1, "
    "sets: {n: thing.n + 1}}], responses: {201: part}}",
    "put as effect": "POST /parts: {does: create part, body: [id], also: [{does: put thing, sets: {id: this.id, n: "
    "thing.n + 1}}], responses: {201: part}}",
}
OF_ONE = {"update", "put", "put replaced", "transition", "effect", "put as effect"}


@pytest.mark.parametrize(
    ("made", "fits"),
    [
        ("{n: string(thing.n)}", {*WAYS}),
        ("{n: slug(string(thing.n))}", set[str]()),
        ("{n: random(4)}", OF_ONE),
        ("{text: slug(thing.text)}", {*WAYS}),
        ("{text: slug(thing.text), n: string(thing.n)}", set[str]()),
        ("{text: random(4), n: string(thing.n)}", set[str]()),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_made_on_a_change_that_the_statement_makes_is_planned_or_told(
    way: str, made: str, fits: set[str]
) -> None:
    """The planner tells nothing: whatever no statement can hold is an error before it."""
    resources = f"""
    thing:
      primary key: id
      fields:
        id:   {{type: string}}
        text: {{type: string}}
        n:    {{type: integer}}
        made: {{type: string, on change: {made}}}
        at:   {{state: true}}
    part: {{primary key: id, fields: {{id: {{type: string}}}}}}
    """
    sets = ", sets: {n: 'thing.n + 1'}" * (way == "transition")
    states = f"part: none\nthing: {{initial: a, states: [a, b], transitions: {{move: {{from: a, to: b{sets}}}}}}}"
    loaded = compile_document("c.md", contract(resources, WAYS[way], states=states).encode())
    errors = [each.code.id for each in loaded.diagnostics if each.code.severity is Severity.ERROR]
    assert errors == ([] if way in fits else ["NF0579"])
    assert (loaded.plan is not None) == (way in fits)
