"""Part 7: codes, the shape of an error, messages, and the order in which errors count."""

from __future__ import annotations

from ninefold.diagnostics.source import Span
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import ErrorCode, Shape
from ninefold.language.fact import Name, value_of, within
from ninefold.plan.problems import names
from ninefold.tools.explain import responses
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import told


def code(g: Grounds, own: ErrorCode, items: tuple[Item, ...] = ()) -> Item:
    """A code; `items` are what provokes it."""
    facts = told(g, own, but=("conditions",))
    facts += g.fact("for", own.conditions, lambda names: ", ".join(f"`{g.written(name.span)}`" for name in names))
    return g.together(f"`{own.known_as}`", own.span, [*facts, *items])


def shape(g: Grounds, endpoint: Endpoint | None = None) -> list[Item]:
    """What errors look like; those of an endpoint as it says itself, else as part 7 does."""
    of_all = g.contract.errors.error_shape
    own = None if endpoint is None else endpoint.error_shape
    if value_of(own or of_all) is None:
        return g.fact("the shape of an error", own or of_all)
    media_type = within(own, lambda each: each.media_type) or within(of_all, lambda each: each.media_type)
    body = within(own, lambda each: each.body) or within(of_all, lambda each: each.body)
    looks = Shape(media_type, body)
    items, template = told(g, looks, "media_type"), value_of(body)
    if template is None or body is None:
        return items + told(g, looks, "body")
    return [*items, g.item("the body of an error", body.span, responses.content(g, template))]


def order(g: Grounds) -> list[Item]:
    """The order in which errors count."""
    fact = g.contract.errors.precedence
    if value_of(fact) is None:
        stated = [] if fact is g.contract.errors.codes else g.fact("precedence", fact)
        return [*stated, g.item("errors count in the order of the closed list", meanings=("precedence",))]
    return g.fact("errors count in this order", fact, _order, ("precedence",))


def _order(names: tuple[Name, ...]) -> str:
    return ", ".join(name.text for name in names)


def own_code(endpoint: Endpoint, condition: str, subject: str | None) -> Span | None:
    """Where an endpoint gives a condition a code of its own."""
    stated = {name.text: name.span for name, _ in value_of(endpoint.errors) or ()}
    return next((stated[name] for name in names(condition, subject) if name in stated), None)


def messages(g: Grounds) -> list[Item]:
    stated = value_of(g.contract.errors.messages)
    if stated is None:
        return g.fact("messages", g.contract.errors.messages)
    return [g.item(f"the message of `{each.rule}`: {each.text}", each.span) for each in stated]
