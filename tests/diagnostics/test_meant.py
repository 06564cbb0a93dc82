"""What is said where a name is misspelt or misplaced, and where nothing is written, fits what was meant."""

from __future__ import annotations

import pytest

from ninefold.pipeline import compile_document

CONTRACT = """purpose: Notes.
resources:
  types: {size: {type: integer}}
  terms: {late: note.id > 3, within(n): note.id < n}
  note:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      made: %s
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: %s, responses: {201: note}}
  GET /notes:
    does: list note
    query: {a: %s}
    where: %s
    sort: [id]
    pages: none
    responses: {200: page.items}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: {error shape: none, codes: none}
limits: none
versioning: none
"""
RIGHT = ("{type: boolean}", "[made]", "{type: integer}", "'true'")


def _said(place: int, written: str) -> list[tuple[str, str, tuple[str, ...]]]:
    text = CONTRACT % tuple(written if number == place else each for number, each in enumerate(RIGHT))
    return [
        (each.code.id, each.message, each.help) for each in compile_document("notes.yaml", text.encode()).diagnostics
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((f"{key}.{name}", "a term is read by its name alone: `late`")
          for key in ("terms", "Terms", "term") for name in ("late", "lat", "late()", "late == true", "other")),
        ("terms.within(3)", "a term is read by its name alone: `within`"),
        ("lat", "did you mean `late`?"),
        ("witin(3)", "did you mean `within`?"),
        ("note.id > 1 && laet", "did you mean `late`?"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", [0, 3])
def test_a_term_is_told_that_was_meant(place: int, written: str, meant: str) -> None:
    [(code, _, help)] = _said(place, f"{{type: boolean, computed: {written}}}" if place == 0 else written)
    assert code in ("NF0404", "NF0405")
    assert help == (meant,)


@pytest.mark.parametrize("written", ["{$ref: }", "{$ref: #/types/size\n    }", "{$ref: null}", "{$ref: ~}"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_of_a_reference_without_a_value_it_is_told_that_it_has_none(place: int, written: str) -> None:
    said = _said(place, written)
    code, message, help = said[0]
    assert code == "NF0303"
    assert message.startswith(("nothing is written for `$ref`", "`$ref` is `null`"))
    assert "in quotes" in "".join((message, *help))


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("check", "note.id > 3"),
        ("check", '["note.id > 3, or so" ]'),
        ("check", "'note.id == 3'"),
        ("also", "delete note"),
        ("also", "[delete note]"),
    ],
)
def test_where_a_text_stands_for_a_record_the_advice_is_the_record(key: str, written: str) -> None:
    text = (CONTRACT % RIGHT).replace("    sort: [id]\n", f"    sort: [id]\n    {key}: {written}\n")
    first = compile_document("notes.yaml", text.encode()).diagnostics[0]
    assert first.code.id == "NF0303"
    (help,) = first.help
    mended = text.encode()[: first.span.start] + help.split("`")[1].encode() + text.encode()[first.span.end :]
    codes = {each.code.id for each in compile_document("notes.yaml", mended).diagnostics}
    assert not codes & {"NF0301", "NF0303"}


CLOSE = "close it with `}`"
HASH = "`#` behind a space begins a comment, to the end of its line: a text that has it needs quotes"


@pytest.mark.parametrize(
    ("written", "help"),
    [
        ("{$ref: #/types/size}", HASH),
        ("{$ref: '#/types/size'", CLOSE),
        ("{$ref: ' #}', type: integer", CLOSE),
        ('{$ref: " #}", type: integer', CLOSE),
        ("{type: integer, # how many\n", CLOSE),
    ],
)
def test_a_bracket_in_a_comment_closes_nothing(written: str, help: str) -> None:
    assert [each for code, _, each in _said(2, written) if code == "NF0217"] == [(help,)]
