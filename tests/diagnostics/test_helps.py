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
        ("{type: string}", "zone", "the rows of a page are `page.items`"),
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
