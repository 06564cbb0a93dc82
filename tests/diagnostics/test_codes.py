"""Every kind of diagnostic is declared once, and has a section in one of the pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

from flit_core.wheel import make_wheel_in  # type: ignore[import-untyped]

import ninefold
from ninefold.diagnostics.codes import CODES, KINDS
from ninefold.diagnostics.explanations import PAGES, explanation
from ninefold.diagnostics.pages import sections

PACKAGE = Path(ninefold.__file__).parent


def test_no_two_kinds_have_one_code() -> None:
    counted = Counter(code.id for code in KINDS)
    assert [code for code, count in counted.items() if count > 1] == []


def test_each_code_has_one_section_and_sections_stand_in_order() -> None:
    written = [name for page in PAGES for name in sections(f"diagnostics/codes/{page}.md")]
    assert sorted(written) == sorted(CODES)
    pages = sorted((PACKAGE / "diagnostics" / "codes").iterdir())
    assert [page.stem for page in pages] == sorted(PAGES)
    headings = [re.findall(r"^## (NF\d+)", page.read_text(encoding="utf-8"), re.MULTILINE) for page in pages]
    assert [each for each in headings if each != sorted(each)] == []
    assert sum(map(len, headings)) == len(written)


def test_a_code_has_a_title_and_says_more() -> None:
    assert [code for code in CODES if not re.fullmatch(r"NF\d{4}", code)] == []
    assert [code for code in CODES if explanation(code).title.endswith(".") or not explanation(code).says] == []


def test_the_pages_are_in_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / make_wheel_in(PACKAGE.parents[1] / "pyproject.toml", tmp_path).file.name
    with zipfile.ZipFile(wheel) as files:
        files.extractall(tmp_path / "installed")
    command = "import sys; from ninefold.cli import main; sys.exit(main(['explain', 'NF0706']))"
    done = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("# NF0706: no request can name this version\n"), done.stderr
    pages = {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.md")}
    assert pages and all((tmp_path / "installed" / "ninefold" / page).is_file() for page in pages)
