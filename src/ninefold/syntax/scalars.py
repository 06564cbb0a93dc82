"""What a scalar says: from the characters as written to text, each with its place, and to a value.

libyaml says where a scalar starts and ends; the text is read here from the source itself, because libyaml
does not say which source character made which character of the text. The two readings agree (a law in
`tests/laws/test_places.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import hexdigits

from ninefold.diagnostics import regex
from ninefold.diagnostics.frozen import dataclass
from ninefold.syntax.nodes import JSONScalar, Style

STYLES = {"'": Style.SINGLE, '"': Style.DOUBLE, "|": Style.LITERAL, ">": Style.FOLDED}

ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
"""YAML 1.2.2, section 5.7."""

HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}

_BREAK = regex.compile(r"\r\n|\n|\r")
_WHITE = regex.compile(r"[ \t]*(?:(?:\r\n|\n|\r)[ \t]*)*")
_OTHERWISE = {None: regex.compile(r"[\r\n]"), "'": regex.compile(r"[\r\n']"), '"': regex.compile(r"[\r\n\\]")}
"""What is not as it is written, by the quote around it."""
_PIECE = regex.compile(r"[^\\'\" \t\r\n]+")


@dataclass(frozen=True, slots=True)
class Read:
    """`text`, where each of its characters comes from, and where the content ends, as offsets in what was read."""

    text: str
    places: Sequence[int]
    end: int


def read_scalar(source: str, start: int, end: int, style: Style, hint: str) -> Read:
    """The text of the scalar `source[start:end]`, quotes and block header included in that stretch.

    `hint` is the text by libyaml. It is used for one thing, the indentation of a block scalar, which
    depends on everything around it.
    """
    match style:
        case Style.PLAIN:
            return _flow(source, start, end, None)
        case Style.SINGLE | Style.DOUBLE:
            return _flow(source, start + 1, max(start + 1, end - 1), source[start])
        case Style.LITERAL | Style.FOLDED:
            return _block(source, start, end, style is Style.FOLDED, hint)


def _flow(source: str, start: int, end: int, quote: str | None) -> Read:
    """A plain or quoted scalar (YAML 1.2.2, sections 7.3 and 6.5): white space around line breaks is folded."""
    if not _OTHERWISE[quote].search(source, start, end):
        return Read(source[start:end], range(start, end), end)
    text: list[str] = []
    places: list[int] = []

    def emit(made: str, at: int) -> None:
        text.append(made)
        places.extend([at] * len(made))

    at = start
    while at < end:
        char = source[at]
        if char in " \t\r\n":
            stop = min(_WHITE.match(source, at).end(), end)  # type: ignore[union-attr]  # it matches the empty text
            breaks = [found.start() for found in _BREAK.finditer(source, at, stop)]
            if not breaks:
                text.append(source[at:stop])
                places.extend(range(at, stop))
            elif len(breaks) == 1:
                emit(" ", breaks[0])
            else:
                for place in breaks[1:]:
                    emit("\n", place)
            at = stop
        elif char == "'" and quote == "'":
            emit("'", at)
            at += 2
        elif char == "\\" and quote == '"':
            made, stop = _escape(source, at, end)
            if made is None:
                # An escaped line break joins the lines; each empty line that follows is a line break.
                stop = min(_WHITE.match(source, stop).end(), end)  # type: ignore[union-attr]
                for found in list(_BREAK.finditer(source, at, stop))[1:]:
                    emit("\n", found.start())
            else:
                emit(made, at)
            at = stop
        else:
            piece = _PIECE.match(source, at, end)
            stop = piece.end() if piece else at + 1
            text.append(source[at:stop])
            places.extend(range(at, stop))
            at = stop
    return Read("".join(text), places, end)


def _escape(source: str, at: int, end: int) -> tuple[str | None, int]:
    """What the escape at `source[at]` makes, and where it stops; no text for an escaped line break.
    An escape that YAML does not know (it has its diagnostic) stands for its backslash."""
    letter = source[at + 1 : at + 2] if at + 1 < end else ""
    if letter in ("\r", "\n"):
        return None, at + (3 if source.startswith("\r\n", at + 1) else 2)
    if letter in ESCAPES:
        return ESCAPES[letter], at + 2
    if letter in HEX_ESCAPES:
        digits = source[at + 2 : min(end, at + 2 + HEX_ESCAPES[letter])]
        if len(digits) == HEX_ESCAPES[letter] and set(digits) <= set(hexdigits):
            point = int(digits, 16)
            if point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
                return chr(point), at + 2 + len(digits)
    return "\\", at + 1


def _block(source: str, start: int, end: int, folded: bool, hint: str) -> Read:
    """A literal or folded scalar (YAML 1.2.2, section 8.1)."""
    header = _BREAK.search(source, start, end)
    if header is None:
        return Read("", [], end)
    indicators = source[start + 1 : header.start()].split("#")[0]
    keeps, strips = "+" in indicators, "-" in indicators
    indent = _indentation(source, header.end(), end, hint)

    text: list[str] = []
    places: list[int] = []
    last_break: list[int] = []  # of the line before
    empty: list[int] = []  # breaks of the empty lines since
    was_deeper = False
    at = header.end()
    content_end = at
    while True:
        at = _empty_lines(source, at, end, indent, empty)
        if at >= end:
            break
        deeper = source[at] in " \t"
        if folded and last_break and not was_deeper and not deeper:
            if not empty:
                text.append(" ")
                places.extend(last_break)
        else:
            text.append("\n" * len(last_break))
            places.extend(last_break)
        text.append("\n" * len(empty))
        places.extend(empty)
        last_break, empty, was_deeper = [], [], deeper
        stop = _BREAK.search(source, at, end)
        line_end = stop.start() if stop else end
        text.append(source[at:line_end])
        places.extend(range(at, line_end))
        content_end = line_end
        if stop is None:
            break
        last_break = [stop.start()]
        at = content_end = stop.end()
    if strips:
        content_end = places[-1] + 1 if places else header.end()
    else:
        text.append("\n" * len(last_break))
        places.extend(last_break)
    if keeps:
        text.append("\n" * len(empty))
        places.extend(empty)
        content_end = end
    return Read("".join(text), places, min(content_end, end))


def _empty_lines(source: str, at: int, end: int, indent: int, empty: list[int]) -> int:
    """Passes the empty lines at `at`, adding their breaks to `empty`. Gives where the next content line's
    content starts, or `end` when the scalar has no more lines."""
    while at < end:
        column = 0
        while column < indent and at < end and source[at] == " ":
            at, column = at + 1, column + 1
        found = _BREAK.match(source, at, end)
        if found:
            empty.append(found.start())
            at = found.end()
        elif column == indent and at < end:
            return at
        else:
            return end
    return end


def _indentation(source: str, at: int, end: int, hint: str) -> int:
    """How many spaces each line of a block scalar loses: seen in its first line that has content."""
    lines = _BREAK.split(source[at:end])
    for made, line in zip(hint.split("\n"), lines, strict=False):
        if made:
            if not line.strip(" "):
                return len(line) - len(made)
            return (len(line) - len(line.lstrip(" "))) - (len(made) - len(made.lstrip(" ")))
    return max((len(line) for line in lines if not line.strip(" ")), default=0) + 1


_INTEGER = regex.compile(r"[-+]?[0-9]+")
_OCTAL = regex.compile(r"0o[0-7]+")
_HEXADECIMAL = regex.compile(r"0x[0-9a-fA-F]+")
_FLOAT = regex.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_JSON = regex.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: dict[str, JSONScalar] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip

LONGEST_NUMBER = 400
"""Digits. A double has at most 309 before the point; what is longer is no number that a contract means."""


def core_value(text: str) -> JSONScalar:
    """The value of a plain scalar by the YAML 1.2 core schema (YAML 1.2.2, section 10.3).

    Raises `OverflowError` for a number that JSON (RFC 8259, section 6) cannot hold.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _NOT_JSON.fullmatch(text):
        raise OverflowError(text)
    for pattern, radix in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            if len(text) > LONGEST_NUMBER:
                raise OverflowError(text)
            return int(text if radix == 10 else text[2:], radix)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not math.isfinite(number):
            raise OverflowError(text)
        return number
    return text


def quoted(text: str) -> str:
    """A text as a quoted scalar on one line, the way one would write it by hand."""
    plain = " ".join(text.split())
    if '"' in plain or "\\" in plain:
        return "'" + plain.replace("'", "''") + "'"
    return f'"{plain}"'
