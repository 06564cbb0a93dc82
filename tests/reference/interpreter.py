"""A service by its contract, request by request: slow, and meant to be checked against `docs/language.md` by eye.

Everything that could refuse a request is looked for, every time, and put on one list; which of it is answered is
decided at the end. Rows are dicts, a query is a loop over them, and a transaction is a copy that is kept or dropped.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.reference import (
    answers,
    bodies,
    callers,
    calls,
    cases,
    credentials,
    doing,
    events,
    idempotency,
    rates,
    requested,
    routes,
    writes,
)
from tests.reference.asking import Asking, Kept, Memory
from tests.reference.expressions import Chance, TooLarge, moment
from tests.reference.failures import Failure
from tests.reference.messages import NOTHING, Request, Response
from tests.reference.operations import is_of_all


class Interpreter(Memory):
    """A service: what it remembers, and its answers."""

    def answer(
        self, request: Request, now: str, chance: Chance, sent: str | None = None, *besides: Failure
    ) -> Response:
        """The response; `rows` become what the request makes of them. `sent`: the target as it came, if another.
        `besides`: what is wrong with it already."""
        asking = Asking(self, request, now, chance, sent, besides)
        response = _whole(asking)
        response = replace(response, headers={**response.headers, **rates.told(asking)})
        return replace(response, body=NOTHING) if request.method == "HEAD" else response


def _whole(asking: Asking) -> Response:
    try:
        return _answer(asking)
    except TooLarge:
        return answers.refused(asking, Failure("too large"))


def _answer(asking: Asking) -> Response:
    events.forgotten(asking)
    found = routes.find(asking.checked, asking.request.method, asking.path)
    if isinstance(found, routes.NoSuchPath):
        return answers.refused(asking, Failure("no such path"), *asking.besides)
    if isinstance(found, routes.NotAllowed):
        if asking.request.method == "OPTIONS":
            return Response(204, {"allow": found.allow})
        response = answers.refused(asking, Failure("method not allowed"), *asking.besides)
        return replace(response, headers={**response.headers, "allow": found.allow})
    if not found.cases:
        return Response(501)
    asking.failures += asking.besides
    endpoint = asking.endpoint = cases.whole(found.cases)
    values = requested.path_values(asking, found.texts)
    requested.accept(asking, found.cases)
    admission = callers.admission(asking, endpoint)
    requested.in_path(asking, found.texts)
    refused = len(asking.failures)
    requested.parameters(asking, found.cases)
    is_well, unread = len(asking.failures) == refused, False
    rates.count(asking, endpoint)
    if endpoint.case is not None:
        chosen_ = requested.case(asking, found.cases, admission, is_well)
        unread = chosen_ is None
        if chosen_ is not None and chosen_.segments != endpoint.segments:
            endpoint = asking.endpoint = chosen_
            values = requested.path_values(asking, found.texts)
        endpoint = asking.endpoint = chosen_ or endpoint
        if admission is not None:
            admission = next(each for each in endpoint.admissions if each.who == admission.who)
    page = requested.page(asking, endpoint)
    if admission is not None and admission.condition is not None and admission.of_request:
        is_asked = not (asking.misread and writes.reads_parameters(admission.condition))
        if is_asked and not asking.all().holds(admission.condition):
            asking.failures.append(Failure("forbidden", endpoint.resource))
    if endpoint.verb == "list" and admission is not None:
        requested.cursor(asking, endpoint, page)
    work = writes.Work(asking.all(), endpoint, asking.checked, values, asking.is_seen, misread=asking.misread)
    asking.admission = admission
    if admission is not None and values is not None and not credentials.is_by_itself(endpoint):
        work.find(admission, page)
    given = bodies.Given(readable=False) if unread else requested.body(asking, endpoint, work)
    work.misread_body = not given.is_valid
    if endpoint.verb == "delete if there" and admission is not None and values is not None:
        work = work.if_there(asking.request)
    held = idempotency.held(asking, endpoint, given) if admission is not None else None
    before = None if held is None else asking.of.kept.get(held)
    if before is not None and moment(asking.now) < before.until:
        if before.request != idempotency.whole_request(asking, endpoint):
            asking.failures.append(Failure("idempotency mismatch"))
        elif not asking.failures:
            return before.response
    if endpoint.verb in ("put", "put ensured") and admission is not None and values is not None:
        work = work.as_it_comes(admission, given)
        work.path_fits = asking.path_fits
        work.is_stale = work.row is None and not writes.are_met(asking.request, None, None)
    if endpoint.verb in credentials.SIGNING and admission is not None and values is not None:
        work = credentials.found(asking, work, admission, given)
        asking.failures += credentials.refusals(asking, work, given)
        asking.failures += credentials.not_granted(asking, work, asking.asked_for)
        asking.told_of = work.told_of
    elif admission is not None and values is not None:
        is_called_before = endpoint.call is not None and not asking.failures
        asking.failures += work.refusals(admission, given, asking.request, by_values=not is_called_before)
        asking.told_of = work.told_of
    if asking.failures:
        return answers.refused(asking, *asking.failures)
    if endpoint.call is not None:
        result = calls.called(endpoint, given, asking.all(), asking.of.functions)
        if isinstance(result, tuple):
            return answers.refused(asking, *result)
        asking.names["result"] = result
        assert admission is not None
        failures = work.refusals(admission, given, asking.request)
        asking.told_of = work.told_of
        if failures:
            return answers.refused(asking, *failures)
    if is_of_all(endpoint) and admission is not None:
        response = doing.done_to_all(asking, endpoint, admission, work, page, given)
    else:
        response = doing.done(asking, work.endpoint, work, page, given)
    kept = asking.checked.limits.said.get("idempotency keys kept")
    if held is not None and response.status < 400 and kept is not None:
        until = moment(asking.now) + timedelta(microseconds=int(kept))
        asking.of.kept[held] = Kept(idempotency.whole_request(asking, endpoint), response, until)
    return response
