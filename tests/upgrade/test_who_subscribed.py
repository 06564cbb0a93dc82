"""Who subscribed is the same row after an upgrade, whatever it and its resource are called and known by then, over
SQLite and PostgreSQL: it is kept as a caller, by its primary key."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import pytest
from tests.postgresql import server
from tests.upgrade.test_what_is_issued import deciding, loaded, opens, plan_of, ran

from ninefold.plan.schema import Schema
from ninefold.runtime.operator.audit import Audit
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
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events:
  kinds: {note.made: {upon: create note, payload: note}}
  delivery: {webhooks: {to: subscription, signature: none, attempts: 1, backoff: [PT1S]}}
errors: none
limits: none
versioning: none
"""
KEY, FIELD, OF_SHOP = "primary key: [shop, place]", "      place: {", "primary key: id\n    fields:\n      id:   {"
RENAMED = ((KEY, "primary key: [shop, spot]"), (FIELD, "      spot:  {"), ("[shop, place, mark", "[shop, spot, mark"))
SPOT = "{rename: user.place, to: user.spot}"
OTHERS = "old.place == 'b' ? 'a' : 'b'"
WAYS: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "another name of all": (
        (("  user:\n", "  person:\n"),),
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
        (("  user:\n", "  person:\n"), (KEY, "primary key: mark")),
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
    expected = {mark: IDS[mark] for mark in BEFORE}
    assert subscribed(before.schema, database) == expected
    decide = deciding(after.schema, *decisions) if decisions else deciding(after.schema)
    done = upgrade_database(database, after, decide, Audit(after.stored, inf), True, None)
    assert done.goes, done.changes
    assert subscribed(after.schema, database) == expected
    assert opens(contracts[1], database)
    assert ran(database, """SELECT caller FROM "$subscription" WHERE caller = 'null'""") == [("null",)]
