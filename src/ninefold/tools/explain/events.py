"""Part 6: events and their delivery."""

from __future__ import annotations

from dataclasses import replace

from ninefold.contract.events import EventKind
from ninefold.language.amounts import duration
from ninefold.language.fact import value_of
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds


def kind(g: Grounds, own: EventKind) -> Item:
    facts = g.fact("upon", own.upon, lambda done: " or ".join(f"`{each.verb} {each.subject}`" for each in done))
    facts = [replace(each, meanings=(*each.meanings, 33)) for each in facts]
    facts += g.fact("its payload", own.payload, meanings=(10,))
    facts += g.expression("only where", own.when, (9, 10))
    return g.together(f"the event `{own.name}`", own.span, facts)


def delivery(g: Grounds) -> list[Item]:
    stated = value_of(g.contract.events.delivery)
    if stated is None:
        return g.fact("delivery", g.contract.events.delivery)
    items: list[Item] = []
    webhooks, stream, envelope = value_of(stated.webhooks), value_of(stated.stream), value_of(stated.envelope)
    if webhooks is not None and stated.webhooks is not None:
        facts = g.word("signature", webhooks.signature) + g.fact("attempts", webhooks.attempts, str)
        facts += g.fact("waits between them", webhooks.backoff, lambda waits: ", ".join(map(duration, waits)))
        facts += g.word("to each", webhooks.to) + g.expression("which events", webhooks.when, (9, 10))
        facts += g.expression("address", webhooks.url) + g.expression("secret", webhooks.secret)
        item = _meaning(g.together("delivered by webhooks", stated.webhooks.span, facts), 37)
        items.append(item if value_of(webhooks.to) is None else _meaning(item, 58))
    else:
        items += g.fact("webhooks", stated.webhooks)
    if stream is not None and stated.stream is not None:
        facts = g.word("format", stream.format) + g.word("resumed by", stream.resume)
        facts += g.fact("kept for", stream.kept, duration)
        items.append(_meaning(g.together("delivered as a stream", stated.stream.span, facts), 35))
    else:
        items += g.fact("stream", stated.stream)
    items += g.fact("sent to the broker", stated.broker, lambda name: f"operator.{name.text}", (59,))
    if envelope is not None and stated.envelope is not None:
        facts = g.word("format", envelope.format) + g.expression("source", envelope.source)
        items.append(_meaning(g.together("in an envelope", stated.envelope.span, facts), 38))
    else:
        items += g.fact("envelope", stated.envelope)
    return items + g.word("order", stated.order)


def log(g: Grounds) -> list[Item]:
    """The log as a resource, where something is said of it."""
    stated = value_of(g.contract.events.log)
    if stated is None or g.contract.events.log is None:
        return g.fact("the log", g.contract.events.log)
    facts = g.fact("can be read for", stated.lasts, duration)
    return [_meaning(g.together("the log", g.contract.events.log.span, facts), 63)]


def _meaning(item: Item, number: int) -> Item:
    return replace(item, meanings=(*item.meanings, number))


def part(g: Grounds) -> list[Item]:
    kinds = value_of(g.contract.events.kinds)
    items = [kind(g, each) for each in kinds or ()] or g.fact("kinds", g.contract.events.kinds)
    return items if g.contract.events.delivery is g.contract.events.kinds else [*items, *delivery(g), *log(g)]
