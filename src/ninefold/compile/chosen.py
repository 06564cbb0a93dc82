"""What callers choose of a response (`projection`, `expand`), and the response where nothing is chosen."""

from __future__ import annotations

from dataclasses import replace

from ninefold.checked.contents import Array, Choice, Content, Object, Response, Rows
from ninefold.checked.operations import List, Read
from ninefold.compile.places import traced
from ninefold.plan.chosen import Choices, Expansion, Projection


def choices(operation: Read | List) -> Choices | None:
    """None: nothing can be chosen."""
    projection, expansion = operation.projection, operation.expansion
    if projection is None and expansion is None:
        return None
    return Choices(
        projection=None
        if projection is None
        else Projection(
            projection.parameter,
            projection.offered,
            projection.members,
            projection.written,
            traced(*projection.places),
        ),
        expansion=None
        if expansion is None
        else Expansion(expansion.parameter, expansion.offered, expansion.written, traced(*expansion.places)),
    )


def unchosen(response: Response) -> Response:
    """The same, with nothing in it to choose."""
    return response if response.content is None else replace(response, content=_unchosen(response.content))


def _unchosen(content: Content) -> Content:
    match content:
        case Object():
            members = tuple((name, _unchosen(value)) for name, value in content.members)
            return replace(content, members=members, optional=(), expanded=())
        case Array():
            return replace(content, items=tuple(map(_unchosen, content.items)))
        case Rows():
            return replace(content, item=_unchosen(content.item))
        case Choice():
            return replace(content, yes=_unchosen(content.yes), no=_unchosen(content.no))
        case _:
            return content
