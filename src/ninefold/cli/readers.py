"""The processes that `serve --readers` begins beside the one that writes: they are begun, told what to serve, and begun
again where one ends.

The sockets that listen are inherited: all processes take connections from one queue, so that whoever is idle takes the
next, and none waits for a process that is there no more.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import field
from socket import socket, socketpair
from typing import Final

from msgspec import convert

from ninefold.cli.processes import command
from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.http import channel as said
from ninefold.runtime.http.access_log import Lines
from ninefold.runtime.http.channel import OfReader
from ninefold.runtime.http.cycle import Asgi
from ninefold.runtime.http.passed import Passed, Served
from ninefold.runtime.http.run import STOPPING_SECONDS
from ninefold.runtime.http.switch import PATIENCE
from ninefold.runtime.operator.metrics import Metrics, Tally
from ninefold.runtime.store.page import Page

log = logging.getLogger("ninefold.server")

AGAIN_SECONDS: Final = 0.1
LONGEST_AGAIN: Final = 30.0
"""After how long another process is begun where one ended: at first, and at most; twice as long each time that one
ended within `SOUND_SECONDS`."""

SOUND_SECONDS: Final = 10.0

LEAVING_SECONDS: Final = 5.0
"""How long a process may take to end once it has said its last."""


@dataclass(eq=False)
class _Process:
    process: subprocess.Popen[bytes]
    passed: Passed
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    is_told: bool = False
    is_ready: bool = False
    paused: asyncio.Future[bool] | None = None

    async def pause(self) -> bool:
        """Whether it has answered all and waits, or is there no more."""
        self.paused = asyncio.get_running_loop().create_future()
        self.passed.channel.write(said.Pause())
        try:
            async with asyncio.timeout(2 * PATIENCE):
                return await self.paused
        except TimeoutError:
            self.process.kill()  # it does not even say that it cannot
            return True

    def go_on(self, offer: bytes) -> None:
        waits = self.paused is not None and self.paused.done() and not self.paused.cancelled() and self.paused.result()
        self.paused = None
        self.passed.channel.write(said.Serve(offer) if waits else said.GoOn())


@dataclass(eq=False)
class Readers:
    """`number`: how many there are to be. `offer`: what they serve now, pickled (`ninefold.cli.reader.Offer`).
    `served`: the service of this process, and `application` the same over ASGI. To be used on one event loop."""

    number: int
    sockets: Sequence[socket]
    page: Page
    offer: Callable[[], bytes]
    served: Served
    application: Asgi
    metrics: Metrics
    lines: Lines
    _all: list[_Process] = field(default_factory=list)
    _keeping: list[asyncio.Task[None]] = field(default_factory=list)
    _exchanging: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ending: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self) -> None:
        if self.number:
            self.metrics.readers = 0
        self._keeping += [asyncio.create_task(self._keep()) for _ in range(self.number)]

    def end(self) -> None:
        """Have them answer what is on its way, and take nothing more."""
        if not self._ending.is_set():
            self._ending.set()
            for each in self._all:
                if each.is_told:
                    each.passed.channel.write(said.End())

    async def ended(self) -> None:
        """Wait until all have ended; who takes too long is killed."""
        self.end()
        try:
            async with asyncio.timeout(STOPPING_SECONDS + LEAVING_SECONDS):
                await asyncio.gather(*self._keeping)
        except TimeoutError:
            log.warning("processes that read did not end by themselves")
            await asyncio.gather(*self._keeping, return_exceptions=True)

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[bool]:
        """None of them serves anything until the block ends, and then what `offer` gives. Whether all have answered
        what was on its way; else those go on with what they serve."""
        async with self._exchanging:
            told = [each for each in self._all if each.is_told]
            all_answered = all(await asyncio.gather(*(each.pause() for each in told)))
            try:
                yield all_answered
            finally:
                offer = self.offer() if told else b""
                for each in told:
                    each.go_on(offer)

    # ── One of them ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _keep(self) -> None:
        """One process after another."""
        wait, now = AGAIN_SECONDS, asyncio.get_running_loop().time
        while not self._ending.is_set():
            began = now()
            try:
                how = await self._one()
            except OSError as error:
                how = str(error)
            if self._ending.is_set():
                return
            log.warning("a process that reads has ended (%s); another one is begun", how)
            wait = AGAIN_SECONDS if now() - began > SOUND_SECONDS else min(2 * wait, LONGEST_AGAIN)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._ending.wait()

    async def _one(self) -> str:
        """Begin a process, and wait for its end: how it ended, in words. Raises OSError."""
        one = await self._begun()
        self._all.append(one)
        try:
            async with self._exchanging:
                if self._ending.is_set():
                    return "it served nothing"
                one.passed.channel.write(said.Serve(self.offer()))
                one.is_told = True
            await one.ended.wait()
            return await asyncio.to_thread(_left, one.process)
        finally:
            one.process.kill()
            one.process.wait()
            one.passed.close()
            self._all.remove(one)
            self._counted(one, 0)
            self._say_number()

    async def _begun(self) -> _Process:
        own, theirs = socketpair()
        handles, their_handles = socketpair()
        with theirs, their_handles:
            descriptors = [each.fileno() for each in (theirs, their_handles)]
            descriptors += [self.page.descriptor, *(each.fileno() for each in self.sockets)]
            line, environment = command("ninefold.cli.reader", *map(str, descriptors))
            process = subprocess.Popen(line, pass_fds=descriptors, stdin=subprocess.DEVNULL, env=environment)
        one = _Process(process, Passed(self.served, self.application, handles))
        one.passed.channel = await said.opened(own, OfReader, lambda came: self._came(one, came), lambda: _lost(one))
        return one

    def _came(self, one: _Process, message: OfReader) -> None:
        match message:
            case said.Asked():
                one.passed.asked(message)
            case said.Counting():
                one.passed.counting(message)
            case said.Settling():
                one.passed.settling(message)
            case said.Ready():
                one.is_ready = True
                self._say_number()
            case said.Paused(all_answered):
                if one.paused is not None and not one.paused.done():
                    one.paused.set_result(all_answered)
            case said.Noted(lines, tally, long_reads, reading):
                self.lines.pass_on(lines)
                self.metrics.add(convert(tally, Tally))
                self.metrics.elsewhere.long_reads += long_reads
                self._counted(one, reading)

    def _counted(self, one: _Process, reading: int) -> None:
        if reading:
            self.metrics.elsewhere.reading[one.process.pid] = reading
        else:
            self.metrics.elsewhere.reading.pop(one.process.pid, None)

    def _say_number(self) -> None:
        self.metrics.readers = sum(each.is_ready for each in self._all)


def _lost(one: _Process) -> None:
    one.ended.set()
    if one.paused is not None and not one.paused.done():
        one.paused.set_result(True)


def _left(process: subprocess.Popen[bytes]) -> str:
    """How a process ended that has said its last."""
    try:
        status = process.wait(LEAVING_SECONDS)
    except subprocess.TimeoutExpired:
        return "it did not end by itself"
    return f"status {status}" if status >= 0 else signal.Signals(-status).name
