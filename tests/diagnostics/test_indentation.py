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
