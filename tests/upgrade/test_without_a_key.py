"""A resource that has no primary key any more keeps one row, which has its key again under the contract of before, and
so have those who refer to it, over SQLite and PostgreSQL."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest
from tests.postgresql import server
from tests.upgrade.test_what_is_issued import deciding, loaded, opens, plan_of, ran

from ninefold.pipeline import Loaded
from ninefold.runtime.operator.audit import Audit
from ninefold.runtime.store.changing import Rehearsed
from ninefold.runtime.store.upgrading import upgrade_database

OLD = """\
purpose: Accounts with notes.
resources:
  account:
    primary key: id
    fields: {id: {type: string}, email: {type: string, on create: "''"}}
  note:
    primary key: id
    fields: {id: {type: string}, of: {references: account}}
states: {account: none, note: none}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /accounts/{id}: {does: read account, responses: {200: account}}
  GET /notes/{id}: {does: read note, responses: {200: note}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: none
limits: none
versioning: none
"""
NEW = (
    OLD.replace("primary key: id\n    fields: {id: {type: string}, email", "primary key: none\n    fields: {email", 1)
    .replace("/accounts/{id}", "/account")
    .replace(", of: {references: account}", "")
)


def upgraded(of: Loaded, database: str, *lines: str) -> Rehearsed:
    plan = plan_of(of, database)
    return upgrade_database(database, plan, deciding(plan.schema, *lines), Audit(plan.stored, inf), True, None)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.serves)])
@pytest.mark.parametrize("rows", [0, 3])
def test_one_row_stays_and_is_known_by_its_key_again(tmp_path: Path, kind: str, rows: int) -> None:
    database = str(tmp_path / "a.db") if kind == "sqlite" else server.database()
    old, new = loaded(OLD), loaded(NEW)
    assert opens(old, database)
    for number in range(rows):
        ran(
            database,
            f"""INSERT INTO account (id, email, "$revision") VALUES ('a{number}', '', 'r')""",
            f"""INSERT INTO note (id, "of", "$revision") VALUES ('n{number}', 'a{number}', 'r')""",
        )
    if rows:
        [asked] = [each for each in upgraded(new, database, "{aside: note.of}").changes if each.why]
        assert asked.why == ("the primary key of `account`, was `id` and is none, and of 3 rows one can stay",)
        assert asked.write == ("{remove rows: account, where: …}",)
    assert upgraded(new, database, "{remove rows: account, where: old.id != 'a1'}").made
    assert opens(new, database)
    assert opens(old, database) == (rows == 0), "notes of accounts that are gone"
    if rows:
        assert upgraded(old, database, "{remove rows: note, where: old.id != 'n1'}").made
        assert opens(old, database)
        joined = 'SELECT note.id, account.id FROM note JOIN account ON account.id = note."of"'
        assert ran(database, joined) == [("n1", "a1")]
