"""What the process that writes does for one that reads (`passing`): it answers what is passed on as it answers what
comes over its own connections, counts, and sees to what is due."""

from __future__ import annotations

import asyncio
import logging
import socket
from asyncio import Task
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

from ninefold.runtime.http import channel as said
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.asking import Asking, Settled
from ninefold.runtime.http.awaiting import Awaiting
from ninefold.runtime.http.channel import Channel, OfReader, Over, Piece, Wanted, relay
from ninefold.runtime.http.cycle import AT_ONCE, Asgi, Message
from ninefold.runtime.http.framing import Requests
from ninefold.runtime.http.known import Known
from ninefold.runtime.operations.flow import Follow
from ninefold.runtime.request.rates import count_keys

log = logging.getLogger("ninefold.server")

Served: TypeAlias = Callable[[], Application]
"""The service as it is now."""


class Passed:
    """What one process passes on. To be used on the event loop's thread."""

    def __init__(self, served: Served, application: Asgi, handles: socket.socket) -> None:
        """`application`: the service over ASGI; `handles`: where sockets are handed over."""
        self._served = served
        self._application = application
        self._known = Known()
        self._handles = handles
        self._tasks: set[Task[None]] = set()
        self.channel: Channel[OfReader]
        handles.setblocking(False)
        asyncio.get_running_loop().add_reader(handles.fileno(), self._handed_over)

    def close(self) -> None:
        """Nobody is there any more."""
        asyncio.get_running_loop().remove_reader(self._handles.fileno())
        self._handles.close()

    def asked(self, asked: said.Asked) -> None:
        requests = Requests(self._known)
        requests.feed(asked.head)
        head = requests.head()
        assert head is not None, "it has come whole"
        asking = self._served().asked(head, asked.content, asked.peer, asked.certificate)

        def answer() -> None:
            self._answer(asked.number, asking, 0 if head.method == "HEAD" else None)

        try:
            asking.begin()
            if asking.over:
                answer()
            else:
                asking.tell(answer)
        except Exception as error:
            self._fail(asked.number, asking, error)

    def _answer(self, number: int, asking: Asking | Awaiting | Settled, size: int | None) -> None:
        try:
            response = asking.response()
            if response is None or isinstance(response, Follow):
                raise RuntimeError("what goes on is not passed on whole")
        except Exception as error:
            self._fail(number, asking, error)
            return
        self.channel.write(said.Answered(number, response.status, response.headers, response.body))
        # What it holds counts until it is on its way to who asked.
        self.channel.when_taken(asking.release)
        asking.ended(response, len(response.body) if size is None else size)

    def _fail(self, number: int, asking: Asking | Awaiting | Settled, error: Exception) -> None:
        log.error("what was passed on could not be answered", exc_info=error)
        asking.release()
        self.channel.write(said.Answered(number, 500, (), b""))

    def counting(self, counting: said.Counting) -> None:
        service = self._served().service
        rates = {rate.name: rate for rate in service.rates}
        told = count_keys([(rates[name], key) for name, key in counting.keys], service.sources.elapsed())
        self.channel.write(said.Counted(counting.number, [(each.standing, each.refused) for each in told]))

    def settling(self, settling: said.Settling) -> None:
        self._begin(self._settle(settling))

    async def _settle(self, settling: said.Settling) -> None:
        application, why = self._served(), None
        timers = application.service.timers
        try:
            if timers is not None:
                await application.settled(timers, settling.now)
        except Exception as error:
            why = str(error) or type(error).__name__
        self.channel.write(said.Settled(settling.number, why))

    # ── Piece by piece ────────────────────────────────────────────────────────────────────────────────────────────

    def _handed_over(self) -> None:
        with suppress(BlockingIOError, ConnectionError):
            while True:
                came, handles, _, _ = socket.recv_fds(self._handles, 1, 1)
                for each in handles:
                    self._begin(self._relayed(socket.socket(fileno=each)))
                if not came:
                    return

    def _begin(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _relayed(self, end: socket.socket) -> None:
        async with relay(end) as there:
            begun = await there.next()
            if not isinstance(begun, Piece):
                return
            scope, channel = begun.message, there.channel
            ended = f"{'websocket' if scope['type'] == 'websocket' else 'http'}.disconnect"
            wants = False

            async def receive() -> Message:
                nonlocal wants
                if not wants:
                    channel.write(Wanted())
                wants = True
                came = await there.next()
                wants = False
                return came.message if isinstance(came, Piece) else {"type": ended}

            async def send(message: Message) -> None:
                channel.write(Piece(dict(message)))
                await channel.taken()

            def at_once(message: Message) -> bool:
                if channel.is_taken:
                    channel.write(Piece(dict(message)))
                return channel.is_taken

            extensions = {**(scope.get("extensions") or {}), AT_ONCE: at_once}
            try:
                await self._application({**scope, "extensions": extensions}, receive, send)
            except Exception as error:
                log.error("what was passed on could not be answered", exc_info=error)
            channel.write(Over())
