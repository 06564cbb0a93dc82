"""A server of one port: it listens on sockets that are open already, tells the time, and ends what is in flight."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextlib import suppress
from datetime import datetime
from email.utils import format_datetime, formatdate
from socket import socket
from ssl import SSLContext
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ninefold.runtime.http.direct import Core, Door
from ninefold.runtime.http.entrance import Entrance
from ninefold.runtime.http.protocol import Protocol as Connection
from ninefold.runtime.http.protocol import State
from ninefold.runtime.http.switch import Switch

Asgi: TypeAlias = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]
]

log = logging.getLogger("ninefold.server")

WAITING_CONNECTIONS = 2048
"""Connections that the machine keeps until they are let in, at most."""

TICK = 0.1
"""Seconds after which it is looked again whether the server is to end; after ten of them the time is told anew."""


@runtime_checkable
class Ending(Protocol):
    """An application with responses that go on until it is told to stop."""

    def stopping(self) -> None: ...


@runtime_checkable
class Refusing(Protocol):
    """An application that is told what was refused before it was a request."""

    def refused(self, address: str, status: int, why: str) -> None: ...


@runtime_checkable
class Following(Protocol):
    """An application that goes by another machine's clock; None: by this one's."""

    @property
    def followed(self) -> Callable[[], datetime] | None: ...


class Server:
    """`stopping_seconds`: how long requests in flight may take once it is to end. `lives`: the application is told that
    it begins and ends, as ASGI has it. Signals are others' affair."""

    def __init__(
        self,
        application: Asgi,
        lives: bool,
        stopping_seconds: float,
        untaken_seconds: float,
        tls: SSLContext | None = None,
        websockets: bool = False,
        accepted: int = 1,
    ) -> None:
        refused = application.refused if isinstance(application, Refusing) else _unheard
        core = application if isinstance(application, Core) else None
        self.should_exit = False
        self.listening = list[asyncio.Server]()
        self._door = Door(refused, untaken_seconds, core=core, websockets=websockets)
        if isinstance(application, Switch):
            application.stands_at(self._door)
        self._application = application
        self._life = _Life(application) if lives else None
        self._stopping_seconds = stopping_seconds
        self._tls = tls
        self._state = State()
        self._entrance = Entrance(self._state.connections, accepted, tls, self._made)

    async def serve(self, sockets: Sequence[socket]) -> None:
        """Until it `should_exit`. The sockets are bound already, and closed on return."""
        # Who connects while the first moment of the loop is still to come is told the date too (RFC 9110, 6.6.1).
        self._tell_time()
        if self._life is not None:
            await self._life.says("startup")
        doors = self._entrance.doors(sockets)
        loop = asyncio.get_running_loop()
        for each in doors:
            self.listening.append(
                await loop.create_server(self._made, sock=each, ssl=self._tls, backlog=WAITING_CONNECTIONS)
            )
        await self.goes_on()
        await self._end(doors)

    async def goes_on(self) -> None:
        ticks = 0
        while not self.should_exit:
            if ticks % 10 == 0:
                self._tell_time()
            ticks += 1
            await asyncio.sleep(TICK)

    def _made(self) -> Connection:
        self._entrance.somebody()
        return Connection(self._application, self._state, self._door)

    def _tell_time(self) -> None:
        clock = self._application.followed if isinstance(self._application, Following) else None
        date = formatdate(usegmt=True) if clock is None else format_datetime(clock(), usegmt=True)
        self._door.tells([(b"date", date.encode())])

    async def _end(self, doors: Sequence[socket]) -> None:
        self._door.stopping = True
        if isinstance(self._application, Ending):
            self._application.stopping()
        # Who has connected is let in before the door is shut.
        await asyncio.sleep(0.01)
        for listening in self.listening:
            listening.close()
        for each in doors:
            each.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        await asyncio.sleep(TICK)
        try:
            async with asyncio.timeout(self._stopping_seconds):
                # Not for the listening ones to be closed: from Python 3.12 on they wait for handshakes of TLS as well.
                while self._state.connections or self._state.tasks:
                    await asyncio.sleep(TICK)
        except TimeoutError:
            log.error("requests that take longer than %g seconds are given up", self._stopping_seconds)
            for task in self._state.tasks:
                task.cancel()
        if self._life is not None:
            await self._life.says("shutdown")


class _Life:
    """Tells an application of its begin and its end (https://asgi.readthedocs.io/en/latest/specs/lifespan.html)."""

    def __init__(self, application: Asgi) -> None:
        self._application = application
        self._task: asyncio.Task[None] | None = None

    async def says(self, what: str) -> None:
        """Wait until the application is done with it. Raises what it raises."""
        if self._task is None:
            self._said, self._done = asyncio.Queue[Any](), asyncio.Queue[Any]()
            self._task = asyncio.create_task(self._lives())
        await self._said.put({"type": f"lifespan.{what}"})
        done = asyncio.create_task(self._done.get())
        await asyncio.wait((done, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not done.done():
            done.cancel()
            with suppress(asyncio.CancelledError):
                await done
            self._task.result()

    async def _lives(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}}
        await self._application(scope, self._said.get, self._done.put)


def _unheard(address: str, status: int, why: str) -> None:
    """Nobody is told."""
