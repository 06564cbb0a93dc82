"""Deadlocks with a session that is not ours, of which the transaction of a node is the victim: it is done again, and
whoever waits for it hears of nothing."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, Final

import asyncpg
import pytest
from tests.contracts import compiled
from tests.events.receiver import Answer, receiving
from tests.http_cases import serving
from tests.postgresql import server
from tests.postgresql.nodes import nodes, person
from tests.postgresql.test_running import contracted, expanded, node
from tests.postgresql.test_series import ADD, INSERT, single, together
from tests.postgresql.test_upgrade import beside
from tests.upgrade.test_a_strangers_way import is_served
from tests.upgrade.test_matrix import databases, path
from tests.waiting import until

from ninefold.pipeline import compile_document
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_marks import WRITE
from ninefold.runtime.store.protocol import Opened

__all__ = ["beside", "databases", "path"]

HERE: Final = Path(__file__).parent
ACCOUNTS: Final = HERE.parents[1] / "benchmarks" / "peers" / "accounts.md"
"""Without events: nothing is told to others when something was written."""

SEATS: Final = (
    (HERE / "contract.md")
    .read_text(encoding="utf-8")
    .replace("after: PT2S", "after: P2D")
    .replace(
        "GET /seats/{id}:",
        "PATCH /seats/{id}: {does: update seat, body: [name], patch: merge, responses: {200: seat},"
        " also: [{does: update hall, where: hall == this.hall, sets: {most: hall.most + 1}}]}\nGET /seats/{id}:",
    )
)

pytestmark = pytest.mark.serves

OUTSIDER, IN_BETWEEN = 4711, 4712
"""Locks that say that there is a session that is not ours, and that a node's transaction waits for it to ask."""

_OF_HERE = "locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
_WAITS = f"""
CREATE OR REPLACE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_locks WHERE {_OF_HERE} AND pid = pg_backend_pid()
    AND (classid::bigint << 32 | objid::bigint) = hashtextextended('ninefold writes ' || current_schema(), 0))
  THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock_shared({IN_BETWEEN});
  WHILE EXISTS (SELECT FROM pg_locks AS own WHERE {_OF_HERE} AND objid = {OUTSIDER}
    AND NOT EXISTS (SELECT FROM pg_locks AS wanted WHERE wanted.pid = own.pid AND NOT wanted.granted))
  LOOP
    PERFORM pg_sleep(0.005);
  END LOOP;
  RETURN NULL;
END $$"""
"""What is done under the lock of those who write goes on once the other session waits for that."""

_COMES = f"""
DO $$ BEGIN
  WHILE NOT EXISTS (SELECT FROM pg_locks WHERE {_OF_HERE} AND objid = {IN_BETWEEN}) LOOP
    PERFORM pg_sleep(0.005);
  END LOOP;
END $$"""
"""Until a transaction of a node waits so."""


@contextmanager
def crossed(url: str, held: str, table: str) -> Iterator[None]:
    """A session holds what a statement locks, and asks for the lock under which nodes write as soon as one of them is
    about to change a table. A node is always the victim: the other one looks for deadlocks after an hour."""
    name = url.partition("?")[0].rpartition("/")[2]
    before = _deadlocks(name)
    server.run(
        url,
        _WAITS,
        f'CREATE OR REPLACE TRIGGER waits BEFORE INSERT OR UPDATE OR DELETE ON "{table}" EXECUTE FUNCTION waits()',
    )
    with ThreadPoolExecutor(1) as threads:
        ready = Event()

        async def outside() -> None:
            connection = await asyncpg.connect(url)
            try:
                await connection.execute(f"SET deadlock_timeout = '1h'; SELECT pg_advisory_lock({OUTSIDER})")
                await connection.execute("BEGIN")
                assert await connection.fetch(held)
                ready.set()
                await connection.execute(_COMES)
                await connection.execute(WRITE)
                await connection.execute("COMMIT")
            finally:
                await connection.close()

        crossing = threads.submit(asyncio.run, outside())
        until(lambda: ready.is_set() or crossing.done())
        try:
            yield
        except BaseException:
            ends = f"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE {_OF_HERE} AND objid = {OUTSIDER}"
            server.run(url, ends)
            raise
        crossing.result()
    server.run(url, f'DROP TRIGGER waits ON "{table}"')
    assert _deadlocks(name) == before + 1


def _deadlocks(database: str) -> int:
    log = (server.directory() / "log").read_text(encoding="utf-8", errors="replace")
    return log.count(f"{database} ERROR:  deadlock detected")


def _at_once(url: str) -> str:
    """Sessions look for a deadlock as soon as they wait."""
    server.run(url, f"ALTER DATABASE {url.partition('?')[0].rpartition('/')[2]} SET deadlock_timeout = '5ms'")
    return url


@pytest.fixture
def url() -> str:
    return _at_once(server.database())


HALL: Final = "SELECT 1 FROM hall WHERE id = 1 FOR UPDATE"
"""Who makes a seat there waits."""

SEAT: Final = "SELECT 1 FROM seat WHERE id = 1 FOR UPDATE"


