"""An upgrade does with each row about as much, however many there are: of twice as many rows it asks SQLite for about
twice as much, counted in instructions of its virtual machine, since times say nothing of a machine that is shared."""

from __future__ import annotations

import shutil
from math import inf
from pathlib import Path

import apsw
import pytest
from tests.slices import some
from tests.upgrade.test_matrix import CHANGES, answered, databases, path, plan

from ninefold.runtime.operator.audit import Audit
from ninefold.runtime.store import upgrade

__all__ = ["databases", "path"]

MANY = 1_000
ANEW = "another primary key", "a primary key that is to be other texts"
REST = [name for name in CHANGES if name not in ANEW]


def worked(path: Path, name: str) -> int:
    """Hundreds of instructions that the upgrade takes."""
    asked = [0]

    def count() -> bool:
        asked[0] += 1
        return False

    def counted(connection: apsw.Connection) -> None:
        connection.set_progress_handler(count, 100)

    apsw.connection_hooks.append(counted)
    try:
        decide = answered(name, *CHANGES[name].get("decisions", ()))
        assert upgrade.upgrade(str(path), plan(name).schema, decide=decide, judge=Audit(plan(name).stored, inf)).goes
    finally:
        apsw.connection_hooks.remove(counted)
    return asked[0]


@pytest.mark.long
@pytest.mark.parametrize("rows", [MANY])
@pytest.mark.parametrize("name", [*ANEW, *some(REST, 20)])
def test_twice_as_many_rows_are_twice_as_much_work(path: Path, name: str, tmp_path: Path) -> None:
    half = Path(shutil.copy(path, tmp_path / "half.db"))
    connection = apsw.Connection(str(half))
    for table in ("booking", "room", "member"):
        connection.execute(f"DELETE FROM {table} WHERE CAST(ltrim(id, 'br') AS INTEGER) > {MANY // 2}")
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    assert worked(path, name) < 2.5 * worked(half, name) + 100
