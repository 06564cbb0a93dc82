"""A connection that is kept: it ends when nothing has come for a while, and never with a request that is there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from time import sleep
from typing import Any

import pytest

from ninefold.runtime.http import protocol
from ninefold.runtime.http.run import Stop, run, serve

pytestmark = pytest.mark.serves

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
IDLE_SECONDS = 0.1


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


@pytest.mark.parametrize("run", [run, lambda start: asyncio.run(start())], ids=["as a service", "asyncio"])
@pytest.mark.parametrize("begun", [b"", REQUEST[:9]], ids=["idle", "in a head"])
def test_what_came_while_the_loop_was_busy_is_answered(
    run: Callable[[Callable[[], Coroutine[Any, Any, None]]], None], begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop finds that a connection has waited for too long and that its request is there in one moment."""
    monkeypatch.setattr(protocol, "IDLE_SECONDS", IDLE_SECONDS)
    monkeypatch.setattr(protocol, "HEAD_SECONDS", IDLE_SECONDS)

    async def answers() -> None:
        stop = Stop()
        listening = socket.create_server(("127.0.0.1", 0))
        serving = asyncio.create_task(serve(application, [listening], stop=stop))
        while (found := await answered_after_a_pause(listening.getsockname(), begun)) is None:
            pass  # the connection has ended before anything was sent
        stop.request()
        await serving
        assert found.startswith(b"HTTP/1.1 204"), found

    run(answers)


async def answered_after_a_pause(address: tuple[str, int], begun: bytes) -> bytes | None:
    """The second answer over a connection; None where that was no more before the request was sent."""
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setblocking(False)
        await loop.sock_connect(client, address)
        await loop.sock_sendall(client, REQUEST)
        assert await loop.sock_recv(client, 1000)
        if begun:
            client.send(begun)
            await asyncio.sleep(IDLE_SECONDS / 10)
        asked = loop.create_future()

        def ask() -> None:
            try:
                asked.set_result(client.recv(1000, socket.MSG_PEEK) != b"")
            except BlockingIOError:
                asked.set_result(True)
            if asked.result():
                client.send(REQUEST.removeprefix(begun))

        loop.call_later(IDLE_SECONDS / 2, ask)
        sleep(2 * IDLE_SECONDS)  # both are due, and one is called after the other
        return await loop.sock_recv(client, 1000) if await asked else None
