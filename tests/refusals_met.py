"""What refuses a request in a test is held to what was derived: whichever test it is, and whatever else it looks at.

Of each failure that a service of this process finds, the derivation (`ninefold.trace.refusals`) has to say that it
may happen at its endpoint, and the language, that there is such a rule as a value is told to break. What holds of a
request to anything (its version, its rates, the machine) is not asked here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import Any
from weakref import finalize

from ninefold.language.conditions import BY_NAME, Step
from ninefold.language.errors import RULES
from ninefold.plan.routes import Served
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.request import endpoints
from ninefold.runtime.request.endpoints import Common, Endpoint
from ninefold.runtime.request.exchange import Exchange
from ninefold.runtime.request.rates import Rate
from ninefold.trace.refusal import Refusal
from ninefold.trace.refusals import of_case

_OF_ANYTHING = {name for name, each in BY_NAME.items() if set(each.steps) <= {Step.ROUTE, Step.RATES, Step.ANY}}

_derived: dict[int, tuple[Endpoint, frozenset[Refusal]]] = {}
_offenders: dict[str, None] = {}
_met: dict[tuple[str, Failure], None] = {}


def install() -> None:
    """Look at every service that is made ready from now on, and at every answer of theirs."""
    served, answer = endpoints.served, Exchange.answer

    @wraps(served)
    def noted(route: Served, common: Common, rates: tuple[Rate, ...] = ()) -> Endpoint:
        whole, known = served(route, common, rates), common.schemes
        schemes, in_force = (
            dict.fromkeys((each.name for each in known), ()),
            {each.name for each in known if each.known_by is not None},
        )
        numbers = range(1, len(route.cases.cases) + 1) if route.cases is not None else (0,)
        found = frozenset(each for number in numbers for each in of_case(route, number, schemes, in_force))
        for each in (whole, *_cases(whole)):
            _derived[id(each)] = (each, found)
            # A service has its problems as long as it has its endpoints; then it is forgotten.
            finalize(common.problems, _derived.pop, id(each), None)
        return whole

    @wraps(answer)
    def judged(x: Exchange) -> Any:
        for failure in x.failures:
            _met[x.route or "", failure] = None
            if failure.condition not in _OF_ANYTHING and not is_derived(failure, x.endpoint):
                _offenders[f"{x.route}: {failure.condition} {failure.subject} {failure.code}"] = None
            for field in (*failure.fields, *failure.others):
                if field.rule not in RULES:
                    _offenders[f"{x.route}: {failure.condition}: no rule is called {field.rule}"] = None
        return answer(x)

    endpoints.served = noted
    Exchange.answer = judged  # type: ignore[assignment,method-assign]


def _cases(whole: Endpoint) -> Iterator[Endpoint]:
    if whole.cases is not None:
        yield from whole.cases.named.values()
        yield from () if whole.cases.otherwise is None else (whole.cases.otherwise,)


def is_derived(failure: Failure, endpoint: Endpoint) -> bool:
    """Whether it was said of an endpoint that it may refuse so: with this code, and as narrow as this."""
    known, found = _derived.get(id(endpoint), (None, frozenset[Refusal]()))
    return known is None or any(
        each.condition == failure.condition
        and each.code == failure.code
        and (each.subject == failure.subject or (failure.condition != "invalid" and _is_wider(each, failure)))
        for each in found
    )


def _is_wider(said: Refusal, failure: Failure) -> bool:
    return failure.subject is None or said.subject in (failure.subject.partition(".")[0], None)


def offenders() -> list[str]:
    """What refused a request since this was asked last, and was not derived."""
    found = list(_offenders)
    _offenders.clear()
    return found


def met() -> list[tuple[str, Failure]]:
    """What refused a request since this was asked last, each with the key of the endpoint."""
    found = list(_met)
    _met.clear()
    return found
