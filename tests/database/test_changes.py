"""Which tables have changed is known whatever changes them; and while one is being changed, nobody can say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from ninefold.runtime.store.connections import Changes, LogIndex, tables_read
from ninefold.runtime.store.protocol import Unavailable
from ninefold.runtime.store.reading import Beside

CHANGES = {
    "INSERT INTO child (parent) VALUES (1)": {"child"},
    "UPDATE child SET parent = 2": {"child"},
    "DELETE FROM child WHERE parent = 1": {"child"},
    "DELETE FROM parent WHERE id = 1": {"parent", "child"},
    "UPDATE parent SET id = 3 WHERE id = 1": {"parent", "child"},
    "INSERT INTO parent (id, name) VALUES (9, 'a') ON CONFLICT (name) DO UPDATE SET id = 9": {"parent", "child"},
    "UPDATE parent SET name = name || 'x' RETURNING id": {"parent"},
    "DELETE FROM parent WHERE id = 77": set(),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "changes.db"


@pytest.fixture
def connection(path: Path) -> Iterator[apsw.Connection]:
    found = apsw.Connection(str(path))
    found.pragma("journal_mode", "wal")
    found.pragma("foreign_keys", True)
    found.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT UNIQUE) STRICT")
    found.execute(
        "CREATE TABLE child (parent INTEGER REFERENCES parent (id) ON UPDATE CASCADE ON DELETE CASCADE) STRICT"
    )
    found.execute("INSERT INTO parent VALUES (1, 'a'), (2, 'b')")
    found.execute("INSERT INTO child VALUES (1)")
    yield found
    found.close()


@pytest.fixture
def index(connection: apsw.Connection, path: Path) -> Iterator[LogIndex]:
    found = LogIndex(path)
    yield found
    connection.close()
    found.close()


@pytest.mark.parametrize("statement", CHANGES)
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_table_that_changes_is_another(
    connection: apsw.Connection, index: LogIndex, statement: str, end: str
) -> None:
    changes = Changes(connection, index)
    before = {table: changes.state((table,)) for table in ("parent", "child")}
    connection.execute("BEGIN")
    connection.execute(statement).fetchall()
    assert {table for table in before if changes.state((table,)) is None} == CHANGES[statement]
    connection.execute(end)
    committed = end == "COMMIT" and CHANGES[statement]
    unknown = {*before} if committed else CHANGES[statement]
    assert {table for table in before if changes.state((table,)) is None} == unknown, "nobody has settled it"
    changes.settled()
    if committed:
        assert [changes.state((table,)) for table in before] == [None, None], "nobody knows yet whose it was"
        changes.committed()
    assert {table for table in before if changes.state((table,)) != before[table]} == CHANGES[statement]


def elsewhere(path: Path, *statements: str) -> None:
    """Run statements in another process: of two libraries of SQLite in one, neither sees the other's locks."""
    program = (
        f"import apsw; c = apsw.Connection({str(path)!r}); [c.execute(each).fetchall() for each in {statements!r}]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_another_program_changes_counts_for_all_tables(
    connection: apsw.Connection, index: LogIndex, path: Path
) -> None:
    changes = Changes(connection, index)
    before = changes.state(("parent",))
    for name in "xy":
        elsewhere(path, f"UPDATE parent SET name = '{name}' WHERE id = 1")
        assert changes.state(("parent",)) is changes.state(("child",)) is None
        changes.begun()
        assert changes.state(("parent",)) not in (None, before)
        before = changes.state(("parent",))
    elsewhere(path, "SELECT * FROM parent", "PRAGMA wal_checkpoint(TRUNCATE)")
    assert changes.state(("parent",)) == before, "a checkpoint changes nothing"
    connection.execute("BEGIN IMMEDIATE; UPDATE child SET parent = 2; COMMIT")
    changes.committed()
    changes.settled()
    assert (changes.state(("parent",)), changes.state(("child",))) == (before, (before or 0) + 1)


def test_the_tables_that_a_statement_reads_are_what_sqlite_says(connection: apsw.Connection) -> None:
    connection.execute("CREATE VIEW both AS SELECT id FROM parent JOIN child ON parent.id = child.parent")
    assert tables_read(connection, "SELECT count(*) FROM parent", ()) >= {"parent"}
    assert tables_read(connection, "SELECT 1 WHERE EXISTS (SELECT 1 FROM child WHERE parent = ?)", (1,)) == {"child"}
    assert tables_read(connection, "SELECT id FROM both WHERE id = ?", (1,)) >= {"parent", "child"}
    assert tables_read(connection, "SELECT 1", ()) == frozenset()
    assert connection.execute("SELECT count(*) FROM parent").fetchall() == [(2,)]


def test_who_only_reads_knows_of_each_commit(path: Path, connection: apsw.Connection) -> None:
    """What it keeps of rows is kept until somebody commits, whichever table that is about."""
    beside = Beside(str(path))
    try:
        before = beside.state({"child"})
        assert beside.state({"child"}) == before
        connection.execute("INSERT INTO parent VALUES (3, 'c')")
        assert beside.state({"child"}) != before
        assert beside.select("SELECT name FROM parent WHERE id = 3", ()) == [("c",)]
        with pytest.raises(Unavailable):
            beside.write(lambda session: None, lambda value, error: None)
    finally:
        beside.close()
