"""A service that is killed, or whose disk loses its power, at random moments under load, with everything it has: keys,
unique values, transitions, timers, events and webhooks. What was acknowledged is there, once, and so is its event."""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import apsw
import httpx
import pytest
from tests.events.process import killed, killing, process, rows
from tests.events.receiver import Answer, receiving
from tests.faults.contracts import EVENTS_KEPT
from tests.slices import many
from tests.waiting import until

pytestmark = [pytest.mark.serves, pytest.mark.slow, pytest.mark.long]

OF_KILLS, KILLS = many("KILLS", 300, 12, 2)
"""How often the service is killed."""

OF_CUTS, CUTS = many("CUTS", 300, 12, 2)
"""How often the power of the disk is lost."""

OF_SLOW_KILLS, SLOW_KILLS = many("SLOW_KILLS", 96, 4, 1)
"""How often the service is killed on a disk that is slow, of each such disk."""

CALLERS = 6

CONTRACT = EVENTS_KEPT.replace("after: PT1H", "after: PT0.3S").replace("timeout: PT1S", "timeout: PT30S")


@dataclass(frozen=True)
class Wish:
    """A ticket that somebody asks for, again under the same key until there is an answer."""

    key: str
    seat: str


@dataclass
class Known:
    """What the service has acknowledged: the ticket of each key, the refused keys, the tickets that were sold.
    `waiting`: wishes without an answer; in a dictionary, as several threads take theirs out of it."""

    headers: dict[str, str] = field(default_factory=dict)
    tickets: dict[Wish, str] = field(default_factory=dict)
    refused: set[Wish] = field(default_factory=set)
    sold: set[str] = field(default_factory=set)
    waiting: dict[Wish, None] = field(default_factory=dict)

    def ask(self, http: httpx.Client, wish: Wish) -> None:
        """Raises httpx.TransportError where there is no answer: the wish stays among those that wait."""
        self.waiting[wish] = None
        body = {"seat": wish.seat, "price": 1}
        made = http.post("/tickets", json=body, headers={**self.headers, "Idempotency-Key": wish.key})
        if made.status_code == 201:
            assert self.tickets.setdefault(wish, made.json()["id"]) == made.json()["id"]
        else:
            assert made.json()["code"] == "taken", made.text
            self.refused.add(wish)
        del self.waiting[wish]

    def buy(self, http: httpx.Client, ticket: str) -> None:
        bought = http.post(f"/tickets/{ticket}/buy", headers=self.headers)
        if bought.status_code == 200:
            self.sold.add(ticket)
        else:
            assert bought.json()["code"] == "wrong_state", bought.text

    def load(self, url: str, seed: str) -> None:
        """One caller, until the service is gone. Every other ticket is bought; the rest lapse."""
        chance = Random(seed)
        with httpx.Client(base_url=url, timeout=60) as http:
            try:
                for number in range(100_000):
                    # All callers of a round ask for the same seats, one after another.
                    wish = Wish(f"{seed}-{number}", f"{seed.partition('/')[0]}-{number}")
                    self.ask(http, wish)
                    if wish in self.tickets and chance.random() < 0.5:
                        self.buy(http, self.tickets[wish])
            except httpx.TransportError:
                pass


def cutting(chance: Random) -> Callable[[subprocess.Popen[str]], None]:
    """Cut the power of a disk (`tests.faults.power`)."""

    def cut(running: subprocess.Popen[str]) -> None:
        assert running.stdin is not None
        running.stdin.write(f"{chance.random()}\n")
        running.stdin.flush()
        running.wait(60)

    return cut


@pytest.mark.parametrize("part", OF_KILLS)
def test_nothing_that_was_acknowledged_is_lost_or_done_twice(tmp_path: Path, part: int) -> None:
    survive(tmp_path, Random(17 + part), KILLS, "ninefold", killed)


@pytest.mark.parametrize("part", OF_KILLS)
def test_nor_is_it_where_other_processes_take_the_requests(tmp_path: Path, part: int) -> None:
    """The one that writes is killed, and with it all end. Those are killed alone in `tests/cli/test_readers.py`."""
    survive(tmp_path, Random(31 + part), KILLS, "ninefold", killed, "--readers", "2")


@pytest.mark.parametrize("milliseconds", [2, 20])
@pytest.mark.parametrize("part", OF_SLOW_KILLS)
def test_nor_is_it_on_a_disk_that_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int, milliseconds: int
) -> None:
    monkeypatch.setenv("NINEFOLD_FLUSH", str(milliseconds))
    survive(tmp_path, Random(37 + part), SLOW_KILLS, "tests.faults.slow", killed)


