"""Responses that go on: what is sent of them, for as long as the client listens.

Nothing is held for a client but its position. While it does not read, nothing is read for it; one that does not read
for too long is cut off, and can resume from what it has.
"""

from __future__ import annotations

import asyncio
from asyncio import Future, Task
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from ninefold.database.protocol import Database, Row, Unavailable
from ninefold.server.bell import Bell
from ninefold.server.flow import Chunk, Follow, Select

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

HEARTBEAT = b":\n"
"""A comment of server-sent events, which nobody is told of (WHATWG HTML 9.2.7)."""

HEARTBEAT_SECONDS = 15.0
"""Without anything sent for so long, proxies close a connection."""

SLOW_SECONDS = 30.0
"""How long a client may leave what was sent unread."""

CHECK_SECONDS = 1.0
"""How long a credential that has been withdrawn is still listened to."""


async def follow(response: Follow, database: Database, bell: Bell, receive: Receive, send: Send) -> int:
    """Send what there is and what comes, until the client goes away, is too slow or is no longer admitted, or the
    service stops. The head has been sent. Gives the bytes sent."""
    gone = asyncio.create_task(_gone(receive))
    position, sent, silent = response.position, 0, 0.0
    try:
        while not gone.done():
            if response.ended is not None and response.ended():
                break
            if response.admitted is not None and not await _rows(database, response.admitted()):
                break
            chunk = response.show(await _rows(database, response.read(position)), position)
            position = chunk.position
            if not chunk.content and silent >= HEARTBEAT_SECONDS:
                chunk = Chunk(HEARTBEAT, position, chunk.more)
            if chunk.content:
                async with asyncio.timeout(SLOW_SECONDS):
                    await send({"type": "http.response.body", "body": chunk.content, "more_body": True})
                sent, silent = sent + len(chunk.content), 0.0
            if bell.closed:
                break
            if not chunk.more:
                silent += await _waited(bell, gone)
        if not gone.done():
            await send({"type": "http.response.body", "body": b""})
    except TimeoutError:
        pass  # too slow: whoever runs us closes the connection, since the response has not ended
    except Unavailable:
        pass
    finally:
        gone.cancel()
    return sent


async def _waited(bell: Bell, gone: Task[None]) -> float:
    """Wait until there may be something to do: the seconds that it took."""
    began = asyncio.get_running_loop().time()
    heard = bell.heard()
    try:
        await asyncio.wait({heard, gone}, timeout=CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        heard.cancel()
    return asyncio.get_running_loop().time() - began


async def _gone(receive: Receive) -> None:
    """Until the client goes away. What else it sends is not read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _rows(database: Database, select: Select) -> list[Row]:
    rows = database.select(select.text, select.binds)
    return await rows if isinstance(rows, Future) else rows
