"""Each response has a `Date` (RFC 9110, 6.6.1), the first that a service gives too."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from ninefold.runtime.http.server import Server

pytestmark = pytest.mark.serves


async def empty(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


class AskedAtOnce(Server):
    """It is asked as soon as it listens, before the first round of its loop."""

    told = b""

    async def goes_on(self) -> None:
        reader, writer = await asyncio.open_connection(*self.listening[0].sockets[0].getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        self.told = await reader.read()
        writer.close()
        self.should_exit = True


def test_the_first_response_has_a_date() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = AskedAtOnce(empty, False, 30, 30)
        asyncio.run(server.serve([listening]))
    assert server.told.startswith(b"HTTP/1.1 204")
    assert b"\r\ndate: " in server.told.lower()
