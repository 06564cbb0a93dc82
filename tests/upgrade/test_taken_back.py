"""What an undoing finds: the backup, wherever it was asked from, and what was made since."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from tests.contracts import SERVED, contract_of
from tests.upgrade.test_a_strangers_way import said
from tests.upgrade.test_matrix import CONTRACT, databases, loaded, opened, path

from ninefold.cli.document import planned
from ninefold.runtime.store.sqlite import Opened, open_sqlite

__all__ = ["databases", "path"]


@pytest.mark.parametrize("rows", [3])
def test_a_backup_is_found_from_another_folder(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    assert opened(path, "")
    contract, database = tmp_path / "rooms.yaml", tmp_path / "rooms.db"
    more = ("memo:   {type: string}", "memo:   {type: string}\n      shelf:  {type: string}")
    contract.write_text(CONTRACT.replace(*more), encoding="utf-8")
    Path("there").touch()
    refused = said("ninefold upgrade rooms.yaml --apply --backup there", 2, capsys)
    assert f"cannot be backed up as {tmp_path}/there: file exists" in refused
    assert "once that is mended, to see what is left to be done: ninefold upgrade rooms.yaml" in refused
    assert "upgraded." in said("ninefold upgrade rooms.yaml --apply --backup 'a name?#'", 0, capsys)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    undone = said(f"ninefold upgrade {contract} --database {database} --undo", 0, capsys)
    assert f"as it was before the upgrade ({tmp_path}/a name?#)" in undone


def test_credentials_that_were_issued_since_are_not_lost_unseen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row is another one, and who signed in since would be signed out."""
    monkeypatch.chdir(tmp_path)
    [directory] = [each for each in SERVED if each.name == "a-session-in-a-cookie"]
    text = contract_of(directory).read_text(encoding="utf-8")
    file = Path("a.md")
    file.write_text(text, encoding="utf-8")
    _, plan = planned(str(file), False)
    opening = open_sqlite("a.db", plan.schema)
    assert isinstance(opening, Opened)
    opening.database.close()
    file.write_text(text.replace("  fields:\n", "  fields:\n    shelf: {type: string}\n", 1), encoding="utf-8")
    assert "upgraded." in said("ninefold upgrade a.md --apply", 0, capsys)
    [resource] = plan.schema.credentials
    connection = apsw.Connection("a.db")
    columns = connection.execute(f'SELECT name FROM pragma_table_info("$credential {resource}")').fetchall()
    values = {"$digest": "randomblob(32)", "$scheme": "'session'", "$expires": "NULL"}
    given = ", ".join(values.get(str(name), "'x'") for (name,) in columns)
    connection.execute(f'INSERT INTO "$credential {resource}" VALUES ({given})')
    connection.close()
    assert f"1 credential of `{resource}` issued" in said("ninefold upgrade a.md --undo", 2, capsys)
    assert "as it was before" in said("ninefold upgrade a.md --undo --lose-writes", 0, capsys)


@pytest.mark.parametrize("rows", [3])
def test_what_the_upgrade_did_is_not_counted_as_written_since(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a resource that has another name now, and rows that it removed; of what one write changes each counts."""
    monkeypatch.chdir(path.parent)
    assert opened(path, "")
    Path("rooms.yaml").write_text(loaded("a resource renamed").source.text, encoding="utf-8")
    decided = (
        """{rename: booking, to: stay}, {set: room.title, is: "'same'"}, {remove rows: stay, where: "old.id == 'b3'"}"""
    )
    Path("rooms.upgrade.yaml").write_text(f"changes: [{decided}]\n", encoding="utf-8")
    assert "upgraded." in said("ninefold upgrade rooms.yaml --apply", 0, capsys)
    connection = apsw.Connection(path.name)
    connection.execute("""UPDATE stay SET "$revision" = 'n' WHERE id = 'b1'; UPDATE member SET "$revision" = 'm'""")
    connection.execute("DELETE FROM stay WHERE id = 'b2'")
    connection.close()
    refused = said("ninefold upgrade rooms.yaml --undo", 2, capsys)
    assert [line.strip() for line in refused.splitlines() if line.startswith("  - ")] == [
        "- 3 rows of `member` written or changed, 3 as they were gone",
        "- 1 row of `stay` written or changed, 2 as they were gone",
    ]
