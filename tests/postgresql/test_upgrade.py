"""A change of a contract becomes of a database in PostgreSQL what it becomes of one in SQLite: by whom it is made, what
is asked, and each value of each row."""

from __future__ import annotations

import re
import shlex
from asyncio import AbstractEventLoop
from collections.abc import Callable
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace
from tests.contracts import SERVED, compiled, contract_of
from tests.postgresql import server
from tests.slices import LONG, some
from tests.upgrade.test_a_strangers_way import REFUSED, SERVE, leads_to_served
from tests.upgrade.test_many_rows import ANEW
from tests.upgrade.test_matrix import CHANGES, answered, loaded, of_write

from ninefold.cli import main
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.audit import Audit
from ninefold.runtime.store import move, move_postgresql, move_sqlite, postgresql_opening, postgresql_upgrade
from ninefold.runtime.store.changing import ONCE_MENDED, NotUpgraded, Rehearsed
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_link import Link
from ninefold.runtime.store.postgresql_opening import CREATE_NOTES, notes_of
from ninefold.runtime.store.postgresql_premises import Ask
from ninefold.runtime.store.postgresql_tables import create_schema
from ninefold.runtime.store.protocol import Opened
from ninefold.runtime.store.upgrading import upgrade_database
from ninefold.upgrade.changes import nothing_decided
from ninefold.upgrade.shape import encode_shape

pytestmark = pytest.mark.serves

BASES: dict[int, str] = {}
"""The name of a database in PostgreSQL of the contract as it was, by how many rows are in it."""


def plan(name: str, kind: str) -> ServicePlan:
    found = loaded(name).plan_for(kind)
    assert found is not None
    return found


@pytest.fixture
def beside(rows: int, path: Path) -> str:
    """A database with the same rows, in PostgreSQL."""
    if rows not in BASES:
        url = server.database()
        filled(url, path)
        BASES[rows] = url.partition("@/")[2].partition("?")[0]
    return of_base(rows)


def filled(url: str, path: Path) -> None:
    """Have what a file has."""
    with move_sqlite.source(str(path), plan("", "sqlite").schema) as source:
        made = replace(plan("", "postgresql"), schema=source.schema)
        with move_postgresql.target(url, made, source.notes().key) as target:
            move.move(source, target, lambda *_: None)


def of_base(rows: int) -> str:
    """One more of the same."""
    url = server.database()
    name = url.partition("@/")[2].partition("?")[0]
    server.run(server.url("postgres"), f"DROP DATABASE {name}", f"CREATE DATABASE {name} TEMPLATE {BASES[rows]}")
    return url


