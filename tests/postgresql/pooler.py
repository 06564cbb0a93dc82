"""Poolers before the PostgreSQL of the tests that give each transaction another connection: PgBouncer, where it is on
the PATH, and one of our own, which looks after each transaction what it has left in the session."""

from __future__ import annotations

import asyncio
import shutil
import struct
import subprocess
import tempfile
import threading
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest
from tests.ports import free_port
from tests.postgresql import server
from tests.waiting import PATIENCE, begun

POOL: Final = 4
"""Connections to PostgreSQL, fewer than a process of ninefold has to the pooler."""

_KNOWN: Final = {"user", "database", "client_encoding", "application_name", "standard_conforming_strings"}
"""What PgBouncer takes where a connection begins."""

LEFT: Final = """
SELECT 'statement: ' || statement FROM pg_prepared_statements
UNION ALL SELECT 'cursor: ' || name FROM pg_cursors WHERE name <> ''
UNION ALL SELECT 'channel: ' || channel FROM pg_listening_channels() AS channel
UNION ALL SELECT 'lock: ' || objid FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'
UNION ALL SELECT 'temporary: ' || proname FROM pg_proc WHERE pronamespace = pg_my_temp_schema()
UNION ALL SELECT 'temporary: ' || relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()
UNION ALL SELECT 'setting: ' || name FROM pg_settings WHERE source = 'session'
"""


def pgbouncer() -> str:
    """The program; where it is not there, the test is skipped."""
    return shutil.which("pgbouncer") or pytest.skip("PgBouncer is not on the PATH")


@contextmanager
def bouncing(name: str, before: Path) -> Iterator[str]:
    """The URL of a database behind PgBouncer. `before`: the directory of the server."""
    program, port = pgbouncer(), free_port()
    with tempfile.TemporaryDirectory(prefix="ninefold-pgbouncer-") as directory:
        where = Path(directory)
        where.chmod(0o755)
        (where / "users").write_text('"ninefold" ""\n')
        (where / "ini").write_text(
            f"[databases]\n* = host={before}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
            f"unix_socket_dir =\nauth_type = trust\nauth_file = {where}/users\npool_mode = transaction\n"
            f"default_pool_size = {POOL}\nmax_client_conn = 1000\nserver_round_robin = 1\n"
        )
        with (where / "log").open("wb") as log:
            command = [program, str(where / "ini")]
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **server.UNPRIVILEGED)
            try:
                begun(process, "127.0.0.1", port, (where / "log").read_text)
                yield f"postgresql://ninefold@127.0.0.1:{port}/{name}"
            finally:
                process.kill()
                process.wait()


