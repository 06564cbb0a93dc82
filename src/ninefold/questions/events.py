"""Part 6: the kinds of event, or none; when each arises and what it carries; how they are delivered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ninefold.contract.events import Delivery
from ninefold.contract.fact import Fact, Shown, StatedNone, value_of
from ninefold.diagnostics.source import Span
from ninefold.questions.question import (
    DELIVERY,
    KINDS,
    PAYLOAD,
    UPON,
    At,
    OpenQuestion,
    first_unanswered,
    leaving_out,
    unanswered,
    within,
)
from ninefold.questions.survey import Survey, actions


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    events = survey.contract.events
    place = survey.contract.document.part("events").place
    if at := unanswered(events.kinds, place):
        yield with_streams(survey, leaving_out(KINDS, "kinds", at, "events"))
    for kind in value_of(events.kinds) or ():
        left_out = f"events of the kind `{kind.name}`"
        if at := unanswered(kind.upon, kind.span):
            yield leaving_out(UPON, kind.name, at, left_out)
        if at := unanswered(kind.payload, kind.span):
            yield leaving_out(PAYLOAD, kind.name, at, left_out)
    if not value_of(events.kinds):
        return
    if at := unanswered(events.delivery, place):
        yield with_streams(survey, leaving_out(DELIVERY, "delivery", at, "the delivery of events"))
    elif isinstance(events.delivery, Shown):
        for each in _of_delivery(events.delivery.value, events.delivery.span):
            yield each if each.subject == "webhooks" else with_streams(survey, each)


def with_streams(survey: Survey, question: OpenQuestion) -> OpenQuestion:
    """What leaves out events, or their delivery, blocks the endpoints that stream them."""
    streams = tuple(
        endpoint.key for endpoint in survey.endpoints if any(a.verb == "stream events" for a in actions(endpoint))
    )
    return replace(question, effect="blocks", blocks=streams) if streams else question


def _of_delivery(delivery: Delivery, place: Span) -> Iterator[OpenQuestion]:
    webhooks, stream, envelope = delivery.webhooks, delivery.stream, delivery.envelope
    ways: tuple[Fact[Any] | None, ...] = (webhooks, stream, delivery.broker)
    if not any(isinstance(way, Shown | StatedNone) for way in ways):
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
        if isinstance(whole, Shown) and (missing := first_unanswered(facts, whole.span)):
            yield leaving_out(DELIVERY, subject, missing, left_out, f"how events are delivered: its `{subject}`")
