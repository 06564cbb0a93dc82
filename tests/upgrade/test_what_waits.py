"""Events that wait for rows of the contract's own wait for the same rows after an upgrade, whatever these and their
resource are called and known by then, over SQLite and PostgreSQL."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest
from tests.postgresql import server
from tests.upgrade.test_what_is_issued import deciding, loaded, opens, plan_of, ran

from ninefold.plan.schema import Schema
from ninefold.runtime.operator.audit import Audit
from ninefold.runtime.store.upgrading import upgrade_database
from ninefold.sql.events import key_of
from ninefold.sql.fragment import identifier
from ninefold.sql.postgresql import POSTGRESQL
from ninefold.sql.sqlite import SQLITE
from ninefold.upgrade.shape import receivers_key

CONTRACT = """\
purpose: Notes of which receivers are told.
resources:
  person:
    primary key: id
    fields:
      id:    {type: string}
      email: {type: string, unique: true}
    required: [id, email]
  receiver:
    primary key: [person, place]
    unique: [[url], [weight]]
    fields:
      person: {references: person, on delete: cascade}
      place:  {type: string}
      url:    {type: string}
      weight: {type: number}
    required: [person, place, url, weight]
  note:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, text: {type: string}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: [text], responses: {201: note}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events:
  kinds: {note.made: {upon: create note, payload: note}}
  delivery:
    webhooks: {to: receiver, where: true, url: receiver.url, signature: none, attempts: 1, backoff: [PT1S]}
errors: none
limits: none
versioning: {in: header, name: V, default: "2", versions: {"2": {}, "1": {changes: none}}, compatible: none}
"""
WEBHOOKS = CONTRACT.partition("  delivery:\n    ")[2].partition("\n")[0]
OF_PERSON = "primary key: id\n    fields:\n      id:    {"
KEY, FIELD = "primary key: [person, place]", "      place:  {"
RENAMED = (
    (KEY, "primary key: [person, spot]"),
    (FIELD, "      spot:   {"),
    ("[person, place, url", "[person, spot, url"),
)
SPOT = "{rename: receiver.place, to: receiver.spot}"
OF_MARY = "{remove rows: receiver, where: old.person == 'mary'}"
WAYS: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "what the key refers to": (((OF_PERSON, OF_PERSON.replace("key: id", "key: email")),), ()),
    "another name": (RENAMED, (SPOT,)),
    "another name, and other values": (RENAMED, (SPOT, "{set: receiver.spot, is: old.place == 'b' ? 'a' : 'b'}")),
    "another name, and rows go": (RENAMED, (SPOT, OF_MARY)),
    "another name of all": (
        (("  receiver:\n", "  door:\n"), ("to: receiver", "to: door"), ("receiver.url", "door.url")),
        ("{rename: receiver, to: door}",),
    ),
    "other values": ((), ("{set: receiver.place, is: old.place == 'b' ? 'a' : 'b'}",)),
    "other values, and rows go": ((), ("{set: receiver.place, is: old.place + 'x'}", OF_MARY)),
    "one text": (((KEY, "primary key: url"),), ()),
    "one number": (((KEY, "primary key: weight"),), ()),
    "a number among them": (((KEY, "primary key: [weight, person]"),), ()),
    "a new field": (
        ((KEY, "primary key: n"), (FIELD, "      n: {type: integer, on create: serial()}\n" + FIELD)),
        ("{set: receiver.n, is: int(old.url.substring(1))}",),
    ),
    "no webhooks meanwhile": (((KEY, "primary key: url"), (WEBHOOKS, "stream: server-sent events")), ()),
}  # fmt: skip
ROWS = (
    """INSERT INTO person (id, email, "$revision") VALUES ('john', 'j@x.org', 'r'), ('mary', 'm@x.org', 'r')""",
    """INSERT INTO receiver (person, place, url, weight, "$revision")
       VALUES ('john', 'a', 'u1', 1.5, 'r'), ('john', 'b', 'u2', 2.25, 'r'), ('mary', 'a', 'u3', 1e20, 'r')""",
    """INSERT INTO "$event" (id, kind, resource, row, time, payload)
       VALUES ('e', 'note.made', 'note', '[1]', 't', '{}')""",
)


def named(schema: Schema, database: str) -> str:
    dialect = SQLITE if "postgresql" not in database else POSTGRESQL
    assert schema.subscribers is not None
    return key_of(receivers_key(schema), identifier(schema.subscribers[0]), dialect).text


def waits(schema: Schema, database: str) -> list[tuple[str, ...]]:
    """The addresses of the rows that something waits for."""
    assert schema.subscribers is not None
    return ran(
        database,
        f"""SELECT url, version FROM {identifier(schema.subscribers[0])} JOIN "$subscription" AS kept
            ON kept.id = {named(schema, database)} JOIN "$delivery" AS waits ON waits.subscription = kept.id
            JOIN "$subscribed in" AS known ON known.id = kept.id ORDER BY url""",
    )


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])
@pytest.mark.parametrize("way", WAYS)
def test_it_waits_for_the_same_rows(tmp_path: Path, way: str, kind: str) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    edits, decisions = WAYS[way]
    text = CONTRACT
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    contracts = loaded(CONTRACT), loaded(text)
    before, after = (plan_of(each, database) for each in contracts)
    assert opens(contracts[0], database)
    called = named(before.schema, database)
    ran(
        database,
        *ROWS,
        f"""INSERT INTO "$subscription" (id, who, caller) SELECT {called}, 'anyone', 'null' FROM receiver""",
        f"""INSERT INTO "$delivery" (subscription, event, lane) SELECT {called}, 1, 'note [1]' FROM receiver""",
        f"""INSERT INTO "$subscribed in" SELECT {called}, url FROM receiver""",
    )
    expected = [("u1", "u1"), ("u2", "u2")] if "rows go" in way else [("u1", "u1"), ("u2", "u2"), ("u3", "u3")]
    for plan, lines in ((after, decisions), (before, ())):
        decide = deciding(plan.schema, *lines) if lines else deciding(plan.schema)
        done = upgrade_database(database, plan, decide, Audit(plan.stored, inf), True, None)
        if plan is before and not done.goes:
            break  # of a field with another name it is asked again
        assert done.goes, done.changes
        assert done.undelivered == (1 if lines and "rows go" in way else 0)
        if plan.schema.subscriptions:
            assert waits(plan.schema, database) == expected
    else:
        assert opens(contracts[0], database)
    schema = after.schema if not done.goes else before.schema
    # It ends with its row, as before.
    assert schema.subscribers is not None
    table = identifier(schema.subscribers[0])
    assert ran(database, f"DELETE FROM {table} WHERE url = 'u1'", 'SELECT count(*) FROM "$delivery"') == [
        (len(expected) - 1,)
    ]
