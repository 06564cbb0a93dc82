"""Very many events to a receiver that fails, while the service is killed: each arrives, in the order of its row."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random

import httpx
import pytest
from tests.events.process import process, rows
from tests.events.receiver import Answer, receiving
from tests.faults.contracts import EVENTS_KEPT
from tests.slices import many

pytestmark = [pytest.mark.serves, pytest.mark.slow, pytest.mark.long]

PIECES, EVENTS = many("EVENTS", 100_000, 4_000, 200)
"""How many there are."""

REQUESTS = max(50, EVENTS // 100)
"""That come to the receiver from a start of the service to its end, at least, if there are as many; up to twice as many
by chance."""

CONTRACT = EVENTS_KEPT.replace("timeout: PT1S", "timeout: PT30S")


@pytest.mark.parametrize("part", PIECES)
def test_every_event_arrives(tmp_path: Path, part: int) -> None:
    """Three requests in ten fail."""
    contract, database = tmp_path / "contract.md", tmp_path / "service.db"
    contract.write_text(CONTRACT, encoding="utf-8")
    chance, kills = Random(23 + part), 0
    headers: dict[str, str] = {}
    with receiving(lambda _: Answer(500) if chance.random() < 0.3 else Answer()) as receiver:
        while not headers or made(database) < EVENTS or undelivered(database):
            with process(contract, database) as (running, url):
                if not headers:
                    headers = somebody_who_listens(url, receiver.url)
                with killed_after(running, receiver.came, REQUESTS + chance.randrange(REQUESTS)):
                    make_until_gone(url, headers, kills, EVENTS - made(database))
                    while running.poll() is None and undelivered(database):
                        time.sleep(0.02)
            kills += 1
        came = [(each.json["id"], each.json["subject"], each.json["type"]) for each in receiver.good()]
        failed = len(receiver.came) - len(came)
    logged = rows(database, 'SELECT id FROM "$event"')
    assert len(logged) >= EVENTS and {id for id, _, _ in came} == {id for (id,) in logged}
    assert failed > len(logged) / 5
    told: dict[str, list[str]] = defaultdict(list)
    for subject, kind in dict.fromkeys((subject, kind) for _, subject, kind in came):
        told[subject].append(kind)
    assert {tuple(kinds) for kinds in told.values()} <= {("ticket.made",), ("ticket.made", "ticket.sold")}
    print(f"{len(logged)} events, {kills} kills, {len(came) - len(logged)} repeated, {failed} failed")


@contextmanager
def killed_after(running: subprocess.Popen[str], came: Sized, more: int) -> Iterator[None]:
    """It is killed once so many more have come, and not where the block ends before."""
    enough, over = len(came) + more, threading.Event()

    def kill() -> None:
        while not over.wait(0.002):
            if len(came) >= enough:
                running.send_signal(signal.SIGKILL)
                return

    killing = threading.Thread(target=kill)
    killing.start()
    try:
        yield
    finally:
        over.set()
        killing.join()


def made(database: Path) -> int:
    return int(rows(database, 'SELECT count(*) FROM "$event"')[0][0])


def undelivered(database: Path) -> bool:
    return bool(rows(database, 'SELECT 1 FROM "$delivery" LIMIT 1'))


def somebody_who_listens(url: str, receiver: str) -> dict[str, str]:
    person = httpx.post(f"{url}/people", json={"name": "Ann", "role": "member"}).json()
    headers = {"Authorization": f"Bearer {person['token']}"}
    body = {"url": receiver, "kinds": ["ticket.made", "ticket.sold", "ticket.lapsed"]}
    assert httpx.post(f"{url}/webhooks", json=body, headers=headers).status_code == 201
    return headers


def make_until_gone(url: str, headers: dict[str, str], round: int, wanted: int) -> None:
    """Tickets that are made and bought, two events each, until there are enough or the service is gone."""

    def make(caller: int) -> None:
        with httpx.Client(base_url=url, timeout=30, headers=headers) as http:
            try:
                for number in range(-(-wanted // 8)):
                    ticket = http.post("/tickets", json={"seat": f"{round}-{caller}-{number}", "price": 1})
                    assert http.post(f"/tickets/{ticket.json()['id']}/buy").status_code == 200
            except httpx.TransportError:
                pass

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(make, caller) for caller in range(4)]:
            done.result()
