"""More work than there is room for: it is refused as the contract says, and nothing grows without bound."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from ipaddress import ip_network
from pathlib import Path
from time import monotonic, sleep

import apsw
import httpx
import pytest
from tests.server.payments import new_key, payments
from tests.serving import in_a_thread
from tests.waiting import until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import LITTLE_BYTES, Capacity, client_address
from ninefold.runtime.request.service import ready
from ninefold.runtime.store.sqlite import Opened, SQLite, open_sqlite

pytestmark = pytest.mark.serves


@contextmanager
def serving(plan: ServicePlan, path: Path, capacity: Capacity) -> Iterator[tuple[httpx.Client, SQLite]]:
    opened = open_sqlite(str(path), plan.schema)
    assert isinstance(opened, Opened), opened
    service, address = ready(plan, opened.database.key("cursors")), client_address([ip_network("127.0.0.0/8")])
    application = Application(service, opened.database, capacity=capacity, address=address)
    with closing(opened.database), in_a_thread(application) as (host, port):
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as http:
            yield http, opened.database


def begun(http: httpx.Client, length: int, sent: bytes, of: str = "192.0.2.1") -> socket.socket:
    """A request whose body does not end, of a client's address."""
    connection = socket.create_connection((http.base_url.host, http.base_url.port or 80))
    head = f"POST /customers HTTP/1.1\r\nhost: x\r\nx-forwarded-for: {of}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    connection.sendall(head.encode() + sent)
    return connection


def answer(connection: socket.socket) -> bytes:
    connection.settimeout(60)
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
        head, _, body = received.partition(b"\r\n\r\n")
        if f"content-length: {len(body)}".encode() in head:
            break
    return received


def test_beyond_the_most_requests_it_is_unavailable(tmp_path: Path) -> None:
    capacity = Capacity(most_requests=3)
    with serving(payments(), tmp_path / "a.db", capacity) as (http, _), ExitStack() as open_:
        slow = [open_.enter_context(begun(http, 15, b'{"name"')) for _ in range(3)]
        until(lambda: capacity.requests == 3)
        refused = http.get("/payments")
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert refused.headers["retry-after"] == "1"
        slow[0].sendall(b': "Ann"}')
        assert b"201 Created" in answer(slow[0])
        assert http.get("/payments").status_code == 200
        slow[1].close()
        until(lambda: capacity.requests == 1)
    assert (capacity.requests, capacity.bytes) == (0, 0)


