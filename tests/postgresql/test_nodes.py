"""Several processes that serve one database: what is done once is done by one of them, and by another where that one
dies. What one of them has done the others know: `tests/server/test_together.py`."""

from __future__ import annotations

import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import SERVED, compiled, contract_of, operator_of
from tests.events.broker import broker
from tests.events.kafka import kafka
from tests.events.receiver import Answer, Came, receiving
from tests.http_cases import serving, tell
from tests.postgresql import server
from tests.postgresql.nodes import Load, Node, delivered, hall, judge, nodes, numbers, person
from tests.slices import many, some
from tests.waiting import until

from ninefold.diff.requests import Known, read_exchanges
from ninefold.runtime.store.postgresql_marks import WRITE

pytestmark = pytest.mark.serves

PIECES, CUTS = many("CUTS", 96, 4, 2)
"""How often a node dies, hangs, or loses its connections."""


@pytest.mark.slow
def test_a_node_that_dies_leaves_its_work_to_the_other() -> None:
    """Two nodes deliver what is written under load; the one that delivers is killed, and the other goes on. Nothing is
    lost, nothing is done twice, and what was answered is there."""
    url = server.database()
    with receiving() as receiver, nodes(url, 2) as both:
        # Both began with an empty database, and one has made what is in it.
        who, where = person(both[0].client), hall(both[0].client, 1000)
        subscribed = both[0].client.post("/webhooks", json={"url": receiver.url, "kinds": ["seat.made"]}, headers=who)
        assert subscribed.status_code == 201
        sender, other = by_work(url, both)
        answered: list[int] = []

        def write(node: Node) -> None:
            for _ in range(40):
                try:
                    made = node.client.post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who)
                except httpx.HTTPError:
                    return
                if made.status_code == 201:
                    answered.append(made.json()["id"])

        with ThreadPoolExecutor(2) as threads:
            writing = [threads.submit(write, node) for node in both]
            receiver.until(5)
            sender.kill()
            for each in writing:
                each.result()
        there = {each["id"] for each in other.client.get("/seats", headers=who).json()["data"]}
        assert set(answered) <= there and len(there) <= len(answered) + 1
        delivered(receiver, there)
        # It does what it did, and what the other did, and in time.
        made = other.client.post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who).json()
        delivered(receiver, there | {made["id"]})


@pytest.mark.slow
def test_each_attempt_of_a_delivery_is_made_by_one_node_and_those_of_a_row_in_its_order() -> None:
    """Three nodes, of which none dies; every third attempt is refused, whichever it is."""
    url = server.database()
    with receiving(lambda number: Answer(500 if number % 3 == 0 else 204)) as receiver, nodes(url, 3) as among:
        who, where = person(among[0].client), hall(among[1].client, 1000)
        kinds = ["seat.made", "seat.kept", "seat.lapsed"]
        made = among[2].client.post("/webhooks", json={"url": receiver.url, "kinds": kinds}, headers=who)
        assert made.status_code == 201

        def make(number: int) -> None:
            one, other = random.sample(among, 2)
            seat = one.client.post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who).json()
            other.client.post(f"/seats/{seat['id']}/keep", headers=who)  # or it has lapsed

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(make, range(40)))
        until(lambda: len(receiver.good()) == 80)
        log = server.run(url, 'SELECT id, row FROM "$event" ORDER BY seq')
        until(lambda: server.run(url, 'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM "$delivery")'))
    attempts: dict[str, list[Came]] = {}
    for each in receiver.came:
        attempts.setdefault(each.id, []).append(each)
    for some_of in attempts.values():
        assert [each.answered for each in some_of] == [500] * (len(some_of) - 1) + [204], "none after a good one"
    assert attempts.keys() == {id for id, _ in log}
    for row in {row for _, row in log}:
        first, second = [attempts[id] for id, of in log if of == row]
        assert first[-1].at < second[0].at


def test_events_go_to_a_broker_in_their_order_whichever_node_dies(tmp_path: Path) -> None:
    url = server.database()
    with broker(tmp_path / "nats") as nats, nodes(url, 2, "--broker", nats.address) as both:
        nats.keep("seat.>")
        who, where = person(both[0].client), hall(both[0].client, 1000)
        sender, other = by_work(url, both, "broker")

        def make(node: Node) -> None:
            assert node.client.post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who).is_success

        for node in (*both, *both, *both):
            make(node)
        nats.until(1)
        sender.kill()
        for _ in range(6):
            make(other)
        log = [id for (id,) in server.run(url, 'SELECT id FROM "$event" ORDER BY seq')]
        came = nats.until(len(log))
        assert [each.headers["Nats-Msg-Id"] for each in came][: len(log)] == log