def but_for_revisions(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """As `held`, whether an upgrade has given rows other revisions or not: beside nodes it does not (decision 0191)."""
    return {name: [{**row, "$revision": of_write(row.get("$revision"))} for row in each] for name, each in rows.items()}


def held(database: str) -> dict[str, list[dict[str, Any]]]:
    """All rows of the resources, and of what was set aside."""
    if not database.startswith("postgresql:"):
        connection = apsw.Connection(database)
        listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        names = [str(name) for (name,) in connection.execute(listed)]
        found: dict[str, list[dict[str, Any]]] = {}
        for name in names:
            cursor = connection.execute(f'SELECT * FROM "{name}"')
            rows = cursor.fetchall()
            columns = [str(each[1]) for each in connection.execute(f'PRAGMA table_info("{name}")')]
            found[name] = [dict(zip(columns, row, strict=True)) for row in rows]
        connection.close()
    else:
        listed = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        found = {
            name: [dict(row) for row in server.run(database, f'SELECT * FROM "{name}"')]
            for (name,) in server.run(database, listed)
        }
    own = ("$ninefold", "$ninefold_upgrades", "$number", "$state", "$due", "$process")
    return {name: sorted(map(_told, rows), key=repr) for name, rows in found.items() if name not in own}


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """What is made of the time or by chance is not the same twice: nobody's secrets are as long, and begin alike."""
    told = {name: int(value) if isinstance(value, bool) else value for name, value in row.items()}
    if "$entered" in told and not str(told["$entered"]).startswith("2026-01-01"):
        told["$entered"] = "now"
    for name, value in told.items():
        if isinstance(value, bytes) and value.startswith(b"$argon2"):
            told[name] = len(value)
    return dict(sorted(told.items()))


def upgraded(database: str, name: str, *decisions: str) -> Rehearsed:
    kind = "postgresql" if database.startswith("postgresql:") else "sqlite"
    wanted = plan(name, kind)
    decide = answered(name, *decisions) if name else nothing_decided
    return upgrade_database(database, wanted, decide, Audit(wanted.stored, inf), True, None)


@pytest.mark.parametrize("rows", [3])
def test_what_would_refer_to_nothing_is_named_with_what_to_write(path: Path, beside: str) -> None:
    decision = "{remove rows: member, where: old.id < 3}"
    for database in (str(path), beside):
        with pytest.raises(NotUpgraded) as refused:
            upgraded(database, "an optional field", decision)
        told = refused.value
        assert "`booking.by` of 2 rows would refer to a `member` that is not there" in told.details
        assert any("{remove rows: booking, where: …}" in each for each in told.help)


def in_order(told: str) -> str:
    """The same with the rows that it names in the order of their keys: each kind of database names those that it comes
    to first."""
    return re.sub(r"(?<=primary keys )[^)]+", lambda keys: ", ".join(sorted(keys[0].split(", "))), told)


def served(database: str, name: str) -> tuple[str, ...] | None:
    """Why a service would not start over it; None: it would."""
    kind = "postgresql" if database.startswith("postgresql:") else "sqlite"
    opening = open_database(database, plan(name, kind), lambda _: (), Audit(plan(name, kind).stored, inf))
    if isinstance(opening, Opened):
        opening.database.close()
        return None
    return tuple(map(in_order, opening.details)) or (opening.message,)


@pytest.mark.long
@pytest.mark.parametrize("rows", [3, *([0] if LONG else [])])
@pytest.mark.parametrize("name", CHANGES)
def test_it_is_done_as_in_sqlite(name: str, path: Path, beside: str, rows: int) -> None:
    decisions = CHANGES[name].get("decisions", [])
    before = held(beside)
    assert before == held(str(path))
    assert served(beside, name) == served(str(path), name)
    if held(beside) != before:  # `serve` has made it by itself
        assert held(beside) == held(str(path))
    done, there = upgraded(str(path), name, *decisions), upgraded(beside, name, *decisions)
    assert [each.why for each in there.changes] == [each.why for each in done.changes]
    for what in ("goes", "made", "aside", "lost", "emptied"):
        assert getattr(there, what) == getattr(done, what)
    assert held(beside) == held(str(path))
    assert served(beside, "") == served(str(path), "")
    assert held(beside) == held(str(path))


OURS = "current_schema()::regnamespace"
COLUMNS = (
    "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation, a.attnotnull,"
    " pg_get_expr(d.adbin, d.adrelid) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0"
    " LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum"
    f" WHERE c.relkind = 'r' AND c.relnamespace = {OURS} AND NOT a.attisdropped"
)
CONSTRAINTS = (
    "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
    f" WHERE connamespace = {OURS} AND conrelid <> 0"
)
INDEXES = "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema()"


def catalogue(url: str) -> list[list[str]]:
    """What tables there are: their columns, with what is demanded of them, and their indexes."""
    return [sorted(map(repr, server.run(url, each))) for each in (COLUMNS, CONSTRAINTS, INDEXES)]


@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, 24), ids=lambda path: path.name)
def test_what_is_added_is_as_if_it_had_been_there(directory: Path) -> None:
    """A database of nothing, to which everything is added, and one that was made so."""
    plan = compiled(contract_of(directory)).plan_for("postgresql")
    assert plan is not None
    fresh, added = server.database(), server.database()
    shape, form = (encode_shape(Schema()), notes_of(plan)["form"])
    notes = [
        f"INSERT INTO \"$ninefold\" VALUES ('{name}', '\\x{value.hex()}')"
        for name, value in (("key", bytes(32)), ("shape", shape), ("form", form))
    ]
    server.run(added, *create_schema(Schema()), CREATE_NOTES, *notes)
    for url in (fresh, added):
        opening = open_database(url, plan, lambda _: (), Audit(plan.stored, inf))
        if not isinstance(opening, Opened):
            assert "yet" in opening.message
            pytest.skip("what PostgreSQL does not serve yet")
        opening.database.close()
    assert catalogue(added) == catalogue(fresh)


