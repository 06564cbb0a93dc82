"""One request of a connection and its response, as ASGI has them
(https://asgi.readthedocs.io/en/latest/specs/www.html), and the head of a response as bytes (RFC 9112, section 4)."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from operator import itemgetter
from typing import Any, Final, Protocol, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.http.chunks import TOKEN, Refused
from ninefold.runtime.http.framing import Head, Requests
from ninefold.runtime.messages.message import HeaderFields

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Asgi: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

log = logging.getLogger("ninefold.server")

TURN_BYTES = 64 * 1024
"""Bytes of a body that are handed over at once."""

LEFT_BYTES = 64 * 1024
"""Bytes of a body that nobody read, which are read past for the connection to go on."""

AT_ONCE = "ninefold.at_once"
"""An extension of ASGI's: what sends a message of a response that goes on, if that needs no waiting, and says whether
it did."""

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_ENDED: Message = {"type": "http.disconnect"}


class Unanswered(Exception):
    """Nobody is there any more who would answer, or say what was done: the connection ends with that."""


class Connection(Protocol):
    """What a cycle needs of its connection."""

    requests: Requests

    @property
    def fields(self) -> Sequence[tuple[bytes, bytes]]:
        """Headers of every response."""

    @property
    def keeps(self) -> bool:
        """Whether the connection may go on after this response."""

    def write(self, data: bytes) -> None: ...

    @property
    def is_taken(self) -> bool:
        """Whether the peer, or the machine for it, has taken all that was written."""

    def written(self) -> Awaitable[object]:
        """Until the peer, or the machine for it, has taken what was written."""

    def took(self) -> None:
        """Something of what has come was read."""

    def refused(self, refused: Refused, answered: bool) -> None:
        """The body is not what its head said. `answered`: a response was begun."""

    def completed(self, keeps: bool) -> None:
        """The response is whole."""

    def cut(self) -> None:
        """The response cannot be whole."""


_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus} | {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}
"""As RFC 9110, section 15, has them; before 3.13 Python has these four as older documents had them."""


def status_line(status: int) -> bytes:
    phrase = _PHRASES.get(status, "")
    return f"HTTP/1.1 {status} {phrase}\r\n".encode("ascii")


class Cycle:
    """`changed` is set when something more has come, or nothing will."""

    def __init__(self, connection: Connection, head: Head, scope: Message) -> None:
        self._connection = connection
        self._head = head
        self._scope = scope
        self._expects = head.said.expects
        self._told_end = False
        self._told_gone = False
        self._start: tuple[int, Sequence[tuple[bytes, bytes]]] | None = None
        self._sent: ResponseHead | None = None
        self._left: int | None = 0
        self._heard_out = False
        self.changed = asyncio.Event()
        self.gone = False
        self.complete = False

    async def run(self, application: Asgi) -> None:
        try:
            extensions = {**self._scope.get("extensions", {}), AT_ONCE: self.at_once}
            await application({**self._scope, "extensions": extensions}, self.receive, self.send)
        except asyncio.CancelledError:
            self._connection.cut()
            raise
        except Unanswered:
            self._connection.cut()
            return
        except Exception as error:
            log.error("the application failed", exc_info=error)
            self._fail()
            return
        if self._told_gone and not self.complete:
            self._connection.cut()
        elif not (self.complete or self.gone):
            if self._sent is None:
                log.error("the application has not answered")
            self._fail()

    def _fail(self) -> None:
        if self.complete or self.gone:
            return
        if self._sent is not None:
            self._connection.cut()
            return
        self.complete = True
        self._connection.write(bare(500, self._connection.fields))
        self._connection.completed(False)

    def came(self) -> None:
        """More has come."""
        self.changed.set()

    def leave(self) -> None:
        """Nobody is there any more to ask or to answer."""
        self.gone = True
        self.changed.set()

    def heard_out(self) -> None:
        """The client says nothing more, and may still listen."""
        self._heard_out = True
        self.changed.set()

    async def receive(self) -> Message:
        requests = self._connection.requests
        while not (self.gone or self.complete or self._told_end):
            if self._expects:
                self._expects = False
                self._connection.write(_CONTINUE)
            try:
                content = b"" if requests.ended else requests.content(TURN_BYTES)
            except Refused as refused:
                self.leave()
                self._connection.refused(refused, self._sent is not None)
                break
            self._told_end = requests.ended
            if content or self._told_end:
                self._connection.took()
                if requests.waiting and not self._told_end:
                    await asyncio.sleep(0)  # what is there already keeps nobody else waiting
                return {"type": "http.request", "body": content, "more_body": not self._told_end}
            if self._heard_out:
                break
            self.changed.clear()
            await self.changed.wait()
        while not (self.gone or self.complete or self._heard_out):
            self.changed.clear()
            await self.changed.wait()
        self._told_gone = True
        return _ENDED

    async def send(self, message: Message) -> None:
        if self.gone:
            return
        match message["type"]:
            case "http.response.start" if self._start is None:
                self._start = (message["status"], message.get("headers", ()))
            case "http.response.body" if self._start is not None and not self.complete:
                await self._send(message.get("body", b""), message.get("more_body", False))
            case other:
                raise RuntimeError(f"{other} has no place here")

    def at_once(self, message: Message) -> bool:
        """Send a piece of a response that goes on. False: nothing was sent, since it would have to be waited for."""
        if self.gone or self.complete or self._sent is None or not self._connection.is_taken:
            return False
        self._put(message["body"], True)
        return True

    async def _send(self, content: bytes, more: bool) -> None:
        self._put(content, more)
        await self._connection.written()
        if not more and not self.gone:
            self.complete = True
            self.changed.set()
            assert self._sent is not None
            self._connection.completed(not self._sent.closes)

    def _put(self, content: bytes, more: bool) -> None:
        written = b"" if self._sent is not None else self._begun()
        assert self._sent is not None
        if self._head.method == "HEAD":
            content = b""
        if self._left is not None:
            self._left -= len(content)
            if self._left < 0 or (self._left > 0 and not more):
                raise RuntimeError("the content is not as long as its head says")
        if self._sent.chunked:
            content = (b"%x\r\n%b\r\n" % (len(content), content) if content else b"") + (b"" if more else b"0\r\n\r\n")
        self._connection.write(written + content)

    def _begun(self) -> bytes:
        assert self._start is not None
        status, fields = self._start
        self._expects = False
        self._sent = response_head(
            self._head.method,
            self._head.version,
            status,
            [*self._connection.fields, *fields],
            self._connection.keeps and self._head.said.keeps and self._goes_on(),
        )
        self._left = self._sent.length
        return self._sent.content

    def _goes_on(self) -> bool:
        """Whether it is worth reading past what there may be of the body yet, whatever of it has come."""
        return self._told_end or (self._head.said.length is not None and self._head.said.length <= LEFT_BYTES)


WITHOUT_CONTENT = frozenset((204, 304))
"""Statuses whose responses have no content, and say no length of one (RFC 9110 8.6)."""


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """`length`: bytes of the content that is to follow; None: as many as come. `chunked`: they come in chunks."""

    content: bytes
    length: int | None
    chunked: bool
    closes: bool


def response_head(
    method: str, version: str, status: int, fields: Sequence[tuple[bytes, bytes]], keeps: bool
) -> ResponseHead:
    """`keeps`: the connection may go on. Where nothing says how long the content is, it comes in chunks, and in
    HTTP/1.0 until the connection ends. Raises ValueError for what would not be a head."""
    length: int | None = None
    own: list[tuple[bytes, bytes]] = []
    closes = not keeps
    told = False
    for name, value in fields:
        name = name.lower()
        if name == b"content-length":
            length = int(value)
        elif name == b"connection" and b"close" in value.lower():
            closes = told = True
        elif name == b"transfer-encoding":
            continue  # whether there are chunks is for this connection to say
        own.append((name, value))
    content_follows = method != "HEAD" and status not in WITHOUT_CONTENT
    chunked = content_follows and length is None and version == "1.1"
    if chunked:
        own.append((b"transfer-encoding", b"chunked"))
    elif content_follows and length is None:
        closes = True
    if closes and not told:
        own.append((b"connection", b"close"))
    lines, _ = _block(own)
    return ResponseHead(_STATUS_LINES[status] + lines + b"\r\n", length if content_follows else 0, chunked, closes)


def begun_head(status: int, common: bytes | None, own: HeaderFields) -> bytes | None:
    """The head of a response whose connection goes on, up to what says how long its content is, which comes next.
    `common`: the lines that all responses of this second have. None: it has no content, or its fields say more of the
    connection, or how long it is. Raises ValueError as `response_head` does."""
    # One alone is the media type, as another response had it; among more are a tag, a place, or numbers of a rate.
    return (_begun_again if len(own) < 2 else _begun)(status, common, own)


def _begun(status: int, common: bytes | None, own: HeaderFields) -> bytes | None:
    lines = lines_of(own)
    if lines is None or common is None or status in WITHOUT_CONTENT:
        return None
    return _STATUS_LINES[status] + common + lines


def lines_of(fields: HeaderFields) -> bytes | None:
    """Those of a head; None: one of them is of the connection. Raises ValueError as `_block` does."""
    lines, are_of_connection = _block(fields)
    return None if are_of_connection else lines


def _block(fields: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, bool]:
    """The lines of fields, and whether one of them is of the connection. Raises ValueError where one is no field: also
    where its value ends the line, and what follows would be another one (RFC 9110 5.5)."""
    # Responses have the same names again and again, and values of their own.
    are_of_connection = _are_of_connection(tuple(map(_name, fields)))
    lines = b"\r\n".join((*map(_line, fields), b""))
    # Of values that are sound nothing is left but the ends of their lines.
    if lines.translate(None, _IN_A_LINE) != b"\r\n" * len(fields):
        raise ValueError(_NO_FIELD)
    return lines, are_of_connection


@lru_cache(maxsize=256)
def _are_of_connection(names: tuple[bytes, ...]) -> bool:
    """Whether one of them is. Raises ValueError where one is no name."""
    if not all(map(_is_name, names)):
        raise ValueError(_NO_FIELD)
    return not _OF_CONNECTION.isdisjoint(names)


_begun_again = lru_cache(maxsize=256)(_begun)
_name, _line = itemgetter(0), b": ".join
_is_name = re.compile(TOKEN).fullmatch
_IN_A_LINE = bytes([0x09, *range(0x20, 0x7F), *range(0x80, 0x100)])
_NO_FIELD = "a header of the response is none"
_OF_CONNECTION = frozenset((b"content-length", b"connection", b"transfer-encoding"))
_STATUS_LINES = {status: status_line(status) for status in range(100, 600)}


def bare(status: int, fields: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A whole response that says nothing but its status, and ends its connection."""
    return response_head("GET", "1.1", status, (*fields, (b"content-length", b"0")), keeps=False).content
