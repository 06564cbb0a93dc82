"""What the contract makes of a reference is the same, whether the body gives the reference or the path does, by the
primary key of its target or by another field of it, and whichever verb makes the row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from tests.http_cases import serving

from ninefold.diagnostics.render import render
from ninefold.pipeline import compile_document

MADE: Final = {
    "itself": "box.shelf.id",
    "text": "string(box.shelf.id) + '/' + box.text",
    "chosen": "box.text == 'x' ? 'n' + string(box.shelf.id) : 'none'",
    "there": "string(box.shelf != null)",
    "compared": "string(all(shelf).exists(s, s == box.shelf && s.id == box.shelf.id))",
    "within": "string([1, 2].exists(n, n + 5 == box.shelf.id))",
    "further": "box.text_on_create + '!'",
    "beyond": "box.shelf.label + string(box.shelf.id)",
}
"""Expressions over a row that refers to a shelf, by name."""

GIVEN: Final = ("on create", "on change", "sets")
"""What gives values."""

CONTRACT: Final = """
purpose: Keeps boxes.
resources:
  shelf:
    primary key: id
    fields:
      id:    {{type: integer}}
      label: {{type: string, unique: true}}
    required: [label]
  box:
    primary key: id
    fields:
      id:    {{type: integer, on create: serial()}}
      shelf: {{references: shelf}}
      text:  {{type: string}}
{fields}
    required: [shelf, text]
    unique: [[shelf, text]]
states: none
endpoints:
  requests: {{media type: application/json, unknown members: refused, unknown parameters: refused}}
  produces: application/json
  POST /shelves: {{does: create shelf, body: [id, label], responses: {{201: shelf}}}}
  POST /boxes: {{does: create box, body: [shelf, text], sets: {sets}, responses: {{201: box}}}}
  POST /shelves/{{shelf.id}}/boxes: {{does: create box, body: [text], sets: {sets}, responses: {{201: box}}}}
  POST /labels/{{shelf.label}}/boxes: {{does: create box, body: [text], sets: {sets}, responses: {{201: box}}}}
  PUT /shelves/{{shelf.id}}/box:
    {{does: put box, body: [text], sets: {sets}, responses: {{created: {{201: box}}, replaced: {{200: box}}}}}}
  PUT /labels/{{shelf.label}}/box:
    {{does: put box, body: [text], sets: {sets}, responses: {{created or unchanged: {{201: box}}}}}}
authentication: {{schemes: none, rows: all, permissions: {{all others: anyone}}}}
events: none
errors: {{error shape: {{media type: application/json, body: {{fields: error.fields}}}}, codes: none}}
limits: none
versioning: none
"""


def _contract(made: dict[str, str], ways: Sequence[str] = GIVEN) -> str:
    fields, sets = [], []
    for way in ways:
        for name, expression in made.items():
            field = f"{name}_{way}".replace(" ", "_")
            type_ = "integer" if expression == "box.shelf.id" else "string"
            given = "" if way == "sets" else f', {way}: "{expression}"'
            fields.append(f"      {field}: {{type: {type_}{given}}}")
            sets += [f'{field}: "{expression}"'] if way == "sets" else []
    return CONTRACT.format(fields="\n".join(fields), sets="{" + ", ".join(sets) + "}" if sets else "none")


@pytest.mark.serves
def test_it_is_the_same_however_the_reference_comes(tmp_path: Path) -> None:
    requests = (
        ("POST", "/boxes", {"shelf": 7, "text": "x"}),
        ("POST", "/shelves/7/boxes", {"text": "x"}),
        ("POST", "/labels/seven/boxes", {"text": "x"}),
        ("PUT", "/shelves/7/box", {"text": "x"}),
        ("PUT", "/labels/seven/box", {"text": "x"}),
    )
    loaded = compile_document("boxes.yaml", _contract(MADE).encode())
    plan = loaded.plan
    assert plan is not None, render(loaded.diagnostics, loaded.source)
    made = []
    for index, (method, path, body) in enumerate(requests):
        with serving(plan, tmp_path / f"{index}.db", {}) as client:
            assert client.post("/shelves", json={"id": 7, "label": "seven"}).status_code == 201
            answer = client.request(method, path, json=body)
            assert answer.status_code == 201, (path, answer.text)
            made.append((path, answer.json()))
    wanted = {"itself": 7, "text": "7/x", "chosen": "n7", "there": "true", "compared": "true", "within": "true"}
    wanted |= {"further": "7/x!", "beyond": "seven7"}
    for way in GIVEN:
        for name, value in wanted.items():
            field = f"{name}_{way}".replace(" ", "_")
            assert [(path, row.get(field)) for path, row in made] == [(path, value) for path, _ in made], field


def test_what_no_statement_can_make_of_a_reference_is_told() -> None:
    contract = _contract({"slug": "slug(box.text + string(box.shelf.id))"}, GIVEN[:2])
    loaded = compile_document("boxes.yaml", contract.encode())
    told = [each for each in loaded.diagnostics if each.code.id == "NF0579"]
    names = ("slug_on_create", "slug_on_change")
    assert {each.message for each in told} == {
        f"`box.{name}` is made of `shelf`, which only the database knows" for name in names
    }
    shown = {loaded.source.text[each.labels[0].span.start :].split(":")[0] for each in told}
    assert shown == {"POST /labels/{shelf.label}/boxes", "PUT /labels/{shelf.label}/box"}
