"""The rows of `dev` through one save after another: what a save cannot hold is back with one that can."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.looking import looking_into

from ninefold.development.database import KEPT, Prepared, prepared
from ninefold.plan.environment import ENTERED_COLUMN
from ninefold.runtime.operator.rows import Caller
from ninefold.runtime.store.protocol import Refused

CONTRACT = """
purpose: Notes, each in a folder.
resources:
  folder:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      name: {type: string}
  note:
    primary key: id
    fields:
      id:     {type: integer, on create: serial()}
      text:   {type: string}
      n:      {type: integer}
      folder: {references: folder}
      status: {state: true}
    required: [text]
  setting:
    primary key: none
    fields:
      size: {type: integer}
states:
  note: {initial: open, states: [open, done], transitions: {end: {from: open, to: done}}}
  folder: none
  setting: none
endpoints: {requests: {media type: application/json, unknown members: refused, unknown parameters: refused}}
authentication: {schemes: none, rows: all}
events: none
errors: none
limits: {rates: none, body size: 1 KiB, timeout: none}
versioning: none
"""

TEXT, N = "text:   {type: string}", "n:      {type: integer}"
FOLDER, SIZE = "folder: {references: folder}", "size: {type: integer}"

OTHERS = {
    "another state": CONTRACT.replace("open", "new"),
    "no states": CONTRACT.replace("      status: {state: true}\n", "").replace("  note: {initial", "  note: none #"),
    "another type": CONTRACT.replace(N, "n:      {type: string, on create: \"'z'\"}"),
    "a third type": CONTRACT.replace(N, "n:      {type: boolean, on create: true}"),
    "another type that is required": CONTRACT.replace(N, "n:      {type: string, on create: \"'z'\"}").replace(
        "[text]", "[text, n]"
    ),
    "without a field": CONTRACT.replace(f"      {N}\n", ""),
    "without a field, and another type of another": CONTRACT.replace(f"      {N}\n", "").replace(
        TEXT, "text:   {type: boolean, on create: true}"
    ),
    "another type of what is unique there": CONTRACT.replace(SIZE, "size: {type: string}"),
    "unique values": CONTRACT.replace(TEXT, "text:   {type: string, unique: true}"),
    "another type of identifiers": CONTRACT.replace(
        "id:     {type: integer, on create: serial()}", "id:     {type: string, on create: uuid()}"
    ),
    "without references": CONTRACT.replace(f"      {FOLDER}\n", ""),
    "references to another": CONTRACT.replace(FOLDER, "folder: {references: note}"),
    "nothing": "purpose: Nothing.\n",
}
"""What stands in the file for a moment. Each holds something that CONTRACT holds otherwise."""

ROWS = (
    "INSERT INTO folder VALUES (1, 'inbox', 'r1'), (2, 'spam', 'r2')",
    'INSERT INTO note (id, text, n, folder, status, "$revision") VALUES'
    " (1, 'one', 5, 1, 'open', 'r3'), (2, 'two', NULL, 2, 'done', 'r4'), (4, 'one', 7, NULL, 'open', 'r5')",
    "UPDATE setting SET size = 3",
)


class Saves:
    """A database, and the contract that was saved last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 1000.0

    def save(self, text: str) -> Prepared:
        self.now += 1
        made = prepared(self.path, plan_of(text, "contract.yaml"), Caller({}), self.now)
        assert isinstance(made, Prepared), made
        made.opened.database.close()
        return made

    def run(self, *statements: str) -> None:
        with looking_into(self.path) as connection:
            for statement in statements:
                connection.execute(statement)

    def rows(self) -> dict[str, list[dict[str, object]]]:
        """By column: whatever order a table was made anew in."""
        return {table: self.read(table) for table in ("folder", "note", "setting")}

    def read(self, table: str) -> list[dict[str, object]]:
        with looking_into(self.path) as connection:
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            found = connection.execute(f"SELECT * FROM {table} ORDER BY 1")
            rows = [dict(zip([name for name, _ in found.getdescription()], row, strict=True)) for row in found]
            return [{name: value for name, value in row.items() if name != ENTERED_COLUMN} for row in rows]


@pytest.fixture
def saves(tmp_path: Path) -> Iterator[Saves]:
    saves = Saves(tmp_path / "rows.db")
    saves.save(CONTRACT)
    saves.run(*ROWS)
    yield saves


@pytest.mark.parametrize("second", [None, *OTHERS])
@pytest.mark.parametrize("first", OTHERS)
def test_what_a_save_cannot_hold_is_back_with_one_that_can(saves: Saves, first: str, second: str | None) -> None:
    if (first, second) == ("without references", "references to another"):
        pytest.skip("nothing is made anew: what is hidden stays so while an empty column has its name")
    before = saves.rows()
    saves.save(OTHERS[first])
    if second is not None:
        saves.save(OTHERS[second])
    saves.save(CONTRACT)
    assert saves.rows() == before


UNIQUE = OTHERS["unique values"]
NAMED = CONTRACT.replace("      name: {type: string}\n", "      name: {type: string}\n    required: [name]\n")
NAMED_AND_IN_IT = NAMED.replace("[text]", "[text, folder]")


def test_a_state_is_back_and_nobody_has_the_number_of_its_row(saves: Saves) -> None:
    saves.run("UPDATE note SET status = 'open'")
    saves.save(OTHERS["another state"])
    saves.run("INSERT INTO note (text, status, \"$revision\") VALUES ('five', 'new', 'r9')")
    made = saves.save(CONTRACT)
    assert made.carried is not None
    assert made.carried.left == ("`note.status` is `new`, which is no state any more: 1 row stays behind",)
    assert made.carried.back == ("resource `note`: 3 rows are back",)
    assert [(row["id"], row["text"]) for row in saves.read("note")] == [(1, "one"), (2, "two"), (4, "one")]


