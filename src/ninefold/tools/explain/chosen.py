"""What a request chooses of a response: by which parameter, among what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.fact import Name, value_of
from ninefold.language.endpoints import Expanded
from ninefold.meanings import CHOSEN
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds


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
