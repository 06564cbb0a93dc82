"""README.md and the pages that it leads to show what really happens."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.docs.reader import MARKS, ROOT, follow

pytestmark = MARKS


@pytest.mark.parametrize("page", ["README.md", "docs/orders.md", "docs/status.md"])
def test_the_page_shows_what_really_happens(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    follow(ROOT / page, tmp_path)


@pytest.mark.parametrize(("page", "example"), [("README.md", "lending.yaml"), ("docs/orders.md", "orders.md")])
def test_what_a_page_quotes_is_in_the_example(page: str, example: str) -> None:
    whole = (ROOT / "examples" / example).read_text(encoding="utf-8")
    quoted = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    assert quoted and all(block in whole for block in quoted)


def test_the_readme_is_short() -> None:
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= 200
