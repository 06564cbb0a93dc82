"""How reading goes on after a mistake: the text is mended as it was probably meant, and read again.

libyaml stops at the first thing that it cannot read. A mended text lets the rest of a block be checked, and
the mistake keeps its diagnostic. No repair changes what a scalar says: a mask is seen by libyaml alone.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from ninefold.diagnostics.diagnostic import Code, Diagnostic, Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.syntax.excerpt import Excerpt

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
    """A space is missing before `text[start]`."""

    start: int


Repair: TypeAlias = Mask | Blank | Space


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
            case Space(at):
                return Readable(self.excerpt.with_space(at), self.masked[:at] + " " + self.masked[at:])


def readable(excerpt: Excerpt) -> Readable:
    return Readable(excerpt, _NOT_FOR_LIBYAML.sub(MASK, excerpt.text))
