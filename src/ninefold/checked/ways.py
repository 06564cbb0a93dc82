"""The rows that a path leads through (`{project.id}` of tasks): one each, whatever rows there are behind them.

What a list says of `task.project` is the same for all of its tasks, also where it has none. So an expression that reads
no more of them than that can be asked of the row which the path names; it is then a root of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Response, Rows, expressions_of
from ninefold.checked.operations import PathName, Segment
from ninefold.checked.resources import Resource
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.tree import Select, Typed, Variable, rewrite
from ninefold.values import Row


@dataclass(frozen=True)
class Way:
    """`number`: of the name in the path. `through`: the reference fields that lead to the row; `key`: the field by
    which others refer to it."""

    number: int
    through: tuple[str, ...]
    resource: str
    key: str

    def row(self, listed: str) -> Variable:
        """The row, as a root: `task.project`, which no name of a contract can be."""
        return Variable(".".join((listed, *self.through)), Row(resource=self.resource))


def ways(segments: tuple[Segment, ...], resources: Mapping[str, Resource]) -> tuple[Way, ...]:
    names = [each for each in segments if isinstance(each, PathName)]
    return tuple(
        Way(number, each.through, each.resource, resources[each.resource].identifier[0])
        for number, each in enumerate(names)
        if each.through and resources[each.resource].identifier
    )


def by_way(typed: Typed, listed: str, known: tuple[Way, ...]) -> Typed:
    """The expression, with the rows that the path names in the place of what leads there from a row of `listed`."""
    found = {each.through: each for each in known}

    def change(node: Typed) -> Typed | None:
        if not isinstance(node, Select):
            return None
        way = found.get(_way(node.operand, listed) or ())
        if way is not None:
            return msgspec.structs.replace(node, operand=way.row(listed))
        way = found.get(_way(node, listed) or ())
        return None if way is None else Select(way.row(listed), way.key, node.type, "field")

    return rewrite(typed, change)


def _way(typed: Typed, listed: str) -> tuple[str, ...] | None:
    """The fields that lead to it from the row of `listed`; None: it does not begin there."""
    match typed:
        case Variable(name=name) if name == listed:
            return ()
        case Select(operand=operand, name=name, through="field"):
            before = _way(operand, listed)
            return None if before is None else (*before, name)
        case _:
            return None


def content_by_way(content: Content, listed: str, known: tuple[Way, ...]) -> Content:
    """The same of all that is shown beside the rows of a page."""

    def of(within: Content) -> Content:
        return content_by_way(within, listed, known)

    match content:
        case Leaf():
            return replace(content, expression=by_way(content.expression, listed, known))
        case Object():
            present = None if content.present is None else by_way(content.present, listed, known)
            return replace(content, present=present, members=tuple((name, of(each)) for name, each in content.members))
        case Array():
            return replace(content, items=tuple(map(of, content.items)))
        case Each():
            return replace(content, range=by_way(content.range, listed, known), item=of(content.item))
        case Choice():
            condition = by_way(content.condition, listed, known)
            return replace(content, condition=condition, yes=of(content.yes), no=of(content.no))
        case Rows():
            return content


def beside_rows(response: Response) -> Iterator[Typed]:
    """The expressions of a list's response that stand beside its rows."""
    if response.content is not None:
        yield from expressions_of(response.content, of_rows=False)
    for _, leaf in response.headers:
        yield leaf.expression
