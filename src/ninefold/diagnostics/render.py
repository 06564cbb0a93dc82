"""How diagnostics look: for people in a terminal, and for programs one JSON object a line.

Text from a document never reaches the terminal as it is: what a terminal would obey, or would not show, is
drawn as a visible sign.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence

from ninefold.diagnostics.diagnostic import Diagnostic, Label, Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span

WIDTH = 120
"""Terminal cells that a source line may take; a longer line is shown around what is marked in it."""

_TAB = 4
_CUT = "…"
_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_BLUE = "\x1b[1;34m"
_COLOURS = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m", Severity.NOTE: "\x1b[1;36m"}

_JOINERS = "\u200c\u200d"
"""Invisible, and part of ordinary words and emoji."""


def render(diagnostics: Iterable[Diagnostic], source: Source, colour: bool = False, width: int = WIDTH) -> str:
    """Diagnostics as text, each followed by an empty line. `width` is in terminal cells; columns in
    `--> name:line:column` count code points."""
    pen = _Pen(colour)
    return "".join(_diagnostic(diagnostic, source, pen, max(width, 40)) + "\n" for diagnostic in diagnostics)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """How many of each severity, such as `2 errors, 1 warning`; empty when there are none."""
    severities = [diagnostic.code.severity for diagnostic in diagnostics]
    counts = ((severity.value, severities.count(severity)) for severity in Severity)
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for word, count in counts if count)


def to_json_lines(diagnostics: Iterable[Diagnostic], source: Source) -> str:
    """One JSON object (RFC 8259) a diagnostic, each on a line of its own. Lines and columns count from 1,
    columns in code points; an end is exclusive."""
    return "".join(json.dumps(_object(diagnostic, source)) + "\n" for diagnostic in diagnostics)


def _object(diagnostic: Diagnostic, source: Source) -> dict[str, object]:
    return {
        "code": diagnostic.code.id,
        "severity": diagnostic.code.severity.value,
        "message": diagnostic.message,
        "source": source.name,
        **_range(diagnostic.span, source),
        "labels": [{"text": label.text, **_range(label.span, source)} for label in diagnostic.labels],
        "help": list(diagnostic.help),
    }


def _range(span: Span, source: Source) -> dict[str, object]:
    start, end = source.place(span.start), source.place(span.end)
    return {"line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column}


@dataclass(frozen=True, slots=True)
class _Pen:
    """Writes in colour, or does not."""

    colour: bool

    def __call__(self, text: str, code: str) -> str:
        return f"{code}{text}{_RESET}" if self.colour and text else text


@dataclass(frozen=True, slots=True)
class _Underline:
    """A label on its first line: columns count from 0 in code points, `end` is exclusive."""

    line: int
    start: int
    end: int
    text: str
    primary: bool


def _diagnostic(diagnostic: Diagnostic, source: Source, pen: _Pen, width: int) -> str:
    severity = diagnostic.code.severity
    colour = _COLOURS[severity]
    head = pen(f"{severity.value}[{diagnostic.code.id}]", colour) + pen(f": {visible(diagnostic.message)}", _BOLD)
    marks = [_underline(label, source, index == 0) for index, label in enumerate(diagnostic.labels)]
    gutter = len(str(max((mark.line for mark in marks), default=1)))
    place = source.place(diagnostic.span.start)
    bar = " " * gutter + " " + pen("|", _BLUE)
    lines = [head, f"{' ' * gutter}{pen('-->', _BLUE)} {visible(source.name)}:{place}"]
    if marks:
        lines += [bar, *_snippet(marks, source, pen, colour, gutter, bar, width)]
    for help in diagnostic.help:
        first, *more = help.splitlines() or [""]
        lines.append(f"{' ' * gutter} {pen('=', _BLUE)} {pen('help', _BOLD)}: {visible(first)}")
        lines += [" " * (gutter + 9) + visible(line) for line in more]
    return "\n".join(lines) + "\n"


def _underline(label: Label, source: Source, primary: bool) -> _Underline:
    """A span that goes over several lines is underlined to the end of its first."""
    place = source.place(label.span.start)
    start = place.column - 1
    length = len(source.line(place.line))
    end = min(start + label.span.end - label.span.start, max(length, start))
    return _Underline(place.line, start, max(end, start + 1), label.text, primary)


def _snippet(
    marks: Sequence[_Underline], source: Source, pen: _Pen, colour: str, gutter: int, bar: str, width: int
) -> list[str]:
    """The marked lines in their order, each with its underlines below it."""
    lines: list[str] = []
    shown: int | None = None
    for number in sorted({mark.line for mark in marks}):
        if shown is not None and number > shown + 1:
            lines.append(pen("...", _BLUE))
        shown = number
        text = source.line(number)
        here = sorted((mark for mark in marks if mark.line == number), key=lambda mark: (mark.start, mark.end))
        # A long line is shown once for each mark, around it.
        for group in [here] if _fits(text, width) else [[mark] for mark in here]:
            start, end = (0, len(text)) if _fits(text, width) else _window(text, group[0], width)
            before, after = _CUT if start else "", _CUT if end < len(text) else ""
            line = before + _drawn(text[start:end]) + after
            lines.append(f"{pen(str(number).rjust(gutter), _BLUE)} {pen('|', _BLUE)}" + (f" {line}" if line else ""))
            for mark in group:
                indent = _cells(before + _drawn(text[start : mark.start]))
                marked = _drawn(text[mark.start : min(mark.end, end)], _cells(_drawn(text[start : mark.start])))
                under = ("^" if mark.primary else "-") * max(_cells(marked), 1)
                words = f"{under} {visible(mark.text)}" if mark.text else under
                lines.append(f"{bar} {' ' * indent}{pen(words, colour if mark.primary else _BLUE)}")
    return lines


def _cells(text: str) -> int:
    """How many cells of a terminal a text takes. Rich is loaded where something is drawn."""
    from rich.cells import cell_len

    return cell_len(text)


def _fits(text: str, width: int) -> bool:
    return len(text) <= width and _cells(_drawn(text)) <= width


def _window(text: str, mark: _Underline, width: int) -> tuple[int, int]:
    """The stretch of a long line that is shown: the mark, or its beginning, with as much on both sides."""
    length = min(mark.end - mark.start, width // 2)
    start = max(0, mark.start - (width - length) // 2)
    end = min(len(text), max(start + width, mark.start + length))
    while end > mark.start + length and _cells(_drawn(text[start:end])) > width - 2:
        end -= max(1, (_cells(_drawn(text[start:end])) - width) // 12)
        end = max(end, mark.start + length)
    while start < mark.start and _cells(_drawn(text[start:end])) > width - 2:
        start += 1
    return start, end


def _drawn(text: str, column: int = 0) -> str:
    """A stretch of a source line as it is shown: tabs as spaces to the next stop, nothing invisible."""
    if "\t" not in text:
        return visible(text)
    drawn = ""
    for index, stretch in enumerate(text.split("\t")):
        if index:
            drawn += " " * (_TAB - (column + _cells(drawn)) % _TAB)
        drawn += visible(stretch)
    return drawn


def visible(text: str) -> str:
    """Text that a terminal shows and does not obey: control and format characters, and spaces that are none to YAML, as
    visible signs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_sign(char) for char in text)


def _sign(char: str) -> str:
    point = ord(char)
    if point < 0x20:
        return chr(0x2400 + point)
    if point == 0x7F:
        return "\u2421"
    if char != " " and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs") and char not in _JOINERS:
        return f"<U+{point:04X}>"
    return char
