"""A request as it comes over ASGI: what is asked, its body, what counts of it, and how a response to it is framed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol
from urllib.parse import quote

from ninefold.runtime.http.capacity import LITTLE_BYTES, Capacity, ClientAddress
from ninefold.runtime.http.cycle import WITHOUT_CONTENT, Message, Receive
from ninefold.runtime.messages.message import HeaderFields, Request, Response, joined
from ninefold.runtime.operations.flow import TooLarge


class Disconnected(Exception):
    """The client went away while its body was read."""


class Stalled(Exception):
    """Nothing came of the body for too long."""


class Readable(Protocol):
    """The body of a request."""

    def read(self, limit: int) -> bytes | TooLarge | Awaitable[bytes | TooLarge]:
        """All of it, of at most `limit` bytes. Raises Disconnected, Stalled or Unavailable, as what is awaited does."""


def requested(scope: Message, address: ClientAddress) -> Request:
    """A handshake of WebSocket is a GET."""
    headers, peer = joined(scope["headers"]), scope.get("client")
    return Request(
        scope.get("method", "GET"),
        scope.get("raw_path") or quote(scope["path"]).encode("ascii"),
        scope["query_string"],
        headers,
        address(peer[0] if peer else "", headers),
        _certificate(scope),
        scope["type"] == "websocket",
    )


def _certificate(scope: Message) -> str | None:
    """The client's own certificate, where it has one: the first of the chain in ASGI's TLS extension."""
    extensions = scope.get("extensions")
    chain = extensions["tls"].get("client_cert_chain") if extensions and "tls" in extensions else None
    return next(iter(chain), None) if chain else None


class Body:
    """The body of one request. `read_to_the_end`: nothing of it is still on its way. `content`: what was read, if it is
    `kept`. `size`: the bytes of it, and of its response, that count for the service's capacity."""

    __slots__ = ("_address", "_capacity", "_kept", "_receive", "content", "read_to_the_end", "size")

    def __init__(self, receive: Receive, capacity: Capacity, address: str, kept: bool) -> None:
        """`address`: of the client that sends it."""
        self._address = address
        self._receive = receive
        self._capacity = capacity
        self._kept = kept
        self.size = 0
        self.content = b""
        self.read_to_the_end = False

    async def read(self, limit: int) -> bytes | TooLarge:
        """All of it, of at most `limit` bytes. Raises Disconnected, Stalled or Unavailable."""
        self._capacity.await_body(self._address)
        try:
            return await self._all(limit)
        finally:
            self._capacity.awaited_body(self._address)

    async def _all(self, limit: int) -> bytes | TooLarge:
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self._message()
            if message["type"] == "http.disconnect":
                raise Disconnected
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > limit:
                return TooLarge.TOO_LARGE
            self._capacity.hold(len(chunk))
            self.size += len(chunk)
            chunks.append(chunk)
            if not message.get("more_body", False):
                self.read_to_the_end = True
                content = b"".join(chunks)
                if self._kept:
                    self.content = content
                return content

    def answered(self, size: int) -> None:
        """So many bytes of its response count with it, however many there are already."""
        if size > LITTLE_BYTES:
            self._capacity.bytes += size
            self.size += size

    async def _message(self) -> Message:
        waiting = asyncio.timeout(self._capacity.stalled_seconds)
        try:
            async with waiting:
                return await self._receive()
        except TimeoutError:
            raise Stalled from None


class Whole:
    """The same of a body that has come whole."""

    __slots__ = ("_came", "_capacity", "_kept", "content", "read_to_the_end", "size")

    def __init__(self, came: bytes, capacity: Capacity, kept: bool) -> None:
        self._came = came
        self._capacity = capacity
        self._kept = kept
        self.size = 0
        self.content = b""
        self.read_to_the_end = True

    def read(self, limit: int) -> bytes | TooLarge:
        """All of it, of at most `limit` bytes. Raises Unavailable."""
        came = self._came
        if len(came) > limit:
            return TooLarge.TOO_LARGE
        self._capacity.hold(len(came))
        self.size += len(came)
        if self._kept:
            self.content = came
        return came

    def answered(self, size: int) -> None:
        """So many bytes of its response count with it, however many there are already."""
        if size > LITTLE_BYTES:
            self._capacity.bytes += size
            self.size += size


def with_length(response: Response) -> HeaderFields:
    if response.status in WITHOUT_CONTENT:
        return response.headers
    return (*response.headers, (b"content-length", str(len(response.body)).encode("ascii")))


def headers_of(request: Request, response: Response, body: Body | Whole) -> HeaderFields:
    headers = with_length(response)
    return (*headers, (b"connection", b"close")) if is_last(request, body) else headers


def is_last(request: Request, body: Body | Whole) -> bool:
    """Whether it is in doubt where the next request of the connection begins."""
    if not request.has_content:
        return False
    if "upgrade" in request.headers:
        # The server that we are mounted in may have taken the body for another protocol (RFC 9110 7.8), and what comes
        # of it for requests. Our own does not hand the header on.
        return True
    # Whether the body still comes is the client's choice (RFC 9110 10.1.1).
    return "expect" in request.headers and not body.read_to_the_end