def test_what_other_rows_kept_away_is_back_when_they_are_gone(saves: Saves) -> None:
    before = saves.read("note")
    saves.save(UNIQUE)
    assert [row["id"] for row in saves.read("note")] == [1, 2]
    assert saves.save(UNIQUE + "# another save\n").carried is not None
    saves.run("DELETE FROM note WHERE id = 1")
    made = saves.save(UNIQUE)
    assert made.carried is not None and made.carried.back == ("resource `note`: 1 row is back",)
    assert saves.read("note") == before[1:]


def test_what_referred_to_a_row_is_back_with_it(saves: Saves) -> None:
    saves.run("UPDATE folder SET name = NULL WHERE id = 2")
    before = saves.rows()
    made = saves.save(NAMED)
    lost = "`note.folder` refers to a `folder` that is not there, and is cleared: 1 value stays behind"
    assert made.carried is not None and lost in made.carried.left
    # As long as the other row is not there, nothing is back, and nothing is said again.
    made = saves.save(NAMED + "# another save\n")
    assert made.carried is not None and made.carried.needless and not made.carried.left
    saves.run("INSERT INTO folder VALUES (2, 'trash', 'r7')")
    made = saves.save(NAMED)
    assert made.carried is not None and made.carried.back == ("field `note.folder`: 1 value is back",)
    assert saves.read("note") == before["note"]


def test_rows_that_refer_to_what_is_not_there_are_not_said_to_be_back(saves: Saves) -> None:
    saves.run("UPDATE folder SET name = NULL", "UPDATE note SET folder = 1")
    before = saves.read("note")
    saves.save(NAMED_AND_IN_IT)
    assert saves.read("note") == []
    made = saves.save(NAMED_AND_IN_IT.replace(N, "n:      {type: integer, unique: true}"))
    assert made.carried is not None and (made.carried.left, made.carried.back) == ((), ())
    assert saves.save(NAMED_AND_IN_IT.replace(N, "n:      {type: string}")).carried is not None
    assert saves.save(CONTRACT).carried is not None
    assert saves.read("note") == before


def test_a_database_that_need_not_be_made_anew_is_not(saves: Saves) -> None:
    saves.save(UNIQUE)
    saves.save(UNIQUE.replace(f"      {N}\n", ""))
    before, file = saves.rows(), saves.path.stat().st_ino
    made = saves.save(UNIQUE.replace(f"      {N}\n", "") + "# another save\n")
    assert made.carried is not None and made.carried.needless
    assert (saves.rows(), saves.path.stat().st_ino) == (before, file)
    assert sorted(each.name for each in saves.path.parent.iterdir()) == ["rows.db", "rows.db.left"]


def test_what_waits_is_given_up_after_an_hour_and_that_is_said_once(saves: Saves) -> None:
    saves.save(UNIQUE)
    saves.now += KEPT + 1
    made = saves.save(UNIQUE)
    assert made.carried is not None and made.carried.needless
    assert made.carried.given_up == ("resource `note`: what was left of 1 row is gone",)
    assert saves.save(UNIQUE).carried is None
    saves.save(OTHERS["another type"])
    saves.now += KEPT + 1
    made = saves.save(OTHERS["a third type"])
    assert made.carried is not None
    assert made.carried.given_up == ("resource `note`: what was left of 1 row is gone",)
    saves.save(CONTRACT)
    assert [row["n"] for row in saves.read("note")] == [None, None]


def test_a_value_that_the_row_has_got_meanwhile_is_its_own(saves: Saves) -> None:
    saves.run("UPDATE folder SET name = NULL WHERE id = 2")
    saves.save(NAMED)
    saves.run("UPDATE note SET folder = 1 WHERE id = 2")
    made = saves.save(CONTRACT.replace(N, "n:      {type: string}"))
    assert made.carried is not None
    assert made.carried.given_up == ("field `note.folder`: 1 value is given up for what the row has now",)
    assert [row["folder"] for row in saves.read("note")] == [1, 1, None]


def test_what_waits_takes_no_database_from_another_process(saves: Saves) -> None:
    saves.save(UNIQUE)
    served = prepared(saves.path, plan_of(UNIQUE, "contract.yaml"), Caller({}), saves.now)
    assert isinstance(served, Prepared)
    try:
        second = prepared(saves.path, plan_of(CONTRACT, "contract.yaml"), Caller({}), saves.now)
        assert isinstance(second, Refused) and second.held
    finally:
        served.opened.database.close()


def entered(saves: Saves) -> list[object]:
    with looking_into(saves.path) as connection:
        return [time for (time,) in connection.execute(f'SELECT "{ENTERED_COLUMN}" FROM note ORDER BY id')]


@pytest.mark.parametrize("other", [name for name in OTHERS if name not in ("no states", "another type of identifiers")])
def test_rows_keep_when_they_entered_their_state(saves: Saves, other: str) -> None:
    saves.run(f"UPDATE note SET \"{ENTERED_COLUMN}\" = '2020-01-0' || id || 'T00:00:00.000000Z'")
    before = entered(saves)
    assert len({*before}) == 3
    saves.save(OTHERS[other])
    saves.save(CONTRACT)
    assert entered(saves) == before


def test_rows_that_had_no_states_count_from_now(saves: Saves) -> None:
    without = OTHERS["no states"]
    saves = Saves(saves.path.with_name("without.db"))
    saves.save(without)
    saves.run("INSERT INTO note (text, \"$revision\") VALUES ('one', 'r1')")
    # Of another type as well, so that the database is made anew.
    saves.save(CONTRACT.replace(TEXT, "text:   {type: boolean, on create: true}"))
    [time] = entered(saves)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", str(time))
