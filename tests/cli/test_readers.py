"""`serve --readers`: further processes that answer what only reads. What they know of each other:
`tests/server/test_together.py`."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from tests.among_readers import among
from tests.cli.test_renewal import Service, goes_on
from tests.cli.test_serving import Refused, Serving, refused, serving
from tests.contracts import SERVED, compiled, contract_of, operator_of
from tests.http_cases import patient, tell
from tests.postgresql.nodes import CONTRACT, Load, hall, person
from tests.slices import many, some
from tests.waiting import PATIENCE, until

from ninefold.diff.requests import Known, read_exchanges
from ninefold.runtime.http.passing import Link
from ninefold.runtime.operations.timers import BATCH

__all__ = ["refused"]

pytestmark = [
    pytest.mark.serves,
    pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no sockets that can be handed over"),
]


PIECES, KILLS = many("KILLS", 300, 12, 2)
"""How often one of the processes is killed."""


def children(service: Serving) -> set[int]:
    found = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = (map(int, line.split()) for line in found.splitlines())
    return {pid for pid, parent in pairs if parent == service.process.pid}


def metric(service: Serving, name: str) -> float:
    text = httpx.get(f"{service.address('operator')}/metrics").text
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


def ready(service: Serving, number: int) -> set[int]:
    """Once so many take requests: which they are."""
    until(lambda: metric(service, "ninefold_readers ") == number)
    return children(service)


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("part", PIECES)
def test_a_process_that_is_killed_takes_nothing_with_it_but_its_connections(tmp_path: Path, part: int) -> None:
    """Under load one after another is killed, and another begun. What was answered is there, nothing twice; the log and
    the metrics are of all processes; with the first all end."""
    with serving(tmp_path, "--readers", "2", document=CONTRACT) as service, ThreadPoolExecutor(1) as beside:
        # Somebody has to read the log: there is only so much room for what nobody takes.
        log: Future[list[str]] = beside.submit(list, service.process.stdout)  # type: ignore[arg-type]
        now = ready(service, 2)
        with httpx.Client(base_url=service.address("service"), timeout=60) as client:
            who = person(client)
            load = Load([Asked(client)], who, hall(client, 1_000_000))  # type: ignore[list-item]
            with load.going(6):
                for _ in range(KILLS):
                    load.until_more(21)
                    victim = random.choice(sorted(now))
                    os.kill(victim, signal.SIGKILL)
                    until(lambda: len(children(service) - {victim}) == 2)  # noqa: B023
                    now = ready(service, 2)
        # Each request by a connection of its own, which any of the processes may take.
        for _ in range(6):
            seats = httpx.get(f"{service.address('service')}/seats", headers=who, timeout=60).json()["data"]
            assert sorted(load.answered) == [(each["id"], each["name"]) for each in seats]
        assert [id for id, _ in sorted(load.answered)] == list(range(1, len(load.answered) + 1))
        until(lambda: metric(service, 'ninefold_requests_total{method="GET",route="GET /seats"') == 6)
        service.process.send_signal(signal.SIGTERM)
        assert sum(" GET /seats 200 " in line for line in log.result()) == 6
        assert service.process.wait(60) == 0
        until(lambda: not any(map(is_there, now)))
    assert os.listdir(tmp_path) == ["a.db"]


class Asked:
    def __init__(self, client: httpx.Client) -> None:
        self.client = client


def test_what_is_passed_on_is_answered_by_nobody_where_the_first_is_killed(tmp_path: Path) -> None:
    """Each connection ends; none is told of a fault of the service, which says what was done and what was not."""
    with serving(tmp_path, "--readers", "2", document=CONTRACT) as service, ExitStack() as stack:
        now = ready(service, 2)
        url = httpx.URL(service.address("service"))
        with httpx.Client(base_url=url, timeout=60) as client:
            who = person(client)["Authorization"]
        begun = f"POST /seats HTTP/1.1\r\nHost: {url.netloc.decode()}\r\nAuthorization: {who}\r\n"
        begun += "Content-Type: application/json\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n"
        among = [stack.enter_context(socket.create_connection((url.host, url.port))) for _ in range(60)]
        for each in among:
            each.settimeout(PATIENCE)
            each.sendall(begun.encode())
        # Who is asked to go on is waited for by the process that writes, which may be another one than it speaks to.
        assert {each.recv(100) for each in among} == {b"HTTP/1.1 100 Continue\r\n\r\n"}
        service.process.kill()
        assert {_rest(each) for each in among} == {b""}
        until(lambda: not any(map(is_there, now)))


def _rest(connection: socket.socket) -> bytes:
    """What comes until it ends."""
    came = b""
    with suppress(ConnectionResetError):
        while content := connection.recv(1000):
            came += content
    return came


def test_what_is_due_has_happened_and_all_end_where_the_first_is_killed(tmp_path: Path) -> None:
    """The clock is set, so that more rows are due than one transaction takes: nobody sees one as it was."""
    beginning, later = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"
    with serving(tmp_path, "--readers", "2", "--clock", beginning, document=CONTRACT) as service:
        now = ready(service, 2)
        with httpx.Client(base_url=service.address("service"), timeout=60) as client, ThreadPoolExecutor(8) as threads:
            who, where = person(client), hall(client, 1_000)
            seats = [{"hall": where, "name": f"s{number}"} for number in range(3 * BATCH)]
            made = list(threads.map(lambda seat: client.post("/seats", json=seat, headers=who).status_code, seats))
            assert made == [201] * len(seats)
            assert httpx.put(f"{service.address('operator')}/clock", content=later).status_code == 200
            shown = list(
                threads.map(lambda number: client.get(f"/seats/{number}", headers=who).json(), range(590, 601))
            )
            assert {each["status"] for each in shown} == {"lapsed"}
        service.process.kill()
        service.process.wait()
        # They are nobody's children now, and this process may not be who sees to them.
        until(lambda: not any(map(_runs, now)))


def _runs(pid: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(found) and not found.startswith("Z")


def test_a_contract_is_taken_anew_by_all(tmp_path: Path) -> None:
    with Service(tmp_path, "--readers", "1") as service:
        goes_on(service)
        service.end()


def test_it_is_refused_where_it_makes_no_sense(refused: Refused) -> None:
    assert "several processes may serve one PostgreSQL" in refused("--readers", "2", "--database", "postgresql://x/y")
    assert "from 0 to 64" in refused("--readers", "65")


def test_who_cannot_serve_what_it_is_told_gives_way_to_another(tmp_path: Path) -> None:
    plan = compiled(CONTRACT).plan
    assert plan is not None
    with among(1) as one, one.serving(patient(plan), tmp_path / "a.db", {}) as client:
        until(lambda: one.answers(client, "/limited"))
        before = one.processes()
        one.tell_once(str(tmp_path / "nothing.db"))
        until(lambda: one.processes() and one.processes() != before)
        until(lambda: one.answers(client, "/limited"))


def test_who_is_begun_while_all_end_is_not_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan = compiled(CONTRACT).plan
    assert plan is not None
    with among(1) as one, one.serving(patient(plan), tmp_path / "a.db", {}) as client:
        until(lambda: one.answers(client, "/limited"))
        one.end_while_another_is_begun()
    assert "did not end by themselves" not in caplog.text


@pytest.mark.long
def test_processes_that_read_answer_as_one_does(tmp_path: Path) -> None:
    """Each contract is taken in the place of the one before, over another file."""
    with among(2) as readers:
        for directory in some(SERVED, 6):
            plan, operator = compiled(contract_of(directory)).plan, operator_of(directory)
            assert plan is not None
            for path in sorted((directory / "http").glob("*.http")):
                with readers.serving(patient(plan), tmp_path / f"{directory.name}.db", operator) as client:
                    known: Known = {}
                    for exchange in read_exchanges(path.read_text(encoding="utf-8")):
                        tell(client, exchange, known)


def test_sockets_that_nobody_takes_hold_up_no_loop() -> None:
    """Whoever hands one over waits alone until there is room for it."""
    here, there = socket.socketpair()

    async def hand_over() -> None:
        link = Link(None, here)  # type: ignore[arg-type]
        waiting = {asyncio.create_task(link.hand_over(here)) for _ in range(600)}
        held: list[int] = []
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=0)
            if not done:
                held += socket.recv_fds(there, 1, 1)[1]
        for each in held:
            os.close(each)
        assert held

    with here, there:
        asyncio.run(hand_over())
