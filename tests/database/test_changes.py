"""Which tables have changed is known whatever changes them; and while one is being changed, nobody can say."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest

from ninefold.runtime.store.connections import Changes, tables_read

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
def connection() -> Iterator[apsw.Connection]:
    found = apsw.Connection(":memory:")
    found.pragma("foreign_keys", True)
    found.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT UNIQUE) STRICT")
    found.execute(
        "CREATE TABLE child (parent INTEGER REFERENCES parent (id) ON UPDATE CASCADE ON DELETE CASCADE) STRICT"
    )
    found.execute("INSERT INTO parent VALUES (1, 'a'), (2, 'b')")
    found.execute("INSERT INTO child VALUES (1)")
    yield found
    found.close()


@pytest.mark.parametrize("statement", CHANGES)
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_table_that_changes_is_another(connection: apsw.Connection, statement: str, end: str) -> None:
    changes = Changes(connection)
    before = {table: changes.state((table,)) for table in ("parent", "child")}
    connection.execute("BEGIN")
    connection.execute(statement).fetchall()
    assert {table for table in before if changes.state((table,)) is None} == CHANGES[statement]
    connection.execute(end)
    assert {table for table in before if changes.state((table,)) is None} == CHANGES[statement], "nobody has settled it"
    changes.settled()
    assert {table for table in before if changes.state((table,)) != before[table]} == CHANGES[statement]


def test_the_tables_that_a_statement_reads_are_what_sqlite_says(connection: apsw.Connection) -> None:
    connection.execute("CREATE VIEW both AS SELECT id FROM parent JOIN child ON parent.id = child.parent")
    assert tables_read(connection, "SELECT count(*) FROM parent", ()) >= {"parent"}
    assert tables_read(connection, "SELECT 1 WHERE EXISTS (SELECT 1 FROM child WHERE parent = ?)", (1,)) == {"child"}
    assert tables_read(connection, "SELECT id FROM both WHERE id = ?", (1,)) >= {"parent", "child"}
    assert tables_read(connection, "SELECT 1", ()) == frozenset()
    assert connection.execute("SELECT count(*) FROM parent").fetchall() == [(2,)]
