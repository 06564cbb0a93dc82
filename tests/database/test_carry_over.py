"""Rows that are carried over to a database of another shape, and what is said of those that are not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.looking import looking_into

from ninefold.plan.schema import Column, Index, Machine, Reference, Schema, Table
from ninefold.runtime.store.carry_over import Beside, CarriedOver, NotCarried, carry_over
from ninefold.runtime.store.protocol import Stored
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.values import Boolean, Integer, Row, Text

ID = Column("id", Text(), required=True)
REFERENCE = Reference("person", "person", "id")


def schema(*tables: Table) -> Schema:
    return Schema(tables)


def person(*columns: Column, indexes: tuple[Index, ...] = ()) -> Table:
    return Table("person", (ID, *columns), ("id",), indexes=indexes)


def note(required: bool = True) -> Table:
    column = Column("person", Row(resource="person", nullable=not required), required=required)
    return Table("note", (ID, column), ("id",), references=(REFERENCE,))


OLD = schema(person(Column("name", Text(nullable=True)), Column("age", Integer(nullable=True))), note())

ROWS = (
    "INSERT INTO person VALUES ('a', 'Ada', 36, 'r1'), ('b', 'Ben', NULL, 'r2'), ('c', NULL, 1, 'r3')",
    "INSERT INTO note VALUES ('1', 'a', 'r4'), ('2', 'c', 'r5')",
)


def nothing(table: str, column: str, row: Mapping[str, Stored]) -> Stored:
    return None


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    make(path, OLD)
    with looking_into(path) as connection:
        for statement in ROWS:
            connection.execute(statement)
    return path


def make(path: Path, wanted: Schema) -> Opened:
    opened = open_sqlite(str(path), wanted)
    assert isinstance(opened, Opened), opened
    opened.database.close()
    return opened


def beside(folder: Path, now: float = 100, until: float = 0) -> Beside:
    return Beside(folder / "left", folder / "left.new", now, until)


def carried(old: Path, wanted: Schema, **more: object) -> tuple[CarriedOver, Path]:
    new = old.with_name("new.db")
    found = carry_over(old, new, wanted, more.get("make", nothing), beside(old.parent))  # type: ignore[arg-type]
    assert not make(new, wanted).created
    return found, new


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with looking_into(path) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        found: list[tuple[object, ...]] = connection.execute(query).fetchall()
    return found


def test_all_of_it_where_nothing_changed(old: Path) -> None:
    found, new = carried(old, OLD)
    assert found == CarriedOver(5, (), needless=True)
    assert rows(new, "SELECT * FROM person") == [("a", "Ada", 36, "r1"), ("b", "Ben", None, "r2"), ("c", None, 1, "r3")]
    keys = [rows(path, "SELECT value FROM \"$ninefold\" WHERE name = 'key'") for path in (old, new)]
    assert keys[0] == keys[1]


def test_a_state_that_is_gone(old: Path) -> None:
    moving, other = OLD.tables
    moving = replace(moving, machine=Machine("name", ("Ada", "Cyd")))
    found, new = carried(old, schema(moving, other))
    assert "`person.name` is `Ben`, which is no state any more: 1 row stays behind" in found.left
    assert rows(new, "SELECT name FROM person") == [("Ada",), (None,)]


def test_a_field_and_a_resource_that_are_gone(old: Path) -> None:
    found, new = carried(old, schema(person(Column("name", Text(nullable=True)))))
    assert found.rows == 3
    assert found.left == (
        "field `person.age` is not in the contract any more: 2 values stay behind",
        "resource `note` is not in the contract any more: 2 rows stay behind",
    )
    assert rows(new, "SELECT name FROM person") == [("Ada",), ("Ben",), (None,)]


def test_another_type(old: Path) -> None:
    wanted = schema(person(Column("name", Boolean(nullable=True)), Column("age", Integer(nullable=True))), note())
    found, _ = carried(old, wanted)
    assert found == CarriedOver(5, ("field `person.name` was a string and is a boolean: 2 values stay behind",))


def test_a_row_without_a_value_that_is_now_required_and_those_that_refer_to_it(old: Path) -> None:
    wanted = schema(person(Column("name", Text(), required=True), Column("age", Integer(nullable=True))), note())
    found, new = carried(old, wanted)
    assert found == CarriedOver(
        3,
        (
            "`person.name` has to have a value, and has none: 1 row stays behind",
            "`note.person` refers to a `person` that is not there: 1 row stays behind",
        ),
    )
    assert rows(new, "SELECT id FROM note") == [("1",)]


def test_a_reference_that_may_be_empty_is_cleared(old: Path) -> None:
    wanted = schema(person(Column("name", Text(), required=True)), note(required=False))
    found, new = carried(old, wanted)
    assert (
        found.left[-1] == "`note.person` refers to a `person` that is not there, and is cleared: 1 value stays behind"
    )
    assert rows(new, "SELECT id, person FROM note") == [("1", "a"), ("2", None)]


def test_values_that_are_now_unique(old: Path) -> None:
    with looking_into(old) as connection:
        connection.execute("UPDATE person SET name = 'Ada'")
    unique = Index("person.name", ("name",), unique=True)
    wanted = schema(person(Column("name", Text(nullable=True)), indexes=(unique,)), note(required=False))
    found, _ = carried(old, wanted)
    assert "`person.name` is unique, and another row has the same: 2 rows stay behind" in found.left


def test_a_new_required_field_takes_what_the_contract_gives(old: Path) -> None:
    wanted = schema(person(Column("name", Text(nullable=True)), Column("greeting", Text(), required=True)))

    def greeting(table: str, column: str, row: Mapping[str, Stored]) -> Stored:
        return None if row["name"] is None else f"Hello {row['name']!s}"

    found, new = carried(old, wanted, make=greeting)
    assert rows(new, "SELECT greeting FROM person") == [("Hello Ada",), ("Hello Ben",)]
    assert "field `person.greeting` has to have a value, and nothing gives it one: 1 row stays behind" in found.left


def test_what_is_no_database_of_ours(tmp_path: Path) -> None:
    for content in (b"", b"hello, this is a text", b"SQLite format 3\0 and nothing more"):
        path = tmp_path / "other.db"
        path.write_bytes(content)
        with pytest.raises(NotCarried):
            carry_over(path, tmp_path / "new.db", OLD, nothing, beside(tmp_path))
        assert not (tmp_path / "new.db").exists()


def test_credentials_come_along_with_their_rows(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    table = person(Column("name", Text(nullable=True)))
    make(old, Schema((table,), credentials=("person",)))
    with looking_into(old) as connection:
        connection.execute("INSERT INTO person VALUES ('a', 'Ada', 'r1'), ('b', NULL, 'r2')")
        for digest, id in ((b"1", "a"), (b"2", "b")):
            connection.execute("INSERT INTO \"$credential person\" VALUES (?, 'token', NULL, ?)", (digest, id))
    connection.close()
    wanted = Schema((person(Column("name", Text(), required=True)),), credentials=("person",))
    carried = carry_over(old, new, wanted, nothing, beside(tmp_path))
    assert (carried.rows, len(carried.left)) == (1, 1)
    with looking_into(new) as connection:
        assert connection.execute('SELECT * FROM "$credential person"').fetchall() == [(b"1", "token", None, "a")]
    connection.close()
    carry_over(new, tmp_path / "without.db", schema(table), nothing, beside(tmp_path))


# ── What is left behind ───────────────────────────────────────────────────────────────────────────────────────────

SHAPES = {
    "nothing": schema(),
    "without notes": schema(OLD.tables[0]),
    "without a field": schema(person(Column("age", Integer(nullable=True))), note()),
    "another type": schema(person(Column("name", Boolean(nullable=True)), Column("age", Text(nullable=True))), note()),
    "a field that is required now": schema(
        person(Column("name", Text(), required=True), Column("age", Integer(nullable=True))), note()
    ),
    "another identifier": schema(
        Table("person", (Column("name", Text(), required=True), Column("id", Text(nullable=True))), ("name",)),
        Table("note", (ID,), ("id",)),
    ),
    "references that may be empty": schema(person(Column("name", Text(), required=True)), note(required=False)),
}
"""Shapes by which something of OLD stays behind."""

ALL = "SELECT * FROM person ORDER BY id", "SELECT * FROM note ORDER BY id"


def through(folder: Path, path: Path, *shapes: Schema, now: float = 100, until: float = 0) -> CarriedOver:
    """A database as it becomes by one shape after another; the last carrying over."""
    found = None
    for number, wanted in enumerate(shapes):
        files = beside(folder, now + number, until)
        found = carry_over(path, folder / "next.db", wanted, nothing, files)
        (folder / "next.db").replace(path)
        files.after.replace(files.before)
    assert found is not None
    return found


@pytest.mark.parametrize("second", SHAPES)
@pytest.mark.parametrize("first", SHAPES)
def test_what_stayed_behind_is_back_when_the_shape_is(old: Path, tmp_path: Path, first: str, second: str) -> None:
    before = [rows(old, query) for query in ALL]
    assert through(tmp_path, old, SHAPES[first]).left
    through(tmp_path, old, SHAPES[second], OLD, now=200)
    assert [rows(old, query) for query in ALL] == before
    assert through(tmp_path, old, OLD) == CarriedOver(5, (), needless=True)


def test_what_became_of_rows_meanwhile_stays(old: Path, tmp_path: Path) -> None:
    through(tmp_path, old, SHAPES["without a field"])
    with looking_into(old) as connection:
        connection.execute("DELETE FROM note WHERE id = '1'")
        connection.execute("DELETE FROM person WHERE id = 'a'")
        connection.execute("UPDATE person SET age = 50 WHERE id = 'b'")
        connection.execute("INSERT INTO person VALUES ('d', 4, 'r9')")
    assert through(tmp_path, old, OLD).back == ("field `person.name`: 1 value is back",)
    assert rows(old, "SELECT id, name, age FROM person ORDER BY id") == [
        ("b", "Ben", 50),
        ("c", None, 1),
        ("d", None, 4),
    ]


def test_what_no_shape_can_hold_is_given_up_after_a_while_and_named(old: Path, tmp_path: Path) -> None:
    assert through(tmp_path, old, SHAPES["without notes"], now=100).given_up == ()
    assert through(tmp_path, old, SHAPES["nothing"], now=200, until=100).given_up == ()
    gone = through(tmp_path, old, SHAPES["nothing"], now=300, until=150).given_up
    assert gone == ("resource `note`: what was left of 2 rows are gone",)
    assert through(tmp_path, old, OLD, now=301, until=151).back == ("resource `person`: 3 rows are back",)
    assert rows(old, ALL[1]) == []
