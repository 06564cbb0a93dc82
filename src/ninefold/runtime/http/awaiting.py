"""A request that was worked out as far as what it waits for (`ninefold.runtime.request.handed`): its rows, or its
transaction, perhaps behind who calls. Mostly that is all, and what comes gives its response. Where it does not, the
request goes on from there as any other does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Any

from ninefold.runtime.http.asking import Answering, Asking, record
from ninefold.runtime.http.body import Body, Whole, with_length
from ninefold.runtime.http.capacity import LITTLE_BYTES
from ninefold.runtime.http.work import are_much
from ninefold.runtime.messages.message import HeaderFields, Request, Response
from ninefold.runtime.operations.flow import Follow, Next, Select, SelectAsOne, Transact, Wait
from ninefold.runtime.request.exchange import finished, timed_out
from ninefold.runtime.request.handed import Handed
from ninefold.runtime.request.sought import Sought
from ninefold.runtime.request.steps import recovered

_AWAITED = (Select, SelectAsOne, Transact)


def is_brief(handed: Handed) -> bool:
    """Whether its response is told who asks whatever the request says of itself."""
    return handed.x.service.cors is None and isinstance(handed.step.work, _AWAITED)


def is_little(response: Response) -> bool:
    """Whether it is sent at once, and refuses nothing."""
    return response.status < 400 and len(response.body) <= LITTLE_BYTES


class Awaiting:
    """See `Asking`. `over`: its response is there."""

    # What a class says would take Python 3.11 longer to find than what it is given costs.
    __slots__ = ("_application", "_asking", "_at", "_began", "_content", "_response", "_step", "_told", "over", "x")

    given: Response | None = None

    def __init__(self, application: Answering, handed: Handed, content: bytes, began: float) -> None:
        """`content`: its body, for which there is room; `began`: when its head had come."""
        self.x, self._step = handed.x, handed.step
        self.over = False
        self._application, self._content, self._began = application, content, began
        self._at: float | None = None
        self._asking: Asking | None = None
        self._response: Response | Follow | None = None
        self._told: Callable[[], object] | None = None
        capacity = application.capacity
        capacity.requests += 1
        capacity.bytes += len(content)

    @property
    def request(self) -> Request:
        return self.x.request

    @property
    def body(self) -> Body | Whole:
        return self._body() if self._asking is None else self._asking.body

    def _body(self) -> Whole:
        """What came, for which there was room."""
        body = Whole(self._content, self._application.capacity, kept=False)
        body.size = len(self._content)
        return body

    def begin(self) -> None:
        self._bound(self.x.service.seconds)
        self._wait(self._step)

    def _bound(self, seconds: float | None) -> None:
        """Wait no longer; None: for as long as it takes."""
        if seconds is not None:
            loop = asyncio.get_running_loop()
            self._at = at = loop.time() + seconds
            self._application.works.deadlines.put(self, at, loop)

    def _wait(self, step: Wait) -> None:
        self._step, works, work = step, self._application.works, step.work
        try:
            if isinstance(work, Transact):
                works.write(work, self.x.env["now"], self._came)
            elif isinstance(work, Select | SelectAsOne):
                works.tell(work, self)
        except Exception as error:
            self._came(None, error)

    def tell(self, told: Callable[[], object]) -> None:
        """Call this once it is over, which it is not yet."""
        self._told = told

    def too_late(self) -> None:
        self._go_on(lambda asking: asking.begin_with(timed_out(self.x)))

    def done(self) -> bool:
        """Whether it waits for its rows no more."""
        return self.over or self._asking is not None

    def set_result(self, result: Any) -> None:
        self._came(result, None)

    def set_exception(self, error: BaseException) -> None:
        self._came(None, error)

    def _came(self, value: Any, error: BaseException | None) -> None:
        if self.over or self._asking is not None:
            return  # it was waited for too long
        x, step = self.x, self._step
        if error is not None or (type(value) is list and are_much(value, perf_counter() - self._began)):
            self._go_on(lambda asking: asking.found(step, self._began, value, error))
            return
        try:
            then: Next = step.resume(value)
        except Exception as raised:
            then = recovered(x, raised)
        if isinstance(then, Response):
            if is_little(then):
                if x.asked is not None and x.asked.holds:
                    x.release()
                self._give(finished(x, then))
                return
        elif isinstance(then, Wait) and isinstance(then.work, _AWAITED):
            self._wait(then)
            return
        self._go_on(lambda asking: asking.begin_with(then))

    def _give(self, response: Response | Follow) -> None:
        self._response = response
        self._lift()
        self._over()

    def _lift(self) -> None:
        if self._at is not None:
            self._application.works.deadlines.lift(self)

    def _go_on(self, begin: Callable[[Asking], None]) -> None:
        """As any other from here on."""
        self._lift()
        application = self._application
        application.capacity.requests -= 1
        handed = Handed(self.x, self._step)
        asking = self._asking = Asking(application, self.x.request, self._body(), handed, self._began, self._at)
        begin(asking)
        if asking.over:
            self._over()
        else:
            asking.tell(self._over)

    def _over(self) -> None:
        self.over = True
        # Who waits keeps it: a circle is found late, and at a price.
        told, self._told = self._told, None
        if told is not None:
            told()

    def response(self) -> Response | Follow | None:
        return self._response if self._asking is None else self._asking.response()

    def fields(self, response: Response) -> HeaderFields:
        return with_length(response) if self._asking is None else self._asking.fields(response)

    def release(self) -> None:
        if self._asking is not None:
            self._asking.release()
            return
        if self._response is None:
            self.x.release()
        capacity = self._application.capacity
        capacity.requests -= 1
        capacity.bytes -= len(self._content)

    def ended(self, head: Response | None, sent: int) -> None:
        if self._asking is not None:
            self._asking.ended(head, sent)
            return
        observe, x = self._application.observe, self.x
        if observe is not None and head is not None:
            observe(record(x.env["now"], x.request, x.route, head.status, sent, self._began, x.caller))


class AwaitingRow(Awaiting):
    """The same of a row that is sought. Until something else comes it is no exchange."""

    __slots__ = ("_is_exchange", "_sought")

    def __init__(self, application: Answering, sought: Sought, began: float) -> None:
        self._sought = sought
        self.over = self._is_exchange = False
        self._application, self._content, self._began = application, b"", began
        self._at = self._asking = self._response = self._told = None
        application.capacity.requests += 1

    @property
    def request(self) -> Request:
        return self._sought.request

    def begin(self) -> None:
        sought = self._sought
        self._bound(sought.alike.service.seconds)
        try:
            self._application.works.tell(sought.work, self)
        except Exception as error:
            self._came(None, error)

    def too_late(self) -> None:
        self._take_steps()
        super().too_late()

    def _take_steps(self) -> None:
        if not self._is_exchange:
            handed = self._sought.handed()
            self.x, self._step, self._is_exchange = handed.x, handed.step, True

    def _came(self, value: Any, error: BaseException | None) -> None:
        if not (self.over or self._is_exchange or error is not None):
            try:
                response = self._shown(value)
            except Exception as raised:
                raised.__traceback__ = None  # who raised it refers to it: a circle
                response = None  # the steps come to the same, and say what is to be said of it
            if response is not None:
                self._give(response)
                return
        if not self.over:
            self._take_steps()
            super()._came(value, error)

    def _shown(self, found: Any) -> Response | None:
        """The response, where it is that of the row, and little."""
        sought = self._sought
        rows, alike = sought.rows(found), sought.alike
        if not rows or are_much(rows, perf_counter() - self._began):
            return None
        response = alike.shown(sought.request, sought.env, rows[0])
        return response if is_little(response) else None

    def release(self) -> None:
        if self._is_exchange:
            super().release()
        else:
            self._application.capacity.requests -= 1

    def ended(self, head: Response | None, sent: int) -> None:
        observe, sought = self._application.observe, self._sought
        if self._is_exchange:
            super().ended(head, sent)
        elif observe is not None and head is not None:
            route = sought.alike.endpoint.key or None
            observe(record(sought.env["now"], sought.request, route, head.status, sent, self._began, sought.caller))
