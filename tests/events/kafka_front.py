"""What is before a broker on the wire: a way that can be closed and opened again; TLS; and users with passwords, by
SASL (https://kafka.apache.org/protocol#sasl_handshake; SCRAM: RFC 5802, PLAIN: RFC 4616). The broker of the tests has
neither."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
import ssl
import struct
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Final

from tests.postgresql.tls_front import carried
from tests.server.authority import Issued
from tests.waiting import PATIENCE

USER: Final = "ann"
PASSWORD: Final = "hunter2/#?@ é"

_HANDSHAKE, _AUTHENTICATE = 17, 36

_HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class Front:
    """`to`: the port of the broker. `agreed`: by which mechanisms, or without one, clients were let in. `heard`: what
    came of them before that."""

    def __init__(self, own: Issued | None, mechanism: str | None) -> None:
        self.port, self.to = 0, 0
        self.agreed: list[str] = []
        self.heard = bytearray()
        self._mechanism = mechanism
        self._is_open = True
        self._context = None
        if own is not None:
            self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._context.load_cert_chain(*own.pair)
        self._writers: set[StreamWriter] = set()
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        """End all connections, and let none in."""
        self._is_open = False
        self._loop.call_soon_threadsafe(self._cut)

    def open(self) -> None:
        self._is_open = True

    def cut(self) -> None:
        """End all connections, whatever is on its way."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        for each in list(self._writers):
            each.transport.abort()

    async def serve(self, began: Future[asyncio.Event]) -> None:
        listening = await asyncio.start_server(self._client, "127.0.0.1", 0, ssl=self._context)
        self.port = listening.sockets[0].getsockname()[1]
        ends = asyncio.Event()
        began.set_result(ends)
        await ends.wait()
        listening.close()
        self._cut()

    async def _client(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._writers.add(writer)
        try:
            with suppress(OSError, EOFError, asyncio.CancelledError):
                if self._is_open:
                    there, to = await asyncio.open_connection("127.0.0.1", self.to)
                    self._writers.add(to)
                    await self._led(reader, writer, there, to)
        finally:
            writer.close()
            self._writers.discard(writer)

    async def _led(self, reader: StreamReader, writer: StreamWriter, there: StreamReader, to: StreamWriter) -> None:
        try:
            if self._mechanism is not None and not await self._knows(reader, writer, there, to):
                return
            self.agreed.append(self._mechanism or "")
            await carried(reader, writer, there, to)
        finally:
            to.close()
            self._writers.discard(to)

    async def _knows(self, reader: StreamReader, writer: StreamWriter, there: StreamReader, to: StreamWriter) -> bool:
        """Whether who calls knows the password. What it asks before that, the broker answers."""
        assert self._mechanism is not None
        scram = None
        while True:
            frame = await _frame(reader)
            self.heard += frame
            key, version, correlation, length = struct.unpack(">hhih", frame[:10])
            rest = frame[10 + max(length, 0) :]
            if key == _HANDSHAKE:
                is_known = rest[2:].decode() == self._mechanism
                mechanisms = _text(self._mechanism.encode())
                _answer(writer, correlation, struct.pack(">hi", 0 if is_known else 33, 1) + mechanisms)
            elif key == _AUTHENTICATE:
                said = rest[4:]
                if self._mechanism == "PLAIN":
                    is_right, is_over, back = said == f"\0{USER}\0{PASSWORD}".encode(), True, b""
                else:
                    scram = scram or _Scram(_HASHES[self._mechanism])
                    is_right, is_over, back = scram.answered(said)
                status = struct.pack(">hh", 0 if is_right else 58, -1)
                lasts = struct.pack(">q", 0) if version else b""
                _answer(writer, correlation, status + struct.pack(">i", len(back)) + back + lasts)
                if not is_right or is_over:
                    return is_right
            else:
                to.write(struct.pack(">i", len(frame)) + frame)
                answer = await _frame(there)
                writer.write(struct.pack(">i", len(answer)) + answer)


class _Scram:
    """The side of a broker, of one exchange."""

    def __init__(self, hash: str) -> None:
        self._hash = hash
        self._so_far: bytes | None = None

    def answered(self, said: bytes) -> tuple[bool, bool, bytes]:
        """Whether it is right so far, whether that is all, and what to answer."""
        if self._so_far is None:
            bare = said.partition(b",,")[2]
            self._salt, rounds = os.urandom(16), 4096
            self._salted = hashlib.pbkdf2_hmac(self._hash, PASSWORD.encode(), self._salt, rounds)
            nonce = dict(each.split(b"=", 1) for each in bare.split(b","))[b"r"] + base64.b64encode(os.urandom(9))
            first = b"r=%s,s=%s,i=%d" % (nonce, base64.b64encode(self._salt), rounds)
            self._so_far = bare + b"," + first
            return bare.startswith(b"n=%s," % USER.encode()), False, first
        without, _, proof = said.rpartition(b",p=")
        message = self._so_far + b"," + without
        client = self._mac(self._salted, b"Client Key")
        signature = self._mac(hashlib.new(self._hash, client).digest(), message)
        right = bytes(one ^ other for one, other in zip(client, signature, strict=True))
        server = self._mac(self._mac(self._salted, b"Server Key"), message)
        return base64.b64decode(proof) == right, True, b"v=" + base64.b64encode(server)

    def _mac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._hash).digest()


def _text(text: bytes) -> bytes:
    return struct.pack(">h", len(text)) + text


def _answer(writer: StreamWriter, correlation: int, body: bytes) -> None:
    writer.write(struct.pack(">ii", len(body) + 4, correlation) + body)


async def _frame(reader: StreamReader) -> bytes:
    [length] = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(length)


@contextmanager
def front(own: Issued | None = None, mechanism: str | None = None) -> Iterator[Front]:
    """`own`: its certificate, where it speaks TLS. `mechanism`: by which a user is known, where one is asked for."""
    found = Front(own, mechanism)
    began: Future[asyncio.Event] = Future()

    def live() -> None:
        asyncio.set_event_loop(found._loop)
        found._loop.run_until_complete(found.serve(began))
        tasks = asyncio.all_tasks(found._loop)
        for each in tasks:
            each.cancel()
        found._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        found._loop.close()

    thread = threading.Thread(target=live)
    thread.start()
    ends = began.result(PATIENCE)
    try:
        yield found
    finally:
        found._loop.call_soon_threadsafe(ends.set)
        thread.join()
