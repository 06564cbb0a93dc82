"""A document in which one difference is made and nothing else: what a change does is what it does alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ninefold.diff.changes import Change, Place, Route
from ninefold.syntax.nodes import Document, Mapping, Node
from ninefold.syntax.nodes import Sequence as SequenceNode


def made(old: Document, changes: Sequence[Change], new: Document) -> Document:
    """The old document with some differences made: what is put in first, then what is replaced, and what goes last and
    from behind, so that places stay what they are."""
    for change in changes:
        if change.whole:
            here, there = change.around
            value = _at(new.parts[change.part - 1].facts, there)
            old = _with(old, change.part, here, partial(_instead, value))
    for change in changes:
        if not change.whole and change.new is not None:
            old = _with(old, change.part, change.around[0], partial(_longer, change.new))
    going = [each.old.route for each in changes if not each.whole and each.old is not None]
    by_route = {each.old.route: each for each in changes if not each.whole and each.old is not None}
    for route in sorted(going, reverse=True):
        old = _with(old, by_route[route].part, route[:-1], partial(_shorter, route[-1]))
    return old


def turned(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The same differences, seen from the new document."""
    return tuple(replace(each, old=each.new, new=each.old, around=(each.around[1], each.around[0])) for each in changes)


def _at(node: Node, route: Route) -> Node:
    for index in route:
        node = node.entries[index].value if isinstance(node, Mapping) else _items(node)[index]
    return node


def _items(node: Node) -> tuple[Node, ...]:
    assert isinstance(node, SequenceNode)
    return node.items


def _with(document: Document, number: int, route: Route, change: Callable[[Node], Node]) -> Document:
    part = document.parts[number - 1]
    facts = _changed(part.facts, route, change)
    assert isinstance(facts, Mapping)
    parts = (*document.parts[: number - 1], replace(part, facts=facts, present=True, statement=None),
             *document.parts[number:])  # fmt: skip
    return replace(document, parts=parts)


def _changed(node: Node, route: Route, change: Callable[[Node], Node]) -> Node:
    if not route:
        return change(node)
    first, *rest = route
    if isinstance(node, Mapping):
        entry = node.entries[first]
        entry = replace(entry, value=_changed(entry.value, tuple(rest), change))
        return replace(node, entries=(*node.entries[:first], entry, *node.entries[first + 1 :]))
    items = _items(node)
    item = _changed(items[first], tuple(rest), change)
    assert isinstance(node, SequenceNode)
    return replace(node, items=(*items[:first], item, *items[first + 1 :]))


def _instead(value: Node, _: Node) -> Node:
    return value


def _longer(place: Place, node: Node) -> Node:
    if isinstance(node, Mapping):
        assert place.entry is not None
        return replace(node, entries=(*node.entries, place.entry))
    assert isinstance(node, SequenceNode)
    return replace(node, items=(*node.items, place.node))


def _shorter(at: int, node: Node) -> Node:
    if isinstance(node, Mapping):
        return replace(node, entries=(*node.entries[:at], *node.entries[at + 1 :]))
    items = _items(node)
    assert isinstance(node, SequenceNode)
    return replace(node, items=(*items[:at], *items[at + 1 :]))
