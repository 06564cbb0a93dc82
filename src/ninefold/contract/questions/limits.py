"""Part 8: rates, sizes, timeouts; how long idempotency keys are kept; the page bounds of each list."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.questions.open import missing, open_in
from ninefold.contract.questions.question import At, blocking, unanswered
from ninefold.contract.survey import Survey
from ninefold.diagnostics.source import Span
from ninefold.language.declaration import members_within
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Shown, StatedNone, is_open, value_of
from ninefold.language.limits import BODY_SIZE, KEYS, PAGES, Pages, narrowed
from ninefold.language.question import OpenQuestion


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    place = survey.contract.document.part("limits").place
    concerned = {BODY_SIZE.id: lambda _: with_a_body(survey), KEYS.id: lambda _: taking_keys(survey)}
    yield from open_in(survey.contract.limits, place, concerned)
    for endpoint in lists(survey):
        if at := _unbounded(survey, endpoint, place):
            yield blocking(PAGES, endpoint.key, at, (endpoint.key,))


def with_a_body(survey: Survey) -> tuple[str, ...]:
    return tuple(endpoint.key for endpoint in survey.endpoints if isinstance(endpoint.body, Shown))


def taking_keys(survey: Survey) -> tuple[str, ...]:
    return tuple(endpoint.key for endpoint in survey.endpoints if isinstance(endpoint.idempotency_key, Shown))


def lists(survey: Survey) -> tuple[Endpoint, ...]:
    return tuple(e for e in survey.endpoints if e.lists)


def unbounded(survey: Survey) -> tuple[str, ...]:
    """The lists of which a bound is missing."""
    place = survey.contract.document.part("limits").place
    return tuple(endpoint.key for endpoint in lists(survey) if _unbounded(survey, endpoint, place))


def _unbounded(survey: Survey, endpoint: Endpoint, place: Span) -> At | None:
    """Where a bound of a list is missing. What its own `pages` says wins over part 8, key by key."""
    shared, own = survey.contract.limits.pages, endpoint.pages
    first = own if own is not None else shared
    if isinstance(first, StatedNone):
        return None
    if first is None or is_open(first):
        return unanswered(first, place if own is None else endpoint.span)
    bounds: Pages | None = value_of(first)
    assert bounds is not None
    if own is not None and not isinstance(shared, StatedNone):
        # That lists have no pages elsewhere answers nothing about the pages of this one.
        bounds = narrowed(bounds, Pages(first.span, **members_within(Pages, shared)))
    found = missing(bounds, first.span, PAGES)
    return None if found is None else found[1]
