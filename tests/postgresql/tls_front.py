"""TLS before a server that speaks none, as the wheels of PostgreSQL and Valkey do not: what came before TLS is kept."""

from __future__ import annotations

import asyncio
import ssl
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Final

from tests.server.authority import Issued
from tests.waiting import PATIENCE

ASKED: Final = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"
"""SSLRequest (PostgreSQL, "Message Formats")."""

Server = Callable[[], Awaitable[tuple[StreamReader, StreamWriter]]]


class Front:
    """`clear`: what was sent to it before TLS, of each connection. `agreed`: with how many TLS was agreed on."""

    def __init__(self, own: Issued, to: Server, is_asked: bool) -> None:
        """`is_asked`: whether TLS begins by the SSLRequest of PostgreSQL."""
        self.port, self.agreed = 0, 0
        self.clear: list[bytes] = []
        self._to, self._is_asked = to, is_asked
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(*own.pair)
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, began: Callable[[], None], ends: asyncio.Event) -> None:
        own = None if self._is_asked else self._context
        listening = await asyncio.start_server(self._client, "127.0.0.1", 0, ssl=own)
        self.port = listening.sockets[0].getsockname()[1]
        began()
        await ends.wait()
        listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _client(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, EOFError):
                await self._led(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _led(self, reader: StreamReader, writer: StreamWriter) -> None:
        if self._is_asked:
            self.clear.append(await reader.read(100_000))
            if self.clear[-1] != ASKED:
                return
            writer.write(b"S")
            await writer.drain()
            await writer.start_tls(self._context)
        self.agreed += 1
        there, to = await self._to()
        try:
            await carried(reader, writer, there, to)
        finally:
            to.close()


async def carried(reader: StreamReader, writer: StreamWriter, there: StreamReader, to: StreamWriter) -> None:
    """Carry what either side says to the other, until one ends."""
    both = [asyncio.create_task(each) for each in (_carried(reader, to), _carried(there, writer))]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in both:
            each.cancel()
        await asyncio.gather(*both, return_exceptions=True)


async def _carried(reader: StreamReader, writer: StreamWriter) -> None:
    while said := await reader.read(65_536):
        writer.write(said)
        await writer.drain()


@contextmanager
def behind_tls(own: Issued, to: Server, is_asked: bool) -> Iterator[Front]:
    front = Front(own, to, is_asked)
    began: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def live() -> None:
        ends = asyncio.Event()
        await front.serve(lambda: began.set_result((asyncio.get_running_loop(), ends)), ends)

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    loop, ends = began.result(PATIENCE)
    try:
        yield front
    finally:
        loop.call_soon_threadsafe(ends.set)
        thread.join()
