"""A row is told from all that were by an identity, to which idempotency keys belong: it is the same after an upgrade,
whatever the row and its resource are called and known by then. Over SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.events.service import running
from tests.postgresql import server
from tests.postgresql.test_upgrade import cut_off
from tests.slices import LONG
from tests.upgrade.test_what_is_issued import deciding, loaded, opens, plan_of, ran
from tests.upgrade.test_who_subscribed import BEFORE, ROWS, WAYS
from tests.upgrade.test_who_subscribed import CONTRACT as SUBSCRIBED

from ninefold.cli.going_over import BEFORE as OF_BEFORE
from ninefold.pipeline import Loaded
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.audit import Audit, Kept
from ninefold.runtime.store import postgresql_running
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened
from ninefold.runtime.store.upgrading import come_to_its_end, go_over, take_back, upgrade_database

KINDS = pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])


def edited(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


KEYS = (
    ("{does: create note, body: [text],", "{does: create note, body: [text], idempotency key: required,"),
    ("limits: none", "limits: {rates: none, timeout: none, body size: none, idempotency keys kept: PT1H}"),
)
CONTRACT = edited(SUBSCRIBED, *KEYS)


def at(tmp_path: Path, kind: str) -> str:
    return str(tmp_path / "a.db") if kind == "sqlite" else server.database()


def with_tokens(database: str, kind: str) -> None:
    """Rows, each with a token that is the mark of it."""
    ran(database, *ROWS)
    for mark in BEFORE:
        digest = sha256(mark.encode()).hexdigest()
        written = f"x'{digest}'" if kind == "sqlite" else f"'\\x{digest}'"
        ran(database, f"""UPDATE "user" SET key = {written} WHERE mark = '{mark}'""")


def notes(database: str, text: str) -> dict[str, int]:
    """The number of the note that is made by each caller under a key, always the same."""
    place: Path | str = database if database.startswith("postgresql:") else Path(database)
    found = {}
    with running(place, text, name="contract.yaml") as service:
        for mark in BEFORE:
            headers = {"Authorization": f"Bearer {mark}", "Idempotency-Key": "one"}
            made = service.http.post("/notes", json={"text": "a"}, headers=headers)
            assert made.status_code == 201, made.text
            found[mark] = int(made.json()["id"])
    return found


@pytest.mark.serves
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("way", WAYS)
def test_what_was_asked_is_not_done_again(tmp_path: Path, way: str, kind: str) -> None:
    database, (edits, decisions) = at(tmp_path, kind), WAYS[way]
    text = edited(CONTRACT, *edits)
    before, after = loaded(CONTRACT), plan_of(loaded(text), database)
    assert opens(before, database)
    with_tokens(database, kind)
    first = notes(database, CONTRACT)
    assert sorted(first.values()) == [1, 2, 3]
    decide = deciding(after.schema, *decisions)
    done = upgrade_database(database, after, decide, Audit(after.stored, inf), True, None)
    assert done.goes, done.changes
    assert notes(database, text) == first


def as_of_before(of: ServicePlan) -> ServicePlan:
    """What an earlier ninefold made of it, but for what reads them."""
    tables = tuple(structs.replace(each, identified=False) for each in of.schema.tables)
    return structs.replace(of, schema=structs.replace(of.schema, tables=tables), schemes=())


def laid_out(database: str) -> list[Any]:
    """How a database is laid out."""
    if not database.startswith("postgresql:"):
        return sorted(ran(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"))
    columns = """SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
        WHERE table_schema = current_schema() ORDER BY 1, 2"""
    indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1"
    constraints = "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY 1, 2"
    triggers = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"
    return [ran(database, each) for each in (columns, indexes, constraints, triggers)]


NUMBERED = edited(
    CONTRACT,
    (
        "  note:\n",
        "  pet:\n    primary key: id\n    fields:\n      id:    {type: integer, on create: serial()}\n"
        "      key:   {type: [string, \"null\"], secret: token}\n      state: {state: true}\n"
        "      shop:  {references: shop, on delete: cascade}\n      other: {references: pet, on delete: set null}\n"
        "      was:   {type: integer}\n  note:\n",
    ),
    ("states: none", "states:\n  pet: {initial: in, states: [in, out], transitions: {go: {from: in, to: out}}}\n"
     "  shop: none\n  user: none\n  note: none"),
    ("{tok: {", "{pet: {type: apiKey, in: header, name: Pet, matches: pet.key}, tok: {"),
    ("[tok, anyone]", "[tok, pet, anyone]"),
)  # fmt: skip
PETS = """INSERT INTO pet (id, state, shop, other, was, "$revision", "$entered")
    VALUES (3, 'in', 'one', NULL, 7, 'r3', 't3'), (9, 'out', 'two', 3, 8, 'r9', 't9')"""


@KINDS
def test_a_database_of_before_gets_them_at_its_first_start(tmp_path: Path, kind: str) -> None:
    database, fresh = (at(path, kind) for path in (tmp_path, tmp_path / "fresh"))
    (tmp_path / "fresh").mkdir()
    contract = loaded(NUMBERED)
    opened = open_database(database, as_of_before(plan_of(contract, database)))
    assert isinstance(opened, Opened)
    opened.database.close()
    with_tokens(database, kind)
    ran(database, PETS, "DELETE FROM pet WHERE id = 9", PETS.replace("(3, 'in', 'one', NULL, 7, 'r3', 't3'), ", ""))
    rows = 'SELECT id, state, shop, other, was, "$revision", "$entered" FROM pet ORDER BY id'
    were = ran(database, rows)
    assert len(were) == 2
    assert opens(contract, database) and opens(contract, fresh)
    assert laid_out(database) == laid_out(fresh)
    assert ran(database, rows) == were
    users, pets = 'SELECT "$identity" FROM "user" ORDER BY mark', 'SELECT "$identity" FROM pet ORDER BY id'
    known = [*ran(database, users), *ran(database, pets)]
    assert len({each for (each,) in known if each}) == 5
    assert opens(contract, database)
    assert [*ran(database, users), *ran(database, pets)] == known
    ran(database, "DELETE FROM shop WHERE id = 'two'")
    assert ran(database, "SELECT id FROM pet") == [(3,)], "what refers to rows does so still"
    ran(database, """INSERT INTO pet (state, shop, "$revision") VALUES ('in', 'one', 'r')""")
    [(number, one)] = ran(database, """SELECT id, "$identity" FROM pet WHERE "$revision" = 'r'""")
    assert (one,) not in known and (number == 10 or kind == "postgresql"), "no number is given again"


@KINDS
def test_what_is_set_aside_meanwhile_keeps_them(tmp_path: Path, kind: str) -> None:
    """A resource or a field that the contract no longer has, and keys that no endpoint takes any more."""
    database = at(tmp_path, kind)
    assert opens(loaded(NUMBERED), database)
    ran(database, *ROWS, PETS)
    read = 'SELECT id, "$identity" FROM pet ORDER BY id'
    known = ran(database, read)
    begin, end = NUMBERED.index("  pet:\n"), NUMBERED.index("  note:\n")
    without = NUMBERED[:begin] + NUMBERED[end:]
    gone = edited(
        without,
        ("  pet: {initial: in, states: [in, out], transitions: {go: {from: in, to: out}}}\n", ""),
        ("{pet: {type: apiKey, in: header, name: Pet, matches: pet.key}, tok: {", "{tok: {"),
        ("[tok, pet, anyone]", "[tok, anyone]"),
    )
    keyless = edited(NUMBERED, *((new, old) for old, new in KEYS))
    for text in (gone, NUMBERED, edited(NUMBERED, ("      was:   {type: integer}\n", "")), keyless):
        assert opens(loaded(text), database)
        assert opens(loaded(NUMBERED), database)
        assert ran(database, read) == known


@KINDS
def test_they_come_with_whatever_else_an_upgrade_does(tmp_path: Path, kind: str) -> None:
    """Keys are taken from now on, by rows of which a field is set aside, is new, or is the primary key now."""
    edits = {
        "a field gone and another new": (
            ("      mark:  {type: string}\n", '      mark:  {type: string}\n      more:  {type: [integer, "null"]}\n'),
        ),
        "another primary key": (("primary key: [shop, place]", "primary key: mark"),),
    }  # fmt: skip
    for number, each in enumerate(edits.values()):
        (folder := tmp_path / str(number)).mkdir()
        database, text = at(folder, kind), edited(CONTRACT, *each)
        assert opens(loaded(SUBSCRIBED), database)
        with_tokens(database, kind)
        after = plan_of(loaded(text), database)
        done = upgrade_database(database, after, deciding(after.schema), Audit(after.stored, inf), True, None)
        assert done.goes, done.changes
        assert len(set(ran(database, 'SELECT "$identity" FROM "user"'))) == 3
        assert notes(database, text) == notes(database, text)


@pytest.mark.serves
def test_rows_get_them_while_nodes_serve_without_them_over_postgresql() -> None:
    """What is taken back leaves them: nobody's keys are another's later."""
    database, read = server.database(), 'SELECT mark, "$identity" FROM "user" ORDER BY mark'
    keyless, keyed = loaded(SUBSCRIBED), loaded(CONTRACT)
    after = plan_of(keyed, database)

    def serving(of: Loaded) -> Opened:
        plan = plan_of(of, database)
        opened = open_database(database, plan, judge=Audit(plan.stored, inf, Kept(of.source, lambda _: ())))
        assert isinstance(opened, Opened), opened
        return opened

    with closing(serving(keyless).database):
        ran(database, *ROWS)
        over = go_over(database, after, deciding(after.schema), OF_BEFORE)
        assert not over.refused
        known = ran(database, read)
        assert len({each for _, each in known if each}) == 3
    take_back(database)
    with closing(serving(keyless).database):
        new = """INSERT INTO "user" (shop, place, mark, "$revision") VALUES ('two', 'b', 'm4', 'r')"""
        ran(database, new)
        assert not go_over(database, after, deciding(after.schema), OF_BEFORE).refused
        with closing(serving(keyed).database):
            pass
    judge = Audit(after.stored, inf, Kept(keyed.source, lambda _: ()))
    come_to_its_end(database, after, deciding(after.schema), judge, OF_BEFORE)
    assert ran(database, read)[:3] == known and len(set(ran(database, read))) == 4
    fresh = server.database()
    assert opens(keyed, database) and opens(keyed, fresh)
    assert laid_out(database) == laid_out(fresh)


MANY = """INSERT INTO "user" (shop, place, mark, "$revision") SELECT 'one', 'p' || n, 'n' || n, 'r'
    FROM generate_series(1, 2500) AS n"""
WRITTEN = """SELECT pg_relation_filenode('"user"')"""
WITHOUT = 'SELECT count(*) - count("$identity"), count(DISTINCT "$identity") FROM "user"'
HAS = "SELECT is_nullable FROM information_schema.columns WHERE table_name = 'user' AND column_name = '$identity'"
NEW = """INSERT INTO "user" (shop, place, mark, "$revision") VALUES ('two', 'new', 'new', 'r')"""


@contextmanager
def served(database: str, of: Loaded) -> Iterator[None]:
    plan = plan_of(of, database)
    opened = open_database(database, plan, judge=Audit(plan.stored, inf, Kept(of.source, lambda _: ())))
    assert isinstance(opened, Opened), opened
    with closing(opened.database):
        yield


@pytest.mark.serves
def test_their_table_is_not_written_anew_over_postgresql() -> None:
    """Which would keep everybody from it for as long as it takes."""
    database, keyless, keyed = server.database(), loaded(SUBSCRIBED), loaded(CONTRACT)
    after = plan_of(keyed, database)
    with served(database, keyless):
        ran(database, *ROWS, MANY)
        before = ran(database, WRITTEN)
        revisions = ran(database, """SELECT mark, "$revision" FROM "user" ORDER BY 1""")
        assert not go_over(database, after, deciding(after.schema), OF_BEFORE).refused
        assert ran(database, WRITTEN) == before
        ran(database, NEW)
        assert ran(database, WITHOUT) == [(0, 2504)] and ran(database, HAS) == [("NO",)]
        now = ran(database, """SELECT mark, "$revision" FROM "user" WHERE mark <> 'new' ORDER BY 1""")
        assert now == revisions, "what callers see of a row is as it was"


@pytest.mark.serves
@pytest.mark.long
@pytest.mark.parametrize("at", range(1, 90) if LONG else [14, 27, 33, 36, 40, 44, 50])
@pytest.mark.parametrize("goes_on", [False, True], ids=["taken back", "gone on"])
def test_cut_off_rows_have_them_or_have_none_over_postgresql(
    at: int, goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some of its statements the connection ends, as where a process is killed."""
    database, keyless, keyed = server.database(), loaded(SUBSCRIBED), loaded(CONTRACT)
    after = plan_of(keyed, database)
    with served(database, keyless):
        ran(database, *ROWS, MANY)
        with monkeypatch.context() as patched:
            patched.setattr(postgresql_running, "asking", cut_off(at))
            with suppress(NotUpgraded):
                go_over(database, after, deciding(after.schema), OF_BEFORE)
        ran(database, NEW)  # as nodes of the contract before write
        between = ran(database, "SELECT 1 FROM \"$ninefold\" WHERE name = 'between'")
        if not goes_on and between:
            take_back(database)
    if not goes_on:
        with served(database, keyless):
            assert ran(database, HAS) in ([], [("NO",)])
        return
    with served(database, keyless):
        assert not go_over(database, after, deciding(after.schema), OF_BEFORE).refused
        assert ran(database, WITHOUT) == [(0, 2504)] and ran(database, HAS) == [("NO",)]
        with served(database, keyed):
            pass
    judge = Audit(after.stored, inf, Kept(keyed.source, lambda _: ()))
    come_to_its_end(database, after, deciding(after.schema), judge, OF_BEFORE)
    fresh = server.database()
    assert opens(keyed, database) and opens(keyed, fresh)
    assert laid_out(database) == laid_out(fresh)
