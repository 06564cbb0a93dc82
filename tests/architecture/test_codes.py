"""Every kind of diagnostic is listed once, and explains itself."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

import ninefold
from ninefold.diagnostics.diagnostic import Code

PACKAGE = Path(ninefold.__file__).parent
TABLES = sorted(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("codes.py"))


def codes_of(table: str) -> tuple[Code, ...]:
    codes: tuple[Code, ...] = importlib.import_module(table).CODES
    return codes


@pytest.mark.parametrize("table", TABLES)
def test_a_table_lists_all_its_codes(table: str) -> None:
    constants = [value for value in vars(importlib.import_module(table)).values() if isinstance(value, Code)]
    assert Counter(constants) == Counter(codes_of(table))


def test_no_code_is_given_twice() -> None:
    ids = Counter(code.id for table in TABLES for code in codes_of(table))
    assert [id for id, count in ids.items() if count > 1] == []


@pytest.mark.parametrize("code", [code for table in TABLES for code in codes_of(table)], ids=lambda code: code.id)
def test_a_code_explains_itself(code: Code) -> None:
    assert re.fullmatch(r"NF\d{4}", code.id)
    assert code.title and not code.title.endswith(".")
    assert "\nWrong:" in code.explanation and "\nRight:" in code.explanation
