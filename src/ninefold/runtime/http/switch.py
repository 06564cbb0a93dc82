"""An application that is exchanged while it is served: connections stay, and requests wait for the new one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from ninefold.runtime.http.app import Application
from ninefold.runtime.http.cycle import Asgi, Message, Receive, Send
from ninefold.runtime.http.direct import Core, Door

PATIENCE = 5.0
"""Seconds that an exchange waits for the requests that are in flight."""

_LOOKS = 0.01


class Switch:
    """ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html). While there is no application, every answer is a
    bare 503. `door`: that of the port where it is served, by which requests come that need no ASGI."""

    def __init__(self) -> None:
        self._application: Asgi | None = None
        self._door: Door | None = None
        self._in_flight = 0
        self._open = asyncio.Event()
        self._open.set()

    @property
    def application(self) -> Asgi | None:
        return self._application

    @application.setter
    def application(self, application: Asgi | None) -> None:
        self._application = application
        self._let_in()

    @property
    def followed(self) -> Callable[[], datetime] | None:
        """As of `Application`."""
        return self._application.followed if isinstance(self._application, Application) else None

    def stands_at(self, door: Door) -> None:
        self._door = door
        self._let_in()

    def _let_in(self) -> None:
        """Who comes during an exchange waits, and only ASGI waits."""
        if self._door is not None:
            core = self._application if self._open.is_set() else None
            self._door.core = core if isinstance(core, Core) else None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        while not self._open.is_set():  # whoever waited goes on in a later step: the next exchange may have begun
            await self._open.wait()
        if self._application is None:
            of = "websocket." if scope["type"] == "websocket" else ""
            await send({"type": f"{of}http.response.start", "status": 503, "headers": [(b"content-length", b"0")]})
            await send({"type": f"{of}http.response.body"})
            return
        self._in_flight += 1
        try:
            await self._application(scope, receive, send)
        finally:
            self._in_flight -= 1

    def refused(self, address: str, status: int, why: str) -> None:
        """What came was refused before it was a request."""
        if isinstance(self._application, Application):
            self._application.refused(address, status, why)

    def stopping(self) -> None:
        """The port is to be closed."""
        if isinstance(self._application, Application):
            self._application.stopping()

    @asynccontextmanager
    async def exchanging(self) -> AsyncIterator[bool]:
        """What is in flight is answered, what comes waits until the block ends. Whether all was answered within
        `PATIENCE`."""
        self._open.clear()
        self._let_in()
        try:
            yield await self._answered()
        finally:
            self._open.set()
            self._let_in()

    async def _answered(self) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while self._is_busy:
            if loop.time() > end:
                return False
            await asyncio.sleep(_LOOKS)
        return True

    @property
    def _is_busy(self) -> bool:
        application = self._application
        asked = application.capacity if isinstance(application, Application) else None
        return bool(self._in_flight or (asked is not None and (asked.requests or asked.streams)))


async def _live(receive: Receive, send: Send) -> None:
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})
