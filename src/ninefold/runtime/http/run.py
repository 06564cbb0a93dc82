"""Running a service: on sockets that are open already, until a signal says stop."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from socket import AF_INET, AF_INET6, IPPROTO_TCP, TCP_NODELAY, socket
from ssl import SSLContext

from ninefold.runtime.http.protocol import UNTAKEN_SECONDS
from ninefold.runtime.http.server import Asgi as Asgi
from ninefold.runtime.http.server import Server
from ninefold.runtime.loops import new_event_loop

STOPPING_SECONDS = 20
"""How long requests that are in flight may take once the service is to stop."""


ACCEPTED = 16
"""Connections that are let in in one turn of the loop, at most, where few are there."""


def ending_signals() -> tuple[signal.Signals, ...]:
    """The signals that end a service orderly. What is started not to hear of the end of its terminal (nohup) does not:
    it ignores SIGHUP already."""
    hangup = getattr(signal, "SIGHUP", None)
    ends = hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *((hangup,) if ends else ()))


class Stop:
    """Says when the service is to stop: on a signal, or when asked. `hangup`: what SIGHUP asks for instead."""

    def __init__(self, hangup: Callable[[], None] | None = None) -> None:
        self.requested = False
        self.hangup = hangup
        self._servers: list[Server] = []

    def request(self) -> None:
        self.requested = True
        for server in self._servers:
            server.should_exit = True

    def heard(self, number: int) -> None:
        """A signal."""
        if self.hangup is not None and number == getattr(signal, "SIGHUP", None):
            self.hangup()
        else:
            self.request()

    def watch(self, server: Server) -> None:
        self._servers.append(server)
        server.should_exit = server.should_exit or self.requested


async def serve(
    service: Asgi,
    sockets: Sequence[socket],
    operator: Asgi | None = None,
    operator_sockets: Sequence[socket] = (),
    stop: Stop | None = None,
    tls: SSLContext | None = None,
    untaken_seconds: float = UNTAKEN_SECONDS,
    accepted: int = ACCEPTED,
) -> None:
    """Serve until `stop`. The service ends what is in flight; the operator's port, which tells that the service is
    stopping, ends after it. The sockets are bound already, and closed on return. `tls`: of the service's port; the
    operator's speaks plain HTTP. `untaken_seconds`: after so many in which it takes nothing, a client is dropped.
    `accepted`: connections that are let in in one turn of the loop, at most; of several processes that listen on the
    same sockets, each has its part of `ACCEPTED`."""
    for each in (*sockets, *operator_sockets):
        _send_at_once(each)
    stop = stop or Stop()
    main = Server(service, True, STOPPING_SECONDS, untaken_seconds, tls, True, accepted)
    second = None if operator is None else Server(operator, False, STOPPING_SECONDS, untaken_seconds)
    stop.watch(main)
    with _signals(stop), _kept():
        beside = None if second is None else asyncio.create_task(second.serve(operator_sockets))
        try:
            await main.serve(sockets)
        finally:
            if second is not None and beside is not None:
                second.should_exit = True
                await beside


@contextmanager
def _kept() -> Iterator[None]:
    """What was made until here stays: looking at it again for garbage costs the slowest requests most. Beside another
    program, in a thread of it, that is not for the service to say."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(ON_THEIR_WAY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _send_at_once(listening: socket) -> None:
    """No Nagle on the connections of a listening socket (they inherit it; asyncio does not see that they are TCP):
    a head and its body are two writes, and the second would wait for the client's acknowledgement."""
    if listening.family in (AF_INET, AF_INET6):
        listening.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)


ON_THEIR_WAY = 10_000
"""Objects that there may be of requests before it is looked for garbage among them: some 25 of one that waits for its
write, and no request leaves any (`tests/server/test_garbage.py`)."""


def run(start: Callable[[], Awaitable[None]]) -> None:
    """Run `start()` to its end on an event loop of its own."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_awaited(start))


async def _awaited(start: Callable[[], Awaitable[None]]) -> None:
    await start()


@contextmanager
def _signals(stop: Stop) -> Iterator[None]:
    """Signals ask to stop. They reach the main thread alone; elsewhere there are none."""
    handled = ending_signals()
    try:
        before = {each: signal.signal(each, lambda number, frame: stop.heard(number)) for each in handled}
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
