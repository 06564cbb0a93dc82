"""Every change of a shape over rows that are there: what goes without a question keeps every value, and goes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace
from tests.upgrade.test_matrix import of_write

from ninefold.plan.schema import Column, Index, Machine, Reference, Schema, Table
from ninefold.runtime.store import undo, upgrade
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.protocol import Refused
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.values import Array, Integer, Number, Row, Text, Timestamp

PERSON = Table(
    "person",
    (Column("id", Integer(), True, serial=True), Column("name", Text(), True), Column("born", Timestamp())),
    ("id",),
    indexes=(Index("person unique name", ("name",), True),),
)
ORDER = Table(
    "order",
    (
        Column("number", Text(), True),
        Column("code", Text(), True),
        Column("person", Row(resource="person"), True),
        Column("friend", Row(resource="person")),
        Column("count", Integer()),
        Column("tags", Array(items=Text())),
        Column("state", Text(), True),
    ),
    ("number",),
    (Reference("person", "person", "id", "cascade"), Reference("friend", "person", "id", "clear")),
    (Index("order by count", ("-count",)),),
    True,
    Machine("state", ("open", "shut", "lost")),
)
LINE = Table(
    "line",
    (Column("order", Row(resource="order"), True), Column("at", Integer(), True), Column("text", Text())),
    ("order", "at"),
    (Reference("order", "order", "number", "cascade"),),
)
SETTING = Table("setting", (Column("theme", Text()),), ())
FIRST = Schema((PERSON, ORDER, LINE, SETTING))

ROWS = (
    """INSERT INTO person (id, name, born, "$revision") VALUES (1, 'Ann', '2000-01-01T00:00:00.000000Z', 'p1'),
       (2, 'Bob', NULL, 'p2'), (9, 'Zoe', NULL, 'p9')""",
    "DELETE FROM person WHERE id = 9",
    """INSERT INTO "order" (number, code, person, friend, count, tags, state, "$revision", "$entered") VALUES
       ('a', 'x', 1, 2, 3, '["q"]', 'open', 'o1', '2026-01-01T00:00:00.000000Z'),
       ('b', 'y', 2, NULL, NULL, NULL, 'shut', 'o2', '2026-01-02T00:00:00.000000Z')""",
    """INSERT INTO line ("order", at, text, "$revision") VALUES ('a', 1, 'one', 'l1'), ('a', 2, NULL, 'l2')""",
    """INSERT INTO setting (theme, "$revision") VALUES ('dark', 's')""",
)


def with_table(table: Table) -> Schema:
    return Schema(tuple(table if each.name == table.name else each for each in FIRST.tables))


def without(table: Table, name: str, **more: Any) -> Schema:
    references = tuple(each for each in table.references if each.column != name)
    indexes = tuple(each for each in table.indexes if name not in {column.lstrip("-") for column in each.columns})
    columns = tuple(each for each in table.columns if each.name != name)
    return with_table(replace(table, columns=columns, references=references, indexes=indexes, **more))


def column(table: Table, name: str, now: Column, **more: Any) -> Schema:
    return with_table(
        replace(table, columns=tuple(now if each.name == name else each for each in table.columns), **more)
    )


def refers(column: str, on_delete: Any) -> tuple[Reference, ...]:
    return tuple(replace(each, on_delete=on_delete) if each.column == column else each for each in ORDER.references)


GOES = {
    "a resource more": Schema((*FIRST.tables, Table("tag", (Column("id", Text(), True),), ("id",)))),
    "a field more": with_table(replace(PERSON, columns=(*PERSON.columns, Column("nick", Text())))),
    "a reference more": with_table(
        replace(
            LINE,
            columns=(*LINE.columns, Column("by", Row(resource="person"))),
            references=(*LINE.references, Reference("by", "person", "id")),
        )
    ),
    "a field less": without(PERSON, "born"),
    "a required field less": without(PERSON, "name"),
    "a reference less": without(ORDER, "friend"),
    "a required reference less": without(ORDER, "person"),
    "a field less with an index": without(ORDER, "count"),
    "states less": without(ORDER, "state", states=False, machine=None),
    "a resource less": Schema((PERSON, ORDER, SETTING)),
    "resources less": Schema((PERSON,)),
    "all resources less": Schema(()),
    "one row less": Schema((PERSON, ORDER, LINE)),
    "required no more": column(ORDER, "code", Column("code", Text())),
    "required with values": column(ORDER, "state", ORDER.columns[-1]),
    "unique no more": with_table(replace(PERSON, indexes=())),
    "unique now": with_table(replace(ORDER, indexes=(*ORDER.indexes, Index("u", ("code",), True)))),
    "unique with a field that is new": with_table(
        replace(LINE, columns=(*LINE.columns, Column("hash", Text())), indexes=(Index("u", ("order", "hash"), True),))
    ),
    "a number": column(ORDER, "count", Column("count", Number())),
    "restrict": with_table(replace(ORDER, references=refers("person", "refuse"))),
    "cascade": with_table(replace(ORDER, references=refers("friend", "cascade"))),
    "numbered no more": column(PERSON, "id", Column("id", Integer(), True)),
    "a state more": with_table(replace(ORDER, machine=Machine("state", ("open", "shut", "lost", "new")))),
    "a state less, with no rows in it": with_table(replace(ORDER, machine=Machine("state", ("open", "shut")))),
}
QUESTIONS = {
    "a new required field": with_table(replace(PERSON, columns=(*PERSON.columns, Column("nick", Text(), True)))),
    "required without values": column(ORDER, "count", Column("count", Integer(), True)),
    "unique among the same": with_table(replace(LINE, indexes=(Index("u", ("order",), True),))),
    "a state less": with_table(replace(ORDER, machine=Machine("state", ("open", "lost")))),
    "another type": column(ORDER, "tags", Column("tags", Text())),
    "renamed": column(PERSON, "born", Column("birthday", Timestamp())),
    "referred to by what it is known by": column(ORDER, "code", Column("code", Integer(), True)),
}
UPGRADED = {
    "known by something else": with_table(replace(PERSON, key=("name",))),
    "followed by those who refer to it": Schema(
        (
            PERSON,
            replace(ORDER, key=("code",)),
            replace(LINE, references=(Reference("order", "order", "code", "cascade"),)),
            SETTING,
        )
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    with_schema(path, FIRST)
    connection = apsw.Connection(str(path))
    connection.pragma("foreign_keys", True)
    for statement in ROWS:
        connection.execute(statement)
    connection.close()
    return path


def with_schema(path: Path, schema: Schema) -> tuple[str, ...]:
    """Open it as `serve` does, and be told what has changed."""
    opening = open_sqlite(str(path), schema)
    assert isinstance(opening, Opened), opening
    opening.database.close()
    return opening.additions


def dump(path: Path, schema: Schema = FIRST) -> dict[str, list[Any]]:
    """Every value of every column that a schema has."""
    connection = apsw.Connection(str(path))
    found: dict[str, list[Any]] = {}
    for table in schema.tables:
        names = [each.name for each in table.columns] + ["$revision"] + (["$entered"] if table.states else [])
        listed = ", ".join(f'"{name}"' for name in names)
        found[table.name] = sorted(connection.execute(f'SELECT {listed} FROM "{table.name}"'), key=repr)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    return found


@pytest.mark.parametrize("name", GOES)
def test_what_goes_without_a_question_keeps_every_value(path: Path, name: str) -> None:
    before, schema = dump(path), GOES[name]
    rehearsed = upgrade.preview(str(path), schema)
    assert rehearsed.goes
    assert dump(path) == before, "a preview changes nothing"
    told = with_schema(path, schema)
    assert len(told) == sum(1 for each in rehearsed.changes if each.change.words)
    after = dump(path, schema)
    for table in schema.tables:
        was = next((each for each in FIRST.tables if each.name == table.name), None)
        if was is None:
            continue
        both = [each.name for each in table.columns if each.name in {one.name for one in was.columns}]
        of_was = [[row[[each.name for each in was.columns].index(one)] for one in both] for row in before[table.name]]
        of_now = [[row[[each.name for each in table.columns].index(one)] for one in both] for row in after[table.name]]
        assert sorted(of_now, key=repr) == sorted(of_was, key=repr)
    assert with_schema(path, schema) == ()


@pytest.mark.parametrize("name", [name for name in GOES if name != "states less"])
def test_the_contract_of_yesterday_is_served_again(path: Path, name: str) -> None:
    before = dump(path)
    with_schema(path, GOES[name])
    with_schema(path, FIRST)
    now = {table: [tuple(map(of_write, row)) for row in rows] for table, rows in dump(path).items()}
    assert now == before
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO person (name, \"$revision\") VALUES ('New', 'n')")
    assert connection.execute("SELECT id FROM person WHERE name = 'New'").fetchall() == [(10,)], "numbers go on"
    connection.close()


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_has_to_be_decided_is_asked_and_nothing_changes(path: Path, name: str) -> None:
    before, bytes_before = dump(path), path.read_bytes()
    opening = open_sqlite(str(path), QUESTIONS[name])
    assert isinstance(opening, Refused)
    assert len(opening.details) >= 1
    assert not upgrade.preview(str(path), QUESTIONS[name]).goes
    assert not upgrade.upgrade(str(path), QUESTIONS[name]).goes
    assert dump(path) == before
    assert path.read_bytes() == bytes_before


@pytest.mark.parametrize("name", [*GOES, *UPGRADED])
def test_an_upgrade_is_undone(path: Path, name: str) -> None:
    before, schema = dump(path), (GOES | UPGRADED)[name]
    done = upgrade.upgrade(str(path), schema)
    assert done.goes
    if done.backup is None:
        return
    dump(path, schema)
    assert with_schema(path, schema) == ()
    backup, kept = undo.undo(str(path))
    assert (backup, dump(path)) == (done.backup, before)
    assert kept.exists()
    with_schema(path, FIRST)


def test_what_was_written_since_is_not_lost_by_undoing(path: Path) -> None:
    upgrade.upgrade(str(path), GOES["a field less"])
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO person (name, \"$revision\") VALUES ('New', 'n')")
    connection.execute("DELETE FROM line")
    connection.close()
    with pytest.raises(NotUpgraded) as refused:
        undo.undo(str(path))
    assert len(refused.value.details) == 2
    undo.undo(str(path), lose_writes=True)
    assert len(dump(path)["line"]) == 2


def test_what_was_set_aside_ends_by_its_name_alone(path: Path) -> None:
    with_schema(path, Schema((without(PERSON, "born").tables[0], *FIRST.tables[1:3])))
    with pytest.raises(NotUpgraded):
        undo.drop(str(path), ["person.name"])
    assert undo.drop(str(path), ["person.born", "setting"]) == (("person.born", 1), ("setting", 1))
    with_schema(path, FIRST)
    assert [row[2] for row in dump(path)["person"]] == [None, None]


def test_what_hides_holds_nobody_up(path: Path) -> None:
    """Rows that a hidden column or resource refers to may go; coming back then has to be decided."""
    with_schema(path, Schema((PERSON,)))
    connection = apsw.Connection(str(path))
    connection.pragma("foreign_keys", True)
    connection.execute("DELETE FROM person WHERE id = 2")
    connection.close()
    opening = open_sqlite(str(path), FIRST)
    assert isinstance(opening, Refused)
    assert any("refer to what is not there any more" in each or "refers to what" in each for each in opening.details)
