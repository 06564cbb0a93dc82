"""A document in which one difference is made and nothing else: what a change does is what it does alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ninefold.diff.changes import Change, Place, Route
from ninefold.syntax.nodes import Document, Mapping, Node
from ninefold.syntax.nodes import Sequence as SequenceNode


def made(old: Document, changes: Sequence[Change], new: Document) -> Document:
    """The old document with some differences made: what is replaced first, then what is put in, and what goes
    from behind, so that places stay what they are; then what is known by names is put in order."""
    for change in changes:
        if change.whole and not _is_of_names(change):
            here, there = change.around
            value = _at(new.parts[change.part - 1].facts, there)
            if change.how == "reordered" and change.new is not None:
                value = change.new.node
            old = _with(old, change.part, here, partial(_instead, value))
    going = [each.old.route for each in changes if not each.whole and each.old is not None]
    for change in sorted(changes, key=lambda each: -len(each.around[0])):  # what is within before what holds it
        if not change.whole and change.new is not None:
            beside = None if going else _at(new.parts[change.part - 1].facts, change.new.route[:-1])
            old = _with(old, change.part, change.around[0], partial(_longer, change.new, beside))
    by_route = {each.old.route: each for each in changes if not each.whole and each.old is not None}
    for route in sorted(going, reverse=True):
        old = _with(old, by_route[route].part, route[:-1], partial(_shorter, route[-1]))
    for change in filter(_is_of_names, changes):
        assert change.new is not None
        old = _with(old, change.part, change.around[0], partial(_in_order_of, change.new.node))
    return old


def _is_of_names(change: Change) -> bool:
    """Whether what has another order is known by names: it is put in order when all else is made."""
    return change.how == "reordered" and change.new is not None and isinstance(change.new.node, Mapping)


def _in_order_of(other: Node, node: Node) -> Node:
    """What both have in the order of the other one, at the places where it stood."""
    assert isinstance(node, Mapping) and isinstance(other, Mapping)
    by_name = {each.name: each for each in node.entries}
    kept = iter([by_name[each.name] for each in other.entries if each.name in by_name])
    return replace(node, entries=tuple(each if other.get(each.name) is None else next(kept) for each in node.entries))


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


def _longer(place: Place, beside: Node | None, node: Node) -> Node:
    """`beside`: what it stands in, if it goes where it stands there; else it goes last."""
    if isinstance(node, Mapping):
        assert place.entry is not None
        longer = replace(node, entries=(*node.entries, place.entry))
        return longer if beside is None else _in_order_of(beside, longer)
    assert isinstance(node, SequenceNode)
    at = len(node.items) if beside is None else place.route[-1]
    return replace(node, items=(*node.items[:at], place.node, *node.items[at:]))


def _shorter(at: int, node: Node) -> Node:
    if isinstance(node, Mapping):
        return replace(node, entries=(*node.entries[:at], *node.entries[at + 1 :]))
    items = _items(node)
    assert isinstance(node, SequenceNode)
    return replace(node, items=(*items[:at], *items[at + 1 :]))
