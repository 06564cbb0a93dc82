"""Below a key that stands instead of another line, `none` is an answer where the table says so, and nowhere else: what
is left out there is what that line says, and not what it is where the same mapping stands by itself."""

from __future__ import annotations

import pytest
from tests.contracts import ROOT

from ninefold.diagnostics.codes import NO_ANSWER
from ninefold.language.key import Key, Kind
from ninefold.language.table import vocabulary
from ninefold.pipeline import compile_document

CONTRACT = (ROOT / "tests/cases/files-that-their-caller-narrows/contract.md").read_text(encoding="utf-8")
PAGES = next(line for line in CONTRACT.splitlines() if line.startswith("  pages: {"))
BELOW = [
    key
    for key in vocabulary()
    if key.kind is Kind.FALLS_BACK and key.path.startswith("ENDPOINT.") and key.path.count(".") == 2
    if not key.is_placeholder
]


@pytest.mark.parametrize("key", BELOW, ids=lambda key: key.path)
def test_none_is_an_answer_where_the_table_says_so(key: Key) -> None:
    holder, name = key.path.split(".")[1:]
    data = CONTRACT.replace(PAGES, f"  {holder}: {{{name}: none}}").encode()
    told = [each for each in compile_document("contract.md", data).diagnostics if each.code is NO_ANSWER]
    assert [f"`{name}` is `none`" in each.message for each in told] == [True] * (not key.admits_none)


def test_there_are_such_keys() -> None:
    assert {key.admits_none for key in BELOW} == {True, False}
