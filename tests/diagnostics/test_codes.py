"""Every kind of diagnostic is declared once, and has a section in the page of its family."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import ninefold
from ninefold.catalogue import CODES, TABLES
from ninefold.diagnostics.explanations import explanation
from ninefold.pages import sections

PACKAGE = Path(ninefold.__file__).parent
PAGES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("diagnostics/NF*.md"))


def test_the_catalogue_has_all_tables() -> None:
    assert len(TABLES) == len(list(PACKAGE.rglob("codes.py")))


def test_no_two_kinds_have_one_code() -> None:
    counted = Counter(code.id for table in TABLES for code in table)
    assert [code for code, count in counted.items() if count > 1] == []


def test_a_page_has_a_section_for_each_code_of_its_family_in_order() -> None:
    written = [name for page in PAGES for name in sections(page)]
    assert written == sorted(CODES)
    headings = [
        line for page in PAGES for line in (PACKAGE / page).read_text().splitlines() if line.startswith("## NF")
    ]
    assert len(headings) == len(written)


def test_a_code_explains_itself() -> None:
    offenders = [
        code
        for code in CODES
        if not re.fullmatch(r"NF\d{4}", code)
        or explanation(code).title.endswith(".")
        or not ("\nWrong:" in explanation(code).text and "\nRight:" in explanation(code).text)
    ]
    assert offenders == []