@pytest.mark.parametrize("part", OF_CUTS)
def test_nothing_that_was_acknowledged_is_lost_with_the_power(tmp_path: Path, part: int) -> None:
    survive(tmp_path, Random(29 + part), CUTS, "tests.faults.power", cutting(Random(part)))


def test_a_disk_that_says_it_has_written_and_has_not_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of this kind of fault no service is safe; the tests above would see it."""
    monkeypatch.setenv("NINEFOLD_DISK", "lies")
    with pytest.raises((AssertionError, KeyError, apsw.Error)):
        survive(tmp_path, Random(1), 2, "tests.faults.power", cutting(Random(1)))


def survive(
    folder: Path, chance: Random, times: int, program: str, how: Callable[[subprocess.Popen[str]], None], *options: str
) -> None:
    """Load a service that ends so many times, and judge what is there in the end. The last one runs on the real disk,
    so that others can look into its database."""
    contract, database, known = folder / "contract.md", folder / "service.db", Known()
    contract.write_text(CONTRACT, encoding="utf-8")
    with receiving(lambda _: Answer(500) if chance.random() < 0.3 else Answer()) as receiver:
        for end in range(times + 1):
            with (
                process(contract, database, "127.0.0.1:0", program if end < times else "ninefold", *options) as (
                    running,
                    url,
                ),
                httpx.Client(base_url=url, timeout=60) as http,
            ):
                if not known.headers:
                    person = http.post("/people", json={"name": "Ann", "role": "member"}).json()
                    known.headers = {"Authorization": f"Bearer {person['token']}"}
                    kinds = ["ticket.made", "ticket.sold", "ticket.lapsed"]
                    made = http.post("/webhooks", json={"url": receiver.url, "kinds": kinds}, headers=known.headers)
                    assert made.status_code == 201
                asked, known.waiting = known.waiting, {}
                for wish in [*asked, *list(known.tickets)[-20:]]:
                    known.ask(http, wish)
                if end == times:
                    until_nothing_is_left_to_do(database)
                    break
                enough, moment = len(known.tickets) + 6 + chance.randrange(30), chance.random() / 50
                more = ((known.tickets, enough), (known.refused, 0), (known.sold, 0))
                with killing(running, moment, *more, how=how), ThreadPoolExecutor(CALLERS) as pool:
                    for done in [pool.submit(known.load, url, f"{end}/{caller}") for caller in range(CALLERS)]:
                        done.result()
        delivered = [each.json for each in receiver.good()]
    assert len(known.tickets) > 5 * times and known.refused and known.sold
    tickets_are_as_acknowledged(database, known)
    events_are_those_of_the_tickets(database, delivered)


def until_nothing_is_left_to_do(database: Path) -> None:
    left = "SELECT 1 FROM ticket WHERE status = 'open' UNION ALL SELECT 1 FROM \"$delivery\" LIMIT 1"
    until(lambda: not rows(database, left), lambda: "tickets still wait for their time, or events for their delivery")


def tickets_are_as_acknowledged(database: Path, known: Known) -> None:
    stored = {id: (seat, status) for id, seat, status in rows(database, "SELECT id, seat, status FROM ticket")}
    for wish, ticket in known.tickets.items():
        assert stored[ticket][0] == wish.seat
    # Every wish had an answer in the end, so there is no ticket that nobody knows of.
    assert set(stored) == set(known.tickets.values())
    assert len({seat for seat, _ in stored.values()}) == len(stored) == len(known.tickets)
    assert {wish.seat for wish in known.refused} <= {seat for seat, _ in stored.values()}
    assert {stored[ticket][1] for ticket in known.sold} == {"sold"}
    assert {status for _, status in stored.values()} == {"sold", "lapsed"}


def events_are_those_of_the_tickets(database: Path, delivered: list[dict[str, Any]]) -> None:
    """One event when a ticket is made and one for how it ended, in this order, and each delivered."""
    logged = rows(database, "SELECT id, kind, json_extract(row, '$[0]') FROM \"$event\" ORDER BY seq")
    told: dict[str, list[str]] = defaultdict(list)
    for _, kind, ticket in logged:
        told[ticket].append(kind)
    ends = {id: f"ticket.{status}" for id, status in rows(database, "SELECT id, status FROM ticket")}
    assert dict(told) == {id: ["ticket.made", end] for id, end in ends.items()}
    assert {each["id"] for each in delivered} == {id for id, _, _ in logged}
    assert max(Counter(id for id, _, _ in logged).values()) == 1
    # A delivery may be repeated, and what comes for the first time comes in the order of its ticket.
    first = dict.fromkeys((each["subject"], each["type"]) for each in delivered)
    came: dict[str, list[str]] = defaultdict(list)
    for subject, kind in first:
        came[subject].append(kind)
    assert came == told
