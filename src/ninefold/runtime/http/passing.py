"""A process that reads: it answers what only reads, and passes on all else to the process that writes.

It answers from snapshots that begin after the request came, of what any process has committed. What is counted or kept
in mind over all processes is the writer's: it is asked to count a request by its rates, and to see to what is due. All
that may write, goes on, speaks WebSocket, calls a function or verifies a password is passed on before anything was
done of it, and answered there by the same steps: whole in one message each way, or piece by piece (`channel.Relay`).
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import Future
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from ninefold.runtime.http import channel as said
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.asking import Asking, Settled
from ninefold.runtime.http.awaiting import Awaiting
from ninefold.runtime.http.body import Whole, requested, with_length
from ninefold.runtime.http.channel import Channel, OfWriter, Over, Piece, Wanted, relay
from ninefold.runtime.http.cycle import AT_ONCE, Message, Receive, Send, Unanswered
from ninefold.runtime.http.framing import Head
from ninefold.runtime.messages.message import HeaderFields, Request, Response
from ninefold.runtime.messages.parameters import parse_query
from ninefold.runtime.operations.stream import Stream
from ninefold.runtime.operations.timers_elsewhere import TimersElsewhere
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.runtime.request.rates import Key, Rate, Told
from ninefold.runtime.request.routes import Found
from ninefold.runtime.request.schemes import Passwords, after_scheme
from ninefold.runtime.request.service import Service
from ninefold.runtime.store.page import Page
from ninefold.runtime.store.protocol import Database, Unavailable

HANDLES_SECONDS = 0.01
"""After how long a socket is handed over again that there was no room for."""


class Link:
    """What a process that reads asks of the one that writes. `handles`: where sockets are handed over."""

    def __init__(self, channel: Channel[OfWriter], handles: socket.socket) -> None:
        handles.setblocking(False)
        self._channel = channel
        self._handles = handles
        self._numbers = count()
        self._waiting: dict[int, Callable[[Any], None]] = {}

    def ask(
        self,
        head: Head,
        content: bytes,
        peer: str,
        certificate: str | None,
        told: Callable[[said.Answered], None],
    ) -> None:
        """Have a request answered, and be told how."""
        self._channel.write(said.Asked(self._number(told), written(head), content, peer, certificate))

    def counted(self, keys: Sequence[tuple[Rate, Key]]) -> Future[tuple[Told, ...]]:
        """See `ninefold.runtime.request.service.Counter`."""
        future: Future[tuple[Told, ...]] = asyncio.get_running_loop().create_future()

        def told(counted: said.Counted) -> None:
            if not future.done():
                pairs = zip(keys, counted.standings, strict=True)
                future.set_result(tuple(Told(rate, standing, refused) for (rate, _), (standing, refused) in pairs))

        self._channel.write(said.Counting(self._number(told), [(rate.name, key) for rate, key in keys]))
        return future

    def settled(self, now: str) -> Future[None]:
        """Done once all has happened that is due by a time. Raises Unavailable."""
        future: Future[None] = asyncio.get_running_loop().create_future()

        def told(settled: said.Settled) -> None:
            if future.done():
                return
            if settled.why is None:
                future.set_result(None)
            else:
                future.set_exception(Unavailable(settled.why))

        self._channel.write(said.Settling(self._number(told), now))
        return future

    def told(self, message: said.Answered | said.Counted | said.Settled) -> None:
        self._waiting.pop(message.number)(message)

    async def hand_over(self, end: socket.socket) -> None:
        """Wait while too many are on their way. Raises OSError where nobody is there who takes them."""
        while True:
            try:
                socket.send_fds(self._handles, [b"\0"], [end.fileno()])
                return
            except BlockingIOError:
                await asyncio.sleep(HANDLES_SECONDS)

    def _number(self, told: Callable[[Any], None]) -> int:
        number = next(self._numbers)
        self._waiting[number] = told
        return number


def written(head: Head) -> bytes:
    """A head as it may be sent again: it says the same."""
    block = None if head.said.notes is None else head.said.notes.lines
    if block is None:
        block = b"".join([b"%b: %b\r\n" % field for field in head.said.fields]) + b"\r\n"
        if head.said.notes is not None and not head.said.notes.own:
            head.said.notes.lines = block
    query = b"?" + head.query if head.query else b""
    return b"%b %b%b HTTP/%b\r\n%b" % (head.method.encode("ascii"), head.path, query, head.version.encode(), block)


def only_reads(endpoint: Endpoint) -> bool:
    """Whether nothing that it is asked for is done by a process that writes."""
    if endpoint.blocked:
        return True
    cases = () if endpoint.cases is None else (*endpoint.cases.named.values(), endpoint.cases.otherwise)
    return (
        endpoint.idempotency_key is None
        and all(each.only_reads for each in endpoint.admissions.values())
        and all(only_reads(each) for each in cases if each is not None)
    )


def of_reader(service: Service, link: Link, page: Page) -> Service:
    """A service as a process has it that only reads."""
    timers = service.timers
    elsewhere = None if timers is None else TimersElsewhere(timers, page.is_settled, link.settled)
    return replace(service, timers=elsewhere, counter=link.counted)


class Reader(Application):
    """The service in a process that only reads, over a database that can be read alone."""

    def __init__(self, service: Service, database: Database, link: Link, **more: Any) -> None:
        """`service`: as `of_reader` gives it; `more`: as `Application` takes it."""
        super().__init__(service, database, **more)
        self._link = link
        self._passwords = any(isinstance(each.known_by, Passwords) for each in service.schemes)
        served = [(each.key.partition(" ")[0], each) for each in service.versions.endpoints() if not each.blocked]
        self._streaming = {method for method, each in served if isinstance(each.any_operation, Stream)}
        reads: dict[str, set[bool]] = {}
        for method, each in served:
            reads.setdefault(method, set()).add(only_reads(each))
        self._reads = {method: None if len(found) == 2 else found == {True} for method, found in reads.items()}
        """By method, whether all that it asks for only reads; None: some of it does."""

    def is_own(self, method: str, path: bytes, query: bytes, headers: dict[str, str]) -> bool:
        """Whether a request is answered here. Whoever asks for what there is not is told so here, too."""
        if self._passwords and after_scheme(headers.get("authorization", ""), "basic") is not None:
            return False
        own = self._reads.get("GET" if method == "HEAD" else method, True)
        return self._finds_what_reads(Request(method, path, query, headers, "")) if own is None else own

    def _finds_what_reads(self, request: Request) -> bool:
        versions, query = self.service.versions, parse_query(request.query)
        if versions.depends(request, query):
            return False
        version, found = versions.find(request, query)
        return not isinstance(found, Found) or not version.served or only_reads(found.endpoint)

    # ── What has come whole ───────────────────────────────────────────────────────────────────────────────────────

    def takes(self, head: Head) -> bool:
        """What may go on is passed on piece by piece."""
        method = "GET" if head.method == "HEAD" else head.method
        return method not in self._streaming or self._is_own(head)

    def _is_own(self, head: Head) -> bool:
        return self.is_own(head.method, head.path, head.query, head.said.headers)

    def asked(  # type: ignore[override]
        self, head: Head, content: bytes, peer: str, certificate: str | None
    ) -> Asking | Awaiting | Settled | Passed:
        if self.capacity.is_used_up or self._is_own(head):
            return super().asked(head, content, peer, certificate)
        return Passed(self, self._link, head, content, peer, certificate)

    # ── Piece by piece ────────────────────────────────────────────────────────────────────────────────────────────

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            asked = requested(scope, lambda peer, headers: peer)
            passed_on = not self.is_own(asked.method, asked.path, asked.query, asked.headers)
        else:
            passed_on = scope["type"] == "websocket"
        await (self._relayed if passed_on else super().__call__)(scope, receive, send)

    async def _relayed(self, scope: Message, receive: Receive, send: Send) -> None:
        own, theirs = socket.socketpair()
        with theirs:
            try:
                await self._link.hand_over(theirs)
            except BaseException as error:
                own.close()
                if isinstance(error, OSError):
                    raise Unanswered from error
                raise
        async with relay(own) as there:
            there.channel.write(Piece(_plain(scope)))
            wanted: asyncio.Task[None] | None = None

            async def give() -> None:
                there.channel.write(Piece(dict(await receive())))

            try:
                while not isinstance(message := await there.next(), Over):
                    if message is None:
                        raise Unanswered  # before this process ends as well, since the other one is gone
                    if isinstance(message, Wanted):
                        wanted = asyncio.create_task(give())
                    else:
                        await send(message.message)
            finally:
                if wanted is not None:
                    wanted.cancel()


def _plain(scope: Message) -> dict[str, Any]:
    """What a scope says, without what can be called."""
    extensions = {name: value for name, value in scope.get("extensions", {}).items() if name != AT_ONCE}
    return {**{name: value for name, value in scope.items() if name != "state"}, "extensions": extensions}


class Passed:
    """A request from the end of its head to the end of its response (`direct.Asking`), which another process answers,
    and tells of."""

    given: Response | None = None

    def __init__(
        self, reader: Reader, link: Link, head: Head, content: bytes, peer: str, certificate: str | None
    ) -> None:
        self.request = Request(head.method, head.path, head.query, head.said.headers, peer)
        self.body = Whole(content, reader.capacity, kept=False)
        self.over = False
        self._capacity = reader.capacity
        self._begin: Callable[[], None] = lambda: link.ask(head, content, peer, certificate, self._answered)
        self._told: Callable[[], object] | None = None
        self._answer: Response
        self._capacity.requests += 1

    def begin(self) -> None:
        self._begin()

    def tell(self, told: Callable[[], object]) -> None:
        self._told = told

    def _answered(self, answered: said.Answered) -> None:
        self._answer = Response(answered.status, answered.headers, answered.body)
        self.over = True
        self.body.answered(len(answered.body))
        if self._told is not None:
            told, self._told = self._told, None
            told()

    def response(self) -> Response:
        return self._answer

    def fields(self, response: Response) -> HeaderFields:
        return with_length(response)

    def release(self) -> None:
        self._capacity.requests -= 1
        self._capacity.release(self.body.size)

    def ended(self, head: Response | None, sent: int) -> None:
        """Who answered has told of it."""
