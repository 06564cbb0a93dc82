"""docs/tutorial.md shows what really happens, from the empty file on."""

from __future__ import annotations

from pathlib import Path

from tests.docs.reader import MARKS, ROOT, follow

pytestmark = MARKS


def test_the_tutorial_shows_what_really_happens(tmp_path: Path) -> None:
    follow(ROOT / "docs" / "tutorial.md", tmp_path)
