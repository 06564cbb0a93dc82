"""docs/operating.md shows what really happens, and so does docs/upgrading.md, which goes on with its database."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.docs.reader import MARKS, ROOT, follow

pytestmark = MARKS


def test_the_pages_show_what_really_happens(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for page in ("operating.md", "upgrading.md"):
        follow(ROOT / "docs" / page, tmp_path)
