"""What is written wrong first between braces and brackets: words without values, and calls with commas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ninefold.diagnostics.frozen import dataclass
from ninefold.syntax.codes import COMMA_IN_CALL, NO_SPACE, NO_VALUE
from ninefold.syntax.repair import Mark, Mask, Problem, Space
from ninefold.syntax.scalars import quoted
from ninefold.syntax.stretches import corrected

_COLON_INSIDE = re.compile(r"[^\s:]:(?=[^\s:/])")

_PATH = re.compile(r"[^\W\d]\w*(?:\.\w+)+")
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
