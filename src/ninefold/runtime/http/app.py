"""The service as an ASGI application, and the one loop that does what steps wait for.

This is the only place that knows ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from time import perf_counter

from msgspec.structs import replace

from ninefold.runtime.http import direct
from ninefold.runtime.http.access_log import Observe, Reason, Record
from ninefold.runtime.http.asking import Asking, Reasons, Settled, Trace, Watch
from ninefold.runtime.http.awaiting import Awaiting, AwaitingRow, is_brief
from ninefold.runtime.http.body import Body, Whole, headers_of, is_last, requested
from ninefold.runtime.http.capacity import LITTLE_BYTES, SAFE, Capacity, ClientAddress, client_address
from ninefold.runtime.http.cycle import Message, Receive, Send
from ninefold.runtime.http.framing import Head
from ninefold.runtime.http.streams import Streams
from ninefold.runtime.http.wire import Wire, as_get, over_http, over_websocket
from ninefold.runtime.http.works import Works
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.messages.notes import Looked
from ninefold.runtime.operations.flow import Follow, Wait
from ninefold.runtime.operations.timers import Timers
from ninefold.runtime.request.handed import Handed
from ninefold.runtime.request.left import Given
from ninefold.runtime.request.likewise import Likewise
from ninefold.runtime.request.service import Service
from ninefold.runtime.request.sought import Sought
from ninefold.runtime.sources import Followed
from ninefold.runtime.store.bell import Job
from ninefold.runtime.store.protocol import Database

log = logging.getLogger("ninefold.server")

LONGEST_WAIT = 60.0
"""Seconds after which the time is looked at again: the machine's clock may be set."""

BEFORE_LOADING = 1.0
"""Seconds from the start of a service until it loads what it has not needed yet."""

AFTER_FAILURE = 1.0
"""Seconds until what could not be done is tried again."""

PIECE_BYTES = 256 * 1024
"""Bytes of a response that are sent at once."""


