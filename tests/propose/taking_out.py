"""Facts taken out of a text, layout and all, as an editor would."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.questions.ask import written_path
from ninefold.diagnostics.source import Span
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Sequence
from ninefold.syntax.stretches import line_end, line_start


def removals(document: Document) -> Iterator[tuple[int, str, str, str]]:
    """For each entry of each part: the part's number, its path in the vocabulary, its place, the text without it."""
    for part in document.parts[1:]:
        for path, names, span in _spans(document.source.text, part.number, "", (), part.facts, alone=False):
            text = document.source.text
            yield part.number, path, "/".join(names), text[: span.start] + text[span.end :]


def _spans(
    text: str, part: int, path: str, names: tuple[str, ...], node: Node, *, alone: bool
) -> Iterator[tuple[str, tuple[str, ...], Span]]:
    match node:
        case Mapping(entries=entries):
            for index, entry in enumerate(entries):
                below, named = written_path(part, path, entry.name), (*names, entry.name)
                if not (alone and len(entries) == 1):
                    yield below, named, _span(text, node, index)
                yield from _spans(text, part, below, named, entry.value, alone=True)
        case Sequence(items=items):
            for index, item in enumerate(items):
                below = written_path(part, path, "")
                yield from _spans(text, part, below, (*names, str(index)), item, alone=True)


def _span(text: str, node: Mapping, index: int) -> Span:
    """An entry with its comma, or with its lines."""
    entry = node.entries[index]
    if _in_braces(text, node, entry):
        if index + 1 < len(node.entries):
            return Span(entry.span.start, node.entries[index + 1].span.start)
        if index == 0:
            return entry.span
        return Span(node.entries[index - 1].span.end, entry.span.end)
    start = line_start(text, entry.span.start)
    end = line_end(text, entry.span.end)
    return Span(start, min(len(text), end + len("\r\n" if text.startswith("\r\n", end) else "\n")))


def _in_braces(text: str, node: Mapping, entry: Entry) -> bool:
    return text.startswith("{", node.span.start) and node.span.start < entry.span.start
