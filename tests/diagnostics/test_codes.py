"""The codes of diagnostics: one for each kind, in whichever file it stands."""

from __future__ import annotations

from collections import Counter

from ninefold.catalogue import TABLES


def test_no_two_kinds_have_one_code() -> None:
    counted = Counter(code.id for table in TABLES for code in table)
    assert [code for code, count in counted.items() if count > 1] == []
