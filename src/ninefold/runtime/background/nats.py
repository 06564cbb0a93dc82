"""The event log, sent to NATS JetStream.

One message is sent at a time, and the next one when the broker has said that it keeps it. `Nats-Msg-Id`, which is the
same each time, lets the broker leave out what it has
(https://docs.nats.io/using-nats/developer/develop_jetstream/model_deep_dive#message-deduplication).

The stream that keeps the messages is the operator's: where none listens to a subject, the log waits.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from nats.aio.client import Client
from nats.aio.transport import TcpTransport
from nats.errors import Error

from ninefold.runtime.addresses import unreachable
from ninefold.runtime.background.broker import SECONDS, Away, Message

_FAILURES: Final = (Error, OSError, EOFError, ValueError)
"""What its client raises where the broker cannot be reached, or takes nothing."""


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


class Nats:
    """`address`: `nats://HOST:PORT` or `tls://…`, with a user and a password, or a token, before the host where the
    broker asks for them."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: _Client | None = None
        self._error: Exception | None = None
        """What went wrong last on a connection, which the client says before it gives up."""

    def holds(self) -> bool:
        return self._client is not None and not self._client.is_closed

    async def open(self) -> None:
        await self.close()
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
        except BaseException as error:
            client.drop()
            if isinstance(error, _FAILURES):
                raise self._away(error) from error
            raise
        self._client = client

    async def send(self, messages: Sequence[Message]) -> AsyncIterator[int]:
        assert self._client is not None
        stream = self._client.jetstream(timeout=SECONDS)
        for each in messages:
            headers = {"Nats-Msg-Id": each.id, "Content-Type": each.media_type}
            try:
                await stream.publish(each.kind, each.body, timeout=SECONDS, headers=headers)
            except _FAILURES as error:
                raise self._away(error) from error
            yield each.position

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _away(self, error: Exception) -> Away:
        """What it says may hold the address, with its password."""
        if isinstance(error, _InTheClear):
            return Away("the broker speaks no TLS, which its address asks for: it is told nothing")
        return Away(f"the broker takes no event: {unreachable(self._error or error)}")

    async def _heard(self, error: Exception) -> None:
        self._error = error
