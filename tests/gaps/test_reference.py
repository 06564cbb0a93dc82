"""docs/language.md: made from the tables as they are, and its examples are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ninefold.diagnostics.diagnostic import Severity
from ninefold.docs import GENERATED, assemble
from ninefold.language.conditions import CONDITIONS
from ninefold.meanings import meanings
from ninefold.pipeline import compile_document

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_is_not_stale() -> None:
    assert assemble(TEXT) == TEXT, "stale: run `python -m ninefold.docs`"


def test_every_stretch_is_on_the_page_once() -> None:
    assert sorted(re.findall(r"<!-- generated: ([a-z0-9 ]+) -->", TEXT)) == sorted(GENERATED)


def test_an_unknown_stretch_is_an_error() -> None:
    with pytest.raises(KeyError):
        assemble("<!-- generated: nonsense -->\n<!-- end -->")


def test_conditions_point_at_meanings_that_there_are() -> None:
    assert {number for each in CONDITIONS for number in each.meanings} <= {each.number for each in meanings()}


def test_meanings_are_numbered() -> None:
    numbers = [each.number for each in meanings()]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(
    ("name", "fence"), [("example.md", r"^````markdown\n(.*?)^````$"), ("example.yaml", r"^```yaml\n(purpose.*?)^```$")]
)
def test_the_example_of_each_form_is_right(name: str, fence: str) -> None:
    found = re.search(fence, TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    loaded = compile_document(name, found[1].encode())
    assert [d.message for d in loaded.diagnostics if d.code.severity is not Severity.NOTE] == []
    assert [part.prose for part in loaded.document.parts[1:]].count(()) >= 7, "it is read as it is meant"


def test_every_link_within_the_page_leads_somewhere() -> None:
    headings = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= anchors
