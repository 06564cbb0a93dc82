"""A block of YAML cut out of a document: the way back from each of its characters to its place there, and how reading
goes on after a mistake.

A fence inside a list or a quotation loses the prefix of each line, so the text that YAML reads is not a
slice of the document. An excerpt keeps, for each stretch that is, how far it was moved.

libyaml stops at the first thing that it cannot read. The text is mended as it was probably meant, and read again: a
mended text lets the rest of a block be checked, and the mistake keeps its diagnostic. No repair changes what a scalar
says: a mask is seen by libyaml alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeAlias

from ninefold.diagnostics.diagnostic import Code, Diagnostic, Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`text[starts[i]:starts[i + 1]]` stands in the document `shifts[i]` code points further on."""

    text: str
    starts: tuple[int, ...] = (0,)
    shifts: tuple[int, ...] = (0,)

    def place(self, offset: int) -> int:
        """The offset in the document of a character of this text (or of its end)."""
        return offset + self.shifts[bisect_right(self.starts, offset) - 1]

    def span(self, start: int, end: int) -> Span:
        """The span in the document of `text[start:end]`. It ends right after its last character: not
        after the prefix of the line that follows."""
        if len(self.shifts) == 1:
            shift = self.shifts[0]
            return Span(start + shift, max(start, end) + shift)
        first = self.place(start)
        return Span(first, max(first, self.place(end - 1) + 1)) if end > start else Span(first, first)

    def offsets(self, text: str, places: Sequence[int], end: int) -> range | tuple[int, ...]:
        """The places in the document of the characters of `text`, which come from `places`, and of the end of
        the content. A range when the text stands there as it is."""
        if not places:
            return range(self.place(end), self.place(end) + 1)
        start, stop = self.place(places[0]), self.place(end - 1) + 1
        if stop - start == end - places[0] and self.text[places[0] : end] == text:
            return range(start, stop + 1)
        found = [self.place(at) for at in places]
        return (*found, max(stop, found[-1]))

    def with_space(self, at: int) -> Excerpt:
        """The same with one space more before `text[at]`; the space stands where that character does."""
        index = bisect_right(self.starts, at) - 1
        shift = self.shifts[index]
        starts = (*self.starts[: index + 1], at, at + 1, *(start + 1 for start in self.starts[index + 1 :]))
        shifts = (*self.shifts[: index + 1], shift, shift - 1, *(other - 1 for other in self.shifts[index + 1 :]))
        return Excerpt(self.text[:at] + " " + self.text[at:], starts, shifts)

    def without(self, start: int, end: int) -> Excerpt:
        """The same without `text[start:end]`."""
        gone, index = end - start, bisect_right(self.starts, end) - 1
        before = bisect_right(self.starts, start - 1)
        starts = (*self.starts[:before], start, *(each - gone for each in self.starts[index + 1 :]))
        shifts = (*self.shifts[:before], *(shift + gone for shift in self.shifts[index:]))
        return Excerpt(self.text[:start] + self.text[end:], starts, shifts)

    def with_blank(self, start: int, end: int) -> Excerpt:
        """The same with `text[start:end]` blanked out; its line breaks stay."""
        blank = "".join(c if c in "\r\n" else " " for c in self.text[start:end])
        return Excerpt(self.text[:start] + blank + self.text[end:], self.starts, self.shifts)


def whole(text: str) -> Excerpt:
    """A document that is YAML from its first character to its last."""
    return Excerpt(text)


_LONGEST_HELP = 200
"""Characters: a corrected line that is longer corrects nothing."""

MASK = "\ue000"
"""A private-use character: to YAML, a letter."""

_NOT_FOR_LIBYAML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""Characters that libyaml refuses, skips, or takes for line breaks as YAML 1.1 did (U+0085, U+2028, U+2029)."""


@dataclass(frozen=True, slots=True)
class Mask:
    """`text[start:end]` is meant as plain text, whatever its characters mean to YAML."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Blank:
    """`text[start:end]` cannot be read and is left out."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Space:
    """So many spaces are missing before `text[start]`."""

    start: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Outdent:
    """What stands in `text[start:end]`, whole lines, is indented too far: these stretches of white space go."""

    start: int
    end: int
    stretches: tuple[tuple[int, int], ...]


Repair: TypeAlias = Mask | Blank | Space | Outdent


@dataclass(frozen=True, slots=True)
class Mark:
    """What is to be seen at `text[start:end]` of an excerpt."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A diagnostic about an excerpt, in the excerpt's offsets, and how to read on."""

    code: Code
    message: str
    marks: tuple[Mark, ...]
    help: tuple[str, ...] = ()
    repair: Repair | None = None

    def diagnostic(self, excerpt: Excerpt) -> Diagnostic:
        size = len(excerpt.text)
        spans = (excerpt.span(min(mark.start, size), min(mark.end, size)) for mark in self.marks)
        labels = tuple(Label(span, mark.text) for span, mark in zip(spans, self.marks, strict=True))
        return Diagnostic(self.code, self.message, labels, tuple(h for h in self.help if len(h) <= _LONGEST_HELP))


@dataclass(frozen=True, slots=True)
class Readable:
    """An excerpt and the same text, character for character, as libyaml may see it."""

    excerpt: Excerpt
    masked: str

    def mended(self, repair: Repair) -> Readable:
        match repair:
            case Mask(start, end):
                stretch = MASK * len(self.masked[start:end])
                return Readable(self.excerpt, self.masked[:start] + stretch + self.masked[end:])
            case Blank(start, end):
                blank = self.excerpt.with_blank(start, end)
                return Readable(blank, self.masked[:start] + blank.text[start:end] + self.masked[end:])
            case Space(at, count):
                excerpt = self.excerpt
                for _ in range(count):
                    excerpt = excerpt.with_space(at)
                return Readable(excerpt, self.masked[:at] + " " * count + self.masked[at:])
            case Outdent(stretches=stretches):
                excerpt, masked = self.excerpt, self.masked
                for start, end in reversed(stretches):
                    excerpt, masked = excerpt.without(start, end), masked[:start] + masked[end:]
                return Readable(excerpt, masked)


def readable(excerpt: Excerpt) -> Readable:
    return Readable(excerpt, _NOT_FOR_LIBYAML.sub(MASK, excerpt.text))
