"""A line that is indented too far is one mistake: what it was meant to be is read on, and one thing is told."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.contracts import ROOT
from tests.slices import some

from ninefold.diagnostics.diagnostic import Severity
from ninefold.pipeline import compile_document

CONTRACTS = ("examples/orders.md", "examples/museum.md", "tests/cases/what-is-put-is-there/contract.md")


def shifted(text: str, by: int) -> Iterator[str]:
    """The contract with each entry at the left of a block indented, by its first line and as a whole."""
    lines, inside = text.split("\n"), False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            inside = not inside and line.startswith("```yaml")
        elif inside and re.match(r"\w[^#]*:", line):
            last = next(n for n in range(number + 1, len(lines)) if lines[n] and not lines[n].startswith(" "))
            for end in {number + 1, last}:
                moved = [" " * by + each if each else each for each in lines[number:end]]
                yield "\n".join([*lines[:number], *moved, *lines[end:]])


def errors(text: str) -> list[str]:
    told = compile_document("contract.md", text.encode()).diagnostics
    return [f"{each.code.id} {each.message}" for each in told if each.code.severity is Severity.ERROR]


@pytest.mark.long
@pytest.mark.parametrize("name", CONTRACTS)
def test_an_entry_in_a_column_of_its_own_is_told_once(name: str) -> None:
    texts = some([*shifted((ROOT / name).read_text(encoding="utf-8"), 1)], 8)
    assert [found for found in map(errors, texts) if len(found) != 1] == []


@pytest.mark.long
@pytest.mark.parametrize("by", [2, 4])
def test_an_entry_in_the_column_of_others_is_mostly_told_once(by: int) -> None:
    """What it says there may be something as well."""
    texts = [each for name in CONTRACTS for each in shifted((ROOT / name).read_text("utf-8"), by)]
    found = [len(errors(each)) for each in some(texts, 8)]
    assert sum(each <= 1 for each in found) >= 0.7 * len(found)


def test_what_stands_under_terms_is_told_once() -> None:
    text = "# N\n\n## 2. Resources and their fields\n\n```yaml\nterms:\n  big: note.n > 3\n%s```\n\n"
    listed = "{does: list note, where: big, sort: [id], responses: {200: page.items}}"
    text += f"## 4. Endpoints\n\n```yaml\nGET /notes: {listed}\n```\n"
    for indented in (
        "  note:\n  primary key: id\n  fields: {id: {type: integer}, n: {type: integer}}\n",
        "  note:\n    primary key: id\n    fields: {id: {type: integer}, n: {type: integer}}\n",
        " note:\n  primary key: id\n  fields: {id: {type: integer}, n: {type: integer}}\n",
    ):
        assert len(errors(text % indented)) == 1, errors(text % indented)


def by_one(text: str) -> Iterator[str]:
    """The contract with each line of a block alone moved by one character, to the right and to the left."""
    lines, inside = text.split("\n"), False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            inside = not inside and line.startswith("```yaml")
        elif inside and line.strip() and not line.strip().startswith("#"):
            for moved in (" " + line, line[1:] if line.startswith(" ") else None):
                if moved is not None:
                    yield "\n".join([*lines[:number], moved, *lines[number + 1 :]])


@pytest.mark.long
@pytest.mark.parametrize("name", CONTRACTS)
def test_a_line_alone_that_is_moved_by_one_is_nearly_always_told_once(name: str) -> None:
    """Where it stands as near to those around it as to those above it, and is the last of these, nobody can tell."""
    found = [len(errors(each)) for each in some([*by_one((ROOT / name).read_text(encoding="utf-8"))], 8)]
    assert sum(each <= 1 for each in found) >= 0.97 * len(found)


FIELDS = "{id: {type: integer}}"
BLOCK = "# N\n\n## 2. Resources and their fields\n\n```yaml\n{}\n```\n"


@pytest.mark.parametrize(
    ("resource", "place", "told"),
    [
        # The first of several is the one that stands alone.
        ("note:\n   primary key: id\n  fields: FIELDS\n  required: []", "7:4", "below it"),
        ("note:\n  primary key: id\n fields: FIELDS\n  required: []", "8:2", "above it"),
        ("note:\n  primary key: id\n fields:\n    id: {type: integer}\n  required: []", "8:2", "above it"),
        ("note:\n    primary key: id\n   fields: FIELDS", "8:4", "above it"),
        # Nearer to those around it, or with what is below it where that would be.
        ("note:\n    primary key: id\n    fields: FIELDS\n two: {primary key: id, fields: FIELDS}", "9:2", "above it"),
        ("note:\n  primary key: id\n  fields: FIELDS\n two:\n  primary key: id\n  fields: FIELDS", "9:2", "above it"),
    ],
)  # fmt: skip
def test_a_line_between_two_columns_is_told_once_at_its_place(resource: str, place: str, told: str) -> None:
    found = compile_document("contract.md", BLOCK.format(resource.replace("FIELDS", FIELDS)).encode())
    (only,) = [each for each in found.diagnostics if each.code.severity is Severity.ERROR]
    at = found.source.place(only.span.start)
    assert f"{at.line}:{at.column}" == place
    assert told in only.message
