"""A request that asks to go on as WebSocket (RFC 6455), as ASGI has it
(https://asgi.readthedocs.io/en/latest/specs/www.html#websocket). Where it may not, it is answered as the GET that it
is.

What comes from the client is read as it comes: a ping is answered, the first bytes of a message are told, whatever
follows them, and what is no frame ends the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from wsproto.connection import Connection as Frames
from wsproto.connection import ConnectionType
from wsproto.events import CloseConnection, Event, Ping, Pong, TextMessage
from wsproto.utilities import RemoteProtocolError, generate_accept_token

from ninefold.runtime.http.cycle import Connection, Cycle, Message, status_line
from ninefold.runtime.http.framing import Head, fields_are_sound

PING = "ninefold.ping"
"""An extension of ASGI's, and what the application sends of it: servers of other makers ping by themselves."""

_ANSWERED = "websocket.http.response"
"""ASGI's extension by which a handshake is answered otherwise than by 101."""

TURN_BYTES = 256
"""Bytes of frames that are read in one turn of the loop: the least of a frame are six, and each may be a ping, which
takes a third of what a request does. So a flood of them has others wait about as long as one of requests."""

_NONE_TOLD = 1005
_GONE = 1006
"""Codes that no frame has: none was told, and the connection was lost (RFC 6455 7.4.1)."""


def scope_of(scope: Message) -> Message:
    """That of the WebSocket which a request of this scope asks for."""
    secure = "wss" if scope["scheme"] == "https" else "ws"
    extensions = {**scope.get("extensions", {}), _ANSWERED: {}, PING: {}}
    kept = {name: value for name, value in scope.items() if name != "method"}
    return {**kept, "type": "websocket", "scheme": secure, "subprotocols": [], "extensions": extensions}


class WebSocket(Cycle):
    """A handshake, and what goes over the connection once it is accepted."""

    def __init__(self, connection: Connection, head: Head, scope: Message) -> None:
        super().__init__(connection, head, scope_of(scope))
        self._frames: Frames | None = None
        self._told_that_it_connects = False
        self._code = _GONE

    async def receive(self) -> Message:
        if not self._told_that_it_connects:
            self._told_that_it_connects = True
            return {"type": "websocket.connect"}
        requests = self._connection.requests
        while not (self.gone or self.complete):
            if self._frames is not None and requests.waiting:
                # What is said to pings is taken before more of them are read.
                await self._connection.written()
                if self.gone or self.complete:
                    break
                self._frames.receive_data(requests.rest(TURN_BYTES))
                self._connection.took()
                if self._is_message(self._frames):
                    return {"type": "websocket.receive", "bytes": b""}
                await asyncio.sleep(0)
                continue
            if self._heard_out:
                break
            self.changed.clear()
            await self.changed.wait()
        self._told_gone = True
        return {"type": "websocket.disconnect", "code": self._code}

    def _is_message(self, frames: Frames) -> bool:
        """Whether what has come is, or begins, a message. Whatever else it is, is answered here: of several pings the
        last (RFC 6455 5.5.3)."""
        last: Ping | None = None
        try:
            for event in frames.events():
                match event:
                    case Ping():
                        last = event
                    case Pong():
                        pass
                    case CloseConnection():
                        self._ended(frames, event.response())
                        return False
                    case _:
                        return True
        except RemoteProtocolError as error:
            self._ended(frames, error.event_hint or CloseConnection(code=1002))
            return False
        if last is not None:
            self._connection.write(frames.send(last.response()))
        return False

    async def send(self, message: Message) -> None:
        if self.gone or self.complete:
            return
        match message["type"], self._frames:
            case "websocket.accept", None:
                self._accept(message.get("headers", ()))
                await self._connection.written()
            case "websocket.send", Frames() as frames:
                self._connection.write(frames.send(TextMessage(message["text"])))
                await self._connection.written()
            case "ninefold.ping", Frames() as frames:
                self._connection.write(frames.send(Ping()))
                await self._connection.written()
            case "websocket.close", Frames() as frames:
                self._ended(frames, CloseConnection(code=message.get("code", 1000), reason=message.get("reason")))
            case "websocket.close", None:
                await super().send(
                    {"type": "http.response.start", "status": 403, "headers": [(b"content-length", b"0")]}
                )
                await super().send({"type": "http.response.body"})
            case ("websocket.http.response.start" | "websocket.http.response.body") as answered, None:
                await super().send({**message, "type": answered.removeprefix("websocket.")})
            case other, _:
                raise RuntimeError(f"{other} has no place here")

    def at_once(self, message: Message) -> bool:
        """The same of a ping."""
        if self.gone or self.complete or self._frames is None or not self._connection.is_taken:
            return False
        assert message["type"] == PING
        self._connection.write(self._frames.send(Ping()))
        return True

    def _accept(self, headers: Sequence[tuple[bytes, bytes]]) -> None:
        assert self._head.key is not None
        fields = (
            (b"upgrade", b"websocket"),
            (b"connection", b"Upgrade"),
            (b"sec-websocket-accept", generate_accept_token(self._head.key)),
            *self._connection.fields,
            *headers,
        )
        block = b"".join(b"%s: %s\r\n" % each for each in fields)
        if not fields_are_sound(block):
            raise ValueError("a header of the response is none")
        self._connection.write(status_line(101) + block + b"\r\n")
        self._frames = Frames(ConnectionType.SERVER)
        self.changed.set()

    def _ended(self, frames: Frames, why: Event) -> None:
        """Say so, unless it was said, and end the connection. A client that reads slowly still has the time to."""
        assert isinstance(why, CloseConnection)
        self.complete, self._code = True, int(why.code or _NONE_TOLD)
        self._connection.write(frames.send(why))
        self._connection.completed(False)
        self.changed.set()

    def _fail(self) -> None:
        if self._frames is None:
            super()._fail()
        elif not (self.complete or self.gone):
            self._ended(self._frames, CloseConnection(code=1011))

    def _goes_on(self) -> bool:
        """What comes behind a handshake that was not accepted may be frames of whoever believes that it was."""
        return False
