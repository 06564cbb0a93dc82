"""Part 8: limits."""

from __future__ import annotations

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.fact import Shown, value_of
from ninefold.contract.limits import Rate
from ninefold.explain.explanation import Item
from ninefold.explain.grounds import Grounds
from ninefold.explain.quantities import duration, size
from ninefold.explain.requests import pages


def applying(g: Grounds, endpoint: Endpoint) -> list[Rate]:
    """The rates that count requests to an endpoint: those that name it, or name none."""
    return [
        each
        for each in value_of(g.contract.limits.rates) or ()
        if each.endpoints is None or endpoint.key in {name.text for name in value_of(each.endpoints) or ()}
    ]


def rate(g: Grounds, own: Rate) -> Item:
    facts = g.fact("of", own.of) + g.fact("allows", own.allow, str) + g.fact("per", own.per, duration)
    facts += g.word("by", own.algorithm) + g.fact("burst", own.burst, str)
    facts += g.names("endpoints", own.endpoints)
    return g.together(f"the rate `{own.name}`", own.span, facts)


def holding(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """The limits that hold at an endpoint. Pages stand with its parameters."""
    limits = g.contract.limits
    if value_of(limits.rates) is None:
        items = g.fact("rates", limits.rates)
    else:
        items = [rate(g, each) for each in applying(g, endpoint)]
        items += g.names("headers of rates", limits.headers) if items else []
    if isinstance(endpoint.body, Shown) and limits.body_size is not limits.rates:
        items += g.fact("sizes.body", limits.body_size, _largest, whole=True)
    items += _times(g)
    if isinstance(endpoint.idempotency_key, Shown):
        items += g.fact("idempotency keys", limits.keys_kept, _kept, whole=True)
    return items


def _largest(count: int) -> str:
    return f"a body has at most {size(count)}"


def _longest(microseconds: int) -> str:
    return f"a request takes at most {duration(microseconds)}"


def _kept(microseconds: int) -> str:
    return f"idempotency keys are kept for {duration(microseconds)}"


def _times(g: Grounds) -> list[Item]:
    limits = g.contract.limits
    stated = value_of(limits.time_outs)
    if stated is None:
        return [] if limits.time_outs is limits.rates else g.fact("time-outs", limits.time_outs)
    return g.fact("request", stated.request, _longest, whole=True)


def part(g: Grounds) -> list[Item]:
    limits = g.contract.limits
    items = [rate(g, each) for each in value_of(limits.rates) or ()] or g.fact("rates", limits.rates)
    items += g.names("headers of rates", limits.headers)
    if limits.body_size is limits.rates:
        return items  # One word speaks for the whole part.
    items += g.fact("sizes.body", limits.body_size, _largest, whole=True)
    items += pages(g, limits.pages)
    items += _times(g)
    return items + g.fact("idempotency keys", limits.keys_kept, _kept, whole=True)
