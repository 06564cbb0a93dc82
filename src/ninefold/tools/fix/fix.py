"""A contract of the first words in the second ones, changed in place: `ninefold fix`.

Each part has its function, which takes its facts as they are written. Values are changed before what holds them, so
that what moves takes its changes along. What cannot be said by rewriting is left as it is, and told (`Left`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.former import only_gone
from ninefold.language.successors import issuing, scalars_of
from ninefold.syntax.edits import Edit, insertion, moved
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Scalar, Sequence
from ninefold.syntax.stretches import line_start
from ninefold.tools.fix import expressions
from ninefold.tools.fix.endpoints import endpoints, exploded
from ninefold.tools.fix.layout import Layout
from ninefold.tools.fix.meanings import otherwise_meant
from ninefold.tools.fix.parts import authentication, errors, events, limits, resources, states, versioning
from ninefold.tools.fix.rewriting import Left, Rewriting, entries_of

_PARTS: Final = (resources, states, endpoints, authentication, events, errors, limits, versioning)


@dataclass(frozen=True, slots=True)
class Fixed:
    """`text` of the document in the second words, what is left to do by hand, and what means something else though its
    words stay; both in the order of their places, which are those of the document as it was."""

    text: str
    left: tuple[Left, ...]
    changed: tuple[Left, ...] = ()
    edits: tuple[Edit, ...] = ()

    def moved(self, at: int) -> int:
        """Where a place of the document as it was is in `text`."""
        return moved(at, self.edits)


def fixed(document: Document) -> Fixed:
    """The document in the second words, as far as these are in force. Whose words are the second ones already comes
    back as it is."""
    text = document.source.text
    codes = document.part("errors").facts.get("codes")
    fix = Rewriting(Layout(text), taken={each.name for each in entries_of(codes)})
    for code in entries_of(codes):
        when = code.value.get("when") if isinstance(code.value, Mapping) else None
        for condition in scalars_of(when.value) if when is not None else ():
            fix.codes.setdefault(condition.text, code.name)
    lines = document.part("authentication").facts.get("permissions")
    fix.permissions = lines.value if lines is not None and isinstance(lines.value, Mapping) else None
    fix.schemes = tuple(each.name for each in document.part("authentication").facts.under("schemes"))
    fix.endpoints = frozenset(each.name for each in document.part("endpoints").facts.entries)
    names(fix, document)
    for part, function in zip(only_gone(document).parts[1:], _PARTS, strict=True):
        function(fix, part.facts)
    if fix.layout.edits:
        for entry in document.parts[3].facts.entries:
            if isinstance(entry.value, Mapping):
                exploded(fix, entry.value)
    fix.layout.edits = kept(document, fix.layout.edits, fix.layout.break_)
    after, edits = fix.layout.done(), tuple(fix.layout.edits)
    # Who has none of the first words has read what the others mean now.
    told = {each.span for each in fix.left}
    changed = [] if after == text else [each for each in otherwise_meant(document) if each.span not in told]
    return Fixed(after, tuple(sorted(fix.left, key=_place)), tuple(sorted(changed, key=_place)), edits)


def names(fix: Rewriting, document: Document) -> None:
    """The names of expressions that are gone, wherever they stand."""
    schemes = issuing(document)
    shared = document.part("limits").facts.get("pages")
    for part in document.parts[1:]:
        for entry in part.facts.entries:
            own = entry.value.get("pages") if isinstance(entry.value, Mapping) else None
            from_0 = _counts_from_0(own) or (own is None and _counts_from_0(shared))
            for node in scalars_of(entry.value):
                fix.say(node, expressions.named_now(node.text, schemes, from_0))


def _counts_from_0(pages: Entry | None) -> bool:
    """Whether the numbers of pages begin at 0."""
    if pages is None or not isinstance(pages.value, Mapping):
        return False
    first, parameters = pages.value.get("first"), pages.value.get("parameters")
    index = parameters.value.get("index") if parameters is not None and isinstance(parameters.value, Mapping) else None
    return index is not None or (first is not None and isinstance(first.value, Scalar) and first.value.text == "0")


def _place(left: Left) -> Span:
    return left.span


# Comments of what is written anew: where the new text has no place for one, it stands above, on a line of its own.

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
