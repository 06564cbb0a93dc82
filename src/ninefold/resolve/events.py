"""Part 6: events and their delivery."""

from __future__ import annotations

import re

from ninefold.contract.events import Delivery, Envelope, EventKind, Events, Log, Stream, Webhooks
from ninefold.language import leaves
from ninefold.language.actions import Actor, actions
from ninefold.language.expressions import expression, template
from ninefold.language.fact import Name
from ninefold.language.quantities import duration, wait
from ninefold.language.reading import Reading, Slot, spoken
from ninefold.language.shapes import Duration
from ninefold.language.verbs import UPON
from ninefold.syntax.nodes import Entry, Mapping, Node, Part

CAUSE = Actor("an event's cause", UPON)

_OF_OPERATOR = re.compile(r"operator\.[A-Za-z_][A-Za-z0-9_]*")


def events(r: Reading, part: Part) -> Events:
    said = spoken(part)
    if said is not None:
        return Events(said, said, said)
    level = r.level(part.facts, 6, "", "")
    return Events(level.fact("kinds", kinds), level.fact("delivery", delivery), level.fact("log", log))


def kinds(r: Reading, node: Node, slot: Slot) -> tuple[EventKind, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    return r.each(node.entries, lambda entry: kind(r, entry))


def kind(r: Reading, entry: Entry) -> EventKind:
    level = r.level(entry.value, 6, "kinds.KIND", entry.name)
    return EventKind(
        name=entry.name,
        span=entry.key.span,
        upon=level.fact("upon", actions(CAUSE), main=True),
        payload=level.fact("payload", template, main=True),
        when=level.fact("when", expression),
    )


def delivery(r: Reading, node: Node, slot: Slot) -> Delivery | None:
    level = r.level(node, 6, "delivery", "delivery")
    if not isinstance(node, Mapping):
        return None
    return Delivery(
        webhooks=level.fact("webhooks", webhooks),
        stream=level.fact("stream", stream),
        broker=level.fact("broker", broker),
        envelope=level.fact("envelope", envelope),
        order=level.fact("order", leaves.word),
    )


def webhooks(r: Reading, node: Node, slot: Slot) -> Webhooks | None:
    level = r.level(node, 6, "delivery.webhooks", "webhooks")
    if not isinstance(node, Mapping):
        return None
    return Webhooks(
        signature=level.fact("signature", leaves.word),
        attempts=level.fact("attempts", leaves.integer),
        backoff=level.fact("backoff", waits),
        to=level.fact("to", leaves.name),
        when=level.fact("when", expression),
        url=level.fact("url", expression),
        secret=level.fact("secret", expression),
    )


def waits(r: Reading, node: Node, slot: Slot) -> tuple[int, ...] | None:
    """The wait before each further attempt, in microseconds."""
    items = r.items(node, slot)
    if items is None:
        return None
    found = (wait(r, item, Slot(slot.called, Duration())) for item in items)
    return tuple(each for each in found if each is not None)


def broker(r: Reading, node: Node, slot: Slot) -> Name | None:
    """The name of the value that the operator gives: `events` in `operator.events`."""
    name = leaves.name(r, node, slot)
    if name is None:
        return None
    if _OF_OPERATOR.fullmatch(name.text) is None:
        r.wrong_shape(node, slot, help=("where a broker is, is the operator's to say: `operator.broker`",))
        return None
    return Name(name.text.removeprefix("operator."), name.span)


def stream(r: Reading, node: Node, slot: Slot) -> Stream | None:
    level = r.level(node, 6, "delivery.stream", "stream")
    if not isinstance(node, Mapping):
        return None
    return Stream(
        format=level.fact("format", leaves.word),
        resume=level.fact("resume", leaves.header),
        kept=level.fact("kept", duration),
    )


def envelope(r: Reading, node: Node, slot: Slot) -> Envelope | None:
    level = r.level(node, 6, "delivery.envelope", "envelope")
    if not isinstance(node, Mapping):
        return None
    return Envelope(format=level.fact("format", leaves.word), source=level.fact("source", expression))


def log(r: Reading, node: Node, slot: Slot) -> Log | None:
    level = r.level(node, 6, "log", "log")
    if not isinstance(node, Mapping):
        return None
    return Log(lasts=level.fact("lasts", duration))
