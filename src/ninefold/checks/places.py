"""Where everything that a contract states stands: what the plan's nodes are traced to."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.places import Places
from ninefold.diagnostics.source import Place
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar, Sequence


def places(document: Document) -> Places:
    found: dict[tuple[str, ...], Place] = {}
    for part in document.parts:
        for path, start in _stated(part.facts, (part.name,)):
            found.setdefault(path, document.source.place(start))
    return Places(found)


def _stated(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    match node:
        case Mapping(entries=entries):
            for entry in entries:
                below = (*path, entry.name)
                yield below, entry.key.span.start
                yield from _stated(entry.value, below)
        case Sequence(items=items):
            for number, item in enumerate(items):
                yield (*path, str(number)), item.span.start
                if isinstance(item, Scalar):
                    yield (*path, item.text), item.span.start
                yield from _stated(item, (*path, str(number)))
        case Scalar():
            pass
