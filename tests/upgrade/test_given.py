"""New fields that every row has to have: rows that are there are given what the contract gives to new ones, where that
reads nothing but the row and the time; else it is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.server.test_rows_that_do_not_fit import CONTRACT, fill

BEFORE = CONTRACT.format(text="{type: string}", required="id")


def after(field: str) -> str:
    return BEFORE.replace("      text: {", f"      new: {field}\n      text: {{").replace(
        "required: [id]", "required: [id, new]"
    )


def upgraded(tmp_path: Path, contract: str, decisions: str = "") -> tuple[int, str, list[Any]]:
    """Exit status, what was said, and the new field of two rows, where it is there."""
    path, file = tmp_path / "notes.db", tmp_path / "notes.yaml"
    fill(path, BEFORE, "one", "two")
    file.write_text(contract, encoding="utf-8")
    if decisions:
        (tmp_path / "notes.upgrade.yaml").write_text(decisions, encoding="utf-8")
    command = [sys.executable, "-m", "ninefold", "upgrade", str(file), "--database", str(path), "--apply"]
    ended = subprocess.run(command, capture_output=True, text=True)
    connection = apsw.Connection(str(path))
    there = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('note')")]
    rows = [new for (new,) in connection.execute("SELECT new FROM note ORDER BY id")] if "new" in there else []
    connection.close()
    return ended.returncode, ended.stdout + ended.stderr, rows


@pytest.mark.parametrize(
    ("field", "rows"),
    [
        ("{type: integer, on create: 0}", [0, 0]),
        ("{type: string, on create: \"'a ' + note.text\"}", ["a one", "a two"]),
        ("{type: boolean, on create: true}", [1, 1]),
        ("{type: string, on change: note.text + '!'}", ["one!", "two!"]),
        ("{type: string, on change: {text: note.text + '!'}}", ["one!", "two!"]),
        ("{type: array, items: {type: string}, on create: []}", ["[]", "[]"]),
        ("{type: string, on create: {const: said}}", ["said", "said"]),
    ],
)
def test_a_row_is_given_what_a_new_one_is_given(tmp_path: Path, field: str, rows: list[Any]) -> None:
    status, said, new = upgraded(tmp_path, after(field))
    assert (status, new) == (0, rows), said
    assert "note.new: each of 2 rows has what the contract gives to new ones" in said


@pytest.mark.parametrize(
    "field", ["{type: string, format: uuid, on create: uuid()}", "{type: string, on create: random(8)}"]
)
def test_what_is_new_each_time_is_new_for_each_row(tmp_path: Path, field: str) -> None:
    status, said, new = upgraded(tmp_path, after(field))
    assert status == 0 and len({*new}) == 2 and all(new), said


def test_what_is_decided_goes_before_what_is_given(tmp_path: Path) -> None:
    decisions = "changes: [{set: note.new, is: old.text.size()}]"
    status, said, new = upgraded(tmp_path, after("{type: integer, on create: 0}"), decisions)
    assert (status, new) == (0, [3, 3]), said


@pytest.mark.parametrize(
    "field", ["{type: string, secret: token, on create: token()}", "{type: integer, on create: all(note).size()}"]
)
def test_what_the_contract_cannot_give_is_asked(tmp_path: Path, field: str) -> None:
    status, said, new = upgraded(tmp_path, after(field))
    assert status == 1 and "question    2 rows have no value for field `note.new` (new, required)" in said, said
    assert new == []
