"""A document with one of its facts taken away. The tree is edited, not the text: all other facts keep their places."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from ninefold.ablate.facts import Written
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar, Sequence, Style

Removal: TypeAlias = Literal["taken out", "not shown", "none"]
"""What stands in the place of a fact: nothing, `not shown`, or `none`."""

REMOVALS: tuple[Removal, ...] = ("taken out", "not shown", "none")


def without(document: Document, fact: Written, removal: Removal) -> Document:
    """The document as if this had been written instead of the fact."""
    part = document.parts[fact.part - 1]
    facts = _edited(part.facts, fact.route, None if removal == "taken out" else removal)
    assert isinstance(facts, Mapping)
    parts = list(document.parts)
    parts[fact.part - 1] = replace(part, facts=facts)
    return replace(document, parts=tuple(parts))


def _edited(node: Node, route: tuple[int, ...], word: str | None) -> Node:
    """The node with `word` at the end of the route; None: without what stands there."""
    first, *rest = route

    def below(value: Node) -> Node | None:
        if rest:
            return _edited(value, tuple(rest), word)
        return None if word is None else _keyword(value, word)

    match node:
        case Mapping(entries=entries):
            value = below(entries[first].value)
            entry = () if value is None else (replace(entries[first], value=value),)
            return replace(node, entries=(*entries[:first], *entry, *entries[first + 1 :]))
        case Sequence(items=items):
            item = below(items[first])
            kept = () if item is None else (item,)
            return replace(node, items=(*items[:first], *kept, *items[first + 1 :]))
        case Scalar():
            raise ValueError("a route leads through mappings and sequences")


def _keyword(value: Node, word: str) -> Scalar:
    """An unquoted word at the place of a value. All of it is at the value's beginning: the place has its own length."""
    start = value.span.start
    return Scalar(
        value.span, word, word, Style.PLAIN, tuple(min(start + i, value.span.end) for i in range(len(word) + 1))
    )
