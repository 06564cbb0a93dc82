"""README.md shows what really happens."""

from __future__ import annotations

import re
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


def test_the_readme_shows_what_really_happens(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    follow(ROOT / "README.md", tmp_path)


def test_what_the_readme_quotes_is_in_the_example() -> None:
    example = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert quoted and all(block in example for block in quoted)
