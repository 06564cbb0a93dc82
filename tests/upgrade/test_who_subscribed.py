"""Who subscribed is the same row after an upgrade, whatever it and its resource are called and known by then, over
SQLite and PostgreSQL: it is kept as a caller, by its primary key. What it subscribed to ends with it."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import pytest
from msgspec import structs
from tests.postgresql import server
from tests.upgrade.test_what_is_issued import deciding, loaded, opens, plan_of, ran

from ninefold.plan.schema import Schema
from ninefold.runtime.operator.audit import Audit
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened
from ninefold.runtime.store.upgrading import upgrade_database
from ninefold.sql.fragment import identifier

CONTRACT = """\
purpose: Notes of which subscribers are told.
resources:
  shop:
    primary key: id
    fields:
      id:   {type: string}
      code: {type: integer, unique: true}
    required: [id, code]
  user:
    primary key: [shop, place]
    unique: [[mark]]
    fields:
      shop:  {references: shop, on delete: cascade}
      place: {type: string}
      mark:  {type: string}
      key:   {type: [string, "null"], secret: token}
    required: [shop, place, mark]
  note:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, text: {type: string}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: [text], responses: {201: note}}
  POST /hooks: {does: create subscription, body: [url, kinds], responses: {201: {id: subscription.id}}}
authentication:
  schemes: {tok: {type: http, scheme: bearer, matches: user.key}}
  rows: all
  permissions: {all others: [tok, anyone]}
events:
  kinds: {note.made: {upon: create note, payload: note}}
  delivery: {webhooks: {to: subscription, signature: none, attempts: 1, backoff: [PT1S]}}
