"""What part 9 says of an older version is decided for the rows that it stored, and is not asked again: after the
upgrade that version shows of them what they were."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import apsw
import httpx
import pytest

from ninefold.cli import main
from ninefold.library import Application, DatabaseRefused, application

OLD: Final = """\
purpose: Sells tickets.
resources:
  sale:
    primary key: id
    fields:
      id:     {type: string}
      note:   {type: string}
      price:  {type: number}
      weight: {type: integer}
      size:   {type: string, enum: [s, l]}
      region: {type: string}
      status: {state: true}
    required: [id, price]
states:
  sale:
    initial: open
    states: [open, sent, done]
    transitions:
      send: {from: open, to: sent}
      end:  {from: sent, to: done}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /sales/{id}: {does: read sale, responses: {200: sale}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: none
limits: {rates: none, body size: none, timeout: none}
versioning:
  in: header
  name: Api-Version
  default: "1"
  versions: {"1": {}}
  compatible: none
"""
UNVERSIONED: Final = OLD[: OLD.index("versioning:")] + "versioning: none\n"
ROWS: Final = [
    ("a", "one", 1.5, 2, "s", "EU", "open"),
    ("b", None, 20.25, None, "l", None, "sent"),
    ("c", "three", 0.1, 7, None, None, "done"),
]


@dataclass(frozen=True)
class Way:
    """`edits` of the contract, the `changes` back, and what is `told`. `fills`: what the older version shows of rows
    that lacked it. `alike`: the rows are stored as before, so that only the contract of then tells what they hold."""

    edits: Sequence[tuple[str, str]]
    changes: str
    told: Sequence[str]
    fills: str = ""
    alike: bool = False


WAYS: Final = {
    "another name": Way(
        [("note:   {", "remark: {")], "{rename: sale.remark, to: note}", ["sale.remark was sale.note, as part 9 says"]
    ),
    "another type": Way(
        [("price:  {type: number}", "price:  {type: integer}")],
        "{change: sale.price, is: double(sale.price) / 100.0, stored: int(value * 100.0 + 0.5), was: {type: number}}",
        ["converted   sale.price is `int(value * 100.0 + 0.5)` of what it was in `1`, as part 9 says"],
    ),
    "another type and another name": Way(
        [("price:  {type: number}", "cents:  {type: integer}"), ("[id, price]", "[id, cents]")],
        "{change: sale.cents, is: double(sale.cents) / 100.0, stored: int(value * 100.0 + 0.5), was: {type: number}}\n"
        "        - {rename: sale.cents, to: price}",
        ["renamed     sale.cents was sale.price, as part 9 says", "converted   sale.cents is"],
    ),
    "another unit": Way(
        [("    required: [id, price]", "    required: [id, price] # grams")],
        "{change: sale.weight, is: sale.weight / 1000, stored: value * 1000}",
        ["converted   sale.weight is `value * 1000` of what it was in `1`, as part 9 says"],
        alike=True,
    ),
    "words of an enum, both ways": Way(
        [("[s, l]", "[small, large]")],
        "{change: sale.size, is: \"{'small': 's', 'large': 'l'}[sale.size]\","
        " stored: \"{'s': 'small', 'l': 'large'}[value]\", was: {type: string, enum: [s, l]}}",
        ["converted   sale.size is"],
        alike=True,
    ),
    "words of an enum, as they are shown": Way(
        [("[s, l]", "[s, large]")],
        "{change: sale.size, is: \"sale.size == 'large' ? 'l' : sale.size\", was: {type: string, enum: [s, l]}}",
        ["mapped      sale.size: `l` of `1` is `large`, as part 9 says"],
    ),
    "another state": Way(
        [("[open, sent, done]", "[open, shipped, done]"), ("to: sent", "to: shipped"), ("from: sent", "from: shipped")],
        "{change: sale.status, is: \"sale.status == 'shipped' ? 'sent' : sale.status\"}",
        ["mapped      sale.status: `sent` of `1` is `shipped`, as part 9 says"],
    ),
    "a field more": Way(
        [("      region: {", "      land:   {type: string}\n      region: {"), ("[id, price]", "[id, price, land]")],
        "{remove: sale.land, on create: \"sale.id + '!'\"}",
        ['given       sale.land: each row has `sale.id + "!"`, as part 9 says of `1`'],
    ),
    "required now": Way(
        [("[id, price]", "[id, price, region]")],
        "{change: sale.region, on create: \"'EU'\"}",
        ['given       sale.region: each row without it has `"EU"`, as part 9 says of `1`'],
        fills="EU",
    ),
}


def newer(way: Way) -> str:
    text = OLD
    for before, after in way.edits:
        assert text.count(before) == 1
        text = text.replace(before, after)
    changes = f'{{"2": {{}}, "1": {{changes: [{way.changes}]}}}}'.replace("\n        - ", ", ")
    return text.replace('{"1": {}}', changes).replace('default: "1"', 'default: "2"')


def serve(path: Path, text: str) -> Application:
    contract = path.with_name("contract.yaml")
    contract.write_text(text, encoding="utf-8")
    return application(contract, database=str(path))


def filled(path: Path, text: str) -> list[Any]:
    """What the contract shows of rows that are put into a new database."""
    served = serve(path, text)
    served.open()
    served.close()
    connection = apsw.Connection(str(path))
    connection.executemany(
        'INSERT INTO sale (id, note, price, weight, size, region, status, "$revision", "$entered")'
        " VALUES (?, ?, ?, ?, ?, ?, ?, 'r', '2026-01-01T00:00:00.000000Z')",
        ROWS,
    )
    connection.close()
    return shown(path, text, {})


def shown(path: Path, text: str, headers: dict[str, str]) -> list[Any]:
    served = serve(path, text)
    try:
        return asyncio.run(_told(served, headers))
    finally:
        served.close()


async def _told(served: Application, headers: dict[str, str]) -> list[Any]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://sales.example") as client:
        return [(await client.get(f"/sales/{row[0]}", headers=headers)).json() for row in ROWS]


def upgraded(path: Path, *more: str) -> int:
    return main(["upgrade", str(path.with_name("contract.yaml")), "--database", str(path), *more])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sales.db"


@pytest.mark.parametrize("name", WAYS)
def test_the_older_version_shows_of_the_rows_what_they_were(
    path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    way = WAYS[name]
    before = filled(path, OLD)
    text = newer(way)
    with pytest.raises(DatabaseRefused):
        serve(path, text).open()
    assert upgraded(path, "--apply") == 0
    told = capsys.readouterr().out
    for words in way.told:
        assert words in told
    after = shown(path, text, {"Api-Version": "1"})
    for row in before if way.fills else ():
        row.setdefault("region", way.fills)
    assert after == before
    assert upgraded(path, "--apply") == 0
    assert "nothing has to be changed" in capsys.readouterr().out, "it is decided once"
    assert shown(path, text, {"Api-Version": "1"}) == before


PROPOSED: Final = {
    "words of an enum": WAYS["words of an enum, both ways"].edits,
    "another state": WAYS["another state"].edits,
    "a unit": [("number, maximum: 90, multipleOf: 0.01}", "integer, maximum: 9000}")],
    "a list": [("note:   {type: string}", "note:   {type: array, items: {type: string}}")],
    "a number": [("weight: {type: integer}", "weight: {type: number}")],
}
"""Changes where what is shown instead can be worked out."""


@pytest.mark.parametrize("name", PROPOSED)
def test_what_diff_proposes_shows_of_the_rows_what_they_were(path: Path, name: str) -> None:
    old = OLD.replace("price:  {type: number}", "price:  {type: number, maximum: 90, multipleOf: 0.01}")
    text = old
    for before, after in PROPOSED[name]:
        assert text.count(before) == 1
        text = text.replace(before, after)
    text = text.replace('{"1": {}}', '{"2": {}}').replace('default: "1"', 'default: "2"')
    was = filled(path, old)
    files = [path.with_name(each) for each in ("old.yaml", "new.yaml")]
    for file, each in zip(files, (old, text), strict=True):
        file.write_text(each, encoding="utf-8")
    assert main(["diff", *map(str, files), "--propose", "--write"]) == 0
    text = files[1].read_text(encoding="utf-8")
    serve(path, text)
    assert upgraded(path, "--apply") == 0
    assert shown(path, text, {"Api-Version": "1"}) == was


@pytest.mark.parametrize("name", [name for name, way in WAYS.items() if way.alike])
@pytest.mark.parametrize("held", ["then", "now"])
def test_where_nobody_knows_of_which_version_the_rows_are_it_is_asked(
    path: Path, name: str, held: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A contract without versions may be any of them, and what is stored does not tell."""
    text = newer(WAYS[name])
    before = filled(path, OLD[: OLD.index("versioning:")] + "versioning: none\n")
    with pytest.raises(DatabaseRefused):
        serve(path, text).open()
    assert upgraded(path, "--apply") == 1
    told = capsys.readouterr().out
    assert "it is not known whether these rows are of that version" in told
    lines = [line.strip() for line in told.splitlines() if line.startswith(" " * 12)]
    [answer] = [line for line in lines if line.startswith("{set: " if held == "then" else "{leave: ")]
    decisions = path.with_name("contract.upgrade.yaml")
    decisions.write_text(f"changes:\n  - {answer}\n", encoding="utf-8")
    again = ["--decisions", str(decisions), "--apply"]
    if held == "now" and "enum" in name:
        # They do not fit the newest, of which nobody was asked: what stays as it is, is told.
        for more in (again[:2], again):
            assert upgraded(path, *more) == 0
            assert re.search(r"^left +[0-9]+ rows? do(es)? not fit `sale.size` any more", capsys.readouterr().out, re.M)
        return
    assert upgraded(path, *again) == 0, capsys.readouterr()
    if held == "then":
        assert shown(path, text, {"Api-Version": "1"}) == before
    else:
        assert shown(path, text, {}) == before
    decisions.unlink()
    capsys.readouterr()
    assert upgraded(path) == 0
    assert "nothing has to be changed" in capsys.readouterr().out


def test_what_is_said_of_several_versions_alike_is_asked_once(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        newer(WAYS["another unit"])
        .replace('{"2": {}, "1": {', '{"3": {}, "2": {')
        .replace('default: "2"', 'default: "3"')
    )
    text = text.replace("value * 1000}]}", 'value * 1000}]}, "1": {changes: [{rename: sale.note, to: remark}]}')
    filled(path, OLD[: OLD.index("versioning:")] + "versioning: none\n")
    assert upgraded_to(path, text) == 1
    told = capsys.readouterr().out
    assert told.count("question    ") == 1
    assert "`sale.weight` held something else in `2` and `1`: part 9" in told


def upgraded_to(path: Path, text: str) -> int:
    path.with_name("contract.yaml").write_text(text, encoding="utf-8")
    return upgraded(path)


def test_rows_of_the_newest_version_are_left(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = newer(WAYS["another unit"])
    before = filled(path, text)
    assert shown(path, text, {}) == before
    assert upgraded(path) == 0
    assert "nothing has to be changed" in capsys.readouterr().out


def test_two_upgrades_in_one_second_have_a_backup_each(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(path, OLD)
    for field in ("one", "two", "three"):
        path.with_name("contract.yaml").write_text(OLD.replace("note:", f"{field}: {{type: string}}\n      note:"))
        assert upgraded(path, "--apply") == 0
    backups = sorted(path.parent.glob("sales.db.before-*"))
    assert len(backups) == 3 and all(each.stat().st_size for each in backups)


def test_a_value_of_which_nothing_is_stored_is_not_lost(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    way = WAYS["words of an enum, both ways"]
    before = filled(path, OLD)
    serve(path, newer(way).replace("'l': 'large'}[value]", "'m': 'large'}[value]"))
    assert upgraded(path, "--apply") == 2
    assert "it has no value" in capsys.readouterr().err
    assert shown(path, OLD, {}) == before


def test_it_is_of_the_version_of_the_rows_whichever_is_the_newest(path: Path) -> None:
    """Two versions at once, or one after the other."""
    second = WAYS["another type"]
    third = newer(second).replace("      note:   {", "      remark: {")
    third = third.replace('"2": {}, "1"', '"3": {}, "2": {changes: [{rename: sale.remark, to: note}]}, "1"')
    third = third.replace('default: "2"', 'default: "3"')
    for steps in ([third], [newer(second), third]):
        own = path.with_name(f"{len(steps)}.db")
        before = filled(own, OLD)
        for text in steps:
            serve(own, text)
            assert upgraded(own, "--apply") == 0
            assert shown(own, text, {"Api-Version": "1"}) == before
