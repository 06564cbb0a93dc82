"""Edits at places, and diffs that `patch` takes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ninefold.diagnostics.source import Span
from ninefold.syntax.edits import Edit, edited, insertion, line_break, unified_diff


def test_edits_stand_at_their_places_whatever_their_order() -> None:
    edits = [insertion(3, "x"), Edit(Span(1, 2), ""), insertion(3, "y"), insertion(0, "z")]
    assert edited("abc", edits) == "zacxy"


@given(st.text(), st.data())
def test_insertions_leave_the_text(text: str, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(text))))
    after = edited(text, [insertion(at, "\uffff") for at in places])
    assert after.replace("\uffff", "") == text.replace("\uffff", "")
    assert after.count("\uffff") == text.count("\uffff") + len(places)


@pytest.mark.parametrize(
    ("text", "expected"), [("", "\n"), ("a", "\n"), ("a\nb\r\n", "\n"), ("a\r\nb\n", "\r\n"), ("\r", "\r")]
)
def test_lines_end_as_the_first_one_does(text: str, expected: str) -> None:
    assert line_break(text) == expected


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no `patch`")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\n", "a\nx\nb\n"),
        ("a\nb", "a\nb\nc"),
        ("a\r\nb\r\n", "a\r\nx\r\nb\r\n"),
        ("a\u2028b\x0cc\n", "a\u2028b\x0cc\nd\n"),
        ("a\rb\n", "a\rb\rc\n"),
    ],
)
def test_a_diff_makes_the_one_of_the_other(before: str, after: str, tmp_path: Path) -> None:
    file = tmp_path / "contract.md"
    file.write_bytes(before.encode())
    diff = unified_diff("contract.md", before, after).encode()
    subprocess.run(["patch", "-p0", "--binary"], cwd=tmp_path, input=diff, check=True, capture_output=True)
    assert file.read_bytes() == after.encode()
    assert unified_diff("contract.md", before, before) == ""