def test_what_was_done_is_told_whatever_has_come_meanwhile(tmp_path: Path) -> None:
    """It had room when it came; that there is none when its transaction is committed is for others to be told."""
    told = ("secret: issued.secret", "a: customer.name, b: customer.name")
    plan, capacity = payments(instead=(told, ("secret: password}", "minLength: 1}"))), Capacity()
    body = b'{"name": "%b"}' % (b"x" * (LITTLE_BYTES * 3 // 4))  # told twice, it is more than goes out at once
    path = tmp_path / "a.db"
    with serving(plan, path, capacity) as (http, _), closing(apsw.Connection(str(path))) as other, ExitStack() as open_:

        def made() -> bytes:
            return answer(open_.enter_context(begun(http, len(body), body)))

        assert {made()[9:12] for _ in range(3)} == {b"201"}
        # Who has been answered may still be counted; and of who is counted the body may have yet to be taken.
        until(lambda: (capacity.requests, capacity.bytes) == (0, 0))
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as asking:
            answered = asking.submit(made)
            until(lambda: (capacity.requests, capacity.bytes) == (1, len(body)))
            capacity.bytes += 2 * capacity.most_bytes
            other.execute("COMMIT")
            assert answered.result()[9:12] == b"201"
        assert made()[9:12] == b"503"
        capacity.bytes -= 2 * capacity.most_bytes
        until(lambda: (capacity.requests, capacity.bytes) == (0, 0))


def test_who_sends_half_of_many_bodies_leaves_others_room(tmp_path: Path) -> None:
    capacity = Capacity(most_requests=5, most_bodies_of_one=2)
    with serving(payments(), tmp_path / "a.db", capacity) as (http, _), ExitStack() as open_:
        slow = [open_.enter_context(begun(http, 15, b'{"name"')) for _ in range(2)]
        until(lambda: capacity.requests == 2)
        for _ in range(5):
            with begun(http, 15, b'{"name"') as beyond:
                assert b"503 Service Unavailable" in answer(beyond)
        with begun(http, 15, b'{"name"', "192.0.2.2") as other:
            until(lambda: capacity.requests == 3)
            other.sendall(b': "Ann"}')
            assert b"201 Created" in answer(other)
        # What comes whole is not waited for.
        assert http.post("/customers", json={"name": "Bea"}).status_code == 201
        for each in slow:
            each.sendall(b': "Ann"}')
            assert b"201 Created" in answer(each)
        with begun(http, 15, b'{"name"') as again:
            until(lambda: capacity.requests == 1)
            again.close()
        until(lambda: capacity.requests == 0)
        assert not capacity.bodies_of


def test_bodies_are_bounded_all_together(tmp_path: Path) -> None:
    capacity = Capacity(most_bytes=50_000)
    with serving(payments(), tmp_path / "a.db", capacity) as (http, _), ExitStack() as open_:
        for _ in range(2):
            open_.enter_context(begun(http, 60_000, b" " * 20_000))
        until(lambda: capacity.bytes == 40_000)
        refused = http.post("/customers", content=b" " * 30_000, headers={"content-type": "application/json"})
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert http.post("/customers", json={"name": "Ann"}).status_code == 201
    assert (capacity.requests, capacity.bytes) == (0, 0)


def test_a_body_that_stalls(tmp_path: Path) -> None:
    with serving(payments(timeout="none"), tmp_path / "a.db", Capacity(stalled_seconds=0.3)) as (http, _):
        with begun(http, 15, b'{"na') as connection:
            sleep(0.2)
            connection.sendall(b'me": ')
            sleep(0.2)
            received = answer(connection)
        assert received.startswith(b"HTTP/1.1 408 ") and b"connection: close" in received


def test_a_slow_body_and_a_slow_queue_time_out(tmp_path: Path) -> None:
    plan = payments(timeout="PT2S")
    with serving(plan, tmp_path / "a.db", Capacity()) as (http, database):
        began = monotonic()
        with begun(http, 15, b'{"name"') as connection:
            received = answer(connection)
        assert b"503" in received.partition(b"\r\n")[0] and b"too_slow" in received
        assert 1.9 < monotonic() - began < 60

        # The writer waits for the lock until it is released: that it is not had would be another refusal.
        database._connections[-1].set_busy_timeout(60_000)
        lock = apsw.Connection(str(tmp_path / "a.db"))
        lock.execute("BEGIN IMMEDIATE")
        key = {"Idempotency-Key": new_key()}
        late = http.post("/customers", json={"name": "Ann"}, headers=key)
        assert (late.status_code, late.json()["code"]) == (503, "too_slow")
        lock.execute("ROLLBACK")
        lock.close()
        # What was on its way is done all the same; with its key it is not done again.
        until(lambda: database.select("SELECT count(*) FROM customer", ()) == [(1,)])
        assert http.post("/customers", json={"name": "Ann"}, headers=key).status_code == 201
        assert database.select("SELECT count(*) FROM customer", ()) == [(1,)]


_FLOODED = """
import asyncio, socket, sys
from tests.server.payments import payments
from ninefold.runtime.store.sqlite import open_sqlite
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.run import serve
from ninefold.runtime.request.service import ready
plan = payments("{calls: {of: address, allow: 1000000, per: PT1M, algorithm: sliding window}}")
database = open_sqlite(sys.argv[1], plan.schema).database
service = Application(ready(plan, database.key("cursors")), database, capacity=Capacity(100, 2_000_000))
asyncio.run(serve(service, [socket.socket(fileno=int(sys.argv[2]))]))
"""


def resident(process: int) -> int:
    """MiB of memory."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_under_a_flood(tmp_path: Path) -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=1_000)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    root = str(Path(__file__).parents[2])
    places = os.pathsep.join([root, *(entry for entry in sys.path if entry)])
    command = [sys.executable, "-c", _FLOODED, str(tmp_path / "a.db"), str(listening.fileno())]
    body = b'{"name": "' + b"a" * 60_000 + b'"}'

    def flood(seconds: float) -> dict[int, int]:
        def one(_: int) -> list[int]:
            found: list[int] = []
            ends = monotonic() + seconds
            with httpx.Client(base_url=url, timeout=60) as http:
                while monotonic() < ends:
                    for content in (body, b'{"name": "Ann"}', b"{"):
                        headers = {"content-type": "application/json", "Idempotency-Key": new_key()}
                        found.append(http.post("/customers", content=content, headers=headers).status_code)
            return found

        with ThreadPoolExecutor(24) as pool:
            statuses = [status for found in pool.map(one, range(24)) for status in found]
        return {status: statuses.count(status) for status in set(statuses)}

    with subprocess.Popen(command, pass_fds=[listening.fileno()], env={**os.environ, "PYTHONPATH": places}) as child:
        listening.close()
        try:
            with ExitStack() as open_:
                with httpx.Client(base_url=url, timeout=60) as http:
                    assert http.get("/payments").status_code == 200
                    # Many who begin and do not go on take no more than there is room for, and leave room for others.
                    for _ in range(300):
                        open_.enter_context(begun(http, 60_000, b" " * 50_000))
                    headers = {"content-type": "application/json"}

                    def is_bounded() -> bool:
                        # Of those that came together each may have had a part of the room, and given it back.
                        open_.enter_context(begun(http, 60_000, b" " * 50_000))
                        large = http.post("/customers", content=body, headers=headers).status_code
                        return (large, http.get("/payments").status_code) == (503, 200)

                    until(is_bounded)

                    def is_full() -> bool:
                        # On a slow machine they time out while others are begun: each look has as many of its own.
                        with ExitStack() as more:
                            for _ in range(100):
                                more.enter_context(begun(http, 60_000, b""))
                            return any(http.get("/payments").status_code == 503 for _ in range(20))

                    until(is_full)
            flood(1.5)
            before = resident(child.pid)
            statuses = flood(4)
            assert set(statuses) <= {201, 400, 503} and statuses[201] > 10
            assert resident(child.pid) < before + 40
        finally:
            child.kill()
