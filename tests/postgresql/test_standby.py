"""Several servers of which one is the primary: who is connected to, and a standby that is promoted under nodes."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.contracts import compiled
from tests.events.receiver import receiving
from tests.events.stream import listening
from tests.http_cases import serving
from tests.postgresql import server
from tests.postgresql.clusters import Cluster, clusters
from tests.postgresql.nodes import CONTRACT, Load, hall, judge, nodes, person
from tests.waiting import until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_link import Lost
from ninefold.runtime.store.postgresql_servers import Servers
from ninefold.runtime.store.protocol import Refused

pytestmark = pytest.mark.serves


def named(*hosts: Path) -> str:
    return f"postgresql://ninefold@{','.join(quote(str(each), safe='') for each in hosts)}/postgres"


def asked(*hosts: Path) -> str:
    return f"postgresql://ninefold@/postgres?host={','.join(map(str, hosts))}&port=5432"


async def whose(servers: Servers) -> str:
    """The directory of the socket of the server to which a connection is made."""
    link = await servers.open()
    found = str(await link.value("SELECT current_setting('unix_socket_directories')"))
    await link.close()
    return found


def test_a_connection_is_made_to_the_primary_whichever_of_the_hosts_it_is() -> None:
    with (
        clusters(2) as (one, two),
        tempfile.TemporaryDirectory(prefix="ninefold-silent-") as silent,
        socket.socket(socket.AF_UNIX) as taking,
    ):
        server.make(one.where)
        shutil.copytree(one.where / "data", two.where / "data")
        (two.where / "data" / "standby.signal").touch()
        for each in (two.where, *two.where.rglob("*")):
            server.hand_over(each)
        one.begin()
        two.begin()  # in recovery for ever, of nothing that comes
        taking.bind(f"{silent}/.s.PGSQL.5432")
        taking.listen(10)
        nobody = Path(silent) / "nobody"

        async def look() -> None:
            for url in (named, asked):
                assert await whose(Servers(url(nobody, two.where, one.where))) == str(one.where)
                assert await whose(Servers(url(one.where, two.where))) == str(one.where)
            # One that takes connections and says nothing has a time of its own, once.
            servers = Servers(named(Path(silent), two.where, one.where))
            for _ in range(3):
                assert await whose(servers) == str(one.where)
            taking.setblocking(False)
            taking.accept()[0].close()
            with pytest.raises(BlockingIOError):
                taking.accept()[0].close()
            taking.close()
            one.kill()
            assert await refusal(servers) == "; ".join(
                (
                    f"{quote(silent, safe='')}: PostgreSQL cannot be reached (ConnectionRefusedError)",
                    f"{quote(str(two.where), safe='')}: PostgreSQL takes no writes: it is a standby",
                    f"{quote(str(one.where), safe='')}: PostgreSQL cannot be reached (ConnectionRefusedError)",
                )
            )
            await asyncio.to_thread(two.promote)
            assert await whose(servers) == str(two.where)
            # The old one comes back, and does not know that it was replaced.
            one.begin()
            assert await whose(servers) == str(two.where)
            two.kill()
            assert "another server was promoted in its place" in await refusal(servers)

        asyncio.run(look())


async def refusal(servers: Servers) -> str:
    with pytest.raises(Lost) as raised:
        await servers.open()
    return str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:secret@a:1,[::1]:2/db",
        "postgresql://u@a/db?password=secret&sslmode=require",
        "postgresql://u:secret@[::1/db",
        "postgresql://u:secret@/db?host=a,b&port=1,2,3",
    ],
)
def test_a_url_is_shown_without_what_is_secret_and_refused_where_it_cannot_be_read(url: str) -> None:
    assert "secret" not in Servers(url).name
    refused = open_database(url, _plan())
    assert isinstance(refused, Refused) and "secret" not in refused.message


@pytest.mark.parametrize(
    "url", ["postgresql:///db", "postgresql:///db?host=/run/a,/run/b", "postgresql://u@[::1]:1/db"]
)
def test_a_url_without_secrets_is_shown_as_it_is(url: str) -> None:
    assert Servers(url).name == url


def _plan() -> ServicePlan:
    plan = compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    return plan


def test_a_commit_that_waits_for_its_standby_is_not_answered_for_a_connection_that_is_lost(tmp_path: Path) -> None:
    """It is there for all to see then, and is lost where the standby is promoted."""
    waits = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    with clusters(1) as (one,):
        server.make(one.where)
        one.begin()
        with serving(_plan(), one.url, {}) as client, ThreadPoolExecutor(1) as thread:
            standbys(one, "away")
            answer = thread.submit(client.post, "/people", json={"name": "ann"})
            try:
                [(waiting,)] = until(lambda: server.run(one.url, waits))
                server.run(one.url, f"SELECT pg_terminate_backend({waiting})")
                until(lambda: answer.done() or server.run(one.url, f"{waits} AND pid <> {waiting}"))
                assert not answer.done(), answer.result().text
            finally:
                standbys(one, "")
            assert answer.result().status_code == 201


def standbys(primary: Cluster, names: str) -> None:
    """For which standby each COMMIT waits from now on."""
    server.run(primary.url, f"ALTER SYSTEM SET synchronous_standby_names = '{names}'", "SELECT pg_reload_conf()")
    until(lambda: server.run(primary.url, "SHOW synchronous_standby_names") == [(names,)])


@pytest.mark.long
def test_nothing_is_lost_or_done_twice_where_the_primary_dies_and_its_standby_is_promoted() -> None:
    with clusters(2) as (one, two), receiving() as receiver:
        server.make(one.where)
        one.begin()
        two.standby_of(one)
        # The standby has its settings from before: once promoted, it waits for none.
        standbys(one, "second")
        until(lambda: server.run(one.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"))
        with nodes(asked(one.where, two.where), 2) as both, ExitStack() as stack:
            load = Load(both, person(both[0].client), hall(both[0].client, 1_000_000))
            made = both[1].client.post(
                "/webhooks", json={"url": receiver.url, "kinds": ["seat.made"]}, headers=load.who
            )
            assert made.status_code == 201
            streams = [stack.enter_context(listening(node.client, load.who)) for node in both]
            with load.going(4):
                load.until_more(20)
                one.kill()
                assert {node.client.get("/seats", headers=load.who).status_code for node in both} == {503}
                assert server.run(two.url, "SELECT pg_is_in_recovery()") == [(True,)]
                two.promote()
                load.until_more(20)
            for node in both:
                assert node.process.poll() is None, "a node goes on"
            judge(two.url, load, receiver)
            log = server.run(two.url, 'SELECT kind, row FROM "$event" ORDER BY seq')
            for stream in streams:
                told = [(each.kind, each.data["data"]["id"]) for each in stream.take(len(log))]
                assert told == [(kind, json.loads(row)[0]) for kind, row in log]


@pytest.mark.long
def test_a_machine_that_leaves_the_network_is_not_waited_for() -> None:
    """10 s, in which nothing is done: it is the kernel that gives it up."""
    try:
        subprocess.run(["unshare", "-n", "ip", "link"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a network of its own cannot be made here")
    command = ["unshare", "-n", sys.executable, "-m", "tests.postgresql.silent"]
    ran = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert "lost: PostgreSQL cannot be reached" in ran.stdout, ran.stdout + ran.stderr
