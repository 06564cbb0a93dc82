"""docs/explain.md shows what really happens."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.docs.reader import MARKS, ROOT, follow

pytestmark = MARKS


def test_the_page_shows_what_really_happens(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    follow(ROOT / "docs" / "explain.md", tmp_path)
