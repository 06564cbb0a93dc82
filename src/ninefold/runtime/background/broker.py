"""A broker: the event log, sent from one end to the other to NATS JetStream, at least once.

One message is sent at a time, and the next one when the broker has said that it keeps it: what comes of the log is in
the order of the log, whatever fails. How far that is, is noted behind it; what was sent and not noted is sent again,
and `Nats-Msg-Id`, which is the same each time, lets the broker leave out what it has
(https://docs.nats.io/using-nats/developer/develop_jetstream/model_deep_dive#message-deduplication).

The stream that keeps the messages is the operator's: where none listens to a subject, the log waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from nats.aio.client import Client
from nats.aio.transport import TcpTransport
from nats.errors import Error
from nats.js import JetStreamContext

from ninefold.runtime.addresses import unreachable
from ninefold.runtime.background.sender import rows
from ninefold.runtime.operations.events import Form, Logged
from ninefold.runtime.store.bell import Bell
from ninefold.runtime.store.protocol import Database, Row, Session, Unavailable
from ninefold.sql import events as sql

log = logging.getLogger("ninefold.delivery")

BATCH = 100
"""Events that are read at once, and noted at once when they were sent."""

SECONDS = 5.0
"""For a connection, and for the broker to say that it keeps a message."""

LONGEST_WAIT = 0.5
"""Seconds after which the log is looked at again: another program may have written."""

AFTER_FAILURE = 1.0
"""Seconds after which what failed is tried again."""


class _InTheClear(Error):
    """Whoever listens would be told the password."""


class _Client(Client):
    """One that speaks TLS where the address says so. Its makers' does only where the broker says so, or whoever answers
    in its place."""

    def _connect_command(self) -> bytes:
        server, transport = self._current_server, self._transport
        assert server is not None
        if server.uri.scheme == "tls":
            assert isinstance(transport, TcpTransport) and transport._io_writer is not None
            if transport._io_writer.get_extra_info("ssl_object") is None:
                raise _InTheClear
        return super()._connect_command()

    def drop(self) -> None:
        """End what has not become a connection: `close` would wait for it."""
        if self._transport is not None:
            self._transport.close()  # type: ignore[no-untyped-call]


class Broker:
    """What one service sends to a broker. `name`: of how far that is; `version`: in which each event is told;
    None: there are none. `address`: `nats://HOST:PORT` or `tls://…`, with a user and a password, or a token, before the
    host where the broker asks for them."""

    def __init__(self, name: str, version: str | None, address: str, form: Form, database: Database) -> None:
        self._name = name
        self._version = version
        self._address = address
        self._form = form
        self._database = database
        self._told: str | None = None
        self._error: Exception | None = None
        """What went wrong last on a connection, which the client says before it gives up."""

    async def run(self, bell: Bell) -> None:
        """Send until cancelled."""
        while True:
            try:
                await self._connected(bell)
            except _InTheClear:
                self._tell("the broker speaks no TLS, which its address asks for: it is told nothing")
            except (Error, OSError, EOFError, ValueError) as error:
                # What it says may hold the address, with its password.
                self._tell(f"the broker takes no event: {unreachable(self._error or error)}")
            except Unavailable as error:
                self._tell(f"what is to be sent to a broker cannot be read: {error}")
            await asyncio.sleep(AFTER_FAILURE)

    def _tell(self, what: str) -> None:
        """Say what is wrong when it begins, and not at each attempt."""
        if what != self._told:
            log.warning("%s", what)
        self._told = what

    async def _connected(self, bell: Bell) -> None:
        """Send over one connection for as long as it holds. Raises what ends it."""
        client, self._error = _Client(), None
        try:
            await client.connect(
                self._address,
                name="ninefold",
                allow_reconnect=False,
                connect_timeout=int(SECONDS),
                # What cannot be reached it would try for two minutes, and say nothing.
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                error_cb=self._heard,
                max_outstanding_pings=2,
            )
        except BaseException:
            client.drop()
            raise
        try:
            await self._send_all(bell, client)
        finally:
            await client.close()

    async def _send_all(self, bell: Bell, client: Client) -> None:
        stream = client.jetstream(timeout=SECONDS)
        while not client.is_closed:
            events = await self._unsent()
            if events:
                await self._send(stream, events)
            else:
                await self._woken(bell)

    async def _unsent(self) -> list[Row]:
        if self._version is None:
            return await rows(self._database, sql.UNSENT, [self._name, BATCH])
        return await rows(self._database, sql.UNSENT_VERSIONS, [self._name, BATCH, self._version])

    async def _send(self, stream: JetStreamContext, events: Sequence[Row]) -> None:
        """Send some events, and note how far that came, also where it ends too early."""
        sent = None
        try:
            for position, id, kind, row, time, payload in events:
                if kind is not None:
                    event = Logged(str(id), str(kind), str(row), str(time), str(payload))
                    headers = {"Nats-Msg-Id": event.id, "Content-Type": self._form.media_type}
                    await stream.publish(event.kind, self._form.body(event), timeout=SECONDS, headers=headers)
                sent = int(str(position))
        finally:
            if sent is not None:
                self._told = None
                await self._database.transact(self._note(sent))

    def _note(self, position: int) -> Callable[[Session], None]:
        def work(session: Session) -> None:
            session.run(sql.SENT, [position, self._name])

        return work

    async def _woken(self, bell: Bell) -> None:
        if bell.closed:
            await asyncio.sleep(LONGEST_WAIT)
            return
        heard = bell.heard()
        try:
            await asyncio.wait({heard}, timeout=LONGEST_WAIT)
        finally:
            heard.cancel()

    async def _heard(self, error: Exception) -> None:
        self._error = error
