"""Where things end in a text that is not read yet: a value, a bracket, a line and what is indented below it; and what
is written wrong first between braces and brackets: words without values, and calls with commas.

These look at characters, not at YAML: they serve to say what a mistake was meant to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import COMMA_IN_CALL, NO_SPACE, NO_VALUE
from ninefold.diagnostics.frozen import dataclass
from ninefold.syntax.excerpt import Blank, Mark, Mask, Problem, Space
from ninefold.syntax.scalars import quoted

_PROPERTIES = regex.compile(r"(?:[!&]\S*|\s+|#[^\r\n]*)*")
_LINE_BREAK = regex.compile(r"[\r\n]")
_OPENING = {"{": "}", "[": "]"}
_BEFORE_A_QUOTE = " \t\r\n[{,:("
_LOOK_BACK = _LOOK_AHEAD = 4_000
"""Characters: a value that was meant is not longer, and looking for its end takes a bounded time."""

_TOP_LINE = regex.compile(r"^[^\s#]", re.MULTILINE)


def content_start(text: str, start: int, end: int) -> int:
    """Where the content of a node starts, after its tag and anchor."""
    found = _PROPERTIES.match(text, start, end)
    return found.end() if found else start


def line_start(text: str, at: int) -> int:
    before = text.rfind("\n", 0, at)
    return max(before, text.rfind("\r", before + 1, at)) + 1


def line_end(text: str, at: int) -> int:
    """The offset of the line break (or the end of the text) that ends the line of `at`."""
    found = _LINE_BREAK.search(text, at)
    return found.start() if found else len(text)


def open_brackets(text: str, at: int) -> list[int]:
    """The offsets of the braces and brackets that are open at `at`, from the outside in."""
    top = max(0, at - _LOOK_BACK)
    for found in _TOP_LINE.finditer(text, top, at):
        top = found.start()
    opened: list[int] = []
    scan = top
    while scan < at:
        char = text[scan]
        if char in "'\"" and (scan == top or text[scan - 1] in _BEFORE_A_QUOTE):
            scan = _quote_end(text, scan, at)
            continue
        if char == "#" and scan > top and text[scan - 1] in " \t\r\n":
            scan = line_end(text, scan)
            continue
        if char in _OPENING:
            opened.append(scan)
        elif char in "]}" and opened:
            opened.pop()
        scan += 1
    return opened


def value_end(text: str, start: int) -> int:
    """Where the value that starts at `text[start]` was probably meant to end: on its line, before a comment,
    and between braces before the comma or brace that ends it."""
    stop = min(line_end(text, start), start + _LOOK_AHEAD)
    comment = text.find(" #", start, stop)
    stop = stop if comment < 0 else comment
    if open_brackets(text, start):
        depth, scan = 0, start
        while scan < stop:
            char = text[scan]
            if char in "'\"" and (scan == start or text[scan - 1] in _BEFORE_A_QUOTE):
                scan = _quote_end(text, scan, stop)
                continue
            if depth == 0 and char in ",]}":
                stop = scan
                break
            depth += (char in "([{") - (char in ")]}")
            scan += 1
    return start + len(text[start:stop].rstrip())


def meant_end(text: str, at: int) -> int:
    """Where the text that starts at `text[at]` was probably meant to end: a key before its colon, and a value
    as `value_end` has it."""
    end = max(value_end(text, at), at + 1)
    before = text[line_start(text, at) : at].rstrip()
    if not before or before[-1] in "{,":
        colon = regex.compile(r":(?=\s|$)").search(text, at, end)
        end = max(colon.start(), at + 1) if colon else end
    return end


def corrected(text: str, start: int, end: int) -> str:
    """The value `text[start:end]` in quotes, behind its key where that is on the same line."""
    before = text[line_start(text, start) : start]
    if open_brackets(text, start):
        before = re.split(r"[{\[,]", before)[-1]
    key = before.strip().removeprefix("- ").strip()
    return f"{key} {quoted(text[start:end])}" if key.endswith(":") and key != ":" else quoted(text[start:end])


def closing_bracket(text: str, at: int) -> int | None:
    """The offset of the bracket that closes the one at `text[at]`, if there is one."""
    opened: list[str] = []
    scan = at
    while scan < len(text):
        char = text[scan]
        if char in "'\"" and text[scan - 1] in _BEFORE_A_QUOTE:
            scan = _quote_end(text, scan, len(text))
            continue
        if char == "#" and text[scan - 1] in " \t\r\n":
            scan = line_end(text, scan)
            continue
        if char in _OPENING:
            opened.append(_OPENING[char])
        elif char in "]}":
            if not opened or opened.pop() != char:
                return None
            if not opened:
                return scan
        scan += 1
    return None


def _quote_end(text: str, at: int, limit: int) -> int:
    """The offset after the quoted text at `text[at]`; after its quote alone where none closes it on its line."""
    stop = min(line_end(text, at), limit)
    scan = at + 1
    while scan < stop:
        if text[scan] == text[at]:
            return scan + 1
        scan += 2 if text[scan] == "\\" and text[at] == '"' else 1
    return at + 1


def blank_from(text: str, at: int, siblings: bool = False) -> Blank | None:
    """The line of `at` (or the last one before it that holds something) and the lines indented below it, with
    `siblings` those indented like it too; nothing when no such line is left."""
    before = text[: line_end(text, at)].rstrip()
    if not before:
        return None
    start = line_start(text, len(before))
    indent = indentation(text, start)
    scan = line_end(text, len(before))
    while scan < len(text):
        following = scan + (2 if text.startswith("\r\n", scan) else 1)
        stop = line_end(text, following)
        if text[following:stop].strip() and indentation(text, following) < indent + (not siblings):
            break
        scan = stop
    return Blank(start, scan)


def blank_of_tabs(text: str, start: int) -> Blank:
    """The line that begins at `start` with a tab, and what is below it: one mistake, however many lines have tabs. What
    is indented deeper than the line above is left out with them: whether it belongs to them nobody can say."""
    above = text[:start].rstrip()
    depth = indentation(text, line_start(text, len(above)))
    scan = line_end(text, start)
    while scan < len(text):
        following = scan + (2 if text.startswith("\r\n", scan) else 1)
        stop = line_end(text, following)
        indent = indentation(text, following)
        if text[following:stop].strip() and indent <= depth and "\t" not in text[following : following + indent]:
            break
        scan = stop
    return Blank(start, scan)


def indentation(text: str, start: int) -> int:
    scan = start
    while scan < len(text) and text[scan] in " \t":
        scan += 1
    return scan - start


# ── Between braces and brackets ──────────────────────────────────────────────────────────────────────────────────────


_COLON_INSIDE = regex.compile(r"[^\s:]:(?=[^\s:/])")

_PATH = regex.compile(r"[^\W\d]\w*(?:\.\w+)+")
"""What reads a field: `task.id`."""

_MOST_ARGUMENTS = 20


@dataclass(frozen=True, slots=True)
class Piece:
    """What stands between two commas: an item, or an entry with its key. `text[start:end]` is the value (the
    key, where there is no value)."""

    key: Mark | None
    start: int
    end: int
    plain: bool
    lone: bool


def in_flow(text: str, start: int, end: int, pieces: list[Piece], mapping: bool) -> Iterator[Problem]:
    """What is wrong with the collection `text[start:end]`, whose closing bracket is read."""
    lone: list[Piece] = []
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        after = _end_of_call(text, pieces, at, mapping)
        if after > at + 1:
            yield _comma_in_call(text, pieces[at], pieces[at + 1 : after])
        elif mapping and (after := _end_of_name(text, pieces, at)) > at + 1:
            yield _comma_in_name(text, piece, pieces[after - 1])
        elif piece.lone:
            lone.append(piece)
        at = after
    for piece in [piece for piece in lone if _COLON_INSIDE.search(text, piece.start, piece.end)]:
        lone.remove(piece)
        yield _no_space(text, piece)
    if lone:
        before = next((a for a, b in pairwise(pieces) if b is lone[0] and a.plain and not a.lone), None)
        yield _no_value(text, start, end, lone, before, only=len(lone) == len(pieces))


def _end_of_call(text: str, pieces: list[Piece], at: int, mapping: bool) -> int:
    """The index after the pieces of a call that starts in piece `at`; `at + 1` when it is no such call."""
    depth, after = 0, at
    while after < min(len(pieces), at + _MOST_ARGUMENTS):
        piece = pieces[after]
        if not piece.plain or (mapping and piece.lone != (after > at)):
            break
        written = text[piece.start : piece.end]
        depth += written.count("(") - written.count(")")
        after += 1
        if depth <= 0:
            return after
    return at + 1


def _end_of_name(text: str, pieces: list[Piece], at: int) -> int:
    """The index after the pieces of a name with parameters that starts in piece `at`; `at + 1` when it is none."""
    opened = text[pieces[at].start : pieces[at].end]
    if not (pieces[at].lone and opened.count("(") == 1 and ")" not in opened):
        return at + 1
    for after, piece in enumerate(pieces[at + 1 : at + _MOST_ARGUMENTS], at + 1):
        written = text[piece.key.start : piece.key.end] if piece.key else text[piece.start : piece.end]
        if not piece.lone:
            return after + 1 if written.endswith(")") and "(" not in written else at + 1
    return at + 1


def _comma_in_name(text: str, first: Piece, last: Piece) -> Problem:
    assert last.key is not None
    name = text[first.start : last.key.end]
    mark = Mark(first.end, first.end + 1, "the name ends at this comma")
    help = (f'quote the name: `"{name}": {text[last.start : last.end]}`',)
    return Problem(COMMA_IN_CALL, "the comma of a name is read as the end of it", (mark,), help,
                   Mask(first.start, last.key.end))  # fmt: skip


def _comma_in_call(text: str, first: Piece, rest: list[Piece]) -> Problem:
    meant = text[first.start : rest[-1].end]
    key = f"{text[first.key.start : first.key.end]}: " if first.key else ""
    read_as = "read as a key without a value" if first.key else "read as another item"
    marks = (
        Mark(first.end, first.end + 1, "the value ends at this comma"),
        *(Mark(piece.start, piece.end, read_as) for piece in rest),
    )
    message = "the comma of a call is read as the end of the value"
    help = (f"quote the expression: `{key}{quoted(meant)}`",)
    return Problem(COMMA_IN_CALL, message, marks, help, Mask(first.start, rest[-1].end))


def _no_space(text: str, piece: Piece) -> Problem:
    found = _COLON_INSIDE.search(text, piece.start, piece.end)
    colon = found.end() - 1 if found else piece.start
    help = f"write `{text[piece.start : colon]}: {text[colon + 1 : piece.end]}`"
    mark = Mark(colon, colon + 1, "no space after this colon")
    return Problem(NO_SPACE, "a space is missing after a colon", (mark,), (help,), Space(colon + 1))


def _no_value(text: str, start: int, end: int, lone: list[Piece], before: Piece | None, only: bool) -> Problem:
    words = [text[piece.start : piece.end] for piece in lone]
    marks = tuple(Mark(p.start, p.end, "a key without a value") for p in lone)
    message = f"the key `{words[0]}` has no value" if len(lone) == 1 else f"{len(lone)} keys have no value"
    help: tuple[str, ...] = ()
    if only and end - start <= 120:
        as_text = corrected(text, start, end)
        key, colon, _ = as_text.partition(": ")
        key = f"{key}: " if colon else ""
        if len(lone) == 1 and _PATH.fullmatch(words[0]):
            help = (f"an expression stands without braces: `{key}{words[0]}`",)
        else:
            help = (f"a list has brackets: `{key}[{', '.join(words)}]`", f"as a text it is quoted: `{as_text}`")
    elif before is not None and before.key is not None:
        items, key = ", ".join((text[before.start : before.end], *words)), text[before.key.start : before.key.end]
        help = (f"a list has brackets: `{key}: [{items}]`", f'as a text it is quoted: `{key}: "{items}"`')
    return Problem(NO_VALUE, message, marks, help)
