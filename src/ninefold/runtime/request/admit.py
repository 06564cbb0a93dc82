"""The steps that say whether a request is taken: what kind of caller it comes from, its rates, its parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from ninefold.plan import environment
from ninefold.runtime.messages.conditional import is_asked
from ninefold.runtime.messages.parameters import Declared, Query
from ninefold.runtime.messages.problems import Failure, invalid, no_value
from ninefold.runtime.messages.violations import MOST
from ninefold.runtime.operations.flow import Beside, Next, Wait
from ninefold.runtime.operations.stream import Stream
from ninefold.runtime.request.decode import read_body, read_operation
from ninefold.runtime.request.exchange import Asked, Exchange, call_of, refused_for
from ninefold.runtime.request.idempotency import sent_key
from ninefold.runtime.request.perform import operate
from ninefold.runtime.request.precedents import Precedent, note
from ninefold.runtime.request.rates import Asking, Told
from ninefold.runtime.request.schemes import NOBODY

_READ = ("request", environment.CHOSEN, environment.FILTER)
"""The roots that come of the query and of the fields."""


def admit(x: Exchange) -> Next:
    """The caller is of a kind that the endpoint admits."""
    x.admission = x.endpoint.admissions[x.caller.who]
    x.env |= {"caller": x.caller.root, environment.CREDENTIAL: x.caller.proof}
    precedent = None if x.precedents is None else x.precedents.by_kind.get(x.caller.who)
    return counted(x) if precedent is None else count_it(x, partial(_like_before, x, precedent))


def _like_before(x: Exchange, precedent: Precedent) -> Next:
    """The parameters are those of an earlier request, of the same kind of caller."""
    key, wrong = sent_key(x.endpoint.idempotency_key, x.request.headers)
    if x.failures or wrong or x.endpoint.is_long(x.request):
        return _parameters(x)
    x.env.update(precedent.env)  # type: ignore[typeddict-item]  # its roots are those of an environment
    x.asked = asked = Asked(call_of(x.service, x.request, x.env, x.endpoint, x.caller), key)
    asked.call.page = precedent.page
    return _permitted(x, asked, False, False)


def counted(x: Exchange) -> Next:
    return count_it(x, partial(_parameters, x))


def count_it(x: Exchange, then: Callable[[], Next]) -> Next:
    """The rates of the endpoint count the request; one of them may refuse it. Then the step `then`."""
    rates = x.endpoint.rates
    if not rates:
        return then()
    if any("request" in rate.reads for rate in rates):
        _read_own(x)
    caller = x.caller if x.stranger is None or x.caller is not NOBODY else x.stranger
    asking = Asking(caller, x.request.address, x.env)
    told = x.service.counted(rates, asking)
    return _counted(x, then, told) if isinstance(told, tuple) else Wait(told, partial(_counted, x, then))


def _counted(x: Exchange, then: Callable[[], Next], told: tuple[Told, ...]) -> Next:
    x.told = told
    x.refuse(*refused_for(told))
    return then()


def _parameters(x: Exchange) -> Next:
    """Query parameters and headers."""
    # What they give is looked at beside the others where that takes its time.
    return Wait(Beside(partial(_read, x)), lambda step: step) if x.endpoint.is_long(x.request) else _read(x)


def _read(x: Exchange) -> Next:
    if x.settled(x.endpoint.lowest.parameters):
        return x.answer()
    endpoint, failures = x.endpoint, list[Failure]()
    if endpoint.known_parameters is not None:
        failures.extend(_unknown(x.query, endpoint.known_parameters))
    misread = _read_own(x)
    if misread:
        x.refuses(parameters=True)
    failures.extend(misread)
    key, wrong = sent_key(endpoint.idempotency_key, x.request.headers)
    failures.extend(wrong)
    of_no_case = not failures and not _is_of_a_case(x)
    x.asked = asked = Asked(call_of(x.service, x.request, x.env, x.endpoint, x.caller), key)
    x.refuse(*failures, *read_operation(x, asked.call))
    _note(x, asked)
    return _permitted(x, asked, bool(misread), of_no_case)


def _note(x: Exchange, asked: Asked) -> None:
    """Nothing was refused so far of a request whose parameters are read: it is a precedent for those that are like it,
    unless more takes part in it than its fields and its query."""
    endpoint, admission, page = x.endpoint, x.admission, asked.call.page
    if x.request.notes is None or admission is None or x.failures or not x.addressable:
        return
    if endpoint.cases is not None or endpoint.path is not None or isinstance(admission.operation, Stream):
        return
    if page is not None and page.cursor is not None:
        return
    env = {root: value for root, value in x.env.items() if root in _READ}
    note(x.request, endpoint, Precedent(admission, env, page, is_asked(x.request)))


def _permitted(x: Exchange, asked: Asked, misread: bool, of_no_case: bool) -> Next:
    """What the operation says of the request alone."""
    endpoint = x.endpoint
    # What reads of the request what it is refused for is not asked.
    admission = None if x.admission is None or (misread and x.admission.reads_request) else x.admission
    if admission is not None and admission.admits is not None and not admission.admits(x.env):
        x.refuse(Failure("forbidden", admission.operation.resource))
    if isinstance(endpoint.any_operation, Stream) and not endpoint.any_operation.admits(x.request):
        x.refuse(Failure("forbidden", endpoint.resource))
    if of_no_case:
        x.refuse(Failure("forbidden", x.endpoint.resource))
        if x.endpoint.body is not None:  # it is not read, and so gives no values
            asked.call.body = None
            x.refuses(body=True)
        return operate(x, asked)
    return read_body(x, asked)


def _is_of_a_case(x: Exchange) -> bool:
    """Go on in the case that the request is of, where that is known without its body; False: it is of none."""
    cases = x.endpoint.cases
    if cases is None or cases.member is not None or x.admission is None:
        return True
    found = cases.of_request(x.env)
    if found is not None:
        x.in_case(found)
    return found is not None


def _read_own(x: Exchange) -> list[Failure]:
    """Read the endpoint's own parameters and headers, the root `request`; and what is wrong with them."""
    endpoint, headers, failures = x.endpoint, x.request.headers, list[Failure]()
    read: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "headers": {}}
    if endpoint.path is not None:
        read["path"] = _read_path(x, endpoint.path, failures)
    if endpoint.query is not None:
        read["query"] = endpoint.query.read(x.query, failures)
    if endpoint.headers is not None:
        given = {name: [headers[name.lower()]] for name in endpoint.header_names if name.lower() in headers}
        read["headers"] = endpoint.headers.read(given, failures)
    x.env["request"] = read
    return failures


def _read_path(x: Exchange, declared: Declared, failures: list[Failure]) -> dict[str, Any]:
    """The values in the path that are no fields. A text that is none is `not found`, or the code stated for it."""
    wrong: list[Failure] = []
    texts = zip(x.endpoint.names, x.values, strict=True)
    read = declared.read({each.name: [text] for each, text in texts}, wrong)
    failures += dict.fromkeys(told for each in wrong for told in no_value(each, x.endpoint.resource))
    return read


def _unknown(query: Query, known: frozenset[str]) -> list[Failure]:
    unknown = (invalid("query", name, "unknown") for name in query if name not in known)
    return [*islice(unknown, MOST + 1)]
