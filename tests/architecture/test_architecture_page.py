"""ARCHITECTURE.md names what is there, all of it, and nothing that is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "ninefold"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def map_of_the_tree() -> list[str]:
    """The first words of the indented lines of the page's map, such as `syntax/` and `gaps.py`."""
    found = re.search(r"^```\nsrc/ninefold/\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found, "ARCHITECTURE.md has no map that begins with src/ninefold/"
    return re.findall(r"^  (\S+)", found[1], re.MULTILINE)


def test_the_map_is_the_tree() -> None:
    packages = {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert sorted(map_of_the_tree()) == sorted(packages | modules)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:py|md|toml))`", PAGE))))
def test_a_path_on_the_page_exists(path: str) -> None:
    """From the root or from the package; a file name alone may be in any of its folders."""
    assert (ROOT / path).exists() or (PACKAGE / path).exists() or any(PACKAGE.rglob(path))


def test_the_page_is_one_page() -> None:
    assert len(PAGE.splitlines()) <= 120
