"""From "refused" to "upgraded" by what is said on the way and by nothing else: each command is the one that the last
answer names, and what is decided begins as one of the lines that were offered."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.slices import LONG, some
from tests.upgrade.test_matrix import CHANGES, databases, loaded, opened, path

from ninefold.cli import main

__all__ = ["databases", "path"]

ASKED = [name for name, change in CHANGES.items() if "decisions" in change]
HANDS = 3
"""Commands that a stranger gives: what is to be decided, whether it goes, and that it is done."""


@pytest.mark.parametrize("rows", [3, *([1_000] if LONG else [])])
@pytest.mark.parametrize("name", ASKED if LONG else some(ASKED, 4))
def test_it_leads_from_refused_to_upgraded(
    path: Path, rows: int, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    Path("rooms.yaml").write_text(loaded(name).source.text, encoding="utf-8")
    assert not opened(path, name)
    told, given = said("ninefold upgrade rooms.yaml", 1, capsys), 0
    for after, status in (("To decide: ", 1), ("then: ", 0), ("To do it: ", 0)):
        command = told.rpartition(after)[2].splitlines()[0]
        given += 1
        told = said(command, status, capsys)
        if after == "To decide: ":
            decide(Path("rooms.upgrade.yaml"), CHANGES[name]["decisions"])
    assert given == HANDS and "upgraded. The backup is " in told
    assert opened(path, name)
    assert "nothing has to be changed" in said("ninefold upgrade rooms.yaml --apply", 0, capsys), "it counts once"


def said(command: str, status: int, capsys: pytest.CaptureFixture[str]) -> str:
    program, *arguments = shlex.split(command)
    assert program == "ninefold"
    assert main(arguments) == status, capsys.readouterr()
    return capsys.readouterr().out


def decide(file: Path, decisions: list[str]) -> None:
    """Of each question one line, filled in."""
    lines = file.read_text(encoding="utf-8").splitlines()
    for decision in decisions:
        offered = [number for number, line in enumerate(lines) if _may_become(line, decision)]
        assert offered, (decision, lines)
        lines[offered[0]] = f"  - {decision}"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _may_become(line: str, decision: str) -> bool:
    found = re.match(r"  # - (\{.*\})", line)
    return found is not None and decision.startswith(found[1].partition("…")[0].rstrip("}").rstrip())