errors: none
limits: none
versioning: none
"""
KEY, FIELD, OF_SHOP = "primary key: [shop, place]", "      place: {", "primary key: id\n    fields:\n      id:   {"
RENAMED = ((KEY, "primary key: [shop, spot]"), (FIELD, "      spot:  {"), ("[shop, place, mark", "[shop, spot, mark"))
PERSON = (("  user:\n", "  person:\n"), ("user.key", "person.key"))
SPOT = "{rename: user.place, to: user.spot}"
OTHERS = "old.place == 'b' ? 'a' : 'b'"
WAYS: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "another name of all": (
        PERSON,
        ("{rename: user, to: person}",),
    ),
    "another name": (RENAMED, (SPOT,)),
    "another name, and other values": (RENAMED, (SPOT, f'{{set: user.spot, is: "{OTHERS}"}}')),
    "other values": ((), (f'{{set: user.place, is: "{OTHERS}"}}',)),
    "what the key refers to": (((OF_SHOP, OF_SHOP.replace("key: id", "key: code")),), ()),
    "one text": (((KEY, "primary key: mark"),), ()),
    "a new field": (
        ((KEY, "primary key: n"), (FIELD, "      n: {type: integer, on create: serial()}\n" + FIELD)),
        ("{set: user.n, is: int(old.mark.substring(1))}",),
    ),
    "both at once": (
        (*PERSON, (KEY, "primary key: mark")),
        ("{rename: user, to: person}",),
    ),
}  # fmt: skip
ROWS = (
    """INSERT INTO shop (id, code, "$revision") VALUES ('one', 1, 'r'), ('two', 2, 'r')""",
    """INSERT INTO "user" (shop, place, mark, "$revision")
       VALUES ('one', 'a', 'm1', 'r'), ('one', 'b', 'm2', 'r'), ('two', 'a', 'm3', 'r')""",
)
IDS = {each: f"00000000-0000-4000-8000-00000000000{number}" for number, each in enumerate(("m1", "m2", "m3", "nobody"))}
BEFORE = {"m1": ("one", "a"), "m2": ("one", "b"), "m3": ("two", "a")}


def subscribed(schema: Schema, database: str) -> dict[str, str]:
    """By the mark of the row that is each caller, the subscription; of callers whose row is not found, none."""
    name = next(each.name for each in schema.tables if each.name in ("user", "person"))
    key = next(each.key for each in schema.tables if each.name == name)
    columns = ", ".join(identifier(each) for each in (*key, "mark"))
    rows = {tuple(known): mark for *known, mark in ran(database, f"SELECT {columns} FROM {identifier(name)}")}
    found = {}
    for id, caller in ran(database, 'SELECT id, caller FROM "$subscription" ORDER BY id'):
        kept = (json.loads(str(caller)) or {}).get(name, {})
        mark = rows.get(tuple(kept.get(each) for each in key))
        if mark is not None:
            found[str(mark)] = str(id)
    return found


def all_subscribe(database: str) -> None:
    callers = {mark: json.dumps({"user": {"shop": shop, "place": place}}) for mark, (shop, place) in BEFORE.items()}
    callers["nobody"] = "null"
    ran(database, *ROWS)
    for mark, caller in callers.items():
        ran(
            database,
            f"""INSERT INTO subscription (id, url, kinds, "$revision")
                VALUES ('{IDS[mark]}', 'https://x.example/', '["note.made"]', 'r')""",
            f"""INSERT INTO "$subscription" (id, who, caller) VALUES ('{IDS[mark]}', 'anyone', '{caller}')""",
        )


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])
@pytest.mark.parametrize("way", WAYS)
def test_they_are_the_same_rows(tmp_path: Path, way: str, kind: str) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    edits, decisions = WAYS[way]
    text = CONTRACT
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    contracts = loaded(CONTRACT), loaded(text)
    before, after = (plan_of(each, database) for each in contracts)
    assert opens(contracts[0], database)
    all_subscribe(database)
    expected = {mark: IDS[mark] for mark in BEFORE}
    assert subscribed(before.schema, database) == expected
    decide = deciding(after.schema, *decisions) if decisions else deciding(after.schema)
    done = upgrade_database(database, after, decide, Audit(after.stored, inf), True, None)
    assert done.goes, done.changes
    assert subscribed(after.schema, database) == expected
    assert opens(contracts[1], database)
    assert ran(database, """SELECT caller FROM "$subscription" WHERE caller = 'null'""") == [("null",)]
    name = "person" if ("  user:\n", "  person:\n") in edits else "user"
    ran(database, f"DELETE FROM {identifier(name)} WHERE mark = 'm2'")
    left = [(IDS["m1"],), (IDS["m3"],), (IDS["nobody"],)]
    assert ran(database, 'SELECT id FROM "$subscription" ORDER BY id') == left


def left_of(database: str) -> list[str]:
    """Of the subscriptions, those that have not ended."""
    marks = {id: mark for mark, id in IDS.items()}
    return [marks[str(id)] for (id,) in ran(database, 'SELECT id FROM "$subscription" ORDER BY id')]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])
@pytest.mark.parametrize("also", [(), ("{set: user.place, is: \"'b'\", where: old.mark == 'm3'}",)])
def test_what_they_subscribed_to_ends_where_an_upgrade_removes_them(
    tmp_path: Path, also: tuple[str, ...], kind: str
) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    contract = loaded(CONTRACT)
    assert opens(contract, database)
    all_subscribe(database)
    plan = plan_of(contract, database)
    decide = deciding(plan.schema, *also, "{remove rows: user, where: old.mark == 'm2'}")
    assert upgrade_database(database, plan, decide, Audit(plan.stored, inf), True, None).made
    assert left_of(database) == ["m1", "m3", "nobody"]
    assert subscribed(plan.schema, database) == {"m1": IDS["m1"], "m3": IDS["m3"]}


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])
def test_in_a_database_of_before_it_ends_from_the_next_start_on(tmp_path: Path, kind: str) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    contract = loaded(CONTRACT)
    plan = plan_of(contract, database)
    opened = open_database(database, structs.replace(plan, schema=structs.replace(plan.schema, callers=())))
    assert isinstance(opened, Opened)
    opened.database.close()
    all_subscribe(database)
    ran(database, """DELETE FROM "user" WHERE mark = 'm1'""")
    assert left_of(database) == [*IDS]
    assert opens(contract, database)
    assert left_of(database) == ["m2", "m3", "nobody"]
    ran(database, """DELETE FROM "user" WHERE mark = 'm2'""")
    assert left_of(database) == ["m3", "nobody"]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])
def test_it_does_not_end_while_its_row_is_set_aside(tmp_path: Path, kind: str) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    begin, end = CONTRACT.index("  user:\n"), CONTRACT.index("  note:\n")
    without = CONTRACT[:begin] + CONTRACT[end:]
    for old, new in (("{tok: {type: http, scheme: bearer, matches: user.key}}", "none"), ("[tok, anyone]", "anyone")):
        assert without.count(old) == 1
        without = without.replace(old, new)
    assert opens(loaded(CONTRACT), database)
    all_subscribe(database)
    assert opens(loaded(without), database)
    assert left_of(database) == [*IDS]
    assert opens(loaded(CONTRACT), database)
    assert left_of(database) == [*IDS]
    ran(database, """DELETE FROM "user" WHERE mark = 'm2'""")
    assert left_of(database) == ["m1", "m3", "nobody"]
