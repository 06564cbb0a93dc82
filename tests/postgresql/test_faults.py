"""Three nodes under load, with all that they may have: a standby that every commit waits for, rates in Valkey, a
broker, webhooks. One fault follows another, of every kind; after each the nodes go on, and at the end the history is
judged: of what was answered nothing is lost, nothing is there twice, each row's events come in their order, halls hold
no more than they may, and what was to lapse has lapsed once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
import pytest
from tests.events.broker import Broker, broker
from tests.events.receiver import Receiver, receiving
from tests.postgresql import server
from tests.postgresql.clusters import Cluster, clusters
from tests.postgresql.nodes import Load, Node, hall, judge, person
from tests.postgresql.test_cut import Relay
from tests.postgresql.test_nodes import CROSS, CUT
from tests.postgresql.test_standby import asked, standbys
from tests.postgresql.valkey_server import Server as Valkey
from tests.postgresql.valkey_server import valkey
from tests.slices import many, some
from tests.waiting import until

pytestmark = [pytest.mark.serves, pytest.mark.long]

HOUR: Final = 3600
ALLOWED: Final = 20
"""How often the contract lets an address ask in an hour."""

ROOM: Final = 20
"""Seats of a hall that many want."""


class Contested(Load):
    """The same where a hall may be full, which is an answer as well; whoever has written reads, and is counted.
    `counted`: how often the rate let somebody in. `unavailable`: how often somebody was told so, by path."""

    def __init__(self, among: list[Node], who: dict[str, str], where: int) -> None:
        super().__init__(among, who, where)
        self.full: list[str] = []
        self.counted = 0
        self.unavailable = Counter[str]()

    def _sent(self, name: str, where: int) -> int | None:
        """Its number, 0 where the hall is full, or None: nobody knows yet."""
        body, headers = {"hall": where, "name": name}, {**self.who, "Idempotency-Key": name}
        answer = self.asked("POST", "/seats", body, headers)
        if answer is None or answer.status_code == 503 or answer.json().get("code") == "key_busy":
            return None
        if answer.status_code == 409:
            assert answer.json()["code"] == "full", answer.text
            return 0
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    def came(self, made: int, name: str) -> None:
        if not made:
            self.full.append(name)
            return
        super().came(made, name)
        answer = self.asked("GET", f"/seats/{made}", None, self.who)
        assert answer is None or answer.status_code in (200, 503), answer.text
        answer = self.asked("GET", "/limited", None, {})
        assert answer is None or answer.status_code in (200, 429, 503), answer.text
        self.counted += answer is not None and answer.status_code == 200

    def asked(self, method: str, path: str, body: object, headers: dict[str, str]) -> httpx.Response | None:
        """What any node says; None: it went away meanwhile."""
        try:
            answer = random.choice(self.among).client.request(method, path, json=body, headers=headers)
        except (httpx.HTTPError, RuntimeError):
            return None
        if answer.status_code == 503:
            self.unavailable[path] += 1
        return answer

    def until_unavailable(self, path: str) -> None:
        """Until somebody is told so."""
        before = self.unavailable[path]
        until(lambda: self.unavailable[path] > before, lambda: f"{path} is unavailable")


@dataclass
class World:
    primary: Cluster
    standby: Cluster
    relays: dict[Cluster, Relay]
    valkey: Valkey
    nats: Broker
    url: str
    options: tuple[str, ...]
    among: list[Node] = field(default_factory=list)
    load: Contested = field(init=False)
    forgotten: int = 0
    """How often Valkey forgot what was counted."""

    # ── The faults ────────────────────────────────────────────────────────────────────────────────────────────

    def node_killed(self) -> None:
        self._replaced()

    def node_hangs(self) -> None:
        """Clients wait for it; the others go on, at the latest where PostgreSQL has ended what it had begun."""
        others = self.among.copy()
        victim = others.pop(random.randrange(len(others)))
        victim.process.send_signal(signal.SIGSTOP)
        client = random.choice(others).client
        until(lambda: client.post("/halls", json={"most": 1}).status_code == 201)
        victim.process.send_signal(signal.SIGCONT)

    def clock_ahead(self) -> None:
        self._wrong(HOUR)

    def clock_behind(self) -> None:
        self._wrong(-HOUR)

    def connections_cut(self) -> None:
        server.run(self.primary.url, CUT)

    def deadlock(self) -> None:
        server.run(self.primary.url, *CROSS)

    def commit_lost(self) -> None:
        self._cut_in_commit(False)

    def answer_of_commit_lost(self) -> None:
        self._cut_in_commit(True)

    def postgresql_crashes(self) -> None:
        self.primary.kill()
        self.load.until_unavailable("/seats")
        self.primary.begin(**self.primary.settings)

    def backend_killed(self) -> None:
        """PostgreSQL ends all others, and recovers as after a crash."""
        ours = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'ninefold%' ORDER BY random() LIMIT 1"
        for (pid,) in server.run(self.primary.url, ours):
            os.kill(pid, signal.SIGKILL)

    def standby_away(self) -> None:
        """No commit is answered meanwhile."""
        self.standby.kill()
        until(lambda: server.run(self.primary.url, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))
        self.standby.begin(**self.standby.settings)

    def failover(self) -> None:
        """The standby is promoted, and what was the primary becomes its standby, from nothing."""
        gone, self.primary = self.primary, self.standby
        gone.kill()
        self.primary.promote()
        until(lambda: server.run(self.primary.url, "SELECT pg_is_in_recovery()") == [(False,)])
        shutil.rmtree(gone.where / "data")
        gone.standby_of(self.primary)
        self.standby = gone
        self.followed()

    def valkey_gone(self) -> None:
        self.valkey.kill()
        self.forgotten += 1
        self.load.until_unavailable("/limited")
        self.valkey.start()

    def nats_gone(self) -> None:
        self.nats.kill()
        self.load.until_more(5)
        self.nats.start()

    def slow_network(self) -> None:
        """Of each message, of which a statement has a dozen: of 50 ms five rows take minutes."""
        relay = self.relays[self.primary]
        relay.delay = random.choice((0.002, 0.01))
        self.load.until_more(5)
        relay.delay = 0.0

    # ── What they are made of ─────────────────────────────────────────────────────────────────────────────────

    def followed(self) -> None:
        """Every commit waits for the standby, which waits for nobody once it is promoted."""
        standbys(self.standby, "")
        standbys(self.primary, "second")
        until(lambda: server.run(self.primary.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"))

    def close(self) -> None:
        for each in self.among:
            each.close()

    def _replaced(self, *program: str) -> Node:
        place = random.randrange(len(self.among))
        self.among[place].close()
        node = Node(self.url, *self.options, program=program or ("ninefold",)).supervised()
        self.among[place] = node
        return node

    def _wrong(self, ahead: int) -> None:
        self._replaced("tests.postgresql.off", str(ahead)).process.send_signal(signal.SIGUSR1)

    def _cut_in_commit(self, commits: bool) -> None:
        relay = self.relays[self.primary]
        relay.commits = commits
        relay.at_commit = lambda: None
        until(lambda: relay.at_commit is None, lambda: "somebody commits")


FAULTS: Final[dict[str, Callable[[World], None]]] = {
    name: function
    for name, function in vars(World).items()
    if callable(function) and not name.startswith("_") and name not in ("followed", "close")
}

PIECES, _ = many("FAULTS", 500, len(FAULTS), 1)
"""Each has each fault once, or in a sample some of them."""


@contextmanager
def world(folder: Path) -> Iterator[World]:
    with ExitStack() as stack:
        one, two = stack.enter_context(clusters(2))
        server.make(one.where)
        one.begin()
        two.standby_of(one)
        relays = {each: Relay(each.where) for each in (one, two)}
        url = asked(*(stack.enter_context(each.listening()) for each in relays.values()))
        counting = stack.enter_context(valkey(folder / "valkey"))
        nats = stack.enter_context(broker(folder / "nats"))
        nats.keep("seat.>")
        options = ("--rates", counting.url, "--broker", nats.address)
        found = World(one, two, relays, counting, nats, url, options)
        found.followed()
        stack.callback(found.close)
        found.among += [Node(url, *options) for _ in range(3)]
        for each in found.among:
            each.supervised()
        yield found


@pytest.mark.parametrize("part", PIECES)
def test_nothing_is_lost_or_done_twice_whatever_fails(part: int, tmp_path: Path) -> None:
    with world(tmp_path) as found, receiving() as receiver, receiving() as both:
        client = found.among[0].client
        load = found.load = Contested(found.among, person(client), hall(client, 10**6))
        for hears, kinds in ((receiver, ["seat.made"]), (both, ["seat.made", "seat.lapsed"])):
            made = client.post("/webhooks", json={"url": hears.url, "kinds": kinds}, headers=load.who)
            assert made.status_code == 201, made.text
        began = time.time()
        done = Counter[str]()
        with load.going(6):
            # A fifth of the kinds is the sample: all of them take minutes.
            kinds = some(list(FAULTS), 5)
            for name in random.sample(kinds, len(kinds)):
                FAULTS[name](found)
                done[name] += 1
                print(f"{time.time() - began:7.1f} {name}, {len(load.answered)} rows", flush=True)
                load.until_more(5)
                contest(load)
        url = found.primary.url
        until(lambda: server.run(url, "SELECT count(*) FROM seat WHERE status = 'held'") == [(0,)])
        judge(url, load, receiver)
        assert load.counted <= ALLOWED * (1 + found.forgotten)
        over = "SELECT id FROM hall WHERE most < (SELECT count(*) FROM seat WHERE seat.hall = hall.id)"
        assert not server.run(url, over)
        told_in_order(url, found.nats, both, began)
        print(f"{done.total()} faults, {len(load.answered)} rows, {len(load.full)} refused: {dict(done)}")


def contest(load: Contested) -> None:
    """A hall with little room is wanted by all, and then another one with much."""
    answer = None
    while answer is None or answer.status_code != 201:
        answer = load.asked("POST", "/halls", {"most": ROOM}, {})
    small, large = answer.json()["id"], load.where
    before = len(load.full)
    load.where = small
    until(lambda: len(load.full) > before, lambda: "it is full")
    load.where = large


def told_in_order(url: str, nats: Broker, both: Receiver, began: float) -> None:
    """The broker has the log, and a receiver each row's events in their order; each with the time at which it was."""
    log = server.run(url, 'SELECT id, extract(epoch FROM time::timestamptz)::float8 FROM "$event" ORDER BY seq')
    assert all(began - 5 < at < time.time() + 5 for _, at in log)
    ids = [id for id, _ in log]
    until(lambda: len({each.headers["Nats-Msg-Id"] for each in nats.kept()}) == len(ids))
    # Who died may have sent what it could not note any more: what comes again has come.
    assert list(dict.fromkeys(each.headers["Nats-Msg-Id"] for each in nats.kept())) == ids
    until(lambda: len({each.id for each in both.good()}) == len(ids))
    firsts = {each.id: each for each in sorted(both.good(), key=lambda each: -each.at)}
    kinds: dict[int, list[str]] = {}
    for each in sorted(firsts.values(), key=lambda each: each.at):
        kinds.setdefault(each.json["data"]["id"], []).append(each.json["type"])
    assert all(found == ["seat.made", "seat.lapsed"] for found in kinds.values())
