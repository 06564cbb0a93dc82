"""What is chosen: the cases of a request, and what a request chooses of a response."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Name, value_of
from ninefold.language.requests import Expanded
from ninefold.meanings import CASES, CHOSEN
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


def choices(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """`projection` and `expand`, or that they are gaps or `none`."""
    items: list[Item] = []
    projection = value_of(endpoint.projection)
    if projection is None:
        items += g.fact("projection", endpoint.projection)
    else:
        words = "the query parameter that names the members to show"
        items += g.fact(words, projection.parameter, lambda name: f"`{name.text}`", (CHOSEN,))
        items += g.fact("members that can be named", projection.offered, _names)
        items += g.fact("members that are shown whatever is named", projection.always, _names)
        items += g.fact("several names are", projection.written, str)
    expand = value_of(endpoint.expand)
    if expand is None:
        items += g.fact("expand", endpoint.expand)
    else:
        words = "the query parameter that names what is shown as rows"
        items += g.fact(words, expand.parameter, lambda name: f"`{name.text}`", (CHOSEN,))
        items += g.fact("what can be shown as rows", expand.offered, _names)
        items += g.fact("several names are", expand.written, str)
    return items


def on_request(endpoint: Endpoint) -> Iterator[Expanded]:
    """What a request may ask for beside what is stated of the response."""
    expand = value_of(endpoint.expand)
    yield from () if expand is None else value_of(expand.offered) or ()


def _names(names: Iterable[Expanded | Name]) -> str:
    return ", ".join(f"`{each.name if isinstance(each, Expanded) else each.text}`" for each in names)
