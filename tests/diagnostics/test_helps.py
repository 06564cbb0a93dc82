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
