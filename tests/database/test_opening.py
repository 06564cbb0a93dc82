"""Opening a file: made, taken as it is, added to, or refused and left as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import msgspec
import pytest

from ninefold.plan.schema import Column, Index, Machine, Reference, Schema, Table
from ninefold.runtime.store.protocol import Refused
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.values import Boolean, Digest, Integer, Number, Object, Row, Text, Timestamp

CUSTOMER = Table(
    "customer",
    (Column("id", Integer(), True, serial=True), Column("email", Text()), Column("key", Digest(), True)),
    ("id",),
)
EVERYTHING = Table(
    "every thing",
    (
        Column("id", Text(), True),
        Column("customer", Row(resource="customer")),
        Column("yes", Boolean()),
        Column("much", Number()),
        Column("when", Timestamp()),
        Column('a "quoted" name?', Object()),
    ),
    ("id",),
    (Reference("customer", "customer", "id", "clear"),),
)
FOLLOW = Table(
    "follow",
    (Column("by", Row(resource="customer"), True), Column("thing", Row(resource="every thing"), True)),
    ("by", "thing"),
    (Reference("by", "customer", "id", "cascade"), Reference("thing", "every thing", "id")),
)
SCHEMA = Schema((FOLLOW, CUSTOMER, EVERYTHING))


def opened(path: Path, schema: Schema = SCHEMA) -> Opened:
    opening = open_sqlite(str(path), schema)
    assert isinstance(opening, Opened), opening
    return opening


def refused(path: Path, schema: Schema = SCHEMA) -> Refused:
    opening = open_sqlite(str(path), schema)
    assert isinstance(opening, Refused)
    return opening


def fill(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def tables_of(path: Path) -> str:
    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()
    connection.close()
    return "\n".join(str(row[0]) for row in rows)


def test_a_new_file_is_made_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    first = opened(path)
    key = first.database.key("cursors")
    first.database.close()
    second = opened(path)
    assert (first.created, second.created) == (True, False)
    assert second.database.key("cursors") == key != second.database.key("other") and len(key) == 32
    assert second.database.reachable()
    second.database.close()
    assert not second.database.reachable()
    assert os.listdir(tmp_path) == ["a.db"]
    assert path.stat().st_mode & 0o077 == 0


def test_columns_have_the_forms_of_the_table_of_values(tmp_path: Path) -> None:
    database = opened(tmp_path / "a.db").database
    forms = {
        table.name: {
            row[0]: row[1] for row in database.select("SELECT name, type FROM pragma_table_info(?)", (table.name,))
        }
        for table in SCHEMA.tables
    }
    database.close()
    assert forms["every thing"] == {
        "id": "TEXT", "customer": "INTEGER", "yes": "INTEGER", "much": "REAL", "when": "TEXT",
        'a "quoted" name?': "TEXT", "$revision": "TEXT",
    }  # fmt: skip
    assert forms["customer"] == {"id": "INTEGER", "email": "TEXT", "key": "BLOB", "$revision": "TEXT"}
    assert forms["follow"] == {"by": "INTEGER", "thing": "TEXT", "$revision": "TEXT"}


def named_again(path: Path, how: str) -> Path:
    """Another name of the same file."""
    other = path.with_name("other") / "other.db"
    other.parent.mkdir()
    if how == "symbolic":
        other.symlink_to(path)
    elif how == "hard":
        other.hardlink_to(path)
    else:
        (path.parent / "link").symlink_to(path.parent)
        return path.parent / "link" / path.name
    return other


def said_by_another_process(call: str, path: Path) -> str:
    program = (
        "import sys; from ninefold.runtime.store.sqlite import Refused, open_sqlite\n"
        "from ninefold.runtime.store.guests import open_to_read\n"
        "from ninefold.runtime.store.guests import open_beside\n"
        "from ninefold.plan.schema import Schema\n"
        f"found = {call}(sys.argv[1], Schema())\n"
        "print(found.message if isinstance(found, Refused) else 'opened')"
    )
    said = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    return said.stdout.rstrip("\n")


@pytest.mark.parametrize("how", ["symbolic", "hard", "folder"])
def test_a_second_process_is_told_that_the_file_is_served(tmp_path: Path, how: str) -> None:
    """By whichever name it comes: the lock is the file's. Before and after something was written, and looked at."""
    path = tmp_path / "a.db"
    first = opened(path)
    other = named_again(path, how)
    who = "another process, under another name of the file" if how == "hard" else f"process {os.getpid()}"
    for _ in range(2):
        assert said_by_another_process("open_sqlite", other) == f"the database {other} is already served by {who}"
        for call in ("open_to_read", "open_beside"):
            said = said_by_another_process(call, other)
            assert ("served under another name" in said) == (how == "hard"), said
        # By the name that it is served under it can be looked at.
        assert "served" not in said_by_another_process("open_to_read", path)
    first.database.close()
    assert not list(tmp_path.glob("**/*-lock"))
    opened(other).database.close()
    opened(path).database.close()


