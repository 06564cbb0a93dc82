"""What is left of the steps of a write that is like an earlier one (`likewise.py`): as far as its transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ninefold.plan import environment
from ninefold.plan.environment import Environment
from ninefold.runtime.messages.decode import Body
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.plain import Given
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations.flow import Ask, Share, Transact, Wait
from ninefold.runtime.operations.read import Call
from ninefold.runtime.operations.write import Write
from ninefold.runtime.request.endpoints import Admission, Endpoint
from ninefold.runtime.request.exchange import NOT_TAKEN, Content, Exchange, call_of
from ninefold.runtime.request.handed import Handed, asked_by
from ninefold.runtime.request.idempotency import done_once, sent_key
from ninefold.runtime.request.left import Asks, counting
from ninefold.runtime.request.perform import held_by, mismatched
from ninefold.runtime.request.precedents import Precedent
from ninefold.runtime.request.rates import Told
from ninefold.runtime.request.routes import Version
from ninefold.runtime.request.schemes import Caller
from ninefold.runtime.request.service import Service


def written(service: Service, endpoint: Endpoint, admission: Admission, most: int) -> Callable[[Precedent], Asks]:
    operation, body, counted = admission.operation, endpoint.body, counting(service, endpoint)
    assert isinstance(operation, Write)
    most = min(most, service.body_bytes, endpoint.body_at_once)
    takes_key, is_counted = endpoint.idempotency_key is not None, bool(endpoint.rates)

    def of(precedent: Precedent) -> Asks:
        bodies = None if body is None or body.ignored else _Bodies(body, most)

        def left(
            request: Request, content: bytes, version: Version, values: Sequence[str], caller: Caller, env: Environment
        ) -> Handed | None:
            key = None
            if takes_key:
                key, wrong = sent_key(endpoint.idempotency_key, request.headers)
                if wrong or (key is not None and service.together):
                    return None
            call = call_of(service, request, env, endpoint, caller)
            came = NOT_TAKEN if bodies is None else bodies.read(call, content)
            if came is None:
                return None
            # The operation, as the steps perform it.
            operation.prepare(call)
            step = operation.perform(call)
            if type(step) is not Wait or type(step.work) is not Transact:
                return None
            x = asked_by(service, call, version, endpoint, values, caller, admission, came)
            done = step if key is None else _held(x, step, step.work, key)
            if done is None:
                return None
            if not is_counted:
                return Handed(x, done)
            told: tuple[Told, ...] | Share | Ask | None = None
            try:
                told = counted(caller, request, env)
            finally:
                if not isinstance(told, tuple):
                    x.release()
            if isinstance(told, tuple):
                x.told = told
                return Handed(x, done)
            return Handed(x, done, told) if service.together and told is not None else None

        return left

    return of


class _Bodies:
    """Bodies of requests that are like one another."""

    __slots__ = ("_body", "_form", "_gives_nothing", "_headers", "_most", "_said")

    def __init__(self, body: Body, most: int) -> None:
        self._body = body
        self._most = most
        self._form = False
        self._gives_nothing = False  # where there is no content, and that is valid
        self._said: tuple[str | None, str | None, bool] | None = None
        self._headers: Mapping[str, str] | None = None

    def read(self, call: Call, content: bytes) -> Content | None:
        """Its values are what the operation is called with, since all of it is valid (`decode.py`); None: it is not, or
        is too long."""
        body, env, form = self._body, call.env, self._form
        if len(content) > self._most:
            return None
        if call.request.headers is not self._headers:
            if not self._is_taken(call.request):
                return None
            form = self._form
        if self._gives_nothing and not content:
            document, given = {}, Given({}, {}, None)
        else:
            document = body.members(content) if form else body.parsed(content)
            if isinstance(document, Failure):
                return None
            given = body.valid(body.of_form(document) if form else document, form=form, known=env.get(environment.PATH))
            if given.wrong is not None:
                return None
            if not content:
                self._gives_nothing = not (given.values or given.others)
        call.body = given.values
        env[environment.REFUSED] = {"body": False}
        env["request"] = {**env["request"], "body": given.others}
        return Content(content, form, document, document)

    def _is_taken(self, request: Request) -> bool:
        """Whether such a body can be read. What the fields of one say of it, they say of all that have them."""
        headers = request.headers
        said = headers.get("content-type"), headers.get("content-encoding"), request.has_content
        if said != self._said:
            if self._body.unsupported(request) is not None:
                return False
            self._form, self._gives_nothing, self._said = self._body.is_form(request), False, said
        self._headers = headers
        return True


def _held(x: Exchange, step: Wait, work: Transact, key: str) -> Wait | None:
    """A write is done once for the key that came, which is in progress from here on. None: it is already."""
    asked, admission = x.asked, x.admission
    assert asked is not None and admission is not None
    asked.key = key
    asked.held = held = held_by(x, asked)
    if held is None or held.begin() is not None:
        return None
    asked.holds = True
    return done_once(work, step.resume, held, partial(mismatched, x, asked, admission), asked.repeats)
