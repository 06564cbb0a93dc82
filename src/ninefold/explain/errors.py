"""Part 7: codes, the shape of an error, and the order in which errors count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.errors import ErrorCode
from ninefold.contract.fact import Name, value_of
from ninefold.diagnostics.source import Span
from ninefold.explain import responses
from ninefold.explain.explanation import Item
from ninefold.explain.grounds import Grounds
from ninefold.meanings import BARE_STATUSES, precedence


@dataclass(frozen=True)
class Codes:
    """Which code answers a condition, and which counts first: the contract's own words, read as the service does."""

    g: Grounds

    @cached_property
    def by_name(self) -> dict[str, ErrorCode]:
        return {each.name: each for each in value_of(self.g.contract.errors.codes) or ()}

    @cached_property
    def _conditions(self) -> dict[str, str]:
        return {
            f"{when.condition} {when.subject}" if when.subject else when.condition: code.name
            for code in self.by_name.values()
            if value_of(code.status) is not None
            for when in value_of(code.when) or ()
        }

    @cached_property
    def _ranks(self) -> dict[str, int]:
        stated = value_of(self.g.contract.errors.precedence) or ()
        return {name: rank for rank, name in enumerate(precedence([each.text for each in stated]))}

    def code(self, endpoint: Endpoint, condition: str, subject: str | None) -> str | None:
        """The code of a condition at an endpoint: the endpoint's own comes first, the narrower name before the
        wider. None: a bare status."""
        own = {name.text: code.text for name, code in value_of(endpoint.errors) or ()}
        names = narrowed(condition, subject)
        return next((codes[name] for codes in (own, self._conditions) for name in names if name in codes), None)

    def code_of_all(self, condition: str) -> str | None:
        """The code of a condition that leaves no endpoint."""
        return self._conditions.get(condition)

    def rank(self, condition: str, subject: str | None, code: str | None) -> int:
        """The lower counts."""
        if code is not None and code in self._ranks:
            return self._ranks[code]
        names = narrowed(condition, subject)
        return next((self._ranks[name] for name in names if name in self._ranks), len(self._ranks))

    def status(self, condition: str, code: str | None) -> int:
        """The status of a code, else the bare status of the condition."""
        stated = self.by_name.get(code or "")
        status = None if stated is None else value_of(stated.status)
        return status if status is not None else BARE_STATUSES.get(condition, 500)


def narrowed(condition: str, subject: str | None) -> tuple[str, ...]:
    """What a contract may call a condition, the narrowest first: `conflict user.email`, `conflict user`, `conflict`."""
    if subject is None:
        return (condition,)
    return tuple(dict.fromkeys((f"{condition} {subject}", f"{condition} {subject.partition('.')[0]}", condition)))


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
