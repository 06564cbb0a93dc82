"""What libyaml could not read between braces or brackets: what is missing there, or is to be quoted."""

from __future__ import annotations

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import BRACKET_UNCLOSED, COLON_IN_TEXT, COMMA_IN_CALL, NEEDS_QUOTES, NOT_YAML
from ninefold.syntax.excerpt import Blank, Mark, Mask, Problem
from ninefold.syntax.nodes import Style
from ninefold.syntax.scalars import quoted
from ninefold.syntax.stops import LastScalar, Stop, after_quote, unread
from ninefold.syntax.stretches import (
    blank_from,
    closing_bracket,
    corrected,
    line_end,
    line_start,
    open_brackets,
    value_end,
)

_KEY_WITH_BRACES = regex.compile(r"[^{}\[\],:\r\n]*(?:\{[^{}\s,:]*\}[^{}\[\],:\s]*)+(?=:\s)")
"""A key such as `GET /orders/{id}`, with the colon that ends it."""

_COMMENT = regex.compile(r"'[^'\r\n]*'|\"[^\"\r\n]*\"|(?<=[ \t])(?P<hash>#[^\r\n]*)")
"""What stands in quotes, or else a comment."""

_OPEN_CALL = regex.compile(r"(?P<key>[\w$ -]+: +)(?P<value>[^{}\[\],'\"\r\n]*\([^{}\[\]()'\"\r\n]*),\s*$")
"""The end of a text before which an entry begins whose value is a call, and goes on behind a comma."""

_STATUS = regex.compile(r"[1-5][0-9]{2}")
"""A status, as `responses` has it: what follows it is what it shows."""


def between_brackets(stop: Stop) -> Problem:
    """Neither a comma nor the closing bracket where one of them has to be."""
    text, last = stop.text, stop.last
    if last is not None and stop.follows_last:
        if last.quoted and not stop.crosses_lines() and stop.char not in ("", "\r", "\n"):
            return _comma_before_quote(stop, last) or after_quote(stop, last)
        plain = last.style is Style.PLAIN
        closing = closing_bracket(text, stop.since)
        if stop.crosses_lines() and closing is not None and line_end(text, closing) == line_end(text, stop.at):
            return _broken_line(stop, last, closing)
        if plain and not stop.crosses_lines() and closing is not None:
            return _needs_quotes(stop, last)
    return _bracket_unclosed(stop, stop.since)


def _comma_before_quote(stop: Stop, last: LastScalar) -> Problem | None:
    """`key: f(x, 'y')` between braces, where the value ends at the comma and `'y'` begins another key."""
    text = stop.text
    found = _OPEN_CALL.search(text, line_start(text, last.start), last.start)
    end = None if found is None else _end_of_call(text, found.start("value"))
    if found is None or end is None or end < stop.at:
        return None
    start, comma = found.start("value"), found.end("value")
    help = (f"quote the expression: `{found['key'].strip()} {quoted(text[start:end])}`",)
    marks = (
        Mark(comma, comma + 1, "the value ends at this comma"),
        Mark(last.start, end, "read as a key without a value"),
    )
    return Problem(COMMA_IN_CALL, "the comma of a call is read as the end of the value", marks, help, Mask(start, end))


def _end_of_call(text: str, at: int) -> int | None:
    """Where an expression ends that has a call with commas: before what separates it from the next, on its line."""
    depth, quote = 0, ""
    for index in range(at, line_end(text, at)):
        char = text[index]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif depth == 0 and char in ",]}":
            return index
        elif char in ")]}":
            depth -= 1
    return None


def _broken_line(stop: Stop, last: LastScalar, closing: int) -> Problem:
    """A word between braces that a line break has cut in two."""
    text = stop.text
    mark = Mark(last.start, line_end(text, last.start), "goes on in the next line")
    repair = Blank(line_start(text, stop.since), line_end(text, closing))
    return Problem(NOT_YAML, "a key, or a text with a colon, goes over two lines", (mark,), (), repair)


def _needs_quotes(stop: Stop, last: LastScalar) -> Problem:
    text = stop.text
    key = _KEY_WITH_BRACES.match(text, last.start)
    if key is not None and stop.char == "{" and key.end() > stop.at:
        marks = (Mark(stop.at, stop.at + 1, "not without quotes here"), Mark(last.start, last.end, "in this key"))
        help = (f"quote the key: `{quoted(key[0])}: …`",)
        return Problem(NEEDS_QUOTES, "`{` in a key between braces", marks, help, Mask(key.start(), key.end()))
    end = max(value_end(text, last.start), stop.at + 1)
    help = (f"quote the text: `{corrected(text, last.start, end)}`",)
    if stop.char == ":":
        if _STATUS.fullmatch(text[last.start : stop.at]):
            help = (
                f"a mapping has braces: `{corrected(text, last.start, end).partition(': ')[0]}: "
                f"{{{text[last.start : end]}}}`",
            )
        colon = Mark(stop.at, stop.at + 1, "this colon ends a key")
        marks = (colon, Mark(last.start, last.end, "in this text, or after a missing comma"))
        return Problem(COLON_IN_TEXT, "a text without quotes has a colon in it", marks, help, Mask(last.start, end))
    marks = (Mark(stop.at, stop.at + 1, "not without quotes here"), Mark(last.start, last.end, "in this text"))
    return Problem(NEEDS_QUOTES, f"`{stop.char}` in a text between braces", marks, help, Mask(last.start, end))


def _bracket_unclosed(stop: Stop, at: int) -> Problem:
    text = stop.text
    char = text[at : at + 1]
    word = "brace" if char == "{" else "bracket"
    if char not in ("{", "["):
        return unread(stop)
    closing = closing_bracket(text, at)
    if closing is not None and not stop.crosses_lines():
        mark = Mark(stop.at, min(stop.at + 1, len(text)), "a comma or the closing " + word + " was expected here")
        repair = blank_from(text, at)
        repair = Blank(repair.start, max(repair.end, line_end(text, closing))) if repair else None
        return Problem(NOT_YAML, "this cannot be read as YAML", (mark, Mark(at, at + 1, "opened here")), (), repair)
    marks = [Mark(at, at + 1, f"this {word} is never closed")]
    if stop.at < len(text):
        marks.append(Mark(stop.at, stop.at + 1, "a comma or the closing " + word + " was expected by here"))
    closed_by = "}" if char == "{" else "]"
    help: tuple[str, ...] = (f"close it with `{closed_by}`",)
    comment = next(
        (each for each in _COMMENT.finditer(text, at, stop.at) if each["hash"] and closed_by in each["hash"]), None
    )
    if comment is not None:
        marks.append(Mark(*comment.span("hash"), "a comment"))
        help = ("`#` behind a space begins a comment, to the end of its line: a text that has it needs quotes",)
    return Problem(BRACKET_UNCLOSED, f"a {word} is never closed", tuple(marks), help, blank_from(text, at))


def no_flow_node(stop: Stop) -> Problem:
    """A value was expected between brackets, and there is a comma, a stray bracket, or the end."""
    opened = open_brackets(stop.text, stop.at)
    if opened and closing_bracket(stop.text, opened[-1]) is None:
        return _bracket_unclosed(stop, opened[-1])
    if stop.char == ",":
        mark = Mark(stop.at, stop.at + 1, "nothing stands before this comma")
        return Problem(NOT_YAML, "this cannot be read as YAML", (mark,), (), Blank(stop.at, stop.at + 1))
    return unread(stop, "a value was expected here")
