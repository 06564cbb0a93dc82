"""What responses and errors show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import partial
from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed


@dataclass(frozen=True)
class Leaf:
    """`null_shown`, here and below: without a value it is `null`, and not left out. `trace`: where it is stated,
    and under which name. It makes no difference to what it is: what stands on another line is the same."""

    expression: Typed
    null_shown: bool = False
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Object:
    """`present`: the row that this shows, where it may not be there or not be seen; then there is no such object.
    `named`: what the contract calls it, where it is a whole row (`order`) or a view of one (`article.full`).
    `optional`: the members that a request may leave out. `expanded`: what it may ask for, by name: it is shown in the
    place of the member of that name, or behind the others."""

    members: tuple[tuple[str, Content], ...]
    present: Typed | None = None
    null_shown: bool = False
    named: str | None = None
    optional: tuple[str, ...] = ()
    expanded: tuple[tuple[str, Content], ...] = ()
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Array:
    null_shown = False

    items: tuple[Content, ...]
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Rows:
    """`page.items`, each shown as `item`, whose row is the resource's own name."""

    null_shown = False

    item: Content
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Each:
    """The items of an array that the database gives (rows that refer back, say), each shown as `item`, which reads it
    by the variable."""

    range: Typed
    variable: str
    item: Content
    null_shown: bool = False
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Choice:
    """`yes` where the condition is true, else `no`. It has no schema of its own: where the one that is shown has no
    value, it is left out, whatever that says, unless `null_shown`."""

    condition: Typed
    yes: Content
    no: Content
    null_shown: bool = False
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


Content: TypeAlias = Leaf | Object | Array | Rows | Each | Choice


def expressions_of(content: Content, *, of_rows: bool = True) -> Iterator[Typed]:
    """Every expression of a content; without `of_rows` those that stand beside the rows of a page."""
    match content:
        case Leaf():
            yield content.expression
        case Object():
            if content.present is not None:
                yield content.present
            for _, value in (*content.members, *content.expanded):
                yield from expressions_of(value, of_rows=of_rows)
        case Array():
            for item in content.items:
                yield from expressions_of(item, of_rows=of_rows)
        case Rows():
            if of_rows:
                yield from expressions_of(content.item)
        case Each():
            yield content.range
            yield from expressions_of(content.item, of_rows=of_rows)
        case Choice():
            yield content.condition
            yield from expressions_of(content.yes, of_rows=of_rows)
            yield from expressions_of(content.no, of_rows=of_rows)


def with_expressions(content: Content, change: Callable[[Typed], Typed], *, of_rows: bool = True) -> Content:
    """A content with each of its expressions changed; without `of_rows` those that stand beside the rows of a page."""
    within = partial(with_expressions, change=change, of_rows=of_rows)
    match content:
        case Leaf():
            return replace(content, expression=change(content.expression))
        case Object():
            return replace(
                content,
                members=tuple((name, within(value)) for name, value in content.members),
                present=None if content.present is None else change(content.present),
                expanded=tuple((name, within(value)) for name, value in content.expanded),
            )
        case Array():
            return replace(content, items=tuple(map(within, content.items)))
        case Rows():
            return replace(content, item=within(content.item)) if of_rows else content
        case Each():
            return replace(content, range=change(content.range), item=within(content.item))
        case Choice():
            condition = change(content.condition)
            return replace(content, condition=condition, yes=within(content.yes), no=within(content.no))


@dataclass(frozen=True)
class Response:
    """`content` None: stated `none`."""

    status: int
    content: Content | None
    headers: tuple[tuple[str, Leaf], ...]
    place: Place


def all_expressions(response: Response) -> Iterator[Typed]:
    if response.content is not None:
        yield from expressions_of(response.content)
    for _, leaf in response.headers:
        yield leaf.expression
