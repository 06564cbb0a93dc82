"""The cheat sheet is one screen, and a contract with which nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.cli import main
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.pages import CHEAT_SHEET, text_of
from ninefold.pipeline import compile_document
from ninefold.plan.routes import Served

PAGE = Path(__file__).parents[2] / "docs" / "cheat-sheet.md"


def test_it_is_a_contract_that_is_served_whole() -> None:
    loaded = compile_document(CHEAT_SHEET, text_of(CHEAT_SHEET).encode())
    assert [each for each in loaded.diagnostics if each.code.severity is not Severity.NOTE] == []
    assert loaded.plan is not None and all(isinstance(route, Served) for route in loaded.plan.routes)


def test_it_is_one_screen() -> None:
    lines = text_of(CHEAT_SHEET).splitlines()
    assert len(lines) <= 90 and max(map(len, lines)) <= 140


def test_it_is_printed_and_on_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--cheat-sheet"]) == 0
    assert capsys.readouterr().out == text_of(CHEAT_SHEET)
    assert f"```yaml\n{text_of(CHEAT_SHEET)}```\n" in PAGE.read_text(encoding="utf-8")