def test_a_write_that_is_the_victim_is_done_again(url: str) -> None:
    plan = compile_document("contract.md", SEATS.encode()).plan_for("postgresql")
    assert plan is not None
    with serving(plan, url, {}) as client:
        who = person(client)

        def ask(method: str, path: str, status: int, json: Any = None, key: str = "") -> Any:
            headers = who | ({"Idempotency-Key": key} if key else {})
            made = client.request(method, path, json=json, headers=headers)
            assert made.status_code == status, made.text
            return made.json()

        ask("POST", "/halls", 201, {"most": 10})
        for number, key in enumerate(("", "key"), 1):
            with crossed(url, HALL, "seat"):
                made = ask("POST", "/seats", 201, {"hall": 1, "name": f"s{number}"}, key)
            assert made["id"] == number
        assert ask("POST", "/seats", 201, {"hall": 1, "name": "s2"}, "key") == made
        # What has effects is begun anew by its request; the hall is changed once.
        with crossed(url, HALL, "seat"):
            ask("PATCH", "/seats/1", 200, {"name": "renamed"})
        assert server.run(url, "SELECT most FROM hall") == [(11,)]
        with crossed(url, SEAT, "seat"):
            assert ask("POST", "/seats/1/keep", 200)["status"] == "kept"
        ask("POST", "/seats/1/keep", 409)
        # What is due is taken, though its sweep was the victim.
        server.run(url, "UPDATE seat SET \"$entered\" = '2001-01-01T00:00:00.000000Z' WHERE id = 2")
        with crossed(url, "SELECT 1 FROM seat WHERE id = 2 FOR UPDATE", "seat"):
            server.run(url, "UPDATE \"$due\" SET due = ''")
            assert ask("GET", "/seats/2", 200)["status"] == "lapsed"
        kinds = server.run(url, 'SELECT kind FROM "$event" ORDER BY seq')
        assert kinds == [("seat.made",), ("seat.made",), ("seat.kept",), ("seat.lapsed",)]


def test_a_delivery_is_made_once_though_its_note_was_the_victim(url: str, tmp_path: Path) -> None:
    contract, come = tmp_path / "contract.md", Event()
    contract.write_text(SEATS, encoding="utf-8")
    with receiving(lambda _: Answer(until=come)) as receiver, nodes(url, 1, contract=contract) as [node]:
        who = person(node.client)
        node.client.post("/halls", json={"most": 10})
        asked = {"url": receiver.url, "kinds": ["seat.made"]}
        assert node.client.post("/webhooks", json=asked, headers=who).status_code == 201
        assert node.client.post("/seats", json={"hall": 1, "name": "s"}, headers=who).status_code == 201
        receiver.until(1)
        with crossed(url, 'SELECT 1 FROM "$delivery" FOR UPDATE', "$delivery"):
            come.set()
            until(lambda: server.run(url, 'SELECT count(*) FROM "$delivery"') == [(0,)])
        assert len(receiver.came) == 1


@pytest.mark.parametrize("contract", [HERE / "contract.md", ACCOUNTS], ids=["with a log", "without"])
def test_of_a_batch_all_are_done(url: str, contract: Path) -> None:
    """Whichever of them was the victim: who had come to an end before it is told the truth, too."""
    plan = compiled(contract).plan_for("postgresql")
    assert plan is not None
    found = open_database(url, plan)
    assert isinstance(found, Opened), found
    server.run(url, "CREATE TABLE t (id bigint PRIMARY KEY, n bigint)", "INSERT INTO t VALUES (1, 0), (2, 0)")
    held = "SELECT 1 FROM t WHERE id = 1 FOR UPDATE"
    try:
        with crossed(url, held, "t"):
            assert together(found.database, single(INSERT, 5, None), single(ADD, 1, 1)) == [(5, "t"), (1,)]
        with crossed(url, held, "t"):
            adds = [single(ADD, 2, 1), single(ADD, 1, 1), single(ADD, 2, 1)]
            assert together(found.database, single(INSERT, 6, None), *adds) == [(6, "t"), (1,), (2,), (2,)]
        assert server.run(url, "SELECT id, n FROM t ORDER BY id") == [(1, 2), (2, 2), (5, None), (6, None)]
    finally:
        found.database.close()


def test_a_statement_by_itself_is_asked_again(url: str) -> None:
    """Of a serialization failure as of a deadlock, whoever raises it."""
    plan = compiled(ACCOUNTS).plan_for("postgresql")
    assert plan is not None
    found = open_database(url, plan)
    assert isinstance(found, Opened), found
    # What a sequence has counted is not undone.
    yields = (
        "CREATE FUNCTION yields() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN IF nextval('tries') < 4"
        " THEN RAISE EXCEPTION USING ERRCODE = 'serialization_failure'; END IF; RETURN 1; END $$"
    )
    server.run(url, "CREATE SEQUENCE tries", yields, "CREATE TABLE t (id bigint, n bigint)")

    async def read() -> list[Any]:
        rows = found.database.select("SELECT yields()", ())
        assert isinstance(rows, Future)
        return await rows

    try:
        assert asyncio.run(read()) == [(1,)]
        server.run(url, "ALTER SEQUENCE tries RESTART")
        insert = single("INSERT INTO t SELECT CAST(? AS bigint), yields() RETURNING id, n", 5)
        assert together(found.database, insert) == [(5, 1)]
        assert server.run(url, "SELECT id FROM t") == [(5,)]
    finally:
        found.database.close()


@pytest.mark.parametrize("rows", [3])
def test_what_an_upgrade_notes_is_noted_though_it_was_the_victim(beside: str, rows: int) -> None:
    name = "required → optional"
    assert is_served(_at_once(beside), "")
    server.run(beside, "INSERT INTO \"$ninefold\" VALUES ('upgrades', '[]')")
    with node(beside, ""):
        expanded(beside, name)
    with crossed(beside, "SELECT 1 FROM \"$ninefold\" WHERE name = 'upgrades' FOR UPDATE", "$ninefold"):
        contracted(beside, name)
    assert is_served(beside, name)
