"""Part 8: rates, sizes, time-outs; how long idempotency keys are kept; the page bounds of each list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.fact import Fact, Shown, StatedNone, is_open, value_of, within
from ninefold.contract.limits import Pages, Rate
from ninefold.contract.survey import Survey, actions
from ninefold.diagnostics.source import Span
from ninefold.questions.question import (
    BODY_SIZE,
    KEYS,
    PAGES,
    RATE,
    RATES,
    TIME_OUTS,
    At,
    OpenQuestion,
    blocking,
    first_unanswered,
    leaving_out,
    unanswered,
)

T = TypeVar("T")


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    limits = survey.contract.limits
    place = survey.contract.document.part("limits").place
    if at := unanswered(limits.rates, place):
        yield leaving_out(RATES, "rates", at, "rates: callers are held to none")
    for rate in value_of(limits.rates) or ():
        if left_open := _of_rate(rate):
            at, text = left_open
            yield leaving_out(RATE, rate.name, at, f"the rate `{rate.name}`", text)
    if any(isinstance(endpoint.body, Shown) for endpoint in survey.endpoints):
        if at := unanswered(limits.body_size, place):
            yield leaving_out(BODY_SIZE, "sizes.body", at, "the bound: no body is too large")
    if at := unanswered(within(limits.time_outs, lambda each: each.request), _place(limits.time_outs, place)):
        yield leaving_out(TIME_OUTS, "time-outs", at, "time-outs: no request is given up")
    if (keyed := taking_keys(survey)) and (at := unanswered(limits.keys_kept, place)):
        yield blocking(KEYS, "idempotency keys", at, keyed)
    for endpoint in lists(survey):
        if at := _unbounded(survey, endpoint, place):
            yield blocking(PAGES, endpoint.key, at, (endpoint.key,))


def _place(fact: Fact[Any] | None, otherwise: Span) -> Span:
    return otherwise if fact is None else fact.span


def _of_rate(rate: Rate) -> tuple[At, str] | None:
    """The first thing that a rate leaves open, and what it is."""
    called = f"`{rate.name}`"
    facts: list[tuple[Fact[Any] | None, str]] = [
        (rate.of, f"what {called} counts: each `caller`, each `address`, or the values of an expression"),
        (rate.allow, f"how many requests {called} allows"),
        (rate.per, f"in how long {called} allows so many requests"),
        (rate.algorithm, f"by which `algorithm` {called} counts"),
    ]
    algorithm = value_of(rate.algorithm)
    if algorithm is not None and algorithm.text in ("token bucket", "gcra"):
        facts.append((rate.burst, f"how many requests {called} allows at once, its `burst`, or none"))
    return next(((at, text) for fact, text in facts if (at := unanswered(fact, rate.span))), None)


def taking_keys(survey: Survey) -> tuple[str, ...]:
    return tuple(endpoint.key for endpoint in survey.endpoints if isinstance(endpoint.idempotency_key, Shown))


def lists(survey: Survey) -> tuple[Endpoint, ...]:
    return tuple(e for e in survey.endpoints if any(action.verb == "list" for action in actions(e)))


def unbounded(survey: Survey) -> tuple[str, ...]:
    """The lists of which a bound is missing."""
    place = survey.contract.document.part("limits").place
    return tuple(endpoint.key for endpoint in lists(survey) if _unbounded(survey, endpoint, place))


def _unbounded(survey: Survey, endpoint: Endpoint, place: Span) -> At | None:
    """Where a bound of a list is missing. What its own `pages` says wins over part 8, key by key."""
    shared, own = survey.contract.limits.pages, endpoint.pages
    if isinstance(own, StatedNone) or (own is None and isinstance(shared, StatedNone)):
        return None
    if own is not None and is_open(own):
        return unanswered(own, endpoint.span)
    if own is None and is_open(shared):
        return unanswered(shared, place)
    enclosing = own.span if own is not None else _place(shared, place)

    def bound(get: Callable[[Pages], Fact[T] | None]) -> Fact[T] | None:
        said = within(own, get)
        # That lists have no pages elsewhere answers nothing about the pages of this one.
        return said if said is not None or isinstance(shared, StatedNone) else within(shared, get)

    by = bound(lambda pages: pages.by)
    if isinstance(by, StatedNone):
        return None
    facts: list[Fact[Any] | None] = [bound(lambda pages: pages.default), bound(lambda pages: pages.largest), by]
    match by:
        case Shown(name) if name.text == "cursor":
            facts.append(bound(lambda pages: pages.next))
        case Shown(name) if name.text == "offset":
            facts.append(bound(lambda pages: pages.start))
        case Shown(name) if name.text == "page":
            index = bound(lambda pages: pages.index)
            facts.append(index if index is not None else bound(lambda pages: pages.number))
        case Shown(name) if name.text == "none":
            return None
    return first_unanswered(facts, enclosing)
