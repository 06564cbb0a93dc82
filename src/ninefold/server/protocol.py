"""uvicorn's HTTP protocol, with bounds on the head of a request, and with the certificate of a client that has one.

uvicorn reads a head of any size for any time, and answers what is not HTTP with a text of its own. Neither is left
to whoever connects: these bounds protect the machine, and no contract states them.
"""

from __future__ import annotations

import asyncio
import re
import ssl

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 512 * 1024
"""Bytes after which a head that has not ended is refused. What follows it in one read is counted with it."""

HEAD_SECONDS = 30.0
"""Seconds that a head may take, from the connection or from its first byte."""


_KNOWN = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"PATCH ", b"DELETE ", b"OPTIONS ", b"CONNECT ")
_REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) \S+ HTTP/1\.[01]\r?\n")
"""Of a method that is a token (RFC 9110 5.6.2); parsers know a list of them, and which are allowed is not theirs."""
_STAND_IN = b"POST"


class NoHost(Exception):
    """A request of HTTP/1.1 has no Host, or several (RFC 9112 3.2); the parser makes 400 of it."""


class Protocol(HttpToolsProtocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._tls = _tls(transport)
        self._in_head = True
        self._between = True
        self._method: str | None = None
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = self.loop.call_later(HEAD_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_of_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(self._of_any_method(data) if self._between else data)
        if self._in_head and self._head_bytes > HEAD_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def _of_any_method(self, data: bytes) -> bytes:
        """What begins a request, with another method in the place of one that the parser may not know. A method whose
        request line comes in pieces is left as it is."""
        if data.startswith(_KNOWN):
            return data
        found = _REQUEST_LINE.match(data)
        if found is None:
            return data
        self._method = found[1].decode("ascii")
        return _STAND_IN + data[found.end(1) :]

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._tls is not None:
            self.scope["extensions"] = {"tls": self._tls}
        self._in_head = True
        self._between = False
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def on_headers_complete(self) -> None:
        self._end_of_head()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            raise NoHost
        super().on_headers_complete()
        if self._method is not None:
            self.scope["method"], self._method = self._method, None

    def on_message_complete(self) -> None:
        self._between = True
        super().on_message_complete()

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
