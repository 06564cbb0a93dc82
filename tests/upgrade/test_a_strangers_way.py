"""From "refused" to "served" by what is said on the way and by nothing else: each command is the one that the last
answer names, and what is decided begins as one of the lines that were offered."""

from __future__ import annotations

import re
import shlex
from math import inf
from pathlib import Path

import pytest
from tests.slices import LONG, some
from tests.upgrade.test_matrix import CHANGES, databases, loaded, path

from ninefold.cli import main
from ninefold.runtime.operator.audit import Audit, Kept
from ninefold.runtime.store.opening import kind_of, open_database
from ninefold.runtime.store.protocol import Opened

__all__ = ["databases", "path"]

REFUSED = [name for name, change in CHANGES.items() if change["serve"] != "always"]
SERVE = "ninefold serve rooms.yaml --listen 127.0.0.1:0 --operator 127.0.0.1:0"


@pytest.mark.long
@pytest.mark.parametrize("rows", [3, *([1_000] if LONG else [])])
@pytest.mark.parametrize("name", some(REFUSED, 8))
def test_it_leads_from_refused_to_served(
    path: Path, rows: int, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    led = leads_to_served(SERVE, path.name, name, capsys)
    assert "upgraded.\nThe backup is " in led[-1]
    undo = named(led[-1])
    assert undo.endswith(" --undo") and "as it was before the upgrade" in said(undo, 0, capsys)
    assert not is_served(path.name, name) and is_served(path.name, "")


def leads_to_served(serve: str, database: str, name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is said to a stranger who changed the contract, in the working directory, and starts it."""
    assert is_served(database, "")
    Path("rooms.yaml").write_text(loaded(name).source.text, encoding="utf-8")
    change, led = CHANGES[name], [said(serve, 2, capsys)]
    decisions = [] if change.get("upgrade") == "always" else change.get("decisions", [])
    while "upgraded." not in led[-1]:
        command = named(led[-1])
        asked = decisions and ("--write" in command or not Path("rooms.upgrade.yaml").exists())
        led.append(said(command, 1 if asked else 0, capsys))
        if "--write" in command:
            decide(Path("rooms.upgrade.yaml"), decisions)
    # What becomes of the rows, what is to be decided, whether it goes, and that it is done.
    assert len(led) == (5 if decisions else 3)
    assert is_served(database, name)
    assert "nothing has to be changed" in said(named(led[1 if not decisions else 3]), 0, capsys), "it counts once"
    return led


def named(said: str) -> str:
    """The command that an answer names; it names one."""
    [command] = re.findall(r"(ninefold upgrade .*)$", said, re.MULTILINE)
    return str(command)


def said(command: str, status: int, capsys: pytest.CaptureFixture[str]) -> str:
    program, *arguments = shlex.split(command)
    assert program == "ninefold"
    assert main(arguments) == status, capsys.readouterr()
    out, err = capsys.readouterr()
    return out + err


def is_served(database: str, name: str, seconds: float = inf) -> bool:
    """Whether a service of the contract with a change would start over it; it keeps that contract then."""
    plan = loaded(name).plan_for(kind_of(database))
    assert plan is not None
    judge = Audit(plan.stored, seconds, Kept(loaded(name).source, lambda _: ()))
    opening = open_database(database, plan, judge=judge)
    if isinstance(opening, Opened):
        opening.database.close()
    return isinstance(opening, Opened)


def decide(file: Path, decisions: list[str]) -> None:
    """Of each question one line, filled in."""
    lines = file.read_text(encoding="utf-8").splitlines()
    for decision in decisions:
        offered = [number for number, line in enumerate(lines) if _may_become(line, decision)]
        assert offered, (decision, lines)
        lines[offered[0]] = f"  - {decision}"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _may_become(line: str, decision: str) -> bool:
    """What stands for something, and an expression that is whole, may be what the stranger likes better."""
    found = re.match(r"  # - (\{.*\})", line)
    if found is None:
        return False
    offered = re.sub(r' is: "[^"]*"\}$', " is: …}", found[1])
    return decision.startswith(offered.partition("…")[0].rstrip("}").rstrip())


@pytest.mark.parametrize("rows", [3])
def test_what_could_be_meant_is_offered(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it stands each of these lines decides the question."""
    monkeypatch.chdir(path.parent)
    whole = path.read_bytes()
    for name, line in (
        ("a state renamed", "{state: booking.requested, to: asked, since: kept}"),
        ("another type", "{aside: room.size}"),
        ("another type", '{set: room.size, is: "string(old.size)", where: has(old.size)}'),
        ("a field renamed", "{rename: room.memo, to: room.note}"),
        ("a resource renamed", "{rename: booking, to: stay}"),
    ):
        path.write_bytes(whole)
        assert is_served(path.name, "")
        Path("rooms.yaml").write_text(loaded(name).source.text, encoding="utf-8")
        assert f"  {line}" in said("ninefold upgrade rooms.yaml", 1, capsys)
        Path("rooms.upgrade.yaml").write_text(f"changes:\n  - {line}\n", encoding="utf-8")
        assert "To do it: " in said("ninefold upgrade rooms.yaml", 0, capsys)
        Path("rooms.upgrade.yaml").unlink()


@pytest.mark.parametrize("rows", [3])
def test_a_document_that_was_done_or_is_wrong_is_followed_by_another(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    leads_to_served(SERVE, path.name, "a field renamed", capsys)
    Path("rooms.yaml").write_text(loaded("another type").source.text, encoding="utf-8")
    asked = said("ninefold upgrade rooms.yaml", 1, capsys)
    assert named(asked) == "ninefold upgrade rooms.yaml --write rooms.upgrade.2.yaml"
    named(said(named(asked), 1, capsys))
    Path("rooms.upgrade.yaml").write_text("from: 0c1f77a2e9d1\nchanges: [{lose: room.memo}]", encoding="utf-8")
    refused = said("ninefold upgrade rooms.yaml", 2, capsys)
    once_mended, anew = re.findall(r"(ninefold upgrade .*)$", refused, re.MULTILINE)
    assert once_mended == "ninefold upgrade rooms.yaml"
    written = said(anew, 1, capsys)
    assert named(written) == "ninefold upgrade rooms.yaml --decisions rooms.upgrade.3.yaml"
    assert named(said(f"{anew[: -len('3.yaml')]}2.yaml", 2, capsys)).endswith("--write rooms.upgrade.4.yaml")
    decide(Path("rooms.upgrade.3.yaml"), ["{rename: room.note, to: room.memo}", "{aside: room.size}"])
    assert "To do it: " in said(named(written), 0, capsys)


@pytest.mark.parametrize("rows", [3])
def test_what_changes_nothing_notes_that_the_rows_were_looked_at(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start that has no time to look at them is refused before, and not after."""
    name = "a schema tightened, and rows fit"
    monkeypatch.chdir(path.parent)
    Path("rooms.yaml").write_text(loaded(name).source.text, encoding="utf-8")
    for more, starts in (("", False), (" --apply", True)):
        assert "nothing has to be changed" in said(f"ninefold upgrade rooms.yaml{more}", 0, capsys)
        assert is_served(path.name, name, seconds=0) == starts
    assert not list(path.parent.glob("*.before-*")), "nothing was done that could be undone"


@pytest.mark.parametrize("rows", [0])
def test_what_changes_nothing_notes_what_was_decided(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    Path("rooms.yaml").write_text(loaded("a field renamed").source.text, encoding="utf-8")
    Path("rooms.upgrade.yaml").write_text("changes:\n  - {rename: room.memo, to: room.note}", encoding="utf-8")
    assert is_served(path.name, "a field renamed"), "serve renames nothing, and nothing is there"
    for more, before in (("", False), (" --apply", False), ("", True)):
        found = said(f"ninefold upgrade rooms.yaml{more}", 0, capsys)
        assert "nothing has to be changed" in found and ("was done before" in found) == before


@pytest.mark.parametrize("rows", [3])
def test_a_backup_is_told_where_only_what_nobody_sees_is_changed(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as an index for a list."""
    monkeypatch.chdir(path.parent)
    read = "  GET /rooms/{id}: "
    listed = "  GET /rooms: {does: list room, sort: [title], pages: none, responses: {200: {items: page.items}}}\n"
    Path("rooms.yaml").write_text(loaded().source.text.replace(read, listed + read), encoding="utf-8")
    assert "nothing has to be changed that callers see" in said("ninefold upgrade rooms.yaml", 0, capsys)
    assert not list(path.parent.glob("*.before-*"))
    done = said("ninefold upgrade rooms.yaml --apply", 0, capsys)
    [backup] = path.parent.glob("*.before-*")
    assert f"The backup is {backup.name}" in done.replace(str(backup), backup.name)
    assert "as it was before the upgrade" in said(named(done), 0, capsys)