class Pooler:
    """The same, of our own. `left`: what was found in sessions after transactions, and how often. `most`: to how many
    connections of PostgreSQL one of its clients was led."""

    def __init__(self, name: str, before: Path) -> None:
        self.left: Counter[str] = Counter()
        self.most = 0
        self.transactions = 0
        self._name, self._before = name, before
        self._version = b""
        self._writers: set[StreamWriter] = set()
        self._idle: asyncio.Queue[tuple[StreamReader, StreamWriter]] = asyncio.Queue()

    async def serve(self, began: Callable[[int], None], ends: asyncio.Event) -> None:
        for _ in range(POOL):
            self._idle.put_nowait(await self._server())
        listening = await asyncio.start_server(self._client, "127.0.0.1", 0)
        began(listening.sockets[0].getsockname()[1])
        await ends.wait()
        listening.close()
        while self._writers:
            writer = self._writers.pop()
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _server(self) -> tuple[StreamReader, StreamWriter]:
        reader, writer = await asyncio.open_unix_connection(f"{self._before}/.s.PGSQL.5432")
        self._writers.add(writer)
        said = f"user\0ninefold\0database\0{self._name}\0client_encoding\0UTF8\0\0".encode()
        writer.write(struct.pack("!ii", len(said) + 8, 196608) + said)
        while (message := await _message(reader))[:1] != b"Z":
            if message[5:].startswith(b"server_version\0"):
                self._version = message
        return reader, writer

    async def _client(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._writers.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                said = await _first(reader)
                (code,) = struct.unpack("!i", said[:4])
                if code == 196608:
                    break
                writer.write(b"N")  # no TLS
            names = said[4:].decode().split("\0")[:-2:2]
            if unknown := set(names) - _KNOWN:
                error = f"SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: {min(unknown)}\0\0".encode()
                writer.write(b"E" + struct.pack("!i", len(error) + 4) + error)
                writer.close()
                return
            writer.write(b"R" + struct.pack("!ii", 8, 0) + self._version)
            writer.write(b"K" + struct.pack("!iii", 12, 0, 0) + b"Z" + struct.pack("!i", 5) + b"I")
            await self._transactions(reader, writer)
        writer.close()

    async def _transactions(self, reader: StreamReader, writer: StreamWriter) -> None:
        said: asyncio.Queue[bytes] = asyncio.Queue()
        hearing = asyncio.create_task(_heard(reader, said))
        led: set[int] = set()
        try:
            while (message := await said.get())[:1] != b"X":
                there, to = await self._idle.get()
                led.add(id(to))
                self.most, self.transactions = max(self.most, len(led)), self.transactions + 1
                try:
                    await self._transaction(message, said, writer, there, to)
                except BaseException:
                    to.close()
                    there, to = await self._server()
                    raise
                else:
                    await self._look(there, to)
                finally:
                    self._idle.put_nowait((there, to))
        finally:
            hearing.cancel()

    async def _transaction(
        self, first: bytes, said: asyncio.Queue[bytes], writer: StreamWriter, there: StreamReader, to: StreamWriter
    ) -> None:
        """Until PostgreSQL is ready, out of any transaction, and nothing that it was asked is left unanswered."""
        unanswered = 0

        async def ask() -> None:
            nonlocal unanswered
            message = first
            while message[:1] != b"X":
                unanswered += message[:1] in (b"Q", b"S", b"F")
                to.write(message)
                message = await said.get()
            raise ConnectionError  # in the middle of a transaction

        async def answer() -> None:
            nonlocal unanswered
            while True:
                message = await _message(there)
                writer.write(message)
                if message[:1] == b"Z":
                    unanswered -= 1
                    if not unanswered and message[5:] == b"I":
                        return

        both = {asyncio.create_task(ask()), asyncio.create_task(answer())}
        try:
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        finally:
            for each in both:
                each.cancel()

    async def _look(self, there: StreamReader, to: StreamWriter) -> None:
        text = LEFT.encode() + b"\0"
        to.write(b"Q" + struct.pack("!i", len(text) + 4) + text)
        while (message := await _message(there))[:1] != b"Z":
            if message[:1] == b"D":
                self.left[message[11:].decode()] += 1


async def _message(reader: StreamReader) -> bytes:
    head = await reader.readexactly(5)
    return head + await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)


async def _first(reader: StreamReader) -> bytes:
    (size,) = struct.unpack("!i", await reader.readexactly(4))
    return await reader.readexactly(size - 4)


async def _heard(reader: StreamReader, said: asyncio.Queue[bytes]) -> None:
    """What a client says, until it ends, which it then says."""
    try:
        while True:
            said.put_nowait(await _message(reader))
    except (asyncio.IncompleteReadError, ConnectionError):
        said.put_nowait(b"X")


@contextmanager
def pooling(name: str, before: Path) -> Iterator[tuple[str, Pooler]]:
    """The URL of a database behind the pooler."""
    pooler = Pooler(name, before)
    found: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def live() -> None:
        ends = asyncio.Event()
        await pooler.serve(lambda port: found.set_result((port, asyncio.get_running_loop(), ends)), ends)

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    port, loop, ends = found.result(PATIENCE)
    try:
        yield f"postgresql://ninefold@127.0.0.1:{port}/{name}", pooler
    finally:
        loop.call_soon_threadsafe(ends.set)
        thread.join()
