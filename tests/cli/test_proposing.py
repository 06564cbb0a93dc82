"""`ninefold propose`, `accept`, `new --proposed` and `serve --accept-proposals`, as they are typed."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import httpx
import pytest
from tests.cli.test_serving import serving

from ninefold.cli import main

NOTES = """\
# Notes

## 1. What the service does

Keeps notes.

## 2. Resources and their fields

```yaml
note:
  fields:
    text: {type: string, maxLength: 100}
  required: [text]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
POST /notes: {does: create note, body: [text], responses: {201: note}}
GET /notes:  {does: list note, responses: {200: {data: page.items, next: page.next}}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

Errors: not shown.

## 9. Versioning

Versioning: none.
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_bytes(b"\xef\xbb\xbf" + NOTES.replace("\n", "\r\n").encode())
    return path


def test_without_write_a_diff_is_printed(notes: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    before = notes.read_bytes()
    assert main(["propose", str(notes)]) == 0
    said = capfdbinary.readouterr()
    assert said.out.startswith(f"--- {notes}\n+++ {notes}\n".encode())
    assert b"+  primary key: !proposed id  # RFC 9562" in said.out
    assert b"proposed: part 7: the shape of an error (RFC 9457: problem details)" in said.err
    assert b"left open: part 8: the largest body, or none" in said.err
    assert notes.read_bytes() == before


def test_write_keeps_the_byte_order_mark_the_line_breaks_and_the_mode(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes.chmod(0o640)
    assert main(["propose", str(notes), "--write"]) == 0
    written = notes.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf# Notes\r\n") and written.count(b"\n") == written.count(b"\r\n")
    assert notes.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in notes.parent.iterdir()] == ["notes.md"]
    capsys.readouterr()
    assert main(["propose", str(notes), "--write"]) == 0
    assert notes.read_bytes() == written
    assert "nothing is proposed" in capsys.readouterr().err


def test_a_link_is_followed(notes: Path) -> None:
    link = notes.parent / "link.md"
    link.symlink_to(notes)
    assert main(["propose", str(link), "--write"]) == 0
    assert link.is_symlink() and b"!proposed" in notes.read_bytes()


def test_standard_input_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NOTES.encode())))
    assert main(["propose", "-", "--write"]) == 0
    assert b"primary key: !proposed id" in capfdbinary.readouterr().out


def gaps(file: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    main(["gaps", str(file), "--format", "json", *arguments])
    return [gap["question"] for gap in json.loads(capsys.readouterr().out)["gaps"]]


def test_proposed_then_accepted(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["propose", str(notes), "--write"])
    left = ["the largest body, or none", "which rates hold, or none", "after what time a request is given up, or none"]
    assert sorted(gaps(notes, capsys, "--accept-proposals")) == sorted(left)
    assert len(gaps(notes, capsys)) > 5
    assert main(["gaps", str(notes)]) == 1
    assert "which limits hold (something is proposed)" in " ".join(capsys.readouterr().out.split())

    assert main(["accept", str(notes), "error shape"]) == 0
    said = capsys.readouterr().err
    assert "proposed: error shape (line " in said and "nothing is written" in said and "accepted" not in said
    assert main(["accept", str(notes), "error shape", "GET /notes", "--write"]) == 0
    assert "accepted: error shape (line " in capsys.readouterr().err
    text = notes.read_text(encoding="utf-8-sig")
    assert "Errors: shown." in text and "```yaml\nerror shape:" in text and "codes: !proposed\n" in text
    assert "sort: [id]}  # by primary key" in text
    assert main(["accept", str(notes), "--write"]) == 0
    assert sorted(gaps(notes, capsys)) == sorted(left)
    assert "proposed" not in notes.read_text(encoding="utf-8-sig")
    assert main(["accept", str(notes)]) == 0
    assert "nothing is proposed" in capsys.readouterr().err


def test_a_name_under_which_nothing_is_proposed(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["propose", str(notes), "--write"])
    capsys.readouterr()
    assert main(["accept", str(notes), "error shap"]) == 2
    said = capsys.readouterr().err
    assert "nothing is proposed under error shap" in said and "did you mean `error shape`?" in said
    assert "line 11: note.primary key" in said


@pytest.mark.parametrize("command", ["propose", "accept"])
def test_a_contract_with_errors_is_left_alone(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.md"
    path.write_text("# T\n\n## 8. Limits\n\n```yaml\nrates: !proposed {calls: 3}\n```\n")
    before = path.read_bytes()
    assert main([command, str(path), "--write"]) == 1
    assert "error[NF" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", ["propose", "accept"])
def test_a_file_that_cannot_be_read(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(tmp_path / "nothing.md")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes.parent.chmod(0o500)
    try:
        assert main(["propose", str(notes), "--write"]) == 2
    finally:
        notes.parent.chmod(0o700)
    assert "cannot be written" in capsys.readouterr().err


def test_new_with_proposals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.md"
    assert main(["new", str(path), "--proposed", "--title", "T"]) == 0
    assert main(["check", str(path)]) == 0
    assert len(gaps(path, capsys)) == 9
    text = path.read_text()
    assert text.count("\n```yaml proposed\n") == 3
    assert main(["propose", str(path), "--write"]) == 0
    assert path.read_text() == text


@pytest.mark.serves
def test_serving_what_is_proposed(notes: Path, tmp_path: Path) -> None:
    """Blocked as it stands; served under --accept-proposals, which names each with its line."""
    main(["propose", str(notes), "--write"])
    with serving(tmp_path, "--accept-proposals", document=notes) as served:
        assert "In force only because proposals are accepted:" in served.announced
        assert f"  {notes}:11:3: note.primary key" in served.announced
        with httpx.Client(base_url=served.address("service")) as client:
            made = client.post("/notes", json={"text": "a"})
            assert made.status_code == 201 and len(made.json()["id"]) == 36
            assert [row["text"] for row in client.get("/notes").json()["data"]] == ["a"]
            wrong = client.post("/notes", json={"text": 1, "b": 2})
            assert wrong.status_code == 422
            assert wrong.headers["Content-Type"] == "application/problem+json"
            assert wrong.json()["title"] == "Unprocessable Content" and wrong.json()["code"] == "invalid"
            assert {(each["pointer"], each["rule"]) for each in wrong.json()["errors"]} >= {("/text", "type")}
            assert client.get("/nowhere").json()["code"] == "no_such_path"
        served.ended()
