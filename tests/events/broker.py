"""A NATS server of its own for a test, with JetStream, as its makers ship it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import nats
from nats.js import JetStreamContext
from tests.ports import free_port
from tests.waiting import begun, until

T = TypeVar("T")


@dataclass(frozen=True)
class Message:
    subject: str
    headers: dict[str, str]
    data: bytes


@dataclass
class Broker:
    """`address` is where it listens, while it runs."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        program = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or "nats-server"
        arguments = [program, "-js", "-sd", str(self.folder), "-a", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begun(self.process, "127.0.0.1", self.port)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def keep(self, *subjects: str) -> None:
        """Have the broker keep what is sent to these subjects."""

        async def add(stream: JetStreamContext) -> None:
            await stream.add_stream(name="kept", subjects=list(subjects))

        self._with(add)

    def kept(self) -> list[Message]:
        """All that it has been sent and keeps, in its order."""

        async def read(stream: JetStreamContext) -> list[Message]:
            count = (await stream.stream_info("kept")).state.messages
            found = [await stream.get_msg("kept", number) for number in range(1, count + 1)]
            return [Message(each.subject or "", dict(each.headers or {}), each.data or b"") for each in found]

        return self._with(read)

    def until(self, count: int) -> list[Message]:
        return until(lambda: found if len(found := self.kept()) >= count else None, self.kept)

    def _with(self, work: Callable[[JetStreamContext], Awaitable[T]]) -> T:
        async def connected() -> T:
            client = await nats.connect(self.address)
            try:
                return await work(client.jetstream())
            finally:
                await client.close()

        return asyncio.run(connected())


@contextmanager
def broker(folder: Path) -> Iterator[Broker]:
    """One that has been started, and that ends with the test."""
    found = Broker(free_port(), folder)
    found.start()
    try:
        yield found
    finally:
        found.kill()
