"""Part 6: the kinds of event, or none; when each arises and what it carries; how they are delivered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ninefold.contract.events import Delivery, Webhooks
from ninefold.contract.survey import Survey, actions
from ninefold.diagnostics.source import Span
from ninefold.language.fact import Fact, Gap, Proposal, Shown, StatedNone, value_of, within
from ninefold.language.verbs import VERBS
from ninefold.questions.question import (
    DELIVERY,
    KINDS,
    LOG,
    PAYLOAD,
    UPON,
    At,
    OpenQuestion,
    blocking,
    first_unanswered,
    leaving_out,
    unanswered,
)


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    events = survey.contract.events
    place = survey.contract.document.part("events").place
    if at := unanswered(events.kinds, place):
        kinds = leaving_out(KINDS, "kinds", at, "events")
        yield blocking_about(survey, EVENT_VERBS, kinds, tuple(about_log(survey)))
    for kind in value_of(events.kinds) or ():
        left_out = f"events of the kind `{kind.name}`"
        if at := unanswered(kind.upon, kind.span):
            yield leaving_out(UPON, kind.name, at, left_out)
        if at := unanswered(kind.payload, kind.span):
            yield leaving_out(PAYLOAD, kind.name, at, left_out)
    if not value_of(events.kinds):
        return
    lasts = within(events.log, lambda each: each.lasts)
    enclosing = events.log.span if isinstance(events.log, Shown) else place
    if survey.reading_log and (at := unanswered(lasts, enclosing)):
        yield blocking(LOG, "log", at, survey.reading_log)
    if at := unanswered(events.delivery, place):
        yield blocking_about(survey, STREAMING, leaving_out(DELIVERY, "delivery", at, "the delivery of events"))
    elif isinstance(events.delivery, Shown):
        delivery = events.delivery
        for each in _of_delivery(delivery.value, delivery.span):
            yield each if each.subject == "webhooks" else blocking_about(survey, STREAMING, each)
        at = unanswered(delivery.value.stream, delivery.span)
        if at and _about(survey, STREAMING) and _has_a_way(delivery.value):
            text = "how events are delivered: its `stream`"
            question = leaving_out(DELIVERY, "stream", at, "delivery by stream", text)
            yield blocking_about(survey, STREAMING, question)


STREAMING = frozenset({"stream events"})

EVENT_VERBS = frozenset(verb.name for verb in VERBS.values() if verb.acts_on == "events")
"""Verbs that do nothing where there are no events."""


def about_log(survey: Survey) -> Iterator[str]:
    """The endpoints that act on the log of events, which are about nothing else."""
    log = survey.graph.log
    yield from (e.key for e in survey.endpoints if log is not None and any(a.resource == log for a in actions(e)))


def blocking_about(
    survey: Survey, verbs: frozenset[str], question: OpenQuestion, more: tuple[str, ...] = ()
) -> OpenQuestion:
    """What leaves out events, or their delivery, blocks the endpoints that are about nothing else."""
    about = (*_about(survey, verbs), *more)
    return replace(question, effect="blocks", blocks=about) if about else question


def _about(survey: Survey, verbs: frozenset[str]) -> tuple[str, ...]:
    return tuple(e.key for e in survey.endpoints if any(action.verb in verbs for action in actions(e)))


def _has_a_way(delivery: Delivery) -> bool:
    """Whether something is said of how events leave; else all of it is asked in one line."""
    ways = (delivery.webhooks, delivery.stream, delivery.broker)
    return any(isinstance(way, Shown | StatedNone) for way in ways)


def _of_rows(webhooks: Fact[Webhooks] | None) -> tuple[Fact[Any] | None, ...]:
    """What is asked where webhooks go to rows of the contract's own."""
    to = within(webhooks, lambda each: each.to)
    if to is None or isinstance(to, StatedNone):
        return ()
    return (
        to,
        within(webhooks, lambda each: each.when),
        within(webhooks, lambda each: each.url),
        within(webhooks, lambda each: each.secret),
    )


def _of_delivery(delivery: Delivery, place: Span) -> Iterator[OpenQuestion]:
    webhooks, stream, envelope = delivery.webhooks, delivery.stream, delivery.envelope
    ways: tuple[Fact[Any] | None, ...] = (webhooks, stream, delivery.broker)
    answered = any(isinstance(way, Shown | StatedNone) for way in ways)
    if not answered:
        at = first_unanswered(ways, place) or At(place)
        yield leaving_out(DELIVERY, "delivery", at, "the delivery of events")
    asked: tuple[tuple[str, Fact[Any] | None, tuple[Fact[Any] | None, ...], str], ...] = (
        (
            "webhooks",
            webhooks,
            (
                within(webhooks, lambda each: each.signature),
                within(webhooks, lambda each: each.attempts),
                within(webhooks, lambda each: each.backoff),
                *_of_rows(webhooks),
            ),
            "delivery by webhooks",
        ),
        (
            "stream",
            stream,
            (within(stream, lambda each: each.format), within(stream, lambda each: each.kept)),
            "delivery by stream",
        ),
        (
            "envelope",
            envelope,
            (within(envelope, lambda each: each.format), within(envelope, lambda each: each.source)),
            "the delivery of events",
        ),
    )
    for subject, whole, facts, left_out in asked:
        # A way that is itself a gap is asked for as one, unless the question above asks for all of them.
        of_itself = isinstance(whole, Gap | Proposal) and (answered or subject == "envelope")
        facts = facts if isinstance(whole, Shown) else (whole,) if of_itself else ()
        if missing := first_unanswered(facts, whole.span if isinstance(whole, Shown) else place):
            yield leaving_out(DELIVERY, subject, missing, left_out, f"how events are delivered: its `{subject}`")
