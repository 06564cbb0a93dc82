"""A request that has come whole, answered without ASGI in between: where nothing is waited for in the call that it came
with, and in one write.

What takes its time, since it goes on for as long as somebody listens or is large, goes on as a cycle does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.http.body import Body, Whole
from ninefold.runtime.http.capacity import LITTLE_BYTES
from ninefold.runtime.http.cycle import (
    Asgi,
    Message,
    Receive,
    Send,
    bare,
    begun_head,
    lines_of,
    response_head,
)
from ninefold.runtime.http.framing import Head
from ninefold.runtime.http.known import Known
from ninefold.runtime.messages.message import HeaderFields, Request, Response
from ninefold.runtime.operations.flow import Follow

log = logging.getLogger("ninefold.server")

WHOLE_BYTES = 64 * 1024
"""Bytes of a body that is waited for in the connection, and no more."""


class Asking(Protocol):
    """See `ninefold.runtime.http.asking`."""

    @property
    def request(self) -> Request: ...

    @property
    def body(self) -> Body | Whole: ...

    @property
    def given(self) -> Response | None: ...

    @property
    def over(self) -> bool: ...

    def begin(self) -> None: ...

    def tell(self, told: Callable[[], object]) -> None: ...

    def response(self) -> Response | Follow | None: ...

    def fields(self, response: Response) -> HeaderFields: ...

    def release(self) -> None: ...

    def ended(self, head: Response | None, sent: int) -> None: ...


@runtime_checkable
class Core(Protocol):
    """What answers requests."""

    def takes(self, head: Head) -> bool:
        """Whether it does so without ASGI in between."""

    def asked(self, head: Head, content: bytes, peer: str, certificate: str | None) -> Asking: ...

    async def go_on(
        self, asking: Asking, response: Response | Follow, scope: Message, receive: Receive, send: Send
    ) -> None: ...


Note: TypeAlias = Callable[[str, int, str], None]
"""Told of what is refused before it is a request: the peer's address, the status, and why."""


@dataclass
class Door:
    """What all connections of one port have in common. `stopping`: each response is the last of its connection."""

    refused: Note
    untaken_seconds: float
    stopping: bool = False
    core: Core | None = None
    """What answers requests without ASGI in between. None: all go through ASGI."""
    known: Known = field(default_factory=Known)
    """The heads that its clients send again and again."""
    websockets: bool = False
    """A whole handshake of WebSocket is handed on as one. Else `Upgrade` is ignored."""
    fields: Sequence[tuple[bytes, bytes]] = ()
    """The header fields of every response of this second."""
    lines: bytes | None = b""
    """The same as lines of a head. None: one of them is of the connection."""

    def tells(self, fields: Sequence[tuple[bytes, bytes]]) -> None:
        """These are the fields from now on. Raises ValueError where one of them is none."""
        self.lines, self.fields = lines_of(tuple(fields)), fields


class Connection(Protocol):
    """What such a request needs of its connection. `certificate`: the client's own, in PEM, where it has one."""

    door: Door
    peer: str
    certificate: str | None

    @property
    def keeps(self) -> bool: ...

    @property
    def is_taken(self) -> bool: ...

    def write(self, data: bytes) -> None: ...

    def completed(self, keeps: bool) -> None: ...

    def run(self, head: Head, application: Asgi) -> None: ...


def is_direct(head: Head, came: int) -> bool:
    """Whether all of a request has come, and it asks for nothing but its response. `came`: bytes behind the head."""
    length = head.said.length
    return length is not None and length <= min(came, WHOLE_BYTES) and head.key is None and not head.said.expects


def begin(connection: Connection, head: Head, content: bytes, core: Core) -> Direct | None:
    """Ask for the answer to a request that has come whole, which has yet to `begin`. None: it was given, is taken
    already, and the connection goes on."""
    asking = core.asked(head, content, connection.peer, connection.certificate)
    response = asking.given
    if response is None or not (head.said.keeps and connection.keeps):
        return Direct(connection, head, core, asking)
    try:
        begun = begun_head(response.status, connection.door.lines, response.headers)
    except ValueError:
        begun = None
    if begun is None:
        return Direct(connection, head, core, asking)
    size = len(response.body)
    connection.write(b"%bcontent-length: %d\r\n\r\n%b" % (begun, size, response.body))
    if not connection.is_taken:
        return Direct(connection, head, core, asking, (response, size), True)
    asking.ended(response, size)
    return None


class Direct(Struct, eq=False):
    """`sent`: what was written already, with its bytes of content; the connection goes on after it, if it `keeps`.
    `gone`: nobody is there any more to be answered."""

    connection: Connection
    head: Head
    core: Core
    asking: Asking
    sent: tuple[Response, int] | None = None
    keeps: bool = False
    gone: bool = False

    def begin(self) -> None:
        asking = self.asking
        try:
            asking.begin()
        except Exception as error:
            self._fail(error)
            return
        if self.sent is not None:
            return
        if asking.over:
            self._answer()
        else:
            asking.tell(self._answer)

    # ── What the connection tells ─────────────────────────────────────────────────────────────────────────────────

    def came(self) -> None:
        """More has come, which is of the next request."""

    def leave(self) -> None:
        self.gone = True
        self.taken()

    def heard_out(self) -> None:
        """The client says nothing more, and may still listen."""

    def taken(self) -> None:
        """What was written is taken, or nobody will take it."""
        if self.sent is not None:
            (response, size), self.sent = self.sent, None
            self._end(response, size)

    # ── The response ──────────────────────────────────────────────────────────────────────────────────────────────

    def _answer(self) -> None:
        try:
            response = self.asking.response()
            assert response is not None, "its body is there"
            if isinstance(response, Follow) or (size := len(response.body)) > LITTLE_BYTES:
                self._go_on(response)
                return
            if self.head.method == "HEAD":
                size = 0
            if not self.gone:
                self._write(response, size)
        except Exception as error:
            self._fail(error)
            return
        if self.gone or self.connection.is_taken:
            self._end(response, size)
        else:
            self.sent = response, size

    def _write(self, response: Response, size: int) -> None:
        connection, head, door = self.connection, self.head, self.connection.door
        keeps = head.said.keeps and connection.keeps
        if keeps and head.method != "HEAD":
            begun = begun_head(response.status, door.lines, response.headers)
            if begun is not None:
                self.keeps = True
                connection.write(b"%bcontent-length: %d\r\n\r\n%b" % (begun, size, response.body))
                return
        fields = [*door.fields, *self.asking.fields(response)]
        made = response_head(head.method, head.version, response.status, fields, keeps)
        self.keeps = not made.closes
        connection.write(made.content if head.method == "HEAD" else made.content + response.body)

    def _end(self, response: Response, size: int) -> None:
        asking = self.asking
        asking.release()
        asking.ended(response, size)
        self.connection.completed(self.keeps)

    def _go_on(self, response: Response | Follow) -> None:
        asking, core = self.asking, self.core

        async def application(scope: Message, receive: Receive, send: Send) -> None:
            await core.go_on(asking, response, scope, receive, send)

        self.connection.run(self.head, application)

    def _fail(self, error: Exception) -> None:
        log.error("the application failed", exc_info=error)
        self.asking.release()
        if not self.gone:
            self.connection.write(bare(500, self.connection.door.fields))
        self.connection.completed(False)
