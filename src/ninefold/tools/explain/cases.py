"""Cases: by what they are chosen, and what is told of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ninefold.contract.endpoints import Endpoint
from ninefold.meanings import CASES
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds


def of(g: Grounds, endpoint: Endpoint) -> tuple[Endpoint, ...]:
    """The endpoint in each of its cases."""
    return g.cases.get(endpoint.key, ())


def chosen(g: Grounds, endpoint: Endpoint) -> list[Item]:
    case = endpoint.case
    if case is None:
        return []
    names = [f"`{name}`" for name in case.all] + (["`otherwise`"] if case.has_rest else [])
    listed = " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
    return g.expression(f"its case is {listed}, by" if listed else "its case, by", case.by, (CASES,))


def in_each(g: Grounds, endpoint: Endpoint, told: Callable[[Grounds, Endpoint], Iterable[Item]]) -> tuple[Item, ...]:
    """What is told of an endpoint; where it differs from case to case, under each."""
    every = [(each, tuple(told(g, each))) for each in of(g, endpoint)]
    if len(every) < 2 or all(items == every[0][1] for _, items in every):
        return tuple(told(g, endpoint))
    return tuple(
        g.item(f"in the case `{each.case.name or 'otherwise'}`", each.case.span, items)
        for each, items in every
        if each.case is not None and items
    )
