"""A connection: its requests one after another, each answered before the next one is looked at.

The bytes that come are framed by `framing.py`, and the certificate of a client that has one is handed on. How long
somebody may take to say something, and to take what is said, is bounded here: these bounds protect the machine, and no
contract states them.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Sequence
from dataclasses import field
from typing import Any
from urllib.parse import unquote

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.http.chunks import Refused
from ninefold.runtime.http.cycle import LEFT_BYTES, Asgi, Cycle, bare
from ninefold.runtime.http.deadlines import Deadline
from ninefold.runtime.http.direct import Core, Direct, Door, begin, is_direct
from ninefold.runtime.http.framing import Head, Requests
from ninefold.runtime.http.untaken import Untaken

HEAD_SECONDS = 30.0
"""Seconds that a head may take, from the connection or from its first byte."""

IDLE_SECONDS = 5.0
"""Seconds that a connection is kept after a response, without another request."""

UNTAKEN_SECONDS = 30.0
"""Seconds in which nothing is taken of what was sent; then the connection is dropped."""

STOPPING_UNTAKEN_SECONDS = 2.0
"""The same, once the service is to stop."""

STOPPING_IDLE_SECONDS = 1.0
"""Seconds in which what was on its way when the service was to stop is still answered on a kept connection."""

LINGERING_SECONDS = 2.0
"""Seconds in which what still comes is thrown away after the last response: an end at once could take the response from
a client that is still sending (RFC 9112 9.6)."""

TURN_REQUESTS = 16
"""Requests of one connection that are answered in one turn of the loop."""

WAITING_BYTES = 64 * 1024
"""Bytes that have come and are not read yet, beyond which no more are taken in."""


@dataclass
class State:
    """What the connections of a server share: those that there are, and the requests that are tasks."""

    connections: set[Protocol] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


class Protocol(asyncio.Protocol):
    def __init__(self, application: Asgi, state: State, door: Door) -> None:
        self._application = application
        self._state = state
        self.door = door
        self._loop = asyncio.get_event_loop()
        self.requests = Requests(door.known)
        self._cycle: Cycle | Direct | None = None
        self._advancing = False
        self._closing = False
        self._deadline = Deadline(self._loop, self._over)
        self._reading = True
        self._in_head = False
        self._silent = False

    # ── What asyncio and the server call ─────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._written = asyncio.Event()
        self._written.set()
        self.is_taken = True  # as the event says; each response asks, and this costs no call
        # What the machine has not taken yet is known at once, and waited for: of TLS there may be something already.
        transport.set_write_buffer_limits(high=1, low=0)
        self._untaken = Untaken(self._loop, transport, self._patience, self.cut)
        self._tls = _tls(transport)
        self._local = _address(transport.get_extra_info("sockname"))
        self._peer = _address(transport.get_extra_info("peername"))
        self.peer = "" if self._peer is None else self._peer[0]
        chain = None if self._tls is None else self._tls.get("client_cert_chain")
        self.certificate = str(chain[0]) if isinstance(chain, list) and chain else None
        self._state.connections.add(self)
        self._end_in(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._closing = True
        self._deadline.close()
        self._untaken.close()
        if self._cycle is not None:
            self._cycle.leave()
        if not isinstance(self._cycle, Direct):  # what it waits for is done all the same, and no task tells of it
            self._state.connections.discard(self)
        self.is_taken = True
        self._written.set()

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        core = self.door.core
        if self._cycle is None and core is not None:
            whole = self.requests.whole(data)
            if whole is not None:
                head, content = whole
                if core.takes(head):
                    self._begin_at_once(head, content, core)
                    return
        self.requests.feed(data)
        if self._cycle is None:
            self._advance()
        else:
            self._cycle.came()
            self.took()

    def eof_received(self) -> bool:
        """A peer that says nothing more is still answered what it has asked."""
        if self._closing or self._cycle is None or self._tls is not None:
            return False
        self._silent = True
        self._cycle.heard_out()
        return True

    def pause_writing(self) -> None:
        self.is_taken = False
        self._written.clear()

    def resume_writing(self) -> None:
        self.is_taken = True
        self._written.set()
        if isinstance(self._cycle, Direct):
            self._cycle.taken()

    def shutdown(self) -> None:
        """The service is to stop: what was asked is answered, and nothing after it."""
        self.door.stopping = True
        if self._closing:
            self._transport.abort()
        elif self._cycle is None:
            self._end_in(IDLE_SECONDS)

    # ── What a cycle calls ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def fields(self) -> Sequence[tuple[bytes, bytes]]:
        return self.door.fields

    @property
    def keeps(self) -> bool:
        return not (self.door.stopping or self._silent)

    def run(self, head: Head, application: Asgi) -> None:
        """Let a request go on that takes its time."""
        cycle = Cycle(self, head, {})
        if isinstance(self._cycle, Direct) and self._cycle.gone:
            cycle.leave()
            self._state.connections.discard(self)
        if self._silent:
            cycle.heard_out()
        self._cycle = cycle
        self._run(cycle, application)

    def write(self, data: bytes) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(data)
        if not self.is_taken:
            self._untaken.wrote(len(data))

    def written(self) -> Awaitable[object]:
        return self._written.wait()

    def took(self) -> None:
        """Take in no more than is asked for: a head is, and some of what comes behind it."""
        reading = self._cycle is None or self.requests.waiting <= WAITING_BYTES
        if reading != self._reading and not self._transport.is_closing():
            self._reading = reading
            if reading:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def refused(self, refused: Refused, answered: bool) -> None:
        self._cycle = None
        if answered:
            self.cut()
        else:
            self._refuse(refused)

    def completed(self, keeps: bool) -> None:
        self._cycle = None
        if self._closing:
            self._state.connections.discard(self)
            return
        if not keeps or self.door.stopping:
            self._end()
        elif self._advancing:
            return  # to the next one
        elif self._reading and self.requests.is_between:
            self._deadline.put(IDLE_SECONDS)
        else:
            self._advance()

    def cut(self) -> None:
        self._closing = True
        self._transport.abort()

    # ── From one request to the next ──────────────────────────────────────────────────────────────────────────────

    def _advance(self) -> None:
        """Past what is left of the last request, and into the next one as soon as its head is there; and so on, where
        it is answered at once. Many that came together take turns with those of others."""
        if self._advancing or self._cycle is not None:
            return
        self._advancing = True
        try:
            for _ in range(TURN_REQUESTS):
                if self._closing or not self._one():
                    return
            self._loop.call_soon(self._advance)
        finally:
            self._advancing = False
            if not self._closing:
                self.took()

    def _one(self) -> bool:
        """Begin the next request. False: it is not there, or it is not answered yet."""
        requests = self.requests
        if not (requests.ended or self._read_past()):
            return False
        try:
            head = requests.head() if requests.ended and requests.waiting else None
        except Refused as refused:
            self._refuse(refused)
            return False
        if head is not None:
            self._begin(head)
            return self._cycle is None
        # From its first byte on, a head is timed, and so is what is left of a body.
        was, self._in_head = self._in_head, requests.waiting > 0 or not requests.ended
        if self._in_head and not was:
            self._end_in(HEAD_SECONDS)
        elif not self._in_head and (was or self._deadline.at is None):
            self._end_in(IDLE_SECONDS)
        return False

    def _read_past(self) -> bool:
        """Read past what has come of a body that nobody read. False: it is none. Its request has been answered, so
        nothing is said: another response would be taken for one to another request."""
        try:
            while not self.requests.ended:
                if not self.requests.content(LEFT_BYTES) and not self.requests.ended:
                    return True
        except Refused:
            self._end()
            return False
        return True

    def _begin(self, head: Head) -> None:
        core = self.door.core
        if core is not None and is_direct(head, self.requests.waiting) and core.takes(head):
            self._begin_at_once(head, self.requests.content(head.said.length) if head.said.length else b"", core)
            return
        self._deadline.at = None
        self._in_head = False
        cycle = self._cycle = self._cycle_of(head)
        self._run(cycle, self._application)

    def _begin_at_once(self, head: Head, content: bytes, core: Core) -> None:
        self._in_head = False
        direct = begin(self, head, content, core)
        if direct is not None:
            self._deadline.at = None
            self._cycle = direct
            direct.begin()
        elif self._advancing or self._closing or not self._reading:
            self.completed(True)
        else:  # it came alone: nothing has to be looked for behind it
            self._deadline.put(IDLE_SECONDS)

    def _run(self, cycle: Cycle, application: Asgi) -> None:
        task = self._loop.create_task(cycle.run(application))
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    def _cycle_of(self, head: Head) -> Cycle:
        if head.key is None or not self.door.websockets:
            return Cycle(self, head, self._scope(head))
        # Most services have none, and it takes a while to load: one that has it has loaded it by now.
        from ninefold.runtime.http.websocket import WebSocket

        return WebSocket(self, head, self._scope(head))

    def _scope(self, head: Head) -> dict[str, Any]:
        path = head.path.decode("ascii")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": head.version,
            "method": head.method,
            "scheme": "http" if self._tls is None else "https",
            "path": unquote(path) if "%" in path else path,
            "raw_path": head.path,
            "query_string": head.query,
            "root_path": "",
            "headers": head.said.fields,
            "client": self._peer,
            "server": self._local,
        }
        if self._tls is not None:
            scope["extensions"] = {"tls": self._tls}
        return scope

    # ── Ends ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _refuse(self, refused: Refused) -> None:
        """A bare status, and the end of the connection."""
        self.write(bare(refused.status, self.fields))
        self.door.refused(self.peer, refused.status, refused.why)
        self._end()

    def _end(self) -> None:
        """Nothing more is read, and what was sent still arrives."""
        if self._closing:
            return
        self._closing = True
        self._deadline.close()
        self._untaken.begin_again()
        if self._transport.is_closing():
            return
        try:
            self._transport.write_eof()
        except (OSError, NotImplementedError):  # nobody is there any more; or over TLS
            self._transport.close()  # where the client's own end is waited for
            if self.door.stopping:
                self._deadline.put(STOPPING_UNTAKEN_SECONDS)
            return
        if not self._reading:
            self._reading = True
            self._transport.resume_reading()
        self._deadline.put(LINGERING_SECONDS)

    def _over(self) -> None:
        """Nothing came in time; or enough came behind the end. What came while the loop was busy is read in its next
        turn, before what is called in the one after: a request that is there is answered (RFC 9112, 9.6)."""
        if not self._closing:
            self._loop.call_soon(self._loop.call_soon, self._end_if_nothing_came)
        elif self._transport.is_closing():
            self._transport.abort()
        else:
            self._transport.close()

    def _end_if_nothing_came(self) -> None:
        if self._cycle is None and self._deadline.at is None:
            self._end()

    def _end_in(self, seconds: float) -> None:
        if self.door.stopping:
            seconds = min(seconds, IDLE_SECONDS if self._in_head else STOPPING_IDLE_SECONDS)
        self._deadline.put(seconds)

    def _patience(self) -> float:
        return STOPPING_UNTAKEN_SECONDS if self.door.stopping else self.door.untaken_seconds


def _address(found: Any) -> tuple[str, int] | None:
    return (str(found[0]), int(found[1])) if isinstance(found, tuple) and len(found) >= 2 else None


def _tls(transport: asyncio.BaseTransport) -> dict[object, object] | None:
    """What ASGI's TLS extension says of a connection (https://asgi.readthedocs.io/en/latest/specs/tls.html), as far as
    it is asked for here: the client's own certificate, in PEM. None: the connection is not over TLS.

    A certificate that is there was verified by the handshake, since one that cannot be ends it.
    """
    found = transport.get_extra_info("ssl_object")
    if found is None:
        return None
    certificate = found.getpeercert(binary_form=True)
    return {"client_cert_chain": [ssl.DER_cert_to_PEM_cert(certificate)] if certificate else []}
