"""Changes of a text at exact places. What no edit names stays as it is, byte for byte."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """What stands at `span` is replaced by `text`; an empty span is an insertion."""

    span: Span
    text: str


def insertion(at: int, text: str) -> Edit:
    return Edit(Span(at, at), text)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, which do not overlap. Insertions at one place stand in the order given."""
    kept: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda each: each.span):
        kept += [text[at : edit.span.start], edit.text]
        at = edit.span.end
    return "".join([*kept, text[at:]])


def moved(at: int, edits: Iterable[Edit]) -> int:
    """Where a place of the text is after the edits. Of what is replaced it is where that begins."""
    by = 0
    for edit in sorted(edits, key=lambda each: each.span):
        if edit.span.start > at:
            break
        if at < edit.span.end:
            return edit.span.start + by
        by += len(edit.text) - (edit.span.end - edit.span.start)
    return at + by


def line_break(text: str) -> str:
    """How the lines of a text end: as its first one does."""
    feed, carriage = text.find("\n"), text.find("\r")
    if carriage >= 0 and (feed < 0 or carriage < feed):
        return "\r\n" if feed == carriage + 1 else "\r"
    return "\n"


def unified_diff(name: str, before: str, after: str) -> str:
    """What `patch` needs to make the one text of the other; empty where they are the same."""
    return "".join(_marked(difflib.unified_diff(_lines(before), _lines(after), name, name)))


def _marked(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends, as POSIX has them: U+2028 and a lone CR end none."""
    starts = [start for start in Source("", text).line_starts if start == 0 or text[start - 1] == "\n"]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True) if end > start]
