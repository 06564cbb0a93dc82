"""A process that has lost PostgreSQL still serves what it serves: whoever would serve another contract meanwhile, or
have the database alone, waits for it to come back, whichever way it was lost; and not for ever for one that was
killed."""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import Final

import pytest
from msgspec.structs import replace
from tests.http_cases import serving
from tests.postgresql import server
from tests.postgresql.clusters import Cluster, clusters
from tests.postgresql.nodes import CONTRACT, nodes
from tests.postgresql.test_nodes import CUT
from tests.postgresql.test_pooled import pooled
from tests.postgresql.test_service import planned
from tests.postgresql.test_standby import asked
from tests.waiting import PATIENCE, until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import postgresql_link, postgresql_serving, postgresql_writer
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened, Refused
from ninefold.runtime.store.upgrading import drop_from

pytestmark = pytest.mark.serves


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is there is not about to end, and may take as long as it likes to come back."""
    monkeypatch.setattr(postgresql_serving, "SETTLING_SECONDS", 0.0)
    monkeypatch.setattr(postgresql_serving, "RETURN_SECONDS", 3600.0)


@pytest.fixture
def other() -> ServicePlan:
    plan = planned(CONTRACT)
    return replace(plan, limits=replace(plan.limits, said={"body size": 1}))


def crash(one: Cluster, _: Cluster) -> None:
    one.kill()
    one.begin()


def restart(one: Cluster, _: Cluster) -> None:
    one.stop()
    one.begin()


def recover(one: Cluster, _: Cluster) -> None:
    one.kill_one()


def cut(one: Cluster, _: Cluster) -> None:
    server.run(one.url, CUT)


def promote(one: Cluster, two: Cluster) -> None:
    one.kill()
    two.promote()


LOSSES: Final = (cut, recover, crash, restart, promote)


def test_nobody_takes_the_place_of_who_has_lost_its_connection(
    other: ServicePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes back when it writes, and would be refused then."""
    monkeypatch.setattr(postgresql_writer, "PINGS", inf)
    monkeypatch.setattr(postgresql_writer, "AWAY_PINGS", inf)
    with clusters(2) as (one, two):
        server.make(one.where)
        one.begin()
        two.standby_of(one)
        url = asked(one.where, two.where)
        with serving(planned(CONTRACT), url, {}) as client, ThreadPoolExecutor(1) as thread:
            for loss in LOSSES:
                [(written,)] = server.run(one.url, "SELECT pg_current_wal_lsn()::text")
                until(lambda lsn=written: server.run(two.url, f"SELECT 1 WHERE pg_last_wal_replay_lsn() >= '{lsn}'"))  # type: ignore[misc]
                loss(one, two)
                begins = thread.submit(open_database, url, other)
                nobody_has_it_alone(url)
                assert not begins.done(), loss
                until(lambda: client.post("/halls", json={"most": 1}).status_code == 201)
                refused(begins.result())


def nobody_has_it_alone(url: str) -> None:
    with pytest.raises(NotUpgraded, match="may come back"):
        drop_from(url, ("x",))


def refused(opened: Opened | Refused) -> None:
    assert isinstance(opened, Refused) and "is served by another process" in opened.message, opened


@pytest.mark.parametrize("loss", ['TRUNCATE "$node"', "UPDATE \"$node\" SET until = '-infinity'"])
def test_nobody_takes_the_place_of_who_has_lost_its_lease(loss: str, other: ServicePlan) -> None:
    url = server.database()
    with pooled("pooler", url) as behind, serving(planned(CONTRACT), behind, {}, pooled=True) as client:
        server.run(url, loss)
        refused(open_database(url, other))
        until(lambda: client.post("/halls", json={"most": 1}).status_code == 201)


def test_who_does_not_come_back_is_waited_for_and_who_has_ended_is_not(
    other: ServicePlan, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    url, known = server.database(), 'SELECT serves, gone IS NULL FROM "$process"'
    with nodes(url, 2) as both:
        [one, two] = server.run(url, known)
        assert one == two and one[1]
        both[0].end()
        assert server.run(url, known) == [one]
        both[1].kill()
        nobody_has_it_alone(url)
        at_once = open_database(url, other, waits=False)
        assert isinstance(at_once, Refused) and "may come back" in at_once.message
        monkeypatch.setattr(postgresql_serving, "RETURN_SECONDS", 0.5)
        monkeypatch.setattr(postgresql_serving, "SETTLING_SECONDS", PATIENCE)
        server.run(url, 'UPDATE "$process" SET gone = NULL')
        begun = open_database(url, other)
        assert isinstance(begun, Opened) and "it is waited for" in caplog.text
        [(serves, is_there)] = server.run(url, known)
        assert is_there and serves != one[0]
        begun.database.close()
        assert server.run(url, known) == []


@pytest.mark.parametrize("writes", [False, True])
def test_who_ends_does_not_wait_for_a_server_that_says_nothing(writes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (postgresql_link, postgresql_writer):
        monkeypatch.setattr(module, "CONNECTING_SECONDS", 0.5)
    url = server.database()
    opened = open_database(url, planned(CONTRACT))
    assert isinstance(opened, Opened)
    ours = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    [(pid,)] = server.run(url, f"{ours} AND application_name LIKE 'ninefold%'")

    async def end() -> None:
        if writes:
            opened.database.write(lambda _: None, lambda *_: None)
        await asyncio.wait_for(asyncio.to_thread(opened.database.close), PATIENCE)

    os.kill(pid, signal.SIGSTOP)
    try:
        asyncio.run(end())
    finally:
        os.kill(pid, signal.SIGCONT)
