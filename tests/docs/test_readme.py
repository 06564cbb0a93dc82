"""README.md shows what really happens."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.docs.reader import MARKS, ROOT, follow

pytestmark = MARKS


def test_the_readme_shows_what_really_happens(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    follow(ROOT / "README.md", tmp_path)


def test_what_the_readme_quotes_is_in_the_example() -> None:
    example = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert quoted and all(block in example for block in quoted)
