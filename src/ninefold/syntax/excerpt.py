"""A block of YAML cut out of a document, and the way back from each of its characters to its place there.

A fence inside a list or a quotation loses the prefix of each line, so the text that YAML reads is not a
slice of the document. An excerpt keeps, for each stretch that is, how far it was moved.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

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

    def with_blank(self, start: int, end: int) -> Excerpt:
        """The same with `text[start:end]` blanked out; its line breaks stay."""
        blank = "".join(c if c in "\r\n" else " " for c in self.text[start:end])
        return Excerpt(self.text[:start] + blank + self.text[end:], self.starts, self.shifts)


def whole(text: str) -> Excerpt:
    """A document that is YAML from its first character to its last."""
    return Excerpt(text)
