"""What the page of expressions says beside its tables, which are made (`tests/gaps/test_reference.py`)."""

from __future__ import annotations

from pathlib import Path

from ninefold.expressions.ast import DEEPEST
from ninefold.expressions.parse import LONGEST

PAGE = Path(__file__).parents[2] / "docs" / "expressions.md"


def test_the_reference_names_the_bounds() -> None:
    page = PAGE.read_text()
    assert f"{LONGEST:,} characters" in page and f"{DEEPEST} deep" in page