def test_events_go_to_kafka_in_the_order_of_each_row_whichever_node_dies(tmp_path: Path) -> None:
    """In one partition there is one order of all. What a node has sent and not noted comes again."""
    url = server.database()
    with ExitStack() as stack:
        there = stack.enter_context(kafka(tmp_path / "kafka"))
        there.make(1)
        both = stack.enter_context(nodes(url, 2, "--broker", there.address))
        who, where = person(both[0].client), hall(both[0].client, 1000)
        sender, other = by_work(url, both, "broker")

        def make(node: Node) -> None:
            for _ in range(40):
                try:
                    node.client.post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who)
                except httpx.HTTPError:
                    return

        with ThreadPoolExecutor(2) as threads:
            writing = [threads.submit(make, node) for node in both]
            there.until(5)
            sender.kill()
            for each in writing:
                each.result()
        make(other)

        def log() -> list[str]:
            """As far as it goes: seats lapse meanwhile."""
            return [id for (id,) in server.run(url, 'SELECT id FROM "$event" ORDER BY seq')]

        def came() -> list[str]:
            return list(dict.fromkeys(each.headers["id"] for each in there.kept()))

        assert len(log()) >= 80
        until(lambda: log() == came(), lambda: (len(log()), len(came())))


def by_work(url: str, both: list[Node], work: str = "webhooks") -> tuple[Node, Node]:
    """That which delivers webhooks, or does other work, and the other: which it is PostgreSQL knows."""
    holders = (
        "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory'"
        " AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        f" AND (classid::bigint << 32 | objid::bigint) = hashtextextended('ninefold {work} public', 0)"
    )
    [(name,)] = until(lambda: server.run(url, holders))
    [sender] = [each for each in both if name == f"ninefold {each.process.pid}"]
    [other] = [each for each in both if each is not sender]
    return sender, other


CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


CROSS = (
    "SET deadlock_timeout = '1h'",
    "BEGIN",
    "SELECT 1 FROM hall FOR UPDATE",
    WRITE,
    "COMMIT",
)
"""Locks in the other order: of the deadlock with who writes a seat, that one is the victim."""


@pytest.mark.long
@pytest.mark.parametrize("part", PIECES)
def test_nothing_is_lost_or_done_twice_while_nodes_die_hang_and_lose_their_connections(part: int) -> None:
    url = server.database()
    with receiving() as receiver, nodes(url, 3) as among:
        load = Load(among, person(among[0].client), hall(among[0].client, 1_000_000))
        made = among[1].client.post("/webhooks", json={"url": receiver.url, "kinds": ["seat.made"]}, headers=load.who)
        assert made.status_code == 201
        with load.going(6):
            for number in range(CUTS):
                time.sleep(random.uniform(0.5, 2))
                victim = random.choice(among)
                if number % 4 == 0:
                    server.run(url, CUT)
                elif number % 4 == 3:
                    server.run(url, *CROSS)
                elif number % 4 == 1:
                    victim.close()
                    among[among.index(victim)] = Node(url).begun()
                else:
                    victim.process.send_signal(signal.SIGSTOP)
                    time.sleep(12)
                    victim.process.send_signal(signal.SIGCONT)
        judge(url, load, receiver)
        for node in among:
            node.close()


@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, 20), ids=lambda path: path.name)
def test_two_nodes_that_are_asked_in_turn_answer_as_one(directory: Path) -> None:
    plan = compiled(contract_of(directory)).plan_for("postgresql")
    assert plan is not None
    url, operator = server.database(), operator_of(directory)
    for path in sorted((directory / "http").glob("*.http")):
        with serving(plan, url, operator) as one, serving(plan, url, operator) as other:
            server.run(url, 'TRUNCATE "$state"')  # rates begin anew, as where a process keeps them in mind
            known: Known = {}
            turns: Any = cycle((one, other))
            for exchange in read_exchanges(path.read_text(encoding="utf-8")):
                tell(next(turns), exchange, known)
