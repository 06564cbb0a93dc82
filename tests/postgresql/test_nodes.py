"""Several processes that serve one database: what one of them has done the others know, and what is done once is done
by one of them."""

from __future__ import annotations

import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import SERVED, compiled, contract_of, operator_of
from tests.events.broker import broker
from tests.events.receiver import receiving
from tests.events.stream import listening
from tests.http_cases import serving, tell
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, Load, Node, delivered, hall, judge, nodes, numbers, person
from tests.slices import many, some
from tests.waiting import until

from ninefold.ablate.requests import Known, read_exchanges

pytestmark = pytest.mark.serves


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[httpx.Client, httpx.Client]]:
    url, plan = server.database(), compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    with serving(plan, url, {}) as one, serving(plan, url, {}) as other:
        yield one, other


def at_once(number: int, ask: Callable[[int], httpx.Response]) -> list[httpx.Response]:
    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(ask, range(number)))


def statuses(responses: list[httpx.Response]) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in responses:
        found[each.status_code] = found.get(each.status_code, 0) + 1
    return found


def test_of_those_that_come_to_both_as_many_are_taken_as_there_may_be(both: tuple[httpx.Client, httpx.Client]) -> None:
    """One value is of one row, a hall holds no more than its seats, and numbers have no holes."""
    who, name = person(both[0]), f"s{next(numbers)}"
    one, few = hall(both[0], 100), hall(both[1], 5)
    same = at_once(16, lambda n: both[n % 2].post("/seats", json={"hall": one, "name": name}, headers=who))
    assert statuses(same) == {201: 1, 409: 15}
    seats = at_once(16, lambda n: both[n % 2].post("/seats", json={"hall": few, "name": f"{name} {n}"}, headers=who))
    assert statuses(seats) == {201: 5, 409: 11}
    ids = sorted(each.json()["id"] for each in (*same, *seats) if each.status_code == 201)
    assert ids == list(range(ids[0], ids[0] + 6))
    shown = [client.get("/seats", headers=who).json()["data"] for client in both]
    assert [each["id"] for each in shown[0]] == [each["id"] for each in shown[1]]


def test_what_comes_to_both_with_one_key_is_done_once(both: tuple[httpx.Client, httpx.Client]) -> None:
    who, where = person(both[0]), hall(both[1], 100)
    for _ in range(3):
        key = {**who, "Idempotency-Key": f"k{next(numbers)}"}
        body = {"hall": where, "name": f"s{next(numbers)}"}
        made = at_once(8, lambda n, body=body, key=key: both[n % 2].post("/seats", json=body, headers=key))  # type: ignore[misc]
        codes = {each.json()["code"] for each in made if each.status_code != 201}
        assert codes <= {"key_busy"} and statuses(made).get(201, 0) >= 1, [each.text for each in made]
        again = [client.post("/seats", json=body, headers=key) for client in both]
        assert len({each.text for each in (*made, *again) if each.status_code == 201}) == 1
        assert [each.status_code for each in again] == [201, 201]
        other = {**body, "name": "another"}
        assert [client.post("/seats", json=other, headers=key).json()["code"] for client in both] == ["key_reused"] * 2
    assert len(both[1].get("/seats", headers=who).json()["data"]) >= 3


def test_a_rate_is_of_both(both: tuple[httpx.Client, httpx.Client]) -> None:
    came = at_once(32, lambda n: both[n % 2].get("/limited"))
    assert statuses(came) == {200: 20, 429: 12}
    left = sorted(re.findall(r"r=(\d+)", each.headers["RateLimit"])[0] for each in came if each.status_code == 200)
    assert left == sorted(map(str, range(20)))
    assert [client.get("/limited").status_code for client in both] == [429, 429]


def test_a_credential_that_ends_at_one_has_ended_at_the_other(both: tuple[httpx.Client, httpx.Client]) -> None:
    one, other = both
    for _ in range(5):
        who = person(one)
        assert [client.get("/me", headers=who).status_code for client in (one, other)] == [200, 200]
        assert one.post("/sign-out", headers=who).status_code == 204
        assert other.get("/me", headers=who).status_code == 401
        one, other = other, one


def test_a_stream_tells_at_one_what_is_written_at_both_in_its_order(both: tuple[httpx.Client, httpx.Client]) -> None:
    who, where = person(both[0]), hall(both[0], 100)
    with listening(both[1], who) as told:
        made = at_once(
            20, lambda n: both[n % 2].post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who)
        )
        ids = sorted(each.json()["id"] for each in made)
        came = [each for each in told.take(20) if each.kind == "seat.made"]
        while len(came) < 20:  # others may have lapsed meanwhile
            came += [each for each in told.take(1) if each.kind == "seat.made"]
        assert [each.data["data"]["id"] for each in came] == ids
    with listening(both[0], who, after=came[9].id) as told:
        rest = [each for each in told.take(10) if each.kind == "seat.made"]
        assert [each.id for each in rest][:5] == [each.id for each in came[10:15]], "what one has given the other knows"


def test_what_is_due_is_never_seen_as_it_was(both: tuple[httpx.Client, httpx.Client]) -> None:
    """A row is made at one node, and falls due while the other is asked for it again and again."""
    who, where = person(both[0]), hall(both[0], 100)
    for client, other in (both, both[::-1]):
        made = client.post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who)
        began, path = time.monotonic(), f"/seats/{made.json()['id']}"
        seen = [(time.monotonic() - began, other.get(path, headers=who).json()["status"])]
        while seen[-1][1] == "held" and seen[-1][0] < 60:
            seen.append((time.monotonic() - began, other.get(path, headers=who).json()["status"]))
        # The time of each is from before it was asked; the row was made some time before its answer came.
        assert seen[-1][1] == "lapsed" and all(at < 2.0 for at, status in seen if status == "held")


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
        sender, other = _by_work(url, both)
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


def test_events_go_to_a_broker_in_their_order_whichever_node_dies(tmp_path: Path) -> None:
    url = server.database()
    with broker(tmp_path / "nats") as nats, nodes(url, 2, "--broker", nats.address) as both:
        nats.keep("seat.>")
        who, where = person(both[0].client), hall(both[0].client, 1000)
        sender, other = _by_work(url, both, "broker")

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


def _by_work(url: str, both: list[Node], work: str = "webhooks") -> tuple[Node, Node]:
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


@pytest.mark.long
def test_nothing_is_lost_or_done_twice_while_nodes_die_hang_and_lose_their_connections() -> None:
    url = server.database()
    with receiving() as receiver, nodes(url, 3) as among:
        load = Load(among, person(among[0].client), hall(among[0].client, 1_000_000))
        made = among[1].client.post("/webhooks", json={"url": receiver.url, "kinds": ["seat.made"]}, headers=load.who)
        assert made.status_code == 201
        with ThreadPoolExecutor(6) as threads:
            writing = [threads.submit(load.write, number) for number in range(6)]
            try:
                for number in range(many("CUTS", 3, 60)):
                    time.sleep(random.uniform(0.5, 2))
                    victim = random.choice(among)
                    if number % 3 == 0:
                        server.run(url, CUT)
                    elif number % 3 == 1:
                        victim.kill()
                        among[among.index(victim)] = Node(url).begun()
                    else:
                        victim.process.send_signal(signal.SIGSTOP)
                        time.sleep(12)
                        victim.process.send_signal(signal.SIGCONT)
            finally:
                load.ended = True
            for each in writing:
                each.result()
        judge(url, load, receiver)
        for node in among:
            node.close()


@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, 10), ids=lambda path: path.name)
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
