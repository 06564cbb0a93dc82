"""What helps where something was meant that is written otherwise."""

from __future__ import annotations

import pytest
from tests.parts import contract

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import render
from ninefold.pipeline import compile_document


@pytest.mark.parametrize(
    ("field", "shown", "said"),
    [
        ('{type: string, on create: ""}', "page.items", "the empty text is `\"''\"`"),
        ("{type: string, on change: string(zone.id)}", "page.items", "`on change` acts on create too"),
        ("{type: string, on change: {no: string(zone.id)}}", "page.items", "`on change` acts on create too"),
        *(("{type: string}", each, "the rows of a page are `page.items`") for each in ("zone", "zones", "Zones")),
    ],
)
def test_what_was_meant_is_told(field: str, shown: str, said: str) -> None:
    text = contract(
        f"zone: {{primary key: id, fields: {{id: {{type: integer, on create: serial()}}, no: {{type: integer}}, "
        f"name: {field}}}}}",
        f"GET /zones: {{does: list zone, sort: [id], pages: none, responses: {{200: {{zones: {shown}}}}}}}",
    )
    loaded = compile_document("zones.md", text.encode())
    told = render([each for each in loaded.diagnostics if each.code.severity is Severity.ERROR], loaded.source)
    assert told.count("error[") == 1 and said in told, told


@pytest.mark.parametrize(
    ("path", "verb"),
    [("/zones", "list"), ("/zone", "read"), ("/here", "read"), ("/here/{id}", "read")],
)
def test_which_verb_was_meant_follows_from_the_path(path: str, verb: str) -> None:
    text = contract(
        "zone: {primary key: id, fields: {id: {type: integer, on create: serial()}}}",
        f"GET {path}: {{does: get zone, responses: {{200: zone}}}}",
    )
    loaded = compile_document("zones.md", text.encode())
    assert [each.help for each in loaded.diagnostics if "get" in each.message] == [(f"did you mean `{verb} zone`?",)]


@pytest.mark.parametrize(("written", "helps"), [("[zone.no]", True), ("[zone.no,\n        1]", False)])
def test_what_is_written_as_no_text_is_shown_as_text_if_it_is_one_line(written: str, helps: bool) -> None:
    field = f"{{type: integer, on create: {written}}}"
    text = contract(f"zone: {{primary key: id, fields: {{id: {field}, no: {{type: integer}}}}}}", "none")
    loaded = compile_document("zones.md", text.encode())
    assert any("an expression is text" in each for one in loaded.diagnostics for each in one.help) is helps


@pytest.mark.parametrize(
    ("change", "help"),
    [
        ("{change: zone.views.short, was: [id, title]}", "what a change says has the names of the document: `name`"),
        (
            '{change: "PUT /zones/{id}", was: {body: [title]}}',
            "what a change says has the names of the document: `name`",
        ),
        (
            "{change: zone.views.short, was: [size]}",
            "`size` is worked out for that version alone: `{size: EXPRESSION}` shows it",
        ),
        ("{change: zone.views.short, was: {of: zone.sise}}", None),
        ("{change: zone.views.short, was: [sise]}", None),
        ('{change: "PUT /zones/{id}", was: {body: [sise]}}', None),
    ],
)
def test_no_name_is_told_that_cannot_be_written(change: str, help: str | None) -> None:
    text = contract(
        "zone:\n  primary key: id\n  fields: {id: {type: integer}, name: {type: string}}\n  views: {short: [id]}",
        "PUT /zones/{id}: {does: put zone, body: [name], responses: {created: {201: zone}, replaced: {200: zone}}}",
    )
    versions = (
        'in: header\nname: V\ndefault: "2"\nversions:\n  "2": {}\n  "1":\n    changes:\n'
        "      - {rename: zone.name, to: title}\n"
        "      - {add: zone.size, was: {type: integer}, is: zone.id + 1}\n"
        f"      - {change}\ncompatible: none"
    )
    assert "Versioning: none." in text
    loaded = compile_document("zones.md", text.replace("Versioning: none.", f"```yaml\n{versions}\n```").encode())
    [told] = [each for each in loaded.diagnostics if each.code.severity is Severity.ERROR]
    assert " of 1" not in " ".join((told.message, *told.help))
    assert help is None or told.help == (help,)
