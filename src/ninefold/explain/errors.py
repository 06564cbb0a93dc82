"""Part 7: codes, the shape of an error, messages, and the order in which errors count."""

from __future__ import annotations

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.errors import ErrorCode
from ninefold.contract.fact import Name, value_of
from ninefold.diagnostics.source import Span
from ninefold.explain import responses
from ninefold.explain.explanation import Item
from ninefold.explain.grounds import Grounds
from ninefold.explain.precedence import narrowed


def code(g: Grounds, own: ErrorCode, items: tuple[Item, ...] = ()) -> Item:
    """A code; `items` are what provokes it."""
    facts = g.fact("status", own.status, str)
    facts += g.fact("title", own.title, str)
    facts += g.expression("detail", own.detail)
    facts += g.word("about", own.about)
    facts += g.fact("when", own.when, lambda names: ", ".join(f"`{g.written(name.span)}`" for name in names))
    return g.together(f"`{own.name}`", own.span, [*facts, *items])


def shape(g: Grounds) -> list[Item]:
    stated = value_of(g.contract.errors.shape)
    if stated is None:
        return g.fact("the shape of an error", g.contract.errors.shape)
    items = g.sentence("media type", stated.media_type, "errors are written as {}")
    template = value_of(stated.body)
    if template is None or stated.body is None:
        return items + g.fact("the body of an error", stated.body)
    return [*items, g.item("the body of an error", stated.body.span, responses.content(g, template))]


def order(g: Grounds) -> list[Item]:
    """The order in which errors count."""
    fact = g.contract.errors.precedence
    if value_of(fact) is None:
        stated = [] if fact is g.contract.errors.codes else g.fact("precedence", fact)
        return [*stated, g.item("errors count in the order of the closed list", meanings=(11,))]
    return g.fact("errors count in this order", fact, _order, (11,))


def _order(names: tuple[Name, ...]) -> str:
    return ", ".join(name.text for name in names)


def own_code(endpoint: Endpoint, condition: str, subject: str | None) -> Span | None:
    """Where an endpoint gives a condition a code of its own."""
    stated = {name.text: name.span for name, _ in value_of(endpoint.errors) or ()}
    return next((stated[name] for name in narrowed(condition, subject) if name in stated), None)


def messages(g: Grounds) -> list[Item]:
    stated = value_of(g.contract.errors.messages)
    if stated is None:
        return g.fact("messages", g.contract.errors.messages)
    return [g.item(f"the message of `{each.rule}`: {each.text}", each.span) for each in stated]
