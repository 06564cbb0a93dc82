"""Part 8: limits."""

from __future__ import annotations

from functools import partial

from ninefold.language.declaration import members
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, Shown, value_of
from ninefold.language.limits import Limits, Pages, Rate, applying, narrowed, reached
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import named, told

OF_SOME = ("rates", "headers", "body_size", "pages", "keys_kept")
"""What of part 8 is about some endpoints."""


def rate(g: Grounds, own: Rate) -> Item:
    return named(g, own, "the rate `{}`")


def holding(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """The limits that hold at an endpoint. Pages stand with its parameters."""
    limits = g.contract.limits
    if value_of(limits.rates) is None:
        items = told(g, limits, "rates")
    else:
        items = [rate(g, each) for each in applying(g.contract.limits, endpoint.key)]
        items += told(g, limits, "headers") if items else []
    # Where one word speaks for the whole part, it is told once.
    if isinstance(endpoint.body, Shown) and limits.body_size is not limits.rates:
        items += told(g, limits, "body_size")
    as_one = {each.attribute for each in members(Limits) if getattr(limits, each.attribute) is limits.rates}
    items += told(g, limits, but={*OF_SOME, *as_one})
    return items + (told(g, limits, "keys_kept") if isinstance(endpoint.idempotency_key, Shown) else [])


def part(g: Grounds) -> list[Item]:
    return told(g, g.contract.limits, pages=partial(pages, g))


def pages(g: Grounds, own: Fact[Pages] | None, shared: Fact[Pages] | None = None) -> list[Item]:
    """The bounds of a list: what its own `pages` says wins over part 8, key by key."""
    first, second = value_of(own), value_of(shared)
    if own is not None and first is None:
        return g.fact("pages", own)
    if first is None and second is None:
        return g.fact("pages", shared)
    bounds = narrowed(first, second) if first is not None and second is not None else first or second
    is_counted = bounds is not None and reached(bounds) not in ("cursor", "none")
    return told(g, bounds, but=() if is_counted else ("first",))
