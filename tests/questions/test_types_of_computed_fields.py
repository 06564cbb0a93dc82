"""The type of a computed field is that of its expression (docs/reference/2-resources.md, `computed`)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.contracts import SERVED, contract_of

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import render
from ninefold.pipeline import Loaded, compile_document

TYPE = r"type: (?:string|integer|number|boolean)(?:, format: date-time)?"
BEFORE = re.compile(rf"{TYPE}, (?=computed:)")
BEHIND = re.compile(rf"(computed: (?:\"[^\"]*\"|[^,{{}}\"]*)), {TYPE}(?=[,}}])")
PLACES = re.compile(r"Place\([^)]*\)|(?:offset|column|start|end)=\d+")

NOTES = """\
resources:
  note:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      text:  {type: string}
      words: {type: array, items: {type: string}}
      FIELDS
"""


def without_types(text: str) -> str:
    return BEHIND.sub(r"\1", BEFORE.sub("", text))


SAYING = [each for each in SERVED if without_types(text := contract_of(each).read_text("utf-8")) != text]


def loaded(text: str, name: str = "notes.yaml") -> Loaded:
    return compile_document(name, text.encode())


@pytest.mark.parametrize("case", SAYING, ids=lambda each: each.name)
def test_a_service_is_the_same_without_the_types_that_expressions_have(case: Path) -> None:
    contract = contract_of(case)
    text = contract.read_text("utf-8")
    stated, left_out = (loaded(each, contract.name) for each in (text, without_types(text)))
    assert stated.plan is not None and left_out.plan is not None, render(left_out.diagnostics, left_out.source)
    assert PLACES.sub("", repr(left_out.plan)) == PLACES.sub("", repr(stated.plan))


def asked(*fields: str) -> list[str]:
    """The fields whose type is asked for."""
    found = loaded(NOTES.replace("FIELDS", "\n      ".join(fields)))
    return [each.subject for each in found.open_questions if each.question.id == "type"]


@pytest.mark.parametrize(
    "computed",
    ["note.text + '!'", "note.text.size()", "1.5 * double(note.text.size())", "now > now", "now", "note.words"],
)
def test_an_expression_says_its_type(computed: str) -> None:
    assert asked(f'made: {{computed: "{computed}"}}') == []


def test_one_may_be_made_of_the_other_in_any_order() -> None:
    assert asked("a: {computed: note.b + 1}", "b: {computed: note.c + 1}", "c: {computed: note.text.size()}") == []


def test_what_has_no_type_is_asked_for() -> None:
    assert asked("a: {computed: note.b}", "b: {computed: note.a}") == ["note.a", "note.b"]
    assert asked("a: {computed: null}") == ["note.a"]
    assert asked("a: {computed: \"duration('PT5S')\"}") == ["note.a"]


def test_what_is_said_not_to_be_shown_is_asked_for() -> None:
    assert asked("a: {computed: note.text.size(), type: not shown}") == ["note.a"]


def test_a_schema_beside_it_narrows_the_type_of_the_expression() -> None:
    assert asked("a: {computed: note.text.size(), minimum: 0}") == []


@pytest.mark.parametrize(
    ("computed", "why"),
    [
        ("note.text + 1", "NF0407"),
        ("note.text in ['a'] && note.text", "NF0407"),
        ("note.other", "NF0403"),
        ("note in ['a']", "NF0407"),
        ("note.text > note.a", "NF0407"),
    ],
)
def test_what_is_wrong_with_an_expression_is_told_and_no_type_is_asked_for(computed: str, why: str) -> None:
    found = loaded(NOTES.replace("FIELDS", f'a: {{computed: "note.text.size()"}}\n      b: {{computed: "{computed}"}}'))
    assert [each.code.id for each in found.diagnostics if each.code.severity is Severity.ERROR] == [why]
    assert [each for each in found.open_questions if each.question.id == "type"] == []


def test_what_is_wrong_is_told_only_of_what_is_shown() -> None:
    fields = "tag: not shown\n      a: {computed: note.tag.size()}\n      b: {computed: all(other).size() + note.a}"
    found = loaded(NOTES.replace("FIELDS", fields) + "  other: not shown\n")
    assert [each.code.id for each in found.diagnostics if each.code.severity is Severity.ERROR] == []
