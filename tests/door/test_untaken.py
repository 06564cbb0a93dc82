"""Answers that nobody reads: they count, they are not kept for long, and they hold up no end."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from tests.door.doors import CONTRACT, Address
from tests.waiting import until

from ninefold.pipeline import load
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.run import Asgi, Stop, serve
from ninefold.runtime.request.service import ready
from ninefold.runtime.store.sqlite import Opened, open_sqlite

pytestmark = pytest.mark.serves

SIZE = 900_000


@contextmanager
def door(application: Asgi, untaken_seconds: float) -> Iterator[tuple[Address, Stop]]:
    """A door whose machine takes little for its clients."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=100)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8_192)
    address = listening.getsockname()
    stop = Stop()

    def run() -> None:
        asyncio.run(serve(application, [listening], stop=stop, untaken_seconds=untaken_seconds))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield address, stop
    finally:
        stop.request()
        thread.join()


@contextmanager
def service(path: Path, capacity: Capacity) -> Iterator[Application]:
    plan = load(str(CONTRACT)).plan
    assert plan is not None
    opened = open_sqlite(str(path), plan.schema)
    assert isinstance(opened, Opened)
    yield Application(ready(plan, opened.database.key("cursors")), opened.database, capacity=capacity)
    opened.database.close()


def large(address: Address) -> bytes:
    """A request for much."""
    made = httpx.post(f"http://{address[0]}:{address[1]}/notes", json={"text": "a" * SIZE})
    return f"GET {made.headers['location']} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def unread(address: Address, request: bytes) -> socket.socket:
    """A client that asks, and reads nothing."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.connect(address)
    connection.sendall(request)
    return connection


def test_they_count_and_are_dropped(tmp_path: Path) -> None:
    capacity = Capacity(most_bytes=4 * SIZE + 1_000)
    with (
        service(tmp_path / "a.db", capacity) as application,
        door(application, 4) as (address, _),
        ExitStack() as open_,
    ):
        request = large(address)
        clients = [open_.enter_context(unread(address, request)) for _ in range(20)]
        refused = [client for client in clients if b" 503 " in client.recv(20, socket.MSG_PEEK)]
        assert len(refused) == 16
        assert 4 * SIZE < capacity.bytes < 4 * SIZE + 1_000
        assert httpx.get(f"http://{address[0]}:{address[1]}/hello").status_code == 200, "there is room for little ones"
        until(lambda: capacity.requests == 0)
        assert capacity.bytes == 0
        assert httpx.get(f"http://{address[0]}:{address[1]}{request.split()[1].decode()}").status_code == 200


def test_who_reads_slowly_is_not_dropped(tmp_path: Path) -> None:
    with service(tmp_path / "a.db", Capacity()) as application, door(application, 3) as (address, _):
        request, received = large(address), 0
        with unread(address, request) as client:
            client.settimeout(60)
            for _ in range(14):
                sleep(0.25)
                received += len(client.recv(8_000))
            while received < SIZE and (chunk := client.recv(65536)):
                received += len(chunk)
        assert received > SIZE


def test_a_response_without_end_that_nobody_reads_ends(tmp_path: Path) -> None:
    ended = threading.Event()

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        listening = asyncio.ensure_future(receive_the_end(receive))
        while not listening.done():
            await send({"type": "http.response.body", "body": b"a" * 10_000, "more_body": True})
            await asyncio.sleep(0)
        ended.set()

    async def receive_the_end(receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    with door(endless, 1) as (address, _), unread(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"):
        assert ended.wait(60)


def test_an_end_waits_for_nobody_who_takes_nothing(tmp_path: Path) -> None:
    capacity = Capacity()
    with service(tmp_path / "a.db", capacity) as application, ExitStack() as open_:
        with door(application, 30) as (address, stop):
            request = large(address)
            for _ in range(10):
                open_.enter_context(unread(address, request))
            until(lambda: capacity.requests == 10)
            began = monotonic()
            stop.request()
        assert monotonic() - began < 19
        assert capacity.requests == 0
