"""How dev follows its document: whether it was saved, and an application that can be exchanged while it is served.
Connections stay, and requests wait for the new one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ninefold.runtime.http.cycle import Asgi, Message, Receive, Send

SECONDS = 0.2
"""How often a file is looked at: soon enough for whoever saved it, seldom enough to cost nothing."""

Stamp: TypeAlias = tuple[int, int, int]
"""Time of the last change in nanoseconds, size in bytes, number of the file: an editor may write a new one."""


@dataclass
class Watch:
    """Looks at a file when asked. A change counts once it has been the same for two looks, so that what is still being
    written is not read; a file that is away for a moment has not changed."""

    path: Path
    _taken: Stamp | None = None
    _seen: Stamp | None = None

    def __post_init__(self) -> None:
        self._taken = self._seen = self._stamp()

    def saved(self) -> bool:
        """Whether the file was saved since it was last said to be."""
        now = self._stamp()
        settled, self._seen = now == self._seen, now
        if now is None or now == self._taken or not settled:
            return False
        self._taken = now
        return True

    def _stamp(self) -> Stamp | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


PATIENCE = 5.0
"""Seconds that an exchange waits for the requests that are in flight. Those that take longer find their database
closed: in development a save counts more than they do."""


class Switch:
    """ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html). While there is no application, every answer is a
    bare 503."""

    def __init__(self) -> None:
        self.application: Asgi | None = None
        self._in_flight = 0
        self._open = asyncio.Event()
        self._open.set()
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        await self._open.wait()
        if self.application is None:
            of = "websocket." if scope["type"] == "websocket" else ""
            await send({"type": f"{of}http.response.start", "status": 503, "headers": [(b"content-length", b"0")]})
            await send({"type": f"{of}http.response.body"})
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
