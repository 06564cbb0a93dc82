"""Proposals turned into facts: the words that make them proposals are taken away, and nothing else is touched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span, Spans
from ninefold.language.question import OpenQuestion
from ninefold.syntax.edits import Edit, insertion
from ninefold.syntax.nodes import Document, Part, Word
from ninefold.syntax.proposals import PROPOSED_BLOCK, Written, proposals
from ninefold.syntax.stretches import line_start
from ninefold.tools.propose.facts import TAG

_NOT_SHOWN = re.compile(r"\bnot\s+(?=shown\b)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SPACE_BEHIND = re.compile(r"[ \t]*")
_COLON = re.compile(r"[ \t]*:")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal and the open questions that it would answer."""

    written: Written
    questions: tuple[OpenQuestion, ...]

    def is_called(self, name: str, lines: tuple[int, int]) -> bool:
        """Whether a name is one of this proposal's: its path, the subject or the word of a question that it answers,
        or a line that it stands on. `lines`: its first and last."""
        if name.isascii() and name.isdigit():
            return lines[0] <= int(name) <= lines[1]
        return name in self.names()

    def names(self) -> tuple[str, ...]:
        names = [self.written.path, self.written.part_name, *self.written.names[:1]]
        for question in self.questions:
            names += [question.question.id, question.subject]
        return tuple(dict.fromkeys(names))


def candidates(document: Document, open_questions: Iterable[OpenQuestion]) -> tuple[Candidate, ...]:
    """The proposals of a document. `open_questions`: those of the document as it is, no proposal accepted."""
    open_ = tuple(each for each in open_questions if each.candidate)
    spans = Spans(each.span for each in open_)
    return tuple(
        Candidate(written, tuple(open_[number] for number in spans.meeting(written.span)))
        for written in proposals(document)
    )


def lines_of(document: Document, written: Written) -> tuple[int, int]:
    """The first and the last line of a proposal."""
    source = document.source
    span = written.span
    return source.place(span.start).line, source.place(max(span.start, span.end - 1)).line


def acceptance(document: Document, chosen: Collection[Written]) -> tuple[Edit, ...]:
    """The edits that make facts of some proposals of a document.

    The tag goes, and the word `proposed` of a block; where other proposals of that block are not chosen, each of
    them gets the tag instead. A sentence that says of the part that it is not shown says then that it is shown.
    """
    written, keys = proposals(document), frozenset(each.key for each in chosen)
    return tuple(edit for part in document.parts for edit in _of_part(document, part, written, keys))


def _of_part(document: Document, part: Part, written: Iterable[Written], chosen: Collection[Span]) -> Iterator[Edit]:
    """`chosen`: the keys of those that are."""
    text = document.source.text
    here = [each for each in written if each.part == part.number]
    accepted = [each for each in here if each.key in chosen]
    for each in accepted:
        for tag in each.tags:
            yield _without(text, tag)
    for block in part.blocks:
        inside = [each for each in here if each.in_block and block.start <= each.key.start < block.end]
        opening = PROPOSED_BLOCK.match(text, block.start)
        if opening is not None and any(each.key in chosen for each in inside):
            yield Edit(Span(*opening.span("word")), "")
            for each in inside:
                if each.key not in chosen and (colon := _COLON.match(text, each.key.end)):
                    yield insertion(colon.end(), f" {TAG}")
    if accepted and part.statement is not None and part.statement.word is Word.NOT_SHOWN:
        yield from _shown(text, part.statement.span)


def _without(text: str, tag: Span) -> Edit:
    """A tag taken away, with the space that parts it from what follows, or precedes it at the end of a line."""
    behind = _SPACE_BEHIND.match(text, tag.end)
    end = behind.end() if behind else tag.end
    start = tag.start
    if end == len(text) or text[end] in "\r\n":
        line = text[line_start(text, start) : start]
        start -= len(line) - len(line.rstrip(" \t"))
        end = tag.end
    return Edit(Span(start, end), "")


def _shown(text: str, statement: Span) -> Iterator[Edit]:
    """`Errors: not shown.` becomes `Errors: shown.`, which is prose."""
    visible = _COMMENT.sub(lambda found: " " * len(found[0]), text[statement.start : statement.end])
    for found in list(_NOT_SHOWN.finditer(visible))[-1:]:
        yield Edit(Span(statement.start + found.start(), statement.start + found.end()), "")