class Application:
    """`observe` is called once a request, after its response was sent. `watch` is given what no log holds: the request
    with all that was found of it, its response (None: the client went away), and the body as far as it was read.
    `reasons` tells the record of a request why it was refused. `trace` gives each response what says where it comes
    from. `jobs` run beside it, from its start to its end."""

    def __init__(
        self,
        service: Service,
        database: Database,
        observe: Observe | None = None,
        address: ClientAddress = client_address(()),  # noqa: B008 - a constant
        watch: Watch | None = None,
        capacity: Capacity | None = None,
        jobs: Sequence[Job] = (),
        trace: Trace | None = None,
        reasons: Reasons | None = None,
    ) -> None:
        self.service = service
        self._database = database
        database.admit(2 * service.body_bytes)
        self.observe = observe
        self._address = address
        self.watch = watch
        self.trace = trace
        self.reasons = reasons
        self.capacity = capacity or Capacity()
        self.works = Works(service, database, self.capacity)
        self._likewise = Likewise(service, self.works, LITTLE_BYTES)
        self._streams = Streams(database, self.works.bell, self.works.fetcher, self.capacity)
        self._jobs = tuple(jobs)
        self._beside: list[asyncio.Task[None]] = []

    @property
    def followed(self) -> Callable[[], datetime] | None:
        """What the field `Date` goes by as well, where it is not this machine's clock (`run.Following`)."""
        clock = self.service.sources.clock
        return clock if isinstance(clock, Followed) else None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._http(scope, receive, send)
            case "websocket":
                await receive()  # that it connects
                as_of_get = as_get(scope, receive, send)
                await self._http(scope, *as_of_get, over_websocket(scope, receive, send))
            case "lifespan":
                await self._lifespan(receive, send)
            case other:
                raise ValueError(f"the service speaks HTTP, not {other}")

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await self.ended()
                self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return
            self.begin()
            await send({"type": "lifespan.startup.complete"})

    def stopping(self) -> None:
        """End what goes on by itself: responses that would never end, and what runs beside. To be called on the event
        loop's thread."""
        self.works.bell.close()
        for task in self._beside:
            task.cancel()

    async def ended(self) -> None:
        """The same, and wait for the end of what runs beside."""
        self.stopping()
        await asyncio.gather(*self._beside, return_exceptions=True)

    def close(self) -> None:
        """End the threads, once nothing is answered any more."""
        self.stopping()
        self.works.close()

    def begin(self) -> None:
        """Begin what is done where no request asks for it, unless it has begun. To be called on the event loop."""
        if not self._beside:
            self._beside += [asyncio.create_task(self._beside_requests(job)) for job in self._jobs]
            self._beside.append(asyncio.create_task(self._load()))
            if self.service.timers is not None:
                self._beside.append(asyncio.create_task(self._wake(self.service.timers)))

    async def _load(self) -> None:
        """Load what credentials will be verified with, and what speaks WebSocket: the first of them, and who comes with
        it, need not wait."""
        loads = dict.fromkeys(each.load for each in self.service.schemes if each.load is not None)
        if self.service.websockets:
            loads[_load_websocket] = None
        await asyncio.sleep(BEFORE_LOADING if loads else 0)
        for load in loads:
            await self.works.thread.begun(load)

    async def _beside_requests(self, job: Job) -> None:
        """A job that fails is begun again: what it has to do is in the database."""
        while True:
            try:
                await job(self.works.bell)
            except Exception as error:
                log.error("what is done beside requests failed", exc_info=error)
            await asyncio.sleep(AFTER_FAILURE)

    async def _wake(self, timers: Timers) -> None:
        changed = asyncio.Event()
        timers.changed = changed.set
        while True:
            changed.clear()
            seconds = timers.seconds_together() if timers.together else timers.seconds()
            if seconds is None or seconds > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if seconds is None else min(seconds, LONGEST_WAIT)):
                        await changed.wait()
                continue
            try:
                await self.settled(timers, timers.sources.now())
            except Exception as error:
                # Nothing is lost: what is due is due, and whoever asks for it will say why it cannot be had.
                log.warning("what is due could not be done: %s", error)
                await asyncio.sleep(AFTER_FAILURE)

    async def settled(self, timers: Timers, now: str) -> None:
        """Wait until all has happened that is due by `now`. Raises Unavailable."""
        step = timers.settled(now, lambda: Response(204))
        while isinstance(step, Wait):
            step = step.resume(await self.works.beside_requests(step.work, now))

    def asking(self, request: Request, body: Body | Whole, handed: Handed | None = None) -> Asking:
        """A request that has come. `handed`: how far it is already. To be called on the event loop."""
        self.begin()  # nobody tells a mounted application that it starts
        return Asking(self, request, body, handed)

    def takes(self, head: Head) -> bool:
        return True

    def asked(self, head: Head, content: bytes, peer: str, certificate: str | None) -> Asking | Awaiting | Settled:
        """The same of one that has come whole, without ASGI in between. `peer`: the address of who sent it."""
        began, said, capacity, size = perf_counter(), head.said, self.capacity, len(content)
        headers, notes = said.headers, said.notes
        address = self._address(peer, headers)
        request = Request(head.method, head.path, head.query, headers, address, certificate, False, notes)
        handed = None
        # Who watches, or traces, sees the steps.
        if notes is not None and not (self.watch or self.trace) and capacity.admits(size):
            found = self._likewise.begun(request, content)
            if isinstance(found, Given):
                return Settled(self, request, found.response, found, began)
            if isinstance(found, Sought):
                return AwaitingRow(self, found, began)
            handed = found
            if handed is None:  # the steps note it for others, by what they look up
                request = replace(request, headers=Looked(headers))
            elif is_brief(handed):
                return Awaiting(self, handed, content, began)
        body = Whole(content, capacity, kept=self.watch is not None)
        if handed is not None:
            body.read(size)
            return Asking(self, request, body, handed)
        return self.asking(request, body)

    async def _http(self, scope: Message, receive: Receive, send: Send, websocket: Wire | None = None) -> None:
        """`websocket`: what it goes on over, where it is a handshake and accepted."""
        request = requested(scope, self._address)
        asking = self.asking(request, Body(receive, self.capacity, request.address, kept=self.watch is not None))
        try:
            asking.begin()
            if not asking.over:
                await asking.waited()
            response = asking.response()
            head = response.head if isinstance(response, Follow) else response
            sent = 0 if response is None else await self._sent(asking, response, scope, receive, send, websocket)
        finally:
            asking.release()
        asking.ended(head, sent)

    async def go_on(
        self, asking: direct.Asking, response: Response | Follow, scope: Message, receive: Receive, send: Send
    ) -> None:
        """Send a response that takes its time, and be done with its request."""
        try:
            sent = await self._sent(asking, response, scope, receive, send)
        finally:
            asking.release()
        asking.ended(response.head if isinstance(response, Follow) else response, sent)

    async def _sent(
        self,
        asking: direct.Asking,
        response: Response | Follow,
        scope: Message,
        receive: Receive,
        send: Send,
        websocket: Wire | None = None,
    ) -> int:
        """The bytes of content that were sent."""
        if not isinstance(response, Follow):
            return await self._send(asking.request, response, asking.body, send)
        if response.head.status != 101 or websocket is None:
            websocket = over_http(scope, receive, send)
        return await self._follow(asking.request, response, asking.body, send, websocket)

    def has_room(self, response: Response | Follow, method: str) -> bool:
        """Whether there is room for a response until it is taken. Where something may have been done, that is told
        whatever room there is: what comes next finds none."""
        if isinstance(response, Follow):
            return not self.capacity.streams_enough(response.caller)
        size = len(response.body)
        return size <= LITTLE_BYTES or method not in SAFE or self.capacity.has_room_for(size)

    async def _follow(self, request: Request, response: Follow, body: Body | Whole, send: Send, wire: Wire) -> int:
        """Give the head at once, and then what there is to say for as long as the client listens."""
        if request.method == "HEAD":
            return await self._send(request, response.head, body, send)
        await wire.begin(response.head, ((b"connection", b"close"),) if is_last(request, body) else ())
        return await self._streams.follow(response, wire)

    async def _send(self, request: Request, response: Response, body: Body | Whole, send: Send) -> int:
        """The bytes of content that were sent. All of them count until they are taken: whoever runs us waits with each
        piece until the one before is."""
        await send(
            {"type": "http.response.start", "status": response.status, "headers": headers_of(request, response, body)}
        )
        content = b"" if request.method == "HEAD" else response.body
        last = max(len(content) - 1, 0) // PIECE_BYTES * PIECE_BYTES
        for at in range(0, last, PIECE_BYTES):
            await send({"type": "http.response.body", "body": content[at : at + PIECE_BYTES], "more_body": True})
        await send({"type": "http.response.body", "body": content[last:] if last else content})
        return len(content)

    def refused(self, address: str, status: int, why: str) -> None:
        """What came was refused before it was a request."""
        if self.observe is not None:
            now = self.service.sources.now()
            self.observe(Record(now, "", None, status, 0, 0.0, None, None, address, (Reason(why),)))


_: type[direct.Core] = Application  # which a door finds out when it is opened, and a type checker before


def _load_websocket() -> None:
    import_module("ninefold.runtime.http.websocket")
