"""What is told of rows that stand in the way, and of what was set aside."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest
from tests.upgrade.test_a_strangers_way import SERVE, said
from tests.upgrade.test_matrix import CONTRACT, databases, loaded, opened, path

from ninefold.cli.service import say_rows
from ninefold.pipeline import compile_document
from ninefold.runtime.operator.audit import Audit, Counted
from ninefold.runtime.store.sqlite import Opened, open_sqlite

__all__ = ["databases", "path"]


@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize(
    "edits",
    [
        [("memo:   {type: string", "memo:   {type: string, unique: true")],
        [
            ("room:\n    primary key: id", "room:\n    primary key: memo"),
            ("[id, title, number]", "[id, title, number, memo]"),
            ("/rooms/{id}", "/rooms/{memo}"),
        ],
    ],
)
def test_what_is_sensitive_is_no_example(
    path: Path,
    edits: list[tuple[str, str]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither in a preview, nor in the document that is committed, nor where a start is refused, which is logged."""
    monkeypatch.chdir(path.parent)
    text = CONTRACT
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    for sensitive in (False, True):
        memo = "memo:   {type: string, sensitive: true" if sensitive else "memo:   {type: string"
        Path("rooms.yaml").write_text(text.replace("memo:   {type: string", memo), encoding="utf-8")
        write = f"{sensitive}.yaml"
        answers = [
            said("ninefold upgrade rooms.yaml", 1, capsys),
            said(f"ninefold upgrade rooms.yaml --write {write}", 1, capsys) + Path(write).read_text(encoding="utf-8"),
            said(SERVE, 2, capsys),
        ]
        assert all("1 value is in several rows" in each for each in answers[:2])
        assert all(("Memo" in each) != sensitive for each in answers[:2])
        assert "Memo" not in answers[2] or not sensitive


@pytest.mark.parametrize("rows", [3])
def test_what_was_set_aside_is_told_at_each_start(path: Path, rows: int, capsys: pytest.CaptureFixture[str]) -> None:
    """It may be personal data, which nobody sees otherwise."""

    def start(name: str) -> str:
        plan = loaded(name).plan
        assert plan is not None
        opening = open_sqlite(str(path), plan.schema, lambda _: (), Audit(plan.stored, inf))
        assert isinstance(opening, Opened)
        opening.database.close()
        say_rows(opening, Counted())
        return capsys.readouterr().out

    assert "its values stay, hidden" in start("a field gone")
    for _ in range(2):
        assert start("a field gone").strip() == (
            "set aside before, and hidden: `room.memo` (`ninefold upgrade --drop` ends it)"
        )
    assert "back again" in start("") and start("") == ""


@pytest.mark.parametrize("rows", [3])
def test_rows_that_stand_in_the_way_may_go(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    assert opened(path, "")
    for name, line in (
        ("optional → required, and rows lack it", '{remove rows: room, where: "!has(old.memo)"}'),
        ("a schema tightened, and rows do not fit", "{remove rows: room, where: …}"),
        ("a `check` that rows break", "{remove rows: room, where: …}"),
    ):
        Path("rooms.yaml").write_text(loaded(name).source.text, encoding="utf-8")
        assert f"  {line}" in said("ninefold upgrade rooms.yaml", 1, capsys)


@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("changes", [False, True])
def test_what_falls_due_at_the_first_start_is_told(
    path: Path, changes: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time that is shorter now takes rows that nobody writes, and nothing in the database is another one for it."""
    monkeypatch.chdir(path.parent)
    text = CONTRACT.replace("to: never}", "to: never, after: P365000D}")
    assert text != CONTRACT
    for after, due in (("P365000D", ""), ("PT1S", "due         2 of `booking` at the first start: `drop`")):
        contract = text.replace("P365000D", after)
        if changes:
            contract = contract.replace(
                "memo:   {type: string}", "memo:   {type: string}\n      shelf:  {type: string}"
            )
        Path("rooms.yaml").write_text(contract, encoding="utf-8")
        found = said("ninefold upgrade rooms.yaml", 0, capsys)
        assert ("nothing has to be changed" in found) != changes
        assert (due in found) if due else ("due  " not in found), found
    assert '"transition": "drop"' in said("ninefold upgrade rooms.yaml --format json", 0, capsys)


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize(
    ("was", "now", "what"),
    [("memo: ", "note: ", "field `room.memo`"), ("booking:", "stay:", "resource `booking`")],
)
def test_where_nothing_is_in_it_nothing_is_asked(
    path: Path,
    rows: int,
    was: str,
    now: str,
    what: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What goes while something like it comes: neither has a preview a question, nor does a start say what it did."""
    monkeypatch.chdir(path.parent)
    text = CONTRACT.replace(was, now)
    if now == "stay:":
        text = text.replace(" booking", " stay").replace("booking.", "stay.").replace("{booking", "{stay")
    Path("rooms.yaml").write_text(text, encoding="utf-8")
    asked, of_none = f"question    {what}", f"aside       {what}, which nothing is in"
    preview = said("ninefold upgrade rooms.yaml", 1 if rows else 0, capsys)
    assert (asked in preview, of_none in preview) == ((True, False) if rows else (False, True)), preview
    contract = compile_document("rooms.yaml", text.encode())
    assert contract.plan is not None
    opening = open_sqlite(str(path), contract.plan.schema, lambda _: (), Audit(contract.plan.stored, inf))
    if rows:
        assert not isinstance(opening, Opened)
        return
    assert isinstance(opening, Opened)
    opening.database.close()
    assert f"set aside: {what}, which nothing is in" in opening.additions
