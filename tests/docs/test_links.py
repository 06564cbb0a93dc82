"""Each link from one page of the repository to another leads somewhere: to a file, and to a heading of it."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.docs.reader import ROOT

_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_NOT_IN_A_NAME = re.compile(r"[^\w\- ]")
_NAMED = re.compile(r'<a (?:id|name)="([^"]+)"')


def _pages() -> list[Path]:
    found = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / each for each in found.splitlines() if not each.startswith(("tests/cases/", "tests/diff/"))]


@cache
def _read(page: Path) -> list[Token]:
    return MarkdownIt().parse(page.read_text(encoding="utf-8"))


@cache
def _places(page: Path) -> frozenset[str]:
    """What a link to this page may name, as GitHub names headings."""
    found, tokens = list[str](), _read(page)
    for opened, inline in pairwise(tokens):
        if opened.type == "heading_open":
            text = "".join(each.content for each in inline.children or () if each.type in ("text", "code_inline"))
            name = _NOT_IN_A_NAME.sub("", text.lower()).replace(" ", "-")
            again = found.count(name)
            found.append(f"{name}-{again}" if again else name)
    return frozenset((*found, *_NAMED.findall(page.read_text(encoding="utf-8"))))


def _links(page: Path) -> list[str]:
    inside = [each for token in _read(page) for each in token.children or ()]
    named = [each.attrGet("href") or each.attrGet("src") for each in inside if each.type in ("link_open", "image")]
    return [unquote(str(each)) for each in named if each and not _ELSEWHERE.match(str(each))]


def _lost(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    lost = []
    for link in _links(page):
        path, _, place = link.partition("#")
        to = (page.parent / path) if path else page
        if not to.exists() or (place and to.suffix == ".md" and place not in _places(to.resolve())):
            lost.append(link)
    return lost


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="which pages there are git says")
def test_each_link_leads_somewhere() -> None:
    assert {str(page.relative_to(ROOT)): lost for page in _pages() if (lost := _lost(page))} == {}


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# One `two`, three\n\n## Same\n\n## Same\n\n[here](#one-two-three) [b](b.md#there)\n"
    )
    (tmp_path / "b.md").write_text("# There\n\n[a](a.md) [a](a.md#same-1) [no](a.md#same-2) [no](c.md) `[no](d.md)`\n")
    assert _lost(tmp_path / "a.md") == []
    assert _lost(tmp_path / "b.md") == ["a.md#same-2", "c.md"]
