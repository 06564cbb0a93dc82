"""The service as an ASGI application, and the one loop that does what steps wait for.

This is the only place that knows ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html).
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Future
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any, TypeAlias, assert_never

from ninefold.runtime.http.access_log import Observe, Reason, Record
from ninefold.runtime.http.body import Body, Disconnected, Stalled, headers_of, is_last, requested
from ninefold.runtime.http.capacity import LITTLE_BYTES, Capacity, ClientAddress, client_address
from ninefold.runtime.http.cycle import Message, Receive, Send
from ninefold.runtime.http.streams import Streams
from ninefold.runtime.http.wire import ServerSentEvents, Wire, as_get, over_websocket
from ninefold.runtime.http.work import Beside, Callers, Computations, Fetcher, is_much
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.operations import flow
from ninefold.runtime.operations.flow import (
    Fetch,
    Follow,
    Invoke,
    ReadBody,
    Recall,
    Select,
    Sweep,
    Transact,
    Wait,
    Work,
)
from ninefold.runtime.operations.timers import Timers
from ninefold.runtime.request.exchange import (
    Exchange,
    arrived,
    finished,
    open_to_origins,
    overloaded,
    timed_out,
    unavailable,
)
from ninefold.runtime.request.review import followed
from ninefold.runtime.request.service import Service
from ninefold.runtime.request.steps import recovered, start, taken
from ninefold.runtime.store.bell import Bell, Job
from ninefold.runtime.store.protocol import Database, Row, Session

log = logging.getLogger("ninefold.server")

Watch: TypeAlias = Callable[[Exchange, Response | None, bytes], None]
Trace: TypeAlias = Callable[[Exchange, Response | Follow], Response | Follow]
Reasons: TypeAlias = Callable[[Exchange, Response], tuple[Reason, ...]]

LONGEST_WAIT = 60.0
"""Seconds after which the time is looked at again: the machine's clock may be set."""

BEFORE_LOADING = 1.0
"""Seconds from the start of a service until it loads what it has not needed yet."""

AFTER_FAILURE = 1.0
"""Seconds until what could not be done is tried again."""

SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
"""Methods of requests that do nothing (RFC 9110 9.2.1)."""

PIECE_BYTES = 256 * 1024
"""Bytes of a response that are sent at once."""

