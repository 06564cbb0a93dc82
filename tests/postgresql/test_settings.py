"""What a database or its user has for settings changes nothing of what a service answers: where a session cannot have
its own, behind a pooler, one that would is refused, and so is one with which nothing can be served."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any, Final

import asyncpg
import pytest
from tests.contracts import SERVED, compiled
from tests.postgresql import server
from tests.postgresql.alike import told
from tests.postgresql.nodes import CONTRACT, hall, nodes, person
from tests.postgresql.test_pooled import pooled
from tests.postgresql.versions import VERSION
from tests.waiting import PATIENCE

from ninefold.runtime.store import postgresql_link
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_link import Link, Lost
from ninefold.runtime.store.protocol import Refused

ROUNDS: Final = "extra_float_digits = -15"
READS_ONLY: Final = "default_transaction_read_only = on"
SERIAL: Final = "default_transaction_isolation = 'serializable'"
FORGETS: Final = "synchronous_commit = off"
OF_A_SESSION: Final = (ROUNDS, READS_ONLY, SERIAL, FORGETS)
CUTS: Final = ("statement_timeout = '1h'", "lock_timeout = '1h'", "transaction_timeout = '1h'")
OTHERWISE: Final = (
    *OF_A_SESSION,
    "DateStyle = 'SQL, DMY'",
    "IntervalStyle = 'postgres_verbose'",
    "TimeZone = 'Asia/Kolkata'",
    "array_nulls = off",
    "backslash_quote = on",
    "bytea_output = 'escape'",
    "default_transaction_deferrable = on",
    "idle_in_transaction_session_timeout = '1ms'",
    "idle_session_timeout = '1ms'",
    "lock_timeout = '1ms'",
    "plan_cache_mode = 'force_generic_plan'",
    "plpgsql.extra_errors = 'all'",
    "plpgsql.variable_conflict = 'use_column'",
    "quote_all_identifiers = on",
    "standard_conforming_strings = off",
    "statement_timeout = '1ms'",
    "transform_null_equals = on",
    "xmloption = 'document'",
)
CASES: Final = ("shelves-that-show-their-items", "an-invariant-of-a-change")


def settled(url: str, *settings: str) -> str:
    name = url.partition("?")[0].rpartition("/")[2]
    server.run(url, *(f"ALTER DATABASE {name} SET {each}" for each in settings))
    return url


@pytest.mark.parametrize("case", CASES)
def test_no_setting_changes_what_is_answered(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = server.database
    monkeypatch.setattr(server, "database", lambda: settled(made(), *OTHERWISE))
    (directory,) = (each for each in SERVED if each.name == case)
    beside = told(directory, 0)
    assert beside.told and not beside.differences, "\n".join(beside.differences)


@pytest.mark.serves
def test_no_setting_changes_what_nodes_do_together() -> None:
    with nodes(settled(server.database(), *OTHERWISE), 1) as [node]:
        ann = person(node.client)
        made = node.client.post("/seats", json={"hall": hall(node.client, 1), "name": "a"}, headers=ann)
        assert made.status_code == 201
        assert [node.client.get("/limited").status_code for _ in range(21)] == [200] * 20 + [429]


def test_nothing_ends_a_session_or_what_it_does_but_what_it_sets_itself() -> None:
    timeouts = [name for (name,) in server.run(server.url("postgres"), _TIMEOUTS)]
    url = settled(server.database(), *(f"{each} = '1h'" for each in timeouts))

    async def shown() -> list[str]:
        link = await Link.open(url)
        try:
            return [each for each in timeouts if await link.value(f"SHOW {each}") != "0"]
        finally:
            await link.close()

    assert len(timeouts) > 3 and asyncio.run(shown()) == []


@pytest.mark.parametrize(("stated", "own"), [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")])
def test_what_is_answered_is_durable_or_more(stated: str, own: str) -> None:
    url = settled(server.database(), f"synchronous_commit = {stated}")

    async def shown() -> object:
        link = await Link.open(url)
        try:
            return await link.value("SHOW synchronous_commit")
        finally:
            await link.close()

    assert asyncio.run(shown()) == own


@pytest.mark.parametrize(("said", "own"), [("", "off"), ("jit=on", "on"), ("jit=off", "off")])
def test_no_statement_is_compiled_unless_the_operator_says_so(said: str, own: str) -> None:
    url = settled(server.database(), "jit = on")

    async def shown() -> object:
        link = await Link.open(url + ("&" if "?" in url else "?") + said if said else url)
        try:
            return await link.value("SHOW jit")
        finally:
            await link.close()

    assert asyncio.run(shown()) == own


_TIMEOUTS: Final = (
    "SELECT name FROM pg_settings WHERE name ~ '^(?!wal|tcp).*timeout$' AND context = 'user' AND unit = 'ms'"
)


@pytest.mark.skipif(int(VERSION) < 17, reason="a session begins with all of its settings")
def test_who_says_nothing_to_a_setting_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    execute = asyncpg.Connection.execute

    async def asleep(connection: Any, text: str, **bounds: float) -> Any:
        return await execute(connection, "SELECT pg_sleep(1000000)", **bounds)

    monkeypatch.setattr(asyncpg.Connection, "execute", asleep)
    monkeypatch.setattr(postgresql_link, "CONNECTING_SECONDS", 1.0)
    with pytest.raises(Lost):
        asyncio.run(asyncio.wait_for(Link.open(server.url("postgres")), PATIENCE))


@pytest.mark.parametrize("setting", [*OF_A_SESSION, *CUTS[: 2 + (int(VERSION) >= 17)]])
def test_behind_a_pooler_one_that_a_session_would_have_otherwise_is_refused(setting: str) -> None:
    url, plan = settled(server.database(), setting), compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    with pooled("pooler", url) as behind:
        opened = open_database(behind, plan, pooled=True)
    assert isinstance(opened, Refused) and f"its setting {setting.split()[0]} is " in opened.message


@pytest.mark.parametrize("parameter", ["connect_timeout=10", "channel_binding=require", "work_mem=a", "fsync=on"])
@pytest.mark.parametrize("by", [None, "pgbouncer"])
def test_a_parameter_of_the_url_that_nobody_takes_is_named(parameter: str, by: str | None) -> None:
    """None of the driver's, or not with that value; a pooler takes hardly any."""
    url, plan = server.database(), compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    with nullcontext(url) if by is None else pooled(by, url) as behind:
        joined = "&" if "?" in behind else "?"
        opened = open_database(f"{behind}{joined}{parameter}", plan, pooled=by is not None)
    assert isinstance(opened, Refused)
    assert opened.message.endswith(f"a parameter of its URL is not taken: {parameter.partition('=')[0]}")


def test_where_no_schema_is_to_be_found_that_is_said() -> None:
    url, plan = server.database(), compiled(CONTRACT).plan_for("postgresql")
    server.run(url, "DROP SCHEMA public")
    assert plan is not None
    opened = open_database(url, plan)
    assert isinstance(opened, Refused)
    assert opened.message.endswith("cannot be used: its search_path names no schema that is there")
