"""Comments of what is written anew: where the new text has no place for one, it stands above, on a line of its own."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from ninefold.diagnostics.source import Span
from ninefold.language.successors import scalars_of
from ninefold.syntax.nodes import Document, Mapping, Node, Sequence
from ninefold.syntax.stretches import line_start
from ninefold.tools.propose.edits import Edit, insertion

_COMMENT: Final = re.compile(r"(?:^|(?<=[ \t]))#[^\r\n]*", re.MULTILINE)
_PREFIX: Final = re.compile(r"[ \t>]*")


def kept(document: Document, edits: Iterable[Edit], break_: str) -> list[Edit]:
    """The edits, and the comments that they would lose."""
    text, every = document.source.text, list(edits)
    told = sorted(_told(document))
    starts = [each.start for each in told]

    def holder(at: int) -> Span | None:
        """The key or the scalar that began before a place and goes on there: in it `#` is no comment, and no line can
        be put. In front of one that begins there a line can."""
        before = bisect_left(starts, at) - 1
        return told[before] if before >= 0 and at < told[before].end else None

    for edit in list(every):
        found = _COMMENT.finditer(text, edit.span.start, edit.span.end)
        lost = [each[0].rstrip() for each in found if holder(each.start()) is None]
        lost = [each for each in lost if each not in edit.text]
        if not lost:
            continue
        at = line_start(text, edit.span.start)
        while around := holder(at) or next((each.span for each in every if each.span.start < at < each.span.end), None):
            at = line_start(text, around.start)
        prefix = _PREFIX.match(text, at)
        assert prefix is not None
        above = "".join(f"{prefix[0]}{each}{break_}" for each in lost)
        if at == edit.span.start:
            every[every.index(edit)] = Edit(edit.span, above + edit.text)
        else:
            every.insert(0, insertion(at, above))
    return every


def _told(document: Document) -> Iterator[Span]:
    for part in document.parts:
        yield from _keys(part.facts)
        yield from (each.span for each in scalars_of(part.facts))


def _keys(node: Node) -> Iterator[Span]:
    match node:
        case Mapping():
            for entry in node.entries:
                yield entry.key.span
                yield from _keys(entry.value)
        case Sequence():
            for item in node.items:
                yield from _keys(item)