_STALLED = Response(408, ((b"connection", b"close"),))
"""RFC 9110 15.5.9."""


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
        self._service = service
        self._database = database
        database.admit(2 * service.body_bytes)
        self._observe = observe
        self._address = address
        self._watch = watch
        self._trace = trace
        self._reasons = reasons
        self._capacity = capacity or Capacity()
        self._bell = Bell(database)
        self._fetcher = Fetcher()
        self._streams = Streams(database, self._bell, self._fetcher)
        self._callers = Callers(self._capacity)
        self._jobs = tuple(jobs)
        self._beside: list[asyncio.Task[None]] = []
        self._waking: asyncio.Task[None] | None = None
        self._computations = Computations(self._capacity)
        self._thread = Beside()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._http(scope, receive, send)
            case "websocket":
                await receive()  # that it connects
                as_of_get = as_get(scope, receive, send)
                await self._http(scope, *as_of_get, over_websocket(scope, receive, partial(self._counted, send)))
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
        self._bell.close()
        for task in self._beside:
            task.cancel()

    async def ended(self) -> None:
        """The same, and wait for the end of what runs beside."""
        self.stopping()
        await asyncio.gather(*self._beside, return_exceptions=True)

    def close(self) -> None:
        """End the threads, once nothing is answered any more."""
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        self.stopping()
        self._computations.close()
        self._thread.close()
        self._callers.close()

    def begin(self) -> None:
        """Begin what is done where no request asks for it, unless it has begun. To be called on the event loop."""
        if not self._beside:
            self._beside += [asyncio.create_task(self._beside_requests(job)) for job in self._jobs]
            self._beside.append(asyncio.create_task(self._load()))
        if self._service.timers is not None and self._waking is None:
            self._waking = asyncio.create_task(self._wake(self._service.timers))

    async def _load(self) -> None:
        """Load what credentials will be verified with, and what speaks WebSocket: the first of them, and who comes with
        it, need not wait."""
        loads = dict.fromkeys(each.load for each in self._service.schemes if each.load is not None)
        if self._service.websockets:
            loads[_load_websocket] = None
        await asyncio.sleep(BEFORE_LOADING if loads else 0)
        for load in loads:
            await self._thread.begun(load)

    async def _beside_requests(self, job: Job) -> None:
        """A job that fails is begun again: what it has to do is in the database."""
        while True:
            try:
                await job(self._bell)
            except Exception as error:
                log.error("what is done beside requests failed", exc_info=error)
            await asyncio.sleep(AFTER_FAILURE)

    async def _wake(self, timers: Timers) -> None:
        changed = asyncio.Event()
        timers.changed = changed.set
        while True:
            changed.clear()
            seconds = timers.seconds()
            if seconds is None or seconds > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if seconds is None else min(seconds, LONGEST_WAIT)):
                        await changed.wait()
                continue
            try:
                now = timers.sources.now()
                step = timers.settled(now, lambda: Response(204))
                while isinstance(step, Wait):
                    step = step.resume(await self._begun(step.work, None, now))
            except Exception as error:
                # Nothing is lost: what is due is due, and whoever asks for it will say why it cannot be had.
                log.warning("what is due could not be done: %s", error)
                await asyncio.sleep(AFTER_FAILURE)

    async def _http(self, scope: Message, receive: Receive, send: Send, websocket: Wire | None = None) -> None:
        """`websocket`: what it goes on over, where it is a handshake and accepted."""
        self.begin()  # nobody tells a mounted application that it starts
        began = perf_counter()
        request = requested(scope, self._address)
        x = arrived(self._service, request)
        body = Body(receive, self._capacity, kept=self._watch is not None)
        used_up = self._capacity.is_used_up
        self._capacity.requests += 1
        try:
            try:
                response = overloaded(x) if used_up else finished(x, await self._answer(x, body))
            finally:
                x.release()
            if isinstance(response, Follow):
                response = followed(x, response)
            if not self._has_room(response, request.method):
                response = unavailable(x)
            response = open_to_origins(x, response)
            if self._trace is not None:
                response = self._trace(x, response)
            if isinstance(response, Follow):
                if response.head.status != 101 or websocket is None:
                    websocket = ServerSentEvents(receive, partial(self._counted, send))
                with self._capacity.stream(response.caller):
                    sent = await self._follow(request, response, body, send, websocket)
            else:
                sent = await self._send(request, response, body, send)
        except Disconnected:
            self._observed(x, None, 0, began)
            if self._watch is not None:
                self._watch(x, None, body.content)
            return
        finally:
            self._capacity.requests -= 1
            self._capacity.release(body.size)
        head = response.head if isinstance(response, Follow) else response
        self._observed(x, head, sent, began)
        if self._watch is not None:
            self._watch(x, head, body.content)

    def _has_room(self, response: Response | Follow, method: str) -> bool:
        """Whether there is room for a response until it is taken. Where something may have been done, that is told
        whatever room there is: what comes next finds none."""
        if isinstance(response, Follow):
            return not self._capacity.streams_enough(response.caller)
        size = len(response.body)
        return size <= LITTLE_BYTES or method not in SAFE or self._capacity.has_room_for(size)

    async def _follow(self, request: Request, response: Follow, body: Body, send: Send, wire: Wire) -> int:
        """Give the head at once, and then what there is to say for as long as the client listens."""
        if request.method == "HEAD":
            return await self._send(request, response.head, body, send)
        await wire.begin(response.head, ((b"connection", b"close"),) if is_last(request, body) else ())
        return await self._streams.follow(response, wire)

    async def _counted(self, send: Send, message: Message) -> None:
        """Send a piece of a response, which counts until it is taken."""
        size = len(message.get("body") or message.get("text") or b"")
        self._capacity.bytes += size
        try:
            await send(message)
        finally:
            self._capacity.release(size)

    async def _send(self, request: Request, response: Response, body: Body, send: Send) -> int:
        """The bytes of content that were sent. All of them count until they are taken: whoever runs us waits with each
        piece until the one before is."""
        await send(
            {"type": "http.response.start", "status": response.status, "headers": headers_of(request, response, body)}
        )
        content = b"" if request.method == "HEAD" else response.body
        body.answered(len(content))
        last = max(len(content) - 1, 0) // PIECE_BYTES * PIECE_BYTES
        for at in range(0, last, PIECE_BYTES):
            await send({"type": "http.response.body", "body": content[at : at + PIECE_BYTES], "more_body": True})
        await send({"type": "http.response.body", "body": content[last:] if last else content})
        return len(content)

    def refused(self, address: str, status: int, why: str) -> None:
        """What came was refused before it was a request."""
        if self._observe is not None:
            now = self._service.sources.now()
            self._observe(Record(now, "", None, status, 0, 0.0, None, None, address, (Reason(why),)))

    def _observed(self, x: Exchange, response: Response | None, size: int, began: float) -> None:
        if self._observe is None:
            return
        caller = x.caller if x.caller.identity is not None else x.stranger or x.caller
        self._observe(
            Record(
                x.env["now"],
                x.request.method,
                x.route,
                None if response is None else response.status,
                size,
                perf_counter() - began,
                None if caller.identity is None else caller.who,
                caller.logged,
                x.request.address,
                () if response is None or self._reasons is None else self._reasons(x, response),
            )
        )

    async def _answer(self, x: Exchange, body: Body) -> Response | Follow:
        """Take the request's steps until there is a response. The timeout counts while something is waited for;
        what is being committed is committed."""
        seconds = x.service.seconds
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        step = taken(x, lambda: start(x))
        much = False
        while isinstance(step, Wait):
            waiting = asyncio.timeout_at(deadline)
            began = perf_counter()
            try:
                result = self._begun(step.work, body, x.env["now"], x.request.address)
                if isinstance(result, Awaitable):
                    async with waiting:
                        result = await result
            except Disconnected:
                raise
            except Stalled:
                return _STALLED
            except Exception as error:
                if waiting.expired():
                    return timed_out(x)
                step = recovered(x, error)
            else:
                take = partial(taken, x, partial(step.resume, result))
                # Up to its call a request counts, and is counted: all of that is done on one thread.
                if not much and x.asked is not None:
                    much = isinstance(step.work, flow.Beside) or is_much(result, perf_counter() - began)
                try:
                    step = await self._thread.taken(take, deadline) if much else take()
                except TimeoutError:
                    return timed_out(x)
        return step

    def _transacted(self, function: Callable[[Session], Any]) -> Future[Any]:
        future = self._database.transact(function)
        future.add_done_callback(lambda _: self._bell.ring())
        return future

    def _begun(self, work: Work, body: Body | None, now: str, address: str = "") -> Any:
        """The result of a work, or what to await for it. `now`: the time as of which it is done; `address`: for
        whom."""
        match work:
            case Select(text, binds):
                # A read that nobody waits for any more is of no use to anybody: its future is not kept.
                return self._database.select(text, binds)
            case Recall(kept, key, read, make):
                found = kept.get(self._database, key)
                if found is None:
                    found = kept.made(self._database, key, *read(), make)
                return _made(found, make) if isinstance(found, Future) else found
            case Transact(function):
                if self._service.timers is not None:
                    self._service.timers.writing(now)
                return _kept(self._transacted(function))
            case Sweep(function, given_up):
                return _unless_given_up(_kept(self._transacted(function)), given_up)
            case ReadBody(limit):
                assert body is not None, "only a request has a body"
                return body.read(limit)
            case Fetch():
                return self._fetcher.fetch(work)
            case Invoke():
                return self._callers.begun(work)
            case flow.Beside(function):
                return self._thread.begun(function)
            case flow.Compute(function):
                return self._computations.begun(function, address)
            case _:
                assert_never(work)


def _load_websocket() -> None:
    import_module("ninefold.runtime.http.websocket")


async def _made(rows: Future[list[Row]], make: Callable[[list[Row]], object]) -> object:
    return make(await rows)


def _kept(future: Future[Any]) -> Awaitable[Any]:
    """The database's future, which goes on when nobody waits for it any more."""
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return asyncio.shield(future)


async def _unless_given_up(done: Awaitable[Any], given_up: Callable[[], None]) -> Any:
    try:
        return await done
    except BaseException:
        given_up()
        raise
