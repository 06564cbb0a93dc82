"""A service behind a pooler that gives each transaction another connection of PostgreSQL: it answers as it does without
one, and leaves nothing in a session. Behind PgBouncer where it is on the PATH, and behind a pooler of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from msgspec.structs import replace
from tests.contracts import SERVED
from tests.events.receiver import receiving
from tests.http_cases import serving
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, Load, hall, judge, nodes, person
from tests.postgresql.pooler import bouncing, pooling
from tests.postgresql.test_service import answers, planned
from tests.slices import LONG, some
from tests.waiting import until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import postgresql_leases, postgresql_serving
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_link import Link
from ninefold.runtime.store.protocol import Opened, Refused
from ninefold.runtime.store.upgrading import drop_from

pytestmark = pytest.mark.serves


@contextmanager
def pooled(by: str, url: str) -> Iterator[str]:
    """The URL of a database behind a pooler. Behind our own nothing may be left in a session."""
    name, before = url.partition("?")[0].rpartition("/")[2], Path(url.partition("host=")[2])
    if by == "pgbouncer":
        with bouncing(name, before) as found:
            yield found
    else:
        with pooling(name, before) as (found, pooler):
            yield found
        assert pooler.most > 1 and not pooler.left, pooler.left


BOTH = pytest.mark.parametrize("by", ["pooler", "pgbouncer"])


@BOTH
def test_each_kind_of_request_leaves_nothing_in_a_session(by: str) -> None:
    """Sixteen at a time over four connections; nodes beside each other; webhooks, a stream, timers and rates."""
    url = server.database()
    with pooled(by, url) as behind, receiving() as receiver, nodes(behind, 2, "--pooled") as both:
        one, other = (each.client for each in both)
        who, where = person(one), hall(one, 20)
        told = one.post("/webhooks", json={"url": receiver.url, "kinds": ["seat.made", "seat.lapsed"]}, headers=who)
        assert told.status_code == 201

        def seat(number: int) -> httpx.Response:
            headers = who | ({"Idempotency-Key": f"k{number % 4}"} if number % 2 else {})
            name = f"s{number % 4}" if number % 2 else f"t{number}"
            return both[number % 2].client.post("/seats", json={"hall": where, "name": name}, headers=headers)

        with ThreadPoolExecutor(16) as threads:
            made = list(threads.map(seat, range(32)))
            # Without a key each makes one; of those with one key one does, and others are answered alike or wait.
            assert all(each.status_code == 201 for each in made[::2])
            for each in made[1::2]:
                assert each.status_code == 201 or each.json()["code"] == "key_busy", each.text
            ids = {each.json()["id"] for each in made if each.status_code == 201}
            assert len(ids) == 16 + 2 == len(other.get("/seats", headers=who).json()["data"])
            more = [each.status_code for each in threads.map(seat, range(100, 110, 2))]
            assert sorted(more) == [201, 201, 409, 409, 409], "the hall is full"
            limited = [
                each.status_code for each in threads.map(lambda n: both[n % 2].client.get("/limited"), range(30))
            ]
            assert sorted(limited) == [200] * 20 + [429] * 10
        first = min(ids)
        assert one.get(f"/seats/{first}", headers=who).json()["id"] == first
        assert other.get("/seats/1000", headers=who).status_code == 404
        with other.stream("GET", "/events", headers=who) as stream:
            assert one.post("/seats", json={"hall": hall(one, 1), "name": "told"}, headers=who).status_code == 201
            assert any(line.startswith("data:") for line in stream.iter_lines()), "what the other one wrote is told"
        until(lambda: all(each["status"] == "lapsed" for each in other.get("/seats", headers=who).json()["data"]))
        assert one.post(f"/seats/{first}/keep", headers=who).status_code == 409
        until(lambda: len({each.json["id"] for each in receiver.good()}) == 2 * 21)
        assert (
            one.post("/sign-out", headers=who).status_code == 204 and other.get("/me", headers=who).status_code == 401
        )
        assert other.get("/me", headers={"Authorization": "Bearer x"}).status_code == 401
        assert one.post("/people", json={"name": 3}).status_code == 422


def test_it_is_known_who_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """By leases as by sessions: another contract, what keeps it otherwise, and whoever wants it alone are refused."""
    url, plan = server.database(), planned(CONTRACT)
    other = replace(plan, limits=replace(plan.limits, said={"body size": 1}))

    def refused(plan: ServicePlan, behind: str, pooled: bool) -> bool:
        with monkeypatch.context() as patience:
            patience.setattr(postgresql_serving, "SETTLING_SECONDS", 0.0)  # nobody is about to leave
            found = open_database(behind, plan, pooled=pooled)
        if isinstance(found, Opened):
            found.database.close()
        return isinstance(found, Refused) and found.held

    with pooled("pooler", url) as behind:
        one, beside = open_database(behind, plan, pooled=True), open_database(behind, plan, pooled=True)
        assert isinstance(one, Opened) and one.created and isinstance(beside, Opened) and not beside.created
        beside.database.close()
        assert refused(other, behind, True) and refused(plan, url, False) and refused(other, url, False)
        with pytest.raises(NotUpgraded, match="is served by a process"):
            drop_from(url, ("x",))
        one.database.close()
        direct = open_database(url, other)
        assert isinstance(direct, Opened)
        assert refused(other, behind, True) and refused(plan, behind, True)
        direct.database.close()
        last = open_database(behind, plan, pooled=True)
        assert isinstance(last, Opened)
        last.database.close()
        without = open_database(behind, plan)
        assert isinstance(without, Refused) and "--pooled" in without.message


AWAY = (
    "UPDATE \"$ninefold\" SET value = '' WHERE name = 'serves'",
    "UPDATE \"$node\" SET until = clock_timestamp() - interval '1 s'",
)
"""What another contract leaves of one that was away for long: `ninefold upgrade --apply` notes that none is served."""


def test_who_has_lost_its_lease_writes_nothing_until_it_has_one_again() -> None:
    url = server.database()
    with pooled("pooler", url) as behind, serving(planned(CONTRACT), behind, {}, pooled=True) as client:
        assert client.post("/halls", json={"most": 1}).status_code == 201
        # As where it was away for long, and meanwhile the database was made for another contract.
        [(serves,)] = server.run(url, "SELECT encode(value, 'hex') FROM \"$ninefold\" WHERE name = 'serves'")
        server.run(url, *AWAY)
        assert client.post("/halls", json={"most": 1}).status_code == 503
        server.run(url, f"UPDATE \"$ninefold\" SET value = decode('{serves}', 'hex') WHERE name = 'serves'")
        until(lambda: client.post("/halls", json={"most": 1}).status_code == 201)
        # As after a crash.
        server.run(url, 'TRUNCATE "$node"')
        until(lambda: client.post("/halls", json={"most": 1}).status_code == 201)


def test_who_may_not_have_its_lease_again_leaves_no_transaction_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql_leases, "RENEWING_SECONDS", 0.05)
    url = server.database()
    with pooled("pooler", url) as behind:
        opened = open_database(behind, planned(CONTRACT), pooled=True)
        assert isinstance(opened, Opened)
        lease = vars(opened.database)["_lease"]
        server.run(url, *AWAY)
        until(lambda: lease.failing)
        assert not opened.database.reachable(), "it is not ready"
        begun = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        until(lambda: not server.run(url, f"{begun} AND xact_start IS NOT NULL"))
        opened.database.close()


def test_a_connection_whose_transaction_is_not_undone_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL may cancel a ROLLBACK (`statement_timeout`, `pg_cancel_backend`) as anything else."""
    execute = asyncpg.Connection.execute

    async def cancelled(connection: Any, text: str) -> Any:
        return await execute(connection, "SELECT pg_cancel_backend(pg_backend_pid())" if text == "ROLLBACK" else text)

    async def lost(*, pooled: bool) -> bool:
        link = await Link.open(server.url("postgres"), pooled=pooled)
        try:
            with monkeypatch.context() as patched, pytest.raises(asyncpg.PostgresError):
                patched.setattr(asyncpg.Connection, "execute", cancelled)
                await (link.value("SELECT 1") if pooled else link.execute("ROLLBACK"))
            return link.is_lost
        finally:
            await link.close()

    assert asyncio.run(lost(pooled=True)) and asyncio.run(lost(pooled=False))


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="a lease lasts 15 seconds")
@BOTH
def test_a_node_that_dies_leaves_its_work_to_the_other(by: str) -> None:
    url = server.database()
    with pooled(by, url) as behind, receiving() as receiver, nodes(behind, 2, "--pooled") as both:
        load = Load(both, person(both[0].client), hall(both[0].client, 1_000_000))
        made = both[0].client.post("/webhooks", json={"url": receiver.url, "kinds": ["seat.made"]}, headers=load.who)
        assert made.status_code == 201
        with load.going(4):
            load.until_more(20)
            both[0].kill()
            both.append(both.pop(0))
            load.among = both[:1]
            load.until_more(20)
        judge(url, load, receiver)


@pytest.mark.long
@BOTH
@pytest.mark.parametrize("directory", some(SERVED, 60), ids=lambda path: path.name)
def test_cases_are_answered_as_from_sqlite(directory: Path, by: str) -> None:
    answers(directory, partial(pooled, by))
