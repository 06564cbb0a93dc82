"""What is kept beside rows knows them by their primary key, and goes with it: credentials that were issued before an
upgrade are those of the same rows after it, over SQLite and PostgreSQL."""

from __future__ import annotations

from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.postgresql import server

from ninefold.diagnostics.source import Source
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.audit import Audit
from ninefold.runtime.store.changing import Decide
from ninefold.runtime.store.opening import kind_of, open_database
from ninefold.runtime.store.protocol import Opened
from ninefold.runtime.store.record import Known
from ninefold.runtime.store.upgrading import upgrade_database
from ninefold.tools.decisions import document
from ninefold.tools.decisions.decide import decide
from ninefold.upgrade.changes import Outcome

CONTRACT = """\
purpose: Accounts with keys.
resources:
  account:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      email: {type: string, maxLength: 80, unique: true}
    required: [email]
states: {account: none}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /accounts: {does: create account, body: [email], issues: key, responses: {201: {key: caller.credential}}}
  GET /me: {does: read account, where: account == caller.account, responses: {200: account}}
authentication:
  schemes: {key: {type: http, scheme: bearer, issued to: account, lasts: P1D, scopes: [reads], granted: "['reads']"}}
  rows: all
  permissions: {POST /accounts: anyone, all others: key}
events: none
errors: none
limits: none
versioning: none
"""
GIVEN = "required: [email]", "required: [id, email]"
WAYS = {
    "another field": ((("primary key: id", "primary key: email"),), (), "email"),
    "another type": (
        (
            ("id:    {type: integer, on create: serial()}", "id:    {type: string}"),
            GIVEN,
        ),
        ("{set: account.id, is: \"'a' + string(old.id)\"}",),
        "id",
    ),
    "another name": (
        (("id:    {", "number: {"), ("primary key: id", "primary key: number")),
        ("{rename: account.id, to: account.number}",),
        "number",
    ),
    "a number": (
        (("{type: integer, on create: serial()}", "{type: number}"), GIVEN),
        (),
        "id",
    ),
    "other values": ((), ("{set: account.id, is: old.id + 100}",), "id"),
    "several fields": ((("primary key: id", "primary key: [id, email]"),), (), "id"),
}
DIGEST = sha256(b"one").digest()


def loaded(text: str) -> Loaded:
    found = compile_document("accounts.yaml", text.encode())
    assert found.plan is not None, [each.message for each in found.diagnostics]
    return found


def plan_of(of: Loaded, database: str) -> ServicePlan:
    plan = of.plan_for(kind_of(database))
    assert plan is not None
    return plan


def opens(of: Loaded, database: str) -> bool:
    opening = open_database(database, plan_of(of, database))
    if isinstance(opening, Opened):
        opening.database.close()
    return isinstance(opening, Opened)


def deciding(wanted: Schema, *lines: str) -> Decide:
    read = document.read(Source("a.upgrade.yaml", "\n".join(["changes:", *(f"  - {each}" for each in lines)])))

    def decided(stored: Schema, known: Known) -> Outcome:
        found, wrong = decide(read.value, stored, wanted)
        assert not wrong, [each.message for each in wrong]
        return found

    return decided


def ran(database: str, *statements: str) -> list[tuple[Any, ...]]:
    if database.startswith("postgresql:"):
        return [tuple(row) for row in server.run(database, *statements)]
    connection = apsw.Connection(database)
    connection.pragma("foreign_keys", True)
    found: list[tuple[Any, ...]] = []
    for each in statements:
        found = connection.execute(each).fetchall()
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    return found


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])
@pytest.mark.parametrize("way", WAYS)
def test_credentials_are_those_of_the_same_rows(tmp_path: Path, way: str, kind: str) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    edits, decisions, key = WAYS[way]
    text = CONTRACT
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    before, after = loaded(CONTRACT), loaded(text)
    assert opens(before, database)
    digest = f"x'{DIGEST.hex()}'" if kind == "sqlite" else f"'\\x{DIGEST.hex()}'"
    ran(
        database,
        """INSERT INTO account (id, email, "$revision") VALUES (7, 'e7', 'r')""",
        """INSERT INTO account (id, email, "$revision") VALUES (8, 'e8', 'r')""",
        f"""INSERT INTO "$credential account" ("$digest", "$scheme", id) VALUES ({digest}, 'key', 8)""",
        f"""INSERT INTO "$scopes account" VALUES ({digest}, '["reads"]')""",
    )
    plan = plan_of(after, database)
    decide_ = deciding(plan.schema, *decisions) if decisions else deciding(plan.schema)
    done = upgrade_database(database, plan, decide_, Audit(plan.stored, inf), True, None)
    assert done.made, done.changes
    assert opens(after, database)
    of = f'SELECT account.email FROM account JOIN "$credential account" AS known ON known."{key}" = account."{key}"'
    assert ran(database, of) == [("e8",)]
    assert ran(database, 'SELECT "$scopes" FROM "$scopes account"')[0][0] == '["reads"]'
    # They end with their row, as before.
    ended = 'SELECT count(*) FROM "$scopes account"'
    assert ran(database, "DELETE FROM account WHERE email = 'e8'", ended) == [(0,)]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])
@pytest.mark.parametrize("key", ["id", "[id, email]"])
def test_credentials_end_with_rows_that_are_removed(tmp_path: Path, key: str, kind: str) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    contract = loaded(CONTRACT.replace("primary key: id", f"primary key: {key}"))
    assert opens(contract, database)
    named = ", ".join(contract.plan.schema.tables[0].key) if contract.plan is not None else ""
    for number in (7, 8):
        digest = sha256(bytes([number])).hexdigest()
        written = f"x'{digest}'" if kind == "sqlite" else f"'\\x{digest}'"
        ran(
            database,
            f"""INSERT INTO account (id, email, "$revision") VALUES ({number}, 'e{number}', 'r')""",
            f"""INSERT INTO "$credential account" ("$digest", "$scheme", {named})
                SELECT {written}, 'key', {named} FROM account WHERE id = {number}""",
            f"""INSERT INTO "$scopes account" VALUES ({written}, '["{number}"]')""",
        )
    plan = plan_of(contract, database)
    decide_ = deciding(plan.schema, "{remove rows: account, where: old.id == 7}")
    done = upgrade_database(database, plan, decide_, Audit(plan.stored, inf), True, None)
    assert done.made and done.removed == (("account", 1),)
    assert ran(database, 'SELECT id FROM "$credential account"') == [(8,)]
    assert ran(database, 'SELECT "$scopes" FROM "$scopes account"') == [('["8"]',)]
