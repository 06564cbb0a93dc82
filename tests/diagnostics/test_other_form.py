"""A document whose name says Markdown, and which is YAML, or the other way round: one thing is told. One that states
nothing in either form, or something in its own, is read as its name says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import ROOT
from tests.slices import some

from ninefold.pipeline import compile_document

CONTRACTS = sorted(
    [*ROOT.glob("examples/*.md"), *ROOT.glob("examples/*.yaml"), *ROOT.glob("tests/cases/*/contract.*")],
    key=lambda path: path.as_posix(),
)
OTHER = {".md": ".yaml", ".yaml": ".md"}


def codes(name: str, text: str) -> list[str]:
    return [each.code.id for each in compile_document(name, text.encode()).diagnostics]


@pytest.mark.long
@pytest.mark.parametrize("path", some(CONTRACTS, 4), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_contract_by_the_other_ending_is_told_once(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if "\nstates:" in text if path.suffix == ".yaml" else "\n## " in text and "\n```" in text:
        assert codes(f"shop{OTHER[path.suffix]}", text) == ["NF0119"]
    assert "NF0119" not in codes(path.name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.md", "# Notes\n\nlimits: those that we know.\n\nevents: many\n"),
        ("notes.md", "limits: none\n"),
        ("notes.md", ""),
        # All of it in one block, below no heading of a part: Markdown, of which other things are told.
        ("notes.md", "# Notes\n\n## All\n\n```yaml\nevents: none\nlimits: none\n```\n"),
        ("notes.md", "```yaml\nevents: none\nlimits: none\n```\n"),
        ("notes.yaml", "# Notes\n\n## 6. Events\n\n## 8. Limits\n"),
        ("notes.yaml", "## 6. Events\nevents: none\n"),
        ("notes.yaml", "events: {a: \"\n```yaml\n\"}\n"),
    ],
)  # fmt: skip
def test_what_may_be_meant_as_it_is_called_is_read_so(name: str, text: str) -> None:
    assert "NF0119" not in codes(name, text)


def test_blocks_between_tildes_are_blocks() -> None:
    assert codes("notes.yaml", "# Notes\n\n## 8. Limits\n\n~~~yaml\nrates: none\n~~~\n") == ["NF0119"]


def test_the_ending_that_is_meant_is_told() -> None:
    (told,) = compile_document("shop.v2.md", b"events: none\nlimits: none\n").diagnostics
    assert told.help == ("call it `shop.v2.yaml`",)
