"""Who connects is let in soon, however many connect and ask at the same time."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from tests.waiting import comes

from ninefold.runtime.http.run import ACCEPTED, Stop, run, serve

pytestmark = pytest.mark.serves

CLIENTS = 400
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_those_who_connect_together_are_let_in_in_a_few_turns_of_the_loop() -> None:
    """Under load a turn is long: it answers all that came in the one before. libuv accepts one a turn of a
    socket. The more are there, the longer a turn is: so the more are let in in it."""
    asked = 0

    async def application(scope: Any, receive: Any, send: Any) -> None:
        nonlocal asked
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        asked += 1
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def turns(listening: socket.socket) -> int:
        stop, count = Stop(), 0
        serving = asyncio.create_task(serve(application, [listening], stop=stop))
        clients = [_asks(listening)]
        await comes(lambda: asked)
        clients += [_asks(listening) for _ in range(CLIENTS)]  # the loop stands still meanwhile
        while asked < 1 + CLIENTS:
            await asyncio.sleep(0)
            count += 1
        for each in clients:
            each.close()
        stop.request()
        await serving
        return count

    async def counted() -> None:
        found.append(await turns(socket.create_server(("127.0.0.1", 0), backlog=2 * CLIENTS)))

    found: list[int] = []
    run(counted)
    assert found[0] < CLIENTS / ACCEPTED


def _asks(listening: socket.socket) -> socket.socket:
    client = socket.create_connection(listening.getsockname())
    client.sendall(REQUEST)
    return client
