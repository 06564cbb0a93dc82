"""A NATS server of its own for a test, with JetStream, as its makers ship it."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import nats
from nats.js import JetStreamContext
from tests.server.authority import Issued
from tests.started import Program, started
from tests.waiting import until

T = TypeVar("T")


@dataclass(frozen=True)
class Message:
    subject: str
    headers: dict[str, str]
    data: bytes


class Broker(Program):
    """`address` is where it listens, while it runs."""

    def __init__(self, folder: Path, own: Issued | None = None) -> None:
        """`own`: its certificate, where it speaks TLS."""
        super().__init__(folder)
        self.own = own

    @property
    def address(self) -> str:
        return f"nats://127.0.0.1:{self.port}" if self.own is None else f"tls://localhost:{self.port}"

    def command(self) -> Sequence[str]:
        program = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or "nats-server"
        return [program, "-js", "-sd", str(self.folder), "-a", "127.0.0.1", "-p", str(self.port), *self._tls()]

    def _tls(self) -> Sequence[str]:
        return [] if self.own is None else ["--tls", "--tlscert", self.own.pair[0], "--tlskey", self.own.pair[1]]

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


def broker(folder: Path, own: Issued | None = None) -> AbstractContextManager[Broker]:
    """One that has been started, and that ends with the test."""
    return started(Broker(folder, own))
