"""What a term means is told as the expression is, not as YAML writes it."""

from __future__ import annotations

import pytest
from tests.contracts import compiled_once
from tests.parts import contract

from ninefold.language.fact import value_of
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import every

WRITTEN = [
    "note.text == 'a'",
    "\"note.text == 'a'\"",
    "'note.text == ''a'''",
    ">-\n    note.text\n    == 'a'",
]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_term_is_told_without_its_quotes(written: str) -> None:
    text = contract(
        "note: {primary key: id, fields: {id: {type: integer, on create: serial()}, text: {type: string}}}\n"
        f"terms:\n  is_a: {written}\n",
        """
        GET /notes: {does: list note, where: is_a, sort: [id], pages: none, responses: {200: {notes: page.items}}}
        """,
    )
    loaded = compiled_once("notes.md", text.encode())
    (endpoint,) = value_of(loaded.contract.endpoints.endpoints) or ()
    told = [item.text for section in explain_endpoint(loaded, endpoint).sections for item in every(section.items)]
    assert "`is_a` means `note.text == 'a'`" in told
