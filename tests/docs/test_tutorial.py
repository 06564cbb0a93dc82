"""docs/tutorial.md shows what really happens, from the empty file on."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tests.docs.reader import ROOT, follow

pytestmark = [
    pytest.mark.serves,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the page is for a POSIX shell"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the page calls curl"),
]


def test_the_tutorial_shows_what_really_happens(tmp_path: Path) -> None:
    follow(ROOT / "docs" / "tutorial.md", tmp_path)
