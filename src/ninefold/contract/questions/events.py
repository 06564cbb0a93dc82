"""Part 6: the kinds of event, or none; when each arises and what it carries; how they are delivered."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.questions.open import elsewhere, missing, open_in
from ninefold.contract.questions.question import At, first_unanswered, leaving_out, unanswered
from ninefold.contract.survey import Survey, actions
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.language.declaration import One, members
from ninefold.language.events import DELIVERY, KEPT, KINDS, Delivery
from ninefold.language.fact import Shown, StatedNone
from ninefold.language.question import OpenQuestion
from ninefold.language.verbs import VERBS, kind_of

STREAMING = frozenset(verb.name for verb in VERBS.values() if verb.streams)
"""Verbs that do nothing where there are no events."""


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    events = survey.contract.events
    place = survey.contract.document.part("events").place
    has_kinds = isinstance(events.kinds, Shown) and bool(events.kinds.value)
    going_back = survey.reading_back if has_kinds else ()
    for each in open_in(events, place, {KEPT.id: lambda _: going_back, DELIVERY.id: elsewhere}):
        about_events = each.question is KINDS
        yield blocking_about(survey, STREAMING, each, tuple(about_built_in(survey))) if about_events else each
    if has_kinds and (at := unanswered(events.delivery, place)):
        yield _undelivered(survey, "delivery", at)
    elif has_kinds and isinstance(events.delivery, Shown):
        yield from _of_delivery(survey, events.delivery.value, events.delivery.span)


def about_built_in(survey: Survey) -> Iterator[str]:
    """The endpoints that act on the log of events, or on subscriptions: they are about nothing else."""
    built_in = {each for each in (survey.graph.log, survey.graph.subscription) if each is not None}
    yield from (e.key for e in survey.endpoints if any(a.resource in built_in for a in actions(e)))


def blocking_about(
    survey: Survey, verbs: frozenset[str], question: OpenQuestion, more: tuple[str, ...] = ()
) -> OpenQuestion:
    """What leaves out events, or their delivery, blocks the endpoints that are about nothing else."""
    about = (*_about(survey, verbs), *more)
    return replace(question, effect="blocks", blocks=about) if about else question


def _about(survey: Survey, verbs: frozenset[str]) -> tuple[str, ...]:
    return tuple(e.key for e in survey.endpoints if any(action.verb in verbs for action in actions(e)))


def _of_delivery(survey: Survey, delivery: Delivery, place: Span) -> Iterator[OpenQuestion]:
    """The ways in which events leave, each asked for by its name; where nothing is said of any, all in one line."""
    ways = (delivery.webhooks, delivery.stream)
    answered = any(isinstance(way, Shown | StatedNone) for way in ways)
    if not answered:
        yield _undelivered(survey, "delivery", first_unanswered(ways, place) or At(place))
    for each in members(Delivery):
        way, at = getattr(delivery, each.attribute), None
        if isinstance(way, Shown):
            found = missing(way.value, way.span, DELIVERY) if isinstance(each.holding, One) else None
            at = None if found is None else found[1]
        elif answered or each.name == "envelope":
            needed = _is_needed(survey, each.name)
            at = unanswered(way, place) if needed or (way is not None and isinstance(each.holding, One)) else None
        if at is not None:
            yield _undelivered(survey, each.name, at)


def _is_needed(survey: Survey, way: str) -> bool:
    """Whether an endpoint is about nothing else than one way in which events leave."""
    if way == "stream":
        return bool(_about(survey, STREAMING))
    subscription = survey.graph.subscription
    made = (a for e in survey.endpoints for a in actions(e) if kind_of(a.verb).makes and a.resource == subscription)
    return way == "webhooks" and subscription is not None and any(made)


def _undelivered(survey: Survey, what: str, at: At) -> OpenQuestion:
    """That it is not said how events are delivered; in one way, if they are by others."""
    left_out = f"delivery by {what}" if what in ("webhooks", "stream") else "the delivery of events"
    text = "" if what == "delivery" else f"{DELIVERY.text}: its `{what}`"
    question = leaving_out(DELIVERY, what, at, left_out, text)
    return question if what == "webhooks" else blocking_about(survey, STREAMING, question)
