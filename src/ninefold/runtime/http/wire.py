"""How what goes on is told to one client, over ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html): as
server-sent events (WHATWG HTML 9.2), or over WebSocket (RFC 6455)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import Protocol, TypeAlias

from ninefold.runtime.http.cycle import AT_ONCE, Message, Receive, Send
from ninefold.runtime.messages.message import HeaderFields, Response

HEARTBEAT = b":\n"
"""A comment of server-sent events, which nobody is told of (WHATWG HTML 9.2.7)."""

CLOSING_SECONDS = 1.0
"""How long it may take to say that a WebSocket is closed, where whoever runs us waits for the client with that."""

PIECE_BYTES = 16 * 1024
"""Bytes of events that are sent together; of one alone, all."""

_PING = "ninefold.ping"

AtOnce: TypeAlias = Callable[[Message], bool]
"""Sends a message, if that needs no waiting, and says whether it did."""

_ANSWERED = "websocket.http.response"


class End(Enum):
    """Why nothing more is told."""

    GONE = auto()
    """The client has gone."""
    SPOKE = auto()
    """The client has said something, where there is nothing to say."""
    REFUSED = auto()
    """The same request would be refused now."""
    STOPPING = auto()
    """The service ends."""
    SLOW = auto()
    """The client has not read for too long."""
    UNAVAILABLE = auto()
    """It cannot be read now."""
    FAILED = auto()
    """It is our own fault."""


class Wire(Protocol):
    async def begin(self, head: Response, more: HeaderFields) -> None: ...

    async def say(self, events: Sequence[bytes]) -> int:
        """Tell of events, and wait until that is taken: the bytes of them."""

    async def beat(self) -> int:
        """Give a sign of life: its bytes."""

    def beat_at_once(self) -> int | None:
        """The same where it need not be waited for; None: it has to be, and none was given."""

    async def left(self) -> End:
        """Wait until the client ends it, and say how."""

    async def end(self, why: End) -> None: ...


class ServerSentEvents:
    """Where an end is not said, whoever runs us closes the connection, since the response has not ended. `at_once`: see
    `AtOnce`."""

    def __init__(self, receive: Receive, send: Send, at_once: AtOnce) -> None:
        self._receive = receive
        self._send = send
        self._at_once = at_once

    async def begin(self, head: Response, more: HeaderFields) -> None:
        await self._send({"type": "http.response.start", "status": head.status, "headers": [*head.headers, *more]})
        await self.beat()

    async def say(self, events: Sequence[bytes]) -> int:
        for content in _pieces(events):
            await self._send({"type": "http.response.body", "body": content, "more_body": True})
        return sum(map(len, events))

    async def beat(self) -> int:
        return await self.say((HEARTBEAT,))

    def beat_at_once(self) -> int | None:
        given = self._at_once({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})
        return len(HEARTBEAT) if given else None

    async def left(self) -> End:
        while (await self._receive())["type"] != "http.disconnect":
            pass  # what else it sends is not read
        return End.GONE

    async def end(self, why: End) -> None:
        if why in (End.REFUSED, End.STOPPING, End.FAILED):
            await self._send({"type": "http.response.body", "body": b""})


_CODES = {
    End.SPOKE: 1008,
    End.REFUSED: 1008,
    End.STOPPING: 1001,
    End.SLOW: 1013,
    End.UNAVAILABLE: 1013,
    End.FAILED: 1011,
}
"""RFC 6455 7.4.1, and for 1013 the registry that it makes."""


class WebSocket:
    """`pings`: whoever runs us sends what we ask for, and does not ping by itself."""

    def __init__(self, receive: Receive, send: Send, pings: bool, at_once: AtOnce) -> None:
        self._receive = receive
        self._send = send
        self._pings = pings
        self._at_once = at_once

    async def begin(self, head: Response, more: HeaderFields) -> None:
        await self._send({"type": "websocket.accept", "headers": [*head.headers, *more]})

    async def say(self, events: Sequence[bytes]) -> int:
        for event in events:
            await self._send({"type": "websocket.send", "text": event.decode()})
        return sum(map(len, events))

    async def beat(self) -> int:
        if self._pings:
            await self._send({"type": _PING})
        return 0

    def beat_at_once(self) -> int | None:
        return None if self._pings and not self._at_once({"type": _PING}) else 0

    async def left(self) -> End:
        return End.GONE if (await self._receive())["type"] == "websocket.disconnect" else End.SPOKE

    async def end(self, why: End) -> None:
        if why in _CODES:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSING_SECONDS):
                    await self._send({"type": "websocket.close", "code": _CODES[why]})


def _pieces(events: Sequence[bytes]) -> Iterator[bytes]:
    """Those that are little together: of what is not taken there is not much twice."""
    piece: list[bytes] = []
    size = 0
    for event in events:
        if piece and size + len(event) > PIECE_BYTES:
            yield b"".join(piece)
            piece, size = [], 0
        piece.append(event)
        size += len(event)
    yield b"".join(piece)


def over_http(scope: Message, receive: Receive, send: Send) -> ServerSentEvents:
    return ServerSentEvents(receive, send, _at_once(scope))


def over_websocket(scope: Message, receive: Receive, send: Send) -> WebSocket:
    return WebSocket(receive, send, _PING in (scope.get("extensions") or {}), _at_once(scope))


def _at_once(scope: Message) -> AtOnce:
    """Of whoever runs us; where it has no such thing, all is waited for."""
    found: AtOnce = (scope.get("extensions") or {}).get(AT_ONCE, lambda _: False)
    return found


def as_get(scope: Message, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """What a handshake is answered by that is not accepted: as the GET that it is, by ASGI's extension for that. Where
    whoever runs us does not have it, all that can be said is that it is not accepted."""
    answers, asked = _ANSWERED in (scope.get("extensions") or {}), False

    async def receive_of_get() -> Message:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return {"type": "http.disconnect"}

    async def send_of_get(message: Message) -> None:
        if answers:
            await send({**message, "type": f"websocket.{message['type']}"})
        elif message["type"] == "http.response.start":
            await send({"type": "websocket.close"})

    return receive_of_get, send_of_get
