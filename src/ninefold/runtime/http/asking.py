"""A request from the end of its head to the end of its response: what it counts for, and what is told of it."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Protocol, TypeAlias

from msgspec import Struct

from ninefold.runtime.http.access_log import Observe, Reason, Record
from ninefold.runtime.http.answer import Answer
from ninefold.runtime.http.body import Body, Whole, headers_of, with_length
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.works import Works
from ninefold.runtime.messages.message import HeaderFields, Request, Response
from ninefold.runtime.operations.flow import Follow, Next, Wait
from ninefold.runtime.request.exchange import Exchange, arrived, finished, open_to_origins, overloaded, unavailable
from ninefold.runtime.request.handed import Handed
from ninefold.runtime.request.left import Given
from ninefold.runtime.request.review import followed
from ninefold.runtime.request.schemes import Caller
from ninefold.runtime.request.service import Service

Watch: TypeAlias = Callable[[Exchange, Response | None, bytes], None]
Trace: TypeAlias = Callable[[Exchange, Response | Follow], Response | Follow]
Reasons: TypeAlias = Callable[[Exchange, Response], tuple[Reason, ...]]
"""Asked of a response that refuses, or fails."""


class Answering(Protocol):
    """Who answers requests: see `ninefold.runtime.http.app.Application`."""

    service: Service
    works: Works
    capacity: Capacity
    observe: Observe | None
    reasons: Reasons | None
    watch: Watch | None
    trace: Trace | None

    def has_room(self, response: Response | Follow, method: str) -> bool: ...


class Asking:
    """A request from the end of its head to the end of its response. `over`: nothing is waited for any more. `given`:
    its response, where that is known before it has begun. `handed`: how far it had come then."""

    __slots__ = (
        "_answer",
        "_application",
        "_began",
        "_counted",
        "_follower",
        "_refused",
        "body",
        "handed",
        "request",
        "x",
    )

    given: Response | None = None

    def __init__(
        self,
        application: Answering,
        request: Request,
        body: Body | Whole,
        handed: Handed | None = None,
        began: float | None = None,
        deadline: float | None = None,
    ) -> None:
        """`began`: when its head had come, of one that was let in then; None: now. `deadline`: where it has waited for
        something already, until when it may wait: a time of the event loop."""
        self.request = request
        self.body = body
        self._application = application
        self._began = perf_counter() if began is None else began
        self.x = arrived(application.service, request) if handed is None else handed.x
        self._answer = Answer(application.works, self.x, body, deadline)
        self.handed = handed
        self._counted = True
        self._follower: tuple[Hashable, ...] = ()
        self._refused = began is None and application.capacity.is_used_up
        application.capacity.requests += 1

    @property
    def over(self) -> bool:
        return self._refused or self._answer.over

    def begin(self) -> None:
        if not self._refused:
            self._answer.begin(None if self.handed is None else self.handed.step)

    def begin_with(self, step: Next) -> None:
        """The same from a step on."""
        self._answer.begin(step)

    def found(self, step: Wait, began: float, value: object, error: BaseException | None) -> None:
        """The same once what a step waited for has come, or has failed, since `began`."""
        self._answer.found(step, began, value, error)

    def tell(self, told: Callable[[], object]) -> None:
        """Call this once it is over, which it is not yet."""
        self._answer.tell(told)

    async def waited(self) -> None:
        """Until it is over. Whoever is cancelled here waits no more."""
        future: Future[None] = asyncio.get_running_loop().create_future()

        def over() -> None:
            if not future.done():
                future.set_result(None)

        self._answer.tell(over)
        try:
            await future
        except BaseException:
            self._answer.give_up()
            raise

    def response(self) -> Response | Follow | None:
        """What is to be sent. None: the client went away before there was an answer."""
        x, application = self.x, self._application
        try:
            if self._refused:
                response: Response | Follow = overloaded(x)
            elif self._answer.response is None:
                return None
            else:
                response = finished(x, self._answer.response)
        finally:
            # From then on its key may be another request's.
            x.release()
        if isinstance(response, Follow):
            response = followed(x, response)
        if not application.has_room(response, self.request.method):
            response = unavailable(x)
        if x.service.cors is not None:
            response = open_to_origins(x, response)
        # It counts from now on, whenever it is sent: whoever comes next finds so much less room.
        if isinstance(response, Follow):
            self._follower = (response.caller,)
            application.capacity.stream(response.caller)
        else:
            # Also where nobody is shown it: it is there until its head is taken.
            self.body.answered(len(response.body))
        return response if application.trace is None else application.trace(x, response)

    def fields(self, response: Response) -> HeaderFields:
        """The headers of the response, as it is framed."""
        return headers_of(self.request, response, self.body)

    def release(self) -> None:
        """It counts no more."""
        self.x.release()
        if self._counted:
            self._counted = False
            for caller in self._follower:
                self._application.capacity.streamed(caller)
            self._application.capacity.requests -= 1
            self._application.capacity.release(self.body.size)

    def ended(self, head: Response | None, sent: int) -> None:
        """`sent`: bytes of content. `head` None: the client went away before there was an answer."""
        application, x = self._application, self.x
        if application.observe is not None:
            caller = x.caller if x.caller.identity is not None else x.stranger or x.caller
            status = None if head is None else head.status
            why: tuple[Reason, ...] = ()
            if head is not None and head.status >= 400 and application.reasons is not None:
                why = application.reasons(x, head)
            application.observe(record(x.env["now"], x.request, x.route, status, sent, self._began, caller, why))
        if application.watch is not None:
            application.watch(x, head, self.body.content)


class Settled(Struct, eq=False):
    """The same of one that was answered likewise (`ninefold.runtime.request.likewise`). Nothing refused it, so there
    are no reasons; and nobody watches it, or traces it. `given`: as `said` has it; `began`: when its head had come."""

    application: Answering
    request: Request
    given: Response | None
    said: Given
    began: float

    over = True

    @property
    def body(self) -> Whole:
        """There was none, or it was read."""
        return Whole(b"", self.application.capacity, kept=False)

    def begin(self) -> None:
        """It counts as long as its answer is not taken; what is taken in the call that it came with never did."""
        self.application.capacity.requests += 1

    def tell(self, told: Callable[[], object]) -> None:
        """It is over already."""

    def response(self) -> Response:
        return self.said.response

    def fields(self, response: Response) -> HeaderFields:
        return with_length(response)

    def release(self) -> None:
        self.application.capacity.requests -= 1

    def ended(self, head: Response | None, sent: int) -> None:
        observe, said = self.application.observe, self.said
        if observe is not None:
            status = None if head is None else head.status
            observe(record(said.now, self.request, said.endpoint.key, status, sent, self.began, said.caller))


def record(
    now: str,
    request: Request,
    route: str | None,
    status: int | None,
    size: int,
    began: float,
    caller: Caller,
    reasons: tuple[Reason, ...] = (),
) -> Record:
    """`size`: bytes of content that were sent; `began`: when its head had come."""
    seconds, who = perf_counter() - began, caller.scheme
    return Record(now, request.method, route, status, size, seconds, who, caller.logged, request.address, reasons)
