"""Doors, and what a client on a bare socket sees of them."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import sleep
from typing import Any, TypeAlias

import ninefold
from ninefold.pipeline import load
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.asking import Asking, Settled
from ninefold.runtime.http.awaiting import Awaiting
from ninefold.runtime.http.framing import Head
from ninefold.runtime.http.run import Asgi, Stop, serve
from ninefold.runtime.request.service import ready
from ninefold.runtime.store.sqlite import Opened, open_sqlite

CONTRACT = Path(__file__).with_name("contract.md")

Address: TypeAlias = tuple[str, int]
Door: TypeAlias = Callable[[Asgi], AbstractContextManager[Address]]
"""Lets an application be reached at an address, until the block ends."""


class Seen:
    """A service, the paths that it was asked for, and how many requests were refused before they came to it."""

    def __init__(self, application: Asgi) -> None:
        self._application = application
        self.paths: list[str] = []
        self.refusals = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.paths.append(scope["raw_path"].decode("latin-1"))
        await self._application(scope, receive, send)

    def refused(self, address: str, status: int, why: str) -> None:
        self.refusals += 1

    def taken(self) -> tuple[str, ...]:
        found, self.paths = tuple(self.paths), []
        return found


class SeenWithoutAsgi(Seen):
    """The same of one that is asked without ASGI in between, where that can be."""

    def __init__(self, application: Application) -> None:
        super().__init__(application)
        self._core = application
        self.direct = 0

    def takes(self, head: Head) -> bool:
        return self._core.takes(head)

    def asked(self, head: Head, content: bytes, peer: str, certificate: str | None) -> Asking | Awaiting | Settled:
        self.paths.append(head.path.decode("latin-1"))
        self.direct += 1
        return self._core.asked(head, content, peer, certificate)

    async def go_on(self, *given: Any) -> None:
        await self._core.go_on(*given)


@contextmanager
def served(door: Door, directory: Path) -> Iterator[tuple[Address, Seen]]:
    """The service of `contract.md` behind a door, over ASGI."""
    service = ninefold.application(CONTRACT, database=str(directory / "door.db"))
    seen = Seen(service)
    with door(seen) as address:
        yield address, seen
    service.close()


@contextmanager
def served_without_asgi(door: Door, directory: Path) -> Iterator[tuple[Address, SeenWithoutAsgi]]:
    """The same without, as `ninefold serve` does."""
    plan = load(str(CONTRACT)).plan
    assert plan is not None
    opened = open_sqlite(str(directory / "door.db"), plan.schema)
    assert isinstance(opened, Opened)
    service = Application(ready(plan, opened.database.key("cursors")), opened.database)
    seen = SeenWithoutAsgi(service)
    with door(seen) as address:
        yield address, seen
    service.close()
    opened.database.close()


@contextmanager
def own(application: Asgi, runner: Any = None) -> Iterator[Address]:
    """The door of `ninefold serve`."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1_000)
    address = listening.getsockname()
    stop = Stop()

    def run() -> None:
        with asyncio.Runner(loop_factory=runner) as loop:
            loop.run(serve(application, [listening], stop=stop))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield address
    finally:
        stop.request()
        thread.join()


def told(address: Address, pieces: Sequence[bytes], pause: float = 0.0, patience: float = 10.0) -> bytes:
    """All that comes back for these pieces, each sent by itself, until the door closes the connection or has been
    silent for a while."""
    received = bytearray()
    with socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(patience)
        sender = threading.Thread(target=_send, args=(connection, pieces, pause))
        sender.start()
        try:
            while chunk := connection.recv(65536):
                received += chunk
        except (ConnectionResetError, TimeoutError):
            received += b"(cut)"
        sender.join()
    return bytes(received)


def _send(connection: socket.socket, pieces: Sequence[bytes], pause: float) -> None:
    try:
        for piece in pieces:
            connection.sendall(piece)
            if pause:
                sleep(pause)
    except OSError:
        pass  # the door was closed before all was said


_HEAD = re.compile(rb"HTTP/1\.1 (\d\d\d) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n")
_LENGTH = re.compile(rb"content-length: (\d+)\r\n", re.IGNORECASE)


def answers(received: bytes, methods: Sequence[bytes] = ()) -> list[tuple[int, bytes]]:
    """Statuses and contents of responses that say how long they are. `methods`: HEAD is answered without content."""
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(received):
        head = _HEAD.match(received, at)
        assert head is not None, received[at : at + 200]
        status, at = int(head[1]), head.end()
        length = _LENGTH.search(head[2])
        bare = (len(found) < len(methods) and methods[len(found)] == b"HEAD") or length is None
        size = 0 if bare else int(length[1])  # type: ignore[index]
        found.append((status, received[at : at + size]))
        at += size
    return found
