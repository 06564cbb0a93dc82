"""Of what others answer so much is read and no more, whatever it is."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_network

import pytest
from tests.waiting import comes, until

from ninefold.runtime.background.sender import Delivered, Failed, Outcome, Sender
from ninefold.runtime.http.work import _fetch
from ninefold.runtime.operations.flow import Unreachable

pytestmark = pytest.mark.serves

HEAD = b"HTTP/1.1 200 OK\r\n"
MUCH = 16 * 1024 * 1024

BEFORE: dict[str, tuple[bytes, bytes]] = {
    "answers before the answer": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "fields": (HEAD, b"X: %b\r\n" % (b"a" * 1_000)),
    "one field": (HEAD + b"X: ", b"a" * 1_000),
    "a first line": (b"", b"a" * 1_000),
}
"""What comes before anything is said: once, and without end."""

BEHIND: dict[str, tuple[bytes, bytes]] = {
    "extensions": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1;%b\r\na\r\n" % (b"a" * 1_000)),
    "one extension": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a" * 1_000),
    "content": (HEAD + b"Content-Length: 1073741824\r\n\r\n", b"a" * 1_000),
    "answers that nobody asked for": (HEAD + b"Content-Length: 0\r\n\r\n", HEAD + b"Content-Length: 0\r\n\r\n"),
    "another protocol": (b"HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", b"a" * 1_000),
}


@contextmanager
def saying(first: bytes, again: bytes) -> Iterator[tuple[str, list[bool]]]:
    """A URL at which this is said to each request, and of each whether much of it was taken."""
    took: list[bool] = []
    part = again * (256 * 1024 // len(again) + 1)

    def say(client: socket.socket) -> None:
        with client:
            client.recv(65_536)
            try:
                client.sendall(first)
                for _ in range(MUCH // len(part)):
                    client.sendall(part)
                took.append(True)
            except OSError:
                took.append(False)

    def listen() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=say, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", took


async def _sent(url: str, ended: Callable[[], object]) -> Outcome:
    async with Sender([ip_network("127.0.0.0/8")]) as sender:
        outcome = await sender.send(url, {}, b"{}")
        await comes(ended)  # while the connection is kept
    return outcome


@pytest.mark.parametrize(("first", "again"), [*BEFORE.values(), *BEHIND.values()], ids=[*BEFORE, *BEHIND])
def test_of_what_a_receiver_says(first: bytes, again: bytes) -> None:
    with saying(first, again) as (url, took):
        outcome = asyncio.run(_sent(url, lambda: took))
    assert set(took) == {False}
    assert isinstance(outcome, Delivered if (first, again) in BEHIND.values() and b" 200 " in first else Failed)


@pytest.mark.parametrize(("first", "again"), [*BEFORE.values(), *BEHIND.values()], ids=[*BEFORE, *BEHIND])
def test_of_what_an_issuer_says(first: bytes, again: bytes) -> None:
    with saying(first, again) as (url, took):
        found = asyncio.run(_fetch(url))
        until(lambda: took)
    assert set(took) == {False}
    assert isinstance(found, Unreachable) or not found.body