def test_a_creation_that_was_cut_short_begins_afresh(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    program = (
        "import os, signal, sys\nfrom ninefold.runtime.store import sqlite, tables\n"
        "from ninefold.plan.schema import Schema\n"
        "def cut(schema):\n"
        "    yield 'CREATE TABLE half (a)'\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "tables.create_schema = cut\nsqlite.open_sqlite(sys.argv[1], Schema())"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True)
    assert killed.returncode == -9 and path.exists()
    again = opened(path)
    again.database.close()
    assert again.created and "half" not in tables_of(path)


def test_additions_are_made_and_told(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opened(path).database.close()
    fill(path, "INSERT INTO customer VALUES (1, 'a@b', x'00', 'r')")
    more = Schema(
        (
            msgspec.structs.replace(
                CUSTOMER,
                columns=(*CUSTOMER.columns, Column("friend", Row(resource="customer"))),
                references=(Reference("friend", "customer", "id"),),
                indexes=(Index("customer unique email", ("email",), True),),
            ),
            EVERYTHING,
            FOLLOW,
            Table("tag", (Column("id", Text(), True),), ("id",)),
        )
    )
    second = opened(path, more)
    added = ("field `customer.friend`", "unique `email` of `customer`", "resource `tag`")
    assert second.additions == tuple(f"added: {each}" for each in added)
    assert second.database.select("SELECT id, friend FROM customer", ()) == [(1, None)]
    second.database.close()
    third = opened(path, more)
    assert third.additions == ()
    third.database.close()
    # What was added is stored shape from then on, and what a contract does not have any more stays, hidden.
    fourth = opened(path)
    assert fourth.additions == (
        "set aside: field `customer.friend`, its values stay, hidden",
        "changed: unique `email` of `customer`, no longer",
        "set aside: resource `tag`, its rows stay, hidden",
    )
    fourth.database.close()
    fifth = opened(path, more)
    assert fifth.additions == (
        "back again: field `customer.friend`, with the values that it had",
        "added: unique `email` of `customer`",
        "back again: resource `tag`, with the rows that it had",
    )
    fifth.database.close()


def test_rows_that_clash_refuse_a_unique_addition_and_all_others_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opened(path).database.close()
    fill(path, "INSERT INTO customer VALUES (1, 'a@b', x'00', 'r'), (2, 'a@b', x'00', 'r')")
    before = tables_of(path)
    unique = msgspec.structs.replace(CUSTOMER, indexes=(Index("u", ("email",), True),))
    more = Schema((unique, EVERYTHING, FOLLOW, Table("tag", (Column("id", Text(), True),), ("id",))))
    refusal = refused(path, more)
    assert refusal.details == ("unique `email` of `customer`, new, and 1 value is in several rows: a@b",)
    assert tables_of(path) == before
    opened(path).database.close()


def test_differences_are_told_and_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opened(path).database.close()
    fill(path, "INSERT INTO customer VALUES (1, 'a@b', x'00', 'r')", "INSERT INTO follow VALUES (1, 1, 'r')")
    before = tables_of(path)
    customer = msgspec.structs.replace(CUSTOMER, columns=(*CUSTOMER.columns, Column("born", Timestamp(), True)))
    refusal = refused(path, Schema((customer, Table("tag", (Column("id", Text(), True),), ("id",)))))
    assert refusal.details == (
        "1 row has no value for field `customer.born` (new, required)",
        "resource `follow`, its rows stay, hidden",
    )
    assert refusal.help
    assert tables_of(path) == before


@pytest.mark.parametrize("content", [b"not a database at all", b"SQLite format 3\0" + b"\xff" * 5000, b"\x00" * 40_000])
def test_rubbish_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    assert "it is not a SQLite database" in refused(path).message
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["a.db"]


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE theirs (a)", "PRAGMA application_id = 7", "PRAGMA user_version = 3"]
)
def test_another_programs_database_is_left_as_it_is(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "a.db"
    fill(path, statement)
    before = path.read_bytes()
    assert "made by another program" in refused(path).message
    assert path.read_bytes() == before


def test_a_database_of_another_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opened(path).database.close()
    fill(path, "PRAGMA user_version = 999")
    assert "form 999" in refused(path).message


@pytest.mark.parametrize(
    "statement", ["""UPDATE "$ninefold" SET value = x'7b' WHERE name = 'shape'""", 'DELETE FROM "$ninefold"']
)
def test_a_record_that_was_tampered_with_is_refused(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "a.db"
    opened(path).database.close()
    fill(path, statement)
    assert refused(path).message


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "it is a directory" in refused(tmp_path).message
    assert "there is no directory" in refused(tmp_path / "no" / "a.db").message
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "it is not a file" in refused(pipe).message
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert refused(tmp_path / "loop").message
    assert refused(tmp_path / ("long" * 100)).message


@contextmanager
def somebody_else() -> Iterator[None]:
    """To the superuser nothing is read-only, so the question is asked as another user."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_file_that_may_not_be_written_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        opened(path).database.close()
        path.chmod(0o444)
        os.chmod(folder, 0o777)
        with somebody_else():
            assert refused(path).message == f"the database {path} cannot be used: permission denied"
        assert os.listdir(folder) == ["a.db"]
        os.chmod(folder, 0o555)
        with somebody_else():
            assert refused(path).message == f"the database {path} cannot be used: permission denied"
        os.chmod(folder, 0o700)


def test_rows_in_a_state_that_is_none_any_more_refuse_the_contract_that_took_it_away(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    columns = (Column("id", Text(), True), Column("state", Text(), True))

    def orders(*states: str) -> Schema:
        return Schema((Table("order", columns, ("id",), states=True, machine=Machine("state", states)),))

    opened(path, orders("draft", "lost", "paid")).database.close()
    insert = 'INSERT INTO "order" (id, state, "$revision") VALUES '
    fill(path, insert + "('a', 'draft', 'r'), ('b', 'lost', 'r'), ('c', 'lost', 'r')")
    opened(path, orders("draft", "lost")).database.close()
    found = refused(path, orders("draft", "paid"))
    assert found.details == ("field `order.state` is in 2 rows a state that is none any more: lost",)
    fill(path, "UPDATE \"order\" SET state = 'draft'")
    opened(path, orders("draft", "paid")).database.close()
