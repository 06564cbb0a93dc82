"""A document's text and the places in it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from ninefold.diagnostics.frozen import dataclass

if TYPE_CHECKING:
    from ninefold.diagnostics.place import Place

_LINE_ENDS: Final = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a source: half-open, in code points from the start of the document."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The stretch from the start of this one to the end of `other`."""
        return Span(self.start, max(self.end, other.end))

    def meets(self, other: Span) -> bool:
        """Whether the two have a character in common, or one begins where the other does."""
        return self.start == other.start or (self.start < other.end and other.start < self.end)


class Spans:
    """Many stretches, to be asked about in turn: few of them are looked at, however many there are."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._sorted = sorted((span, number) for number, span in enumerate(spans))
        self._starts = [span.start for span, _ in self._sorted]
        # How far those reach that begin no later: what begins early may reach over all that follow.
        self._reached = list(accumulate((span.end for span, _ in self._sorted), max))

    def meet(self, span: Span) -> bool:
        """Whether one of them meets the stretch, as `Span.meets` says."""
        first, end = self._within(span)
        return first < end or (first > 0 and self._reached[first - 1] > span.start)

    def meeting(self, span: Span) -> list[int]:
        """The numbers of those that meet the stretch, as they were given."""
        first, end = self._within(span)
        found = [number for _, number in self._sorted[first:end]]
        while first > 0 and self._reached[first - 1] > span.start:
            first -= 1
            before, number = self._sorted[first]
            if before.end > span.start:
                found.append(number)
        return sorted(found)

    def _within(self, span: Span) -> tuple[int, int]:
        """Which of them begin where the stretch does, or within it."""
        return (
            bisect_left(self._starts, span.start),
            max(bisect_right(self._starts, span.start), bisect_left(self._starts, span.end)),
        )


@dataclass(frozen=True)
class Source:
    """A document as text. `name` is how diagnostics call it (usually its path as given).

    A line ends at CR LF, LF or CR and nowhere else: U+2028 and U+0085 are ordinary characters.
    """

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset at which each line starts; the first is 0."""
        return (0, *(end.end() for end in _LINE_ENDS.finditer(self.text)))

    def place(self, offset: int) -> Place:
        """The line and column of a code point (or of the end of the text)."""
        from ninefold.diagnostics.place import Place  # what has no places to tell does without msgspec

        line = bisect_right(self.line_starts, offset)
        return Place(line, offset - self.line_starts[line - 1] + 1)

    def at(self, span: Span) -> str:
        """The document and the line in which a span begins, as `upgrade.yaml:4`."""
        return f"{self.name}:{self.place(span.start).line}"

    def line(self, number: int) -> str:
        """The text of a line, without its line break; `""` past the end."""
        if not 1 <= number <= len(self.line_starts):
            return ""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def cut(self, span: Span) -> str:
        """The text of a span."""
        return self.text[span.start : span.end]
