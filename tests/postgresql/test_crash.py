"""PostgreSQL itself dies, or one of its processes, while nodes write and deliver: who is answered 503 asks again, and
of what was answered nothing is lost, and nothing is done twice."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest
from tests.contracts import compiled
from tests.events.receiver import receiving
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, Load, hall, judge, nodes, person
from tests.postgresql.test_cut import Seats, relayed
from tests.slices import many
from tests.waiting import until

from ninefold.runtime.store import postgresql_writer
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened

pytestmark = pytest.mark.serves

PIECES, CRASHES = many("CRASHES", 96, 4, 2)
"""How often PostgreSQL dies, or one of its processes."""


class Server:
    """A PostgreSQL that may die."""

    def __init__(self, where: Path) -> None:
        self._where = where
        server.make(where)
        self._running = server.begin(where)
        self.url = f"postgresql://ninefold@/postgres?host={where}"

    def crash(self) -> None:
        """Nothing is written any more, and what is in memory is lost (`pg_ctl stop -m immediate`)."""
        self._running.send_signal(signal.SIGQUIT)
        self._running.wait()

    def begin(self) -> None:
        self._running = server.begin(self._where)

    def kill_one(self) -> None:
        """Kill a process that serves a connection. PostgreSQL then ends all others, and recovers as after a crash."""
        ours = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'ninefold%' ORDER BY random() LIMIT 1"
        for (pid,) in server.run(self.url, ours):
            os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        if self._running.poll() is None:
            self.crash()


@pytest.fixture
def postgresql() -> Iterator[Server]:
    # A socket's path is short.
    where = Path(tempfile.mkdtemp(prefix="ninefold-crash-"))
    where.chmod(0o755)
    found = Server(where)
    yield found
    found.close()
    shutil.rmtree(where)


@pytest.mark.long
@pytest.mark.parametrize("part", PIECES)
def test_nothing_is_lost_or_done_twice_where_postgresql_dies(postgresql: Server, part: int) -> None:
    with receiving() as receiver, nodes(postgresql.url, 2) as both:
        load = Load(both, person(both[0].client), hall(both[0].client, 1_000_000))
        made = both[1].client.post("/webhooks", json={"url": receiver.url, "kinds": ["seat.made"]}, headers=load.who)
        assert made.status_code == 201
        with load.going(4):
            for number in range(CRASHES):
                load.until_more(20)
                if number % 2:
                    postgresql.kill_one()
                else:
                    postgresql.crash()
                    assert {node.client.get("/seats", headers=load.who).status_code for node in both} == {503}
                    postgresql.begin()
            load.until_more(20)
        for node in both:
            assert node.process.poll() is None, "a node goes on"
        judge(postgresql.url, load, receiver)


@pytest.mark.parametrize("others", [0, 50])
def test_a_transaction_that_a_crash_took_is_not_taken_for_anothers(
    postgresql: Server, tmp_path: Path, others: int
) -> None:
    """Of what was not committed PostgreSQL may know nothing after a crash, and give its number to another."""

    def crash() -> None:
        postgresql.crash()
        postgresql.begin()
        server.run(postgresql.url, *["SELECT pg_current_xact_id()"] * others)

    with relayed(tmp_path, postgresql.url) as (relay, client):
        seats = Seats(client, postgresql.url)
        assert seats.make("warm").status_code == 201
        relay.at_commit = crash
        answer = seats.make("lost")
        assert relay.at_commit is None
        assert (answer.status_code, seats.there("lost")) == (503, 0), answer.text
        until(lambda: seats.make("lost").status_code == 201, lambda: "the same is done once PostgreSQL is there")
        assert seats.there("lost") == 1


def test_who_writes_nothing_is_known_again_once_postgresql_is_there(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then a process with another contract might begin: what waits for the next ping would wait for ever here."""
    plan = compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    opened = open_database(postgresql.url, plan)
    assert isinstance(opened, Opened)
    try:
        monkeypatch.setattr(postgresql_writer, "PINGS", 0.1)
        postgresql.crash()
        until(lambda: not opened.database.reachable())
        monkeypatch.setattr(postgresql_writer, "PINGS", inf)
        postgresql.begin()
        until(opened.database.reachable)
    finally:
        opened.database.close()