def contract(name: str, where: Path) -> str:
    where.write_text(loaded(name).source.text, encoding="utf-8")
    return str(where)


@pytest.mark.parametrize("rows", [3])
def test_the_command(beside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A preview changes nothing; what is hidden is ended when that is said; there is no backup to put back."""
    gone = contract("a field gone", tmp_path / "rooms.yaml")
    before = held(beside)
    assert main(["upgrade", gone, "--database", beside]) == 0
    assert "in a transaction that was undone" in capsys.readouterr().out
    assert held(beside) == before
    assert main(["upgrade", gone, "--database", beside, "--undo"]) == 2
    assert main(["upgrade", gone, "--database", beside, "--drop", "room.memo"]) == 2
    assert main(["upgrade", gone, "--database", beside, "--apply"]) == 0
    assert "hidden      room.memo: 2 values" in capsys.readouterr().out
    moved = str(tmp_path / "there.db")
    assert main(["move", gone, beside, moved]) == 0
    assert held(moved) == held(beside), "what is hidden goes along"
    assert served(moved, "") is None and held(moved) == before, "and is there again"
    assert main(["upgrade", gone, "--database", beside, "--drop", "room.memo"]) == 0
    assert {"memo", "$aside memo"}.isdisjoint(held(beside)["room"][0])
    renamed = contract("a field renamed", tmp_path / "renamed.yaml")
    assert main(["upgrade", renamed, "--database", server.database()]) == 2, "nothing is there"
    plan_ = plan("a field gone", "postgresql")
    opened = open_database(beside, plan_)
    assert isinstance(opened, Opened)
    assert main(["upgrade", renamed, "--database", beside]) == 2, "it is served"
    opened.database.close()
    assert main(["upgrade", renamed, "--database", beside]) == 0


@pytest.mark.parametrize("rows", [3])
def test_what_falls_due_at_the_first_start_is_told(
    beside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = loaded("").source.text.replace("to: never}", "to: never, after: PT1S}")
    Path("rooms.yaml").write_text(text, encoding="utf-8")
    assert main(["upgrade", "rooms.yaml", "--database", beside]) == 0
    assert "due         2 of `booking` at the first start: `drop`" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("name", some(REFUSED, 16))
def test_it_leads_from_refused_to_served(
    name: str, beside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is secret in the URL is not shown, and each command can be typed as it stands."""
    monkeypatch.chdir(tmp_path)
    url = beside.replace("ninefold@", "ninefold:hush@")
    led = leads_to_served(f"{SERVE} --database {shlex.quote(url)}", url, name, capsys)
    assert "PGPASSWORD" in led[0] and not any("hush" in each for each in led)


def cut_off(at: int) -> Callable[[Link, AbstractEventLoop], Ask]:
    """`postgresql_opening.asking`, of which the connection ends before a statement, counted from 1 over all links."""
    counted = count(1)

    def asking(link: Link, loop: AbstractEventLoop) -> Ask:
        ask = postgresql_opening.asking(link, loop)

        def ended(text: str, *binds: object) -> list[object]:
            if next(counted) == at:
                link.drop()
            return ask(text, *binds)

        return ended

    return asking


@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("at", range(1, 30, 4))
def test_cut_off_it_is_as_it_was(beside: str, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At some of its statements the connection ends, as where a process is killed."""
    name = "another primary key"
    before = held(beside), catalogue(beside)
    monkeypatch.setattr(postgresql_upgrade, "asking", cut_off(at))
    with pytest.raises(NotUpgraded) as refused:
        upgraded(beside, name, *CHANGES[name].get("decisions", ()))
    assert refused.value.then == (ONCE_MENDED,)
    assert (held(beside), catalogue(beside)) == before
    monkeypatch.undo()
    assert upgraded(beside, name, *CHANGES[name].get("decisions", ())).made


@pytest.mark.parametrize("rows", [1_000])
@pytest.mark.parametrize("name", ANEW)
def test_what_follows_looks_for_its_row_and_not_at_all_rows(rows: int, beside: str, name: str) -> None:
    assert upgraded(beside, name, *CHANGES[name].get("decisions", ())).made
    [(read,)] = server.run(beside, "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'room'")
    assert read < 20 * rows
