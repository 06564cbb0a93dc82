"""The steps that do what is asked for, once; or, where the request is refused, ask whether more refuses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from ninefold.plan import environment
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.operations.call import Calling
from ninefold.runtime.operations.constraints import Judge, Refusal
from ninefold.runtime.operations.credentials import PasswordCheck
from ninefold.runtime.operations.flow import Failed, Gave, Next, Select, Share, Wait
from ninefold.runtime.operations.read import Call, Compute, List
from ninefold.runtime.operations.sweep import Sweep
from ninefold.runtime.operations.write import Write
from ninefold.runtime.request.endpoints import Admission
from ninefold.runtime.request.exchange import Asked, Exchange
from ninefold.runtime.request.idempotency import HEADER, IN_PROGRESS, MISMATCH, Content, Held, once, opened, stored
from ninefold.runtime.store.protocol import Row

LetGo: TypeAlias = Callable[[], None] | None
"""Lets a key go that is held; None: another node holds it."""


def operate(x: Exchange, asked: Asked) -> Next:
    """Perform the operation; or, if the request is refused already, ask the judge where it may know better."""
    admission = x.admission
    if admission is None:
        return x.answer()
    asked.held = held = held_by(x, asked)
    if not x.failures and held is not None and not asked.holds:
        clash = held.begin()
        if clash is not None:
            x.refuse(clash)
            return judged(x, asked, admission)
        asked.holds = True
        if x.service.together:
            return Wait(Share(lambda nodes: nodes.hold(held.row)), partial(_held_alone, x, asked, held, admission))
    if x.failures:
        return _compared_first(x, asked, admission)
    if x.behind is not None and asked.key is None and admission.only_reads and _reads_rows(admission):
        return x.behind.reading(x.caller, x.request.address, partial(perform, x, asked))
    return perform(x, asked)


def _reads_rows(admission: Admission) -> bool:
    return not isinstance(admission.operation, Compute) or admission.operation.reads_rows


def _held_alone(x: Exchange, asked: Asked, held: Held, admission: Admission, let_go: LetGo) -> Next:
    """The key is in progress on no other node; else what came with it may have been answered just now."""
    if let_go is None:
        return Wait(Select(*held.finding), partial(_held_elsewhere, x, asked, held, admission))
    asked.let_go = let_go
    return perform(x, asked)


def _held_elsewhere(x: Exchange, asked: Asked, held: Held, admission: Admission, rows: Sequence[Row]) -> Next:
    """Who was refused with the key is told so before other nodes hear that it is in progress no more."""
    if rows:
        return perform(x, asked)

    def held_at_last(let_go: LetGo) -> Next:
        if let_go is None:
            # With which request nobody here knows: that it is another is told once that one is answered.
            x.refuse(IN_PROGRESS)
            return judged(x, asked, admission)
        return _held_alone(x, asked, held, admission, let_go)

    return Wait(Share(lambda nodes: nodes.hold(held.row, patient=True)), held_at_last)


def held_by(x: Exchange, asked: Asked) -> Held | None:
    """The request under its idempotency key. A key belongs to the row that calls, as long as that is there, whatever it
    is known by. A caller without a credential shares its keys with all the others."""
    raw, service, request = asked.content.raw, x.service, x.request
    if asked.key is None or raw is None or service.keys is None:
        return None
    content: tuple[Content, ...] = (request.path, request.query, raw)
    if x.endpoint.grants:  # whose token it is may stand there, and not in the body
        content = (*content, _field(request, "authorization"))
    if x.endpoint.header_names and (fields := _fields(x)):
        content = (*content, fields)
    caller, now = x.caller, service.sources.microseconds()
    whose = caller.identity if caller.row is None else caller.row
    return service.keys.held(asked.key, caller.who, whose, x.endpoint.scope, content, now)


def _fields(x: Exchange) -> tuple[tuple[bytes, bytes], ...]:
    """The declared headers that came: they may choose what is done, and with which values. By what credential the
    caller is known says nothing of that, and a key is written in two ways."""
    others = {HEADER.lower(), *(each.header for each in x.service.schemes)}
    named = {each.lower() for each in x.endpoint.header_names}.difference(others) & x.request.headers.keys()
    return tuple((name.encode(), _field(x.request, name)) for name in sorted(named))


def _field(request: Request, name: str) -> bytes:
    return request.headers.get(name, "").encode("utf-8", "surrogateescape")


def _compared_first(x: Exchange, asked: Asked, admission: Admission) -> Next:
    """The request is refused; that its key came with another one before may count more."""
    held = asked.held
    if held is None or x.settled(x.rank_of(MISMATCH) + 1):
        return judged(x, asked, admission)

    def compared(rows: Sequence[Row]) -> Next:
        if rows and not held.is_of(rows[0][0]):
            x.refuse(MISMATCH)
        return judged(x, asked, admission)

    return Wait(Select(*held.finding), compared)


# ── What is called first ──────────────────────────────────────────────────────────────────────────────────────


def perform(x: Exchange, asked: Asked) -> Next:
    """Call what is called first, if anything is; then perform the operation."""
    admission = x.admission
    assert admission is not None
    calling, held = admission.call, asked.held
    if calling is None or asked.called:
        return _perform_once(x, asked, admission)
    if held is None:
        return _admitted_first(x, asked, admission, calling)

    def called_before(rows: Sequence[Row]) -> Next:
        """What came with the key before is answered as it was, and nothing is called."""
        if not rows:
            return _admitted_first(x, asked, admission, calling)
        request, sealed = rows[0]
        if not held.is_of(request):
            return mismatched(x, asked, admission)
        asked.repeats()
        return opened(held, sealed)

    return Wait(Select(*held.finding), called_before)


def _admitted_first(x: Exchange, asked: Asked, admission: Admission, calling: Calling) -> Next:
    """Nothing is called for a request that is refused for what rows hold already."""
    operation, call = admission.operation, asked.call
    judge = operation.judge
    if judge is None:
        return _invoke(x, asked, admission, calling)
    with suppress(Refusal):  # what cannot be made is told once the function has given its part
        operation.prepare(call)

    def judged_so(rows: Sequence[Row]) -> Next:
        refusal = judge.refusal(rows, x.env)
        return _invoke(x, asked, admission, calling) if refusal is None else refused(x, refusal)

    return _on_condition(asked, admission, lambda: Wait(Select(*judge.bound(x.env, False)), judged_so))


def _invoke(x: Exchange, asked: Asked, admission: Admission, calling: Calling) -> Next:
    def gave(outcome: Gave | Failed) -> Next:
        x.env[environment.RESULT] = calling.result(outcome)
        asked.called = True
        return _perform_once(x, asked, admission)

    return Wait(calling.invoked(x.env, asked.call.body), gave)


# ── The operation ─────────────────────────────────────────────────────────────────────────────────────────────


def _perform_once(x: Exchange, asked: Asked, admission: Admission) -> Next:
    """Perform the operation; with an idempotency key, once."""
    operation, held = admission.operation, asked.held
    try:
        operation.prepare(asked.call)
    except Refusal as refusal:
        x.refuse(*refusal.failures)
        return _compared_first(x, asked, admission)
    step = operation.perform(asked.call)
    if held is None:
        return step
    if asked.called:
        step = stored(step)
    return once(step, held, partial(mismatched, x, asked, admission), asked.repeats)


def mismatched(x: Exchange, asked: Asked, admission: Admission) -> Next:
    x.refuse(MISMATCH)
    return judged(x, asked, admission)


# ── What else refuses it ──────────────────────────────────────────────────────────────────────────────────────


def judged(x: Exchange, asked: Asked, admission: Admission) -> Next:
    """The request is refused; the judge is asked where it may know something that counts before, or what is told of the
    row."""
    operation, call = admission.operation, asked.call
    judge = operation.judge
    if judge is None or not x.addressable or x.settled(admission.lowest):
        return x.answer()
    refusing = x.env.get(environment.REFUSED, {})
    values = call.body is not None and not (refusing.get("body") or refusing.get("path"))
    values = values and not (isinstance(operation, Write) and operation.wrong(call, partly=False))
    if isinstance(operation, Write) and operation.password is not None:
        return _judged_sign_in(x, call, operation, operation.password, judge)
    if call.body is None:
        call.body = call.valid
    try:
        if not isinstance(operation, List | Sweep):
            operation.prepare(call)
    except Refusal as refusal:
        # What cannot be made is told beside what else is wrong. Where not all is known that the request gives, nobody
        # knows what cannot.
        x.refuse(*(refusal.failures if values else ()))
        values = False
    partly = not values and call.body is not None
    wrong = operation.wrong(call, partly) if partly and isinstance(operation, Write) else None
    writes = operation if values and isinstance(operation, Write) else None

    def judged_so(refusal: Refusal | None) -> Next:
        return refused(x, refusal) if writes is None else writes.unfit_too(call, refusal, partial(refused, x))

    return _on_condition(asked, admission, lambda: _asked_of(judge, x, values, wrong, judged_so))


def _asked_of(
    judge: Judge,
    x: Exchange,
    values: bool,
    wrong: frozenset[str] | None,
    then: Callable[[Refusal | None], Next],
) -> Next:
    def judged_so(rows: Sequence[Row]) -> Next:
        x.details |= judge.details(rows)
        return then(judge.refusal(rows, x.env))

    return Wait(Select(*judge.bound(x.env, values, wrong)), judged_so)


def _on_condition(asked: Asked, admission: Admission, ask: Callable[[], Next]) -> Next:
    """Where the request has a condition on what GET shows, whether it holds is known before the judge is asked."""
    operation, call = admission.operation, asked.call
    if not (isinstance(operation, Write) and operation.is_conditional(call)):
        return ask()

    def compared(shown: Sequence[Row]) -> Next:
        operation.compare(call, shown)
        return ask()

    return Wait(Select(*operation.shown(call)), compared)


def _judged_sign_in(x: Exchange, call: Call, operation: Write, password: PasswordCheck, judge: Judge) -> Next:
    """Whether the password is right may count before what the request is refused for; and of its row nothing is told to
    anybody else. Without a body that can be read there is no password, and nothing to tell."""
    if call.body is None:
        return x.answer()
    operation.prepare(call)
    return password.step(x.env, lambda _: _asked_of(judge, x, True, None, partial(refused, x)))


def ended(x: Exchange, refusal: Refusal) -> Next:
    """The operation was refused as it was done; what its code says of the row is read where the refusal has none of
    it."""
    judge = None if x.admission is None else x.admission.operation.judge
    if judge is None or refusal.details:
        return refused(x, refusal)
    x.refuse(*refusal.failures)
    if not x.tells_of_row():
        return x.answer()

    def told(rows: Sequence[Row]) -> Response:
        x.details |= judge.details(rows)
        return x.answer()

    return Wait(Select(*judge.bound(x.env, False)), told)


def refused(x: Exchange, refusal: Refusal | None) -> Response:
    """The operation is refused, for what the request is refused for already or for something that comes first."""
    if refusal is not None:
        x.refuse(*refusal.failures)
        x.details |= refusal.details
    return x.answer()
