"""An application that can be exchanged while it is served: connections stay, and requests wait for the new one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

PATIENCE = 5.0
"""Seconds that an exchange waits for the requests that are in flight. Those that take longer find their database
closed: in development a save counts more than they do."""


class Switch:
    """ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html). While there is no application, every answer is a
    bare 503."""

    def __init__(self) -> None:
        self.application: Application | None = None
        self._in_flight = 0
        self._open = asyncio.Event()
        self._open.set()
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        await self._open.wait()
        if self.application is None:
            await send({"type": "http.response.start", "status": 503, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body"})
            return
        self._in_flight += 1
        self._idle.clear()
        try:
            await self.application(scope, receive, send)
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    @asynccontextmanager
    async def exchanging(self) -> AsyncIterator[None]:
        """What is in flight is answered, what comes waits until the block ends."""
        self._open.clear()
        try:
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._idle.wait()
            except TimeoutError:
                pass
            yield
        finally:
            self._open.set()


async def _live(receive: Receive, send: Send) -> None:
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})
