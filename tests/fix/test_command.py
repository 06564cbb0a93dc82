"""`ninefold fix`, as it is typed."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from ninefold.cli import main
from ninefold.cli.files import read_bytes

pytestmark = pytest.mark.usefixtures("nothing_of_it_is_in_force")

OLD = Path(__file__).parent / "old" / "todo" / "contract.md"
SHORT = "resources:\n  note:  # kept\n    identifier: id\n"


def test_the_file_is_rewritten_and_a_second_time_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "todo.md"
    path.write_bytes(b"\xef\xbb\xbf" + OLD.read_text(encoding="utf-8").replace("\n", "\r\n").encode())
    path.chmod(0o640)
    assert main(["fix", str(path)]) == 0
    assert capsys.readouterr().out == f"{path} is written\n"
    once = path.read_bytes()
    assert once.startswith(b"\xef\xbb\xbf") and b"primary key: " in once and b"identifier: " not in once
    assert once.count(b"\n") == once.count(b"\r\n") and path.stat().st_mode & 0o777 == 0o640
    assert main(["fix", str(path)]) == 0
    assert path.read_bytes() == once
    said = capsys.readouterr()
    assert said.out == "" and said.err == f"{path} has the words of today\n"


def test_a_diff_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "note.yaml"
    path.write_text(SHORT, encoding="utf-8")
    assert main(["fix", str(path), "--diff"]) == 0
    assert path.read_text(encoding="utf-8") == SHORT
    shown = capsys.readouterr().out
    assert shown.startswith(f"--- {path}\n+++ {path}\n") and "-    identifier: id\n+    primary key: id\n" in shown


def test_what_is_left_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "note.yaml"
    path.write_text(
        SHORT + "    expires:\n      at: note.end\n"
        "    fields:\n      mine: {type: boolean, computed: note.owner == caller.user}\n"
        "errors:\n  precedence: [invalid, missing]\n",
        encoding="utf-8",
    )
    for arguments, line in (["--diff"], 7), ([], 6):
        assert main(["fix", str(path), *arguments]) == 1
        said = capsys.readouterr().err
        assert f"{path}:{line}: by hand: a field has one value" in said
        assert f"{path}:{line + 2}: means something else now: " in said
    assert main(["fix", str(path)]) == 1
    said = capsys.readouterr().err
    assert f"{path}:6: by hand: " in said and "means something else" not in said


def test_what_reads_rows_by_terms_means_something_else_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "note.yaml"
    path.write_text(
        SHORT + "    fields:\n      rank: {type: integer, computed: others + 1}\n"
        "      same: {type: integer, computed: note.others + 1}\n"
        "  terms:\n    others: of_all.size()\n    of_all: all(note)\n    apart: 1 + 1\n"
        "endpoints:\n  GET /notes: {does: list note, validators: etag, where: others > 1}\n"
        "  GET /all: {does: list note, validators: etag, where: apart > 1}\n"
        "authentication:\n  rows: {note: {anyone: note.id == 1}}\n",
        encoding="utf-8",
    )
    assert main(["fix", str(path), "--diff"]) == 0
    named = [line for line in capsys.readouterr().err.splitlines() if "means something else now" in line]
    assert [line.partition(f"{path}:")[2].partition(":")[0] for line in named] == ["5", "12"]


def test_standard_input_is_printed(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SHORT.encode())))
    assert main(["fix", "-"]) == 0
    assert capsysbinary.readouterr().out == SHORT.replace("identifier", "primary key").encode()


def test_what_cannot_be_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in (b"\xff\xfe", b"resources:\n  note: {identifier: id\n", b"resources:\n  a: {b: c}\n  a: {b: c}\n"):
        path = tmp_path / "wrong.yaml"
        path.write_bytes(content)
        assert main(["fix", str(path)]) == 2
        said = capsys.readouterr()
        assert said.out == "" and "cannot be read as a contract" in said.err and "error[NF" in said.err
        assert path.read_bytes() == content
    assert main(["fix", str(tmp_path / "nothing.md")]) == 2
    assert main(["fix"]) == 2


def test_a_file_that_is_changed_meanwhile_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "note.yaml"
    path.write_text(SHORT, encoding="utf-8")
    monkeypatch.setattr("ninefold.cli.fix.read_bytes", lambda _: SHORT.replace("kept", "read").encode())
    assert read_bytes(str(path)) == SHORT.encode()
    assert main(["fix", str(path)]) == 2
    assert "has been changed meanwhile" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == SHORT


def test_an_old_word_that_is_written_as_it_never_was_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mapping where a list stood: there is no rewriting of it, and it is not passed over in silence."""
    path = tmp_path / "note.yaml"
    path.write_text(
        SHORT + "    invariants:\n      short: {when: note.id < 5, otherwise: too_long}\n", encoding="utf-8"
    )
    for _ in range(2):
        assert main(["fix", str(path)]) == 1
        assert f"{path}:4: by hand: `invariants` is now `check`" in capsys.readouterr().err
