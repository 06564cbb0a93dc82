"""What is left of the steps of a read that is like an earlier one (`likewise.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.operations.flow import Next, Wait
from ninefold.runtime.operations.read import OF_EACH_REQUEST, Compute, List, Read
from ninefold.runtime.request.endpoints import Admission, Endpoint
from ninefold.runtime.request.exchange import Exchange, call_of, headers_told, refused_for, tells_nothing
from ninefold.runtime.request.handed import Handed, asked_by
from ninefold.runtime.request.left import Asks, AtOnce, Given, counting
from ninefold.runtime.request.precedents import Precedent
from ninefold.runtime.request.rates import Told
from ninefold.runtime.request.routes import Version
from ninefold.runtime.request.schemes import Caller
from ninefold.runtime.request.service import Service
from ninefold.runtime.request.sought import seeking

Named: TypeAlias = Callable[[Request, Version, Sequence[str], Any, str], Given | Handed | None]
"""What is left of a read of one caller that is permitted, and reads nothing of its path but one name: takes the texts
of the path, that of the name as a value, and the time."""


def reading(
    service: Service, endpoint: Endpoint, admission: Admission, at_once: AtOnce, most: int
) -> Callable[[Precedent], Asks]:
    operation = admission.operation
    assert isinstance(operation, Read | List | Compute)
    answered, counted = _answered(service, endpoint, admission, most), counting(service, endpoint)
    plain = tells_nothing(service, endpoint)

    def of(precedent: Precedent) -> Asks:
        page = precedent.page

        def called(
            request: Request, content: bytes, version: Version, values: Sequence[str], caller: Caller, env: Environment
        ) -> Given | Handed | None:
            if content:
                return None
            # The operation, as the steps perform it.
            call = call_of(service, request, env, endpoint, caller)
            call.page = page
            operation.prepare(call)
            step = operation.perform(call)
            if isinstance(step, Wait) and service.together:
                told = counted(caller, request, env)
                x = asked_by(service, call, version, endpoint, values, caller, admission)
                return Handed(x, step) if isinstance(told, tuple) else Handed(x, step, told)
            while isinstance(step, Wait):
                step = step.resume(at_once.at_once(step.work))
            return answered(step, request, version, values, caller, env, env["now"])

        if isinstance(operation, Read) and service.together and plain:
            return seeking(service, endpoint, admission, operation, precedent)
        if isinstance(operation, Compute) or service.together:
            return called
        if isinstance(operation, Read):
            performed = operation.likewise(precedent.env, precedent.conditional, at_once.rows_at_once)
        else:
            seals = partial(service.cursors.of, endpoint.scope, admission.who)
            performed = operation.likewise(precedent.env, precedent.conditional, at_once.rows_at_once, page, seals)

        def read(
            request: Request, content: bytes, version: Version, values: Sequence[str], caller: Caller, env: Environment
        ) -> Given | Handed | None:
            if content:
                return None
            return answered(performed(request, env), request, version, values, caller, env, env["now"])

        def plainly(
            request: Request, content: bytes, version: Version, values: Sequence[str], caller: Caller, env: Environment
        ) -> Given | None:
            step = None if content else performed(request, env)
            return None if step is None or len(step.body) > most else Given(step, endpoint, caller, env["now"])

        return plainly if plain else read

    return of


def named(
    service: Service, endpoint: Endpoint, precedent: Precedent, at_once: AtOnce, most: int
) -> Callable[[Caller, Environment], Named] | None:
    """The same of one row, for a caller with what each of his requests begins with, where it is found by one name of
    the path, and counted here, if at all. None: it is not."""
    admission, found = precedent.admission, None
    operation = admission.operation
    if isinstance(operation, Read) and len(endpoint.names) == 1 and not (service.together or service.counter):
        found = operation.named(precedent.env, precedent.conditional, endpoint.names[0].name)
    if found is None or not all(each.reads.isdisjoint(OF_EACH_REQUEST) for each in endpoint.rates):
        return None
    (text, binds_of), shown = found
    rows_at_once, plain = at_once.rows_at_once, tells_nothing(service, endpoint)
    answered = _answered(service, endpoint, admission, most)

    def of(caller: Caller, env: Environment) -> Named:
        binds = binds_of(env)

        def row(
            request: Request, version: Version, values: Sequence[str], value: Any, now: str
        ) -> Given | Handed | None:
            rows = rows_at_once(text, binds(value))
            if not rows:
                return None
            response = shown(request, env, rows[0])
            if not plain:
                return answered(response, request, version, values, caller, env, now)
            return None if len(response.body) > most else Given(response, endpoint, caller, now)

        return row

    return of


def _answered(
    service: Service, endpoint: Endpoint, admission: Admission, most: int
) -> Callable[[Next | None, Request, Version, Sequence[str], Caller, Environment, str], Given | Handed | None]:
    """What was read is counted, and shown with what a response tells beside its own (`finished`)."""
    cors, counted = service.cors, counting(service, endpoint)

    def answered(
        step: Next | None,
        request: Request,
        version: Version,
        values: Sequence[str],
        caller: Caller,
        env: Environment,
        now: str,
    ) -> Given | Handed | None:
        if not isinstance(step, Response) or len(step.body) > most:
            return None
        told = counted(caller, request, env)
        if isinstance(told, tuple):
            more = headers_told(service, version, endpoint, values, told, False)
            if cors is not None:
                more = (*more, *cors.headers(request))
            response = Response(step.status, step.headers + more, step.body) if more else step
            return Given(response, endpoint, caller, now)
        if told is None:
            return None
        call = call_of(service, request, env, endpoint, caller)
        x = asked_by(service, call, version, endpoint, values, caller, admission)
        return Handed(x, Wait(told, partial(_read_and_counted, x, step)))

    return answered


def _read_and_counted(x: Exchange, response: Response, told: tuple[Told, ...]) -> Next:
    """What was read is the answer, unless a rate refuses it: that is all that it is refused for."""
    x.told = told
    failures = refused_for(told)
    if not failures:
        return response
    x.refuse(*failures)
    return x.answer()
