"""A process that `serve --readers` begins: it takes requests on the same sockets, answers what only reads, and passes
on all else to the process that began it (`ninefold.runtime.http.passing`). It ends when that one does."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from socket import socket
from typing import Any, Literal

from ninefold.cli import behind
from ninefold.cli.logs import log_to_stderr
from ninefold.cli.sockets import tls_context
from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.service import ServicePlan
from ninefold.runtime.http import channel as said
from ninefold.runtime.http import run
from ninefold.runtime.http.access_log import Lines, lines
from ninefold.runtime.http.capacity import client_address
from ninefold.runtime.http.channel import Channel, OfWriter
from ninefold.runtime.http.passing import Link, Reader, of_reader
from ninefold.runtime.http.switch import Switch
from ninefold.runtime.operator.metrics import Requests
from ninefold.runtime.operator.trouble import Causes
from ninefold.runtime.request.service import ready
from ninefold.runtime.request.tracing import Tracer
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.page import Page
from ninefold.runtime.store.reading import Beside

log = logging.getLogger("ninefold.server")


@dataclass(frozen=True)
class Offer:
    """What such a process serves, and how. `values`: what the operator gives; `functions`: the names of those that are
    given; `cursors`: the secret of cursors; `has_clock`: the time is the service's own; `processes`: how many take
    requests on the same sockets."""

    plan: ServicePlan
    values: Mapping[str, str]
    functions: Sequence[str]
    path: str
    cursors: bytes
    has_clock: bool
    networks: Sequence[IPv4Network | IPv6Network]
    log: Literal["text", "json"]
    document: str
    trace: bool
    pem: tuple[Path | None, Path | None, Path | None]
    processes: int


class _Deaf(run.Stop):
    """Whom signals end is the process that began this one, and it says so: those of a terminal, or of a service
    manager, come to all."""

    def heard(self, number: int) -> None:
        """A signal."""


class Process:
    def __init__(self, channel: socket, handles: socket, page: Page, listening: Sequence[socket]) -> None:
        self._end, self._handles, self._page, self._listening = channel, handles, page, listening
        self._told: asyncio.Queue[said.Serve | said.Pause | said.GoOn] = asyncio.Queue()
        self._stop = _Deaf()
        self._switch = Switch()
        self._counted = Requests()
        self._ending = False
        self._application: Reader
        self._database: Beside | None = None
        self._long_reads = 0

    async def run(self) -> None:
        """Serve until it is told to end."""
        self._channel: Channel[OfWriter] = await said.opened(self._end, OfWriter, self._received, self._lost)
        self._link = Link(self._channel, self._handles)
        first = await self._told.get()
        assert isinstance(first, said.Serve), "what is to be served is told first"
        offer = self._serve(first)
        following = asyncio.create_task(self._follow())
        following.add_done_callback(_followed)
        self._channel.write(said.Ready())
        accepted = max(1, run.ACCEPTED // offer.processes)
        tls = tls_context(*offer.pem)
        await run.serve(self._switch, self._listening, stop=self._stop, tls=tls, accepted=accepted)
        self._ending = True
        following.cancel()
        self._lines.flush()
        await self._leave()
        self._channel.close()

    # ── What the other process says ───────────────────────────────────────────────────────────────────────────────

    def _received(self, message: OfWriter) -> None:
        match message:
            case said.Answered() | said.Counted() | said.Settled():
                self._link.told(message)
            case said.End():
                self._stop.request()
            case _:
                self._told.put_nowait(message)

    def _lost(self) -> None:
        """The process that writes is there no more: what was passed on is answered by nobody."""
        if not self._ending:
            os._exit(1)

    async def _follow(self) -> None:
        while True:
            if isinstance(await self._told.get(), said.Pause):
                async with self._switch.exchanging() as all_answered:
                    if all_answered:
                        self._lines.flush()
                        await self._leave()
                    self._channel.write(said.Paused(all_answered))
                    then = await self._told.get()
                    if isinstance(then, said.Serve):
                        self._serve(then)

    # ── What is served ────────────────────────────────────────────────────────────────────────────────────────────

    def _serve(self, serve: said.Serve) -> Offer:
        offer: Offer = pickle.loads(serve.offer)  # of the process that began this one, by the pair of sockets
        self._lines = Lines(_Telling(self._tell), lines(offer.log, offer.document), self._counted.count)
        self._database = database = Beside(offer.path)
        functions = dict.fromkeys(offer.functions, _elsewhere)
        sources = Sources(clock=self._page.clock) if offer.has_clock else Sources()
        service = ready(offer.plan, offer.cursors, offer.values, sources, functions=functions)
        self._switch.application = self._application = Reader(
            of_reader(service, self._link, self._page),
            database,
            self._link,
            observe=self._lines.write,
            address=client_address(offer.networks),
            trace=Tracer(offer.plan).traced if offer.trace else None,
            reasons=Causes(offer.plan, offer.values).reasons,
        )
        self._application.begin()
        return offer

    async def _leave(self) -> None:
        await self._application.ended()
        self._application.close()
        if self._database is not None:
            self._tell("")
            self._database.close()
            self._database, self._long_reads = None, 0

    def _tell(self, lines: str) -> None:
        """What was done since the last time is told by the process that keeps the log and the metrics."""
        begun, running = (self._database.long.begun, self._database.long.running) if self._database else (0, 0)
        self._channel.write(said.Noted(lines, self._counted.taken(), begun - self._long_reads, running))
        self._long_reads = begun


def _followed(following: asyncio.Task[None]) -> None:
    """Whoever cannot serve what it is told to ends, so that another is begun; it would refuse all that comes."""
    if not following.cancelled() and (error := following.exception()) is not None:
        log.error("what is to be served now cannot be", exc_info=error)
        behind.drain()
        os._exit(1)


class _Telling:
    """Where lines of the log are written to."""

    def __init__(self, tell: Any) -> None:
        self.write = tell

    def flush(self) -> None:
        """They are on their way."""


def _elsewhere(**arguments: Any) -> None:
    raise RuntimeError("functions are called by the process that writes")


@behind.written_behind()
def main() -> None:
    """Arguments: descriptors of the channel, of the socket for handles, of the page, and of what listens."""
    channel, handles, page, *listening = map(int, sys.argv[1:])
    log_to_stderr()
    sockets = [socket(fileno=each) for each in listening]
    for each in sockets:
        # Whether a socket blocks all processes have together that have it; a copy would make it so again, for all.
        each.setblocking(False)
    run.run(Process(socket(fileno=channel), socket(fileno=handles), Page(page), sockets).run)
