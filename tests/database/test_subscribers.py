"""Whose subscriptions end with a row, or follow it, is looked up: nobody waits for many rows that go at once."""

from __future__ import annotations

import apsw
import pytest
from tests.postgresql import server

from ninefold.sql.subscribers import postgresql_triggers, triggers

OWN = 'CREATE TABLE "$subscription" (id TEXT PRIMARY KEY, caller TEXT NOT NULL)'


@pytest.mark.parametrize("key", [("name",), ("team", "a 'name'")])
def test_a_trigger_of_sqlite_finds_by_an_index(key: tuple[str, ...]) -> None:
    connection = apsw.Connection(":memory:")
    columns = ", ".join(f'"{name}"' for name in key)
    for statement in (f"CREATE TABLE user ({columns}, PRIMARY KEY ({columns}))", OWN, *triggers("user", key) * 2):
        connection.execute(statement)
    changes = [each.rpartition(" BEGIN ")[2].removesuffix("; END") for each in triggers("user", key) if "BEGIN" in each]
    assert len(changes) == 2
    for change in changes:
        for name in key:
            change = change.replace(f'OLD."{name}"', "'a'").replace(f'NEW."{name}"', "'b'")
        plan = connection.execute(f"EXPLAIN QUERY PLAN {change}").fetchall()
        assert any("USING INDEX $subscription of user" in str(step) for step in plan), (change, plan)


def test_a_trigger_of_postgresql_has_an_index_to_find_by() -> None:
    at = server.database()
    server.run(at, OWN, 'CREATE TABLE "user" (name text PRIMARY KEY)', *postgresql_triggers("user", ("name",)) * 2)
    asked = """EXPLAIN DELETE FROM "$subscription"
        WHERE CAST("$subscription".caller AS jsonb) @> jsonb_build_object('user', '{"name": "a"}'::jsonb)"""
    plan = server.run(at, "SET enable_seqscan = off", asked)
    assert any("$subscription of callers" in str(step) for step in plan), plan
    found = """INSERT INTO "$subscription" SELECT 'of ' || name, jsonb_build_object('user', jsonb_build_object('name',
        name, 'more', 1))::text FROM unnest(ARRAY['a', 'b', 'c']) AS name"""
    server.run(at, "INSERT INTO \"user\" VALUES ('a'), ('b'), ('c')", found)
    server.run(at, "DELETE FROM \"user\" WHERE name = 'a'", "UPDATE \"user\" SET name = 'd' WHERE name = 'b'")
    rest = server.run(at, "SELECT id, caller::jsonb #>> '{user,name}' FROM \"$subscription\" ORDER BY id")
    assert [tuple(each) for each in rest] == [("of b", "d"), ("of c", "c")]
