"""uvicorn's HTTP protocol, with bounds on the head of a request.

uvicorn reads a head of any size for any time, and answers what is not HTTP with a text of its own. Neither is left
to whoever connects: these bounds protect the machine, and no contract states them.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 512 * 1024
"""Bytes after which a head that has not ended is refused. What follows it in one read is counted with it."""

HEAD_SECONDS = 30.0
"""Seconds that a head may take, from the connection or from its first byte."""


class Protocol(HttpToolsProtocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._in_head = True
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = self.loop.call_later(HEAD_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_of_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > HEAD_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def on_headers_complete(self) -> None:
        self._end_of_head()
        super().on_headers_complete()

    def _end_of_head(self) -> None:
        self._in_head = False
        self._head_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def send_400_response(self, msg: str) -> None:
        self._refuse(b"400 Bad Request")

    def _refuse(self, status: bytes) -> None:
        """A bare status (RFC 6585 5 for 431), and the end of the connection."""
        date = b"".join(b"%s: %s\r\n" % field for field in self.server_state.default_headers)
        self.transport.write(b"HTTP/1.1 " + status + b"\r\n" + date + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()
