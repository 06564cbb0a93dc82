"""What libyaml could not read, in plain words: which mistake it was, where, and how reading goes on.

libyaml says where it stopped and what it was doing. What it says is matched here, by its own words, against
the mistakes that people make; the last scalar that it read tells most of them apart.
"""

from __future__ import annotations

from dataclasses import replace

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import (
    ANCHOR,
    CANNOT_START,
    COLON_IN_TEXT,
    DIRECTIVE,
    ESCAPE,
    EXPRESSION_AS_TAG,
    INDENTATION,
    NEITHER_KEY_NOR_VALUE,
    NO_SPACE,
    NOT_A_KEY,
    NOT_YAML,
    SECOND_DOCUMENT,
    TAB,
)
from ninefold.syntax.brackets import between_brackets, no_flow_node
from ninefold.syntax.excerpt import Blank, Mark, Mask, Problem, Space
from ninefold.syntax.indentation import between_columns, first_line, moved
from ninefold.syntax.libraries import yaml
from ninefold.syntax.stops import LastScalar, Stop, after_quote, quote_unclosed, unread
from ninefold.syntax.stretches import blank_from, blank_of_tabs, corrected, line_end, line_start, meant_end, value_end

_MISSING_SPACE = regex.compile(r"[ \t]*(?:- +)*([^\s:#'\"{\[&*!|>@`%-][^:#\r\n]*:)(?=[^\s:/])")
_DASH_AND_TEXT = regex.compile(r"[ \t]*(?:- +)*-(?=[^\s-])")
_VALUE_WITH_TAG = regex.compile(r"(?:^|[:\[{,-])[ \t]+(![^\r\n]*)$|^[ \t]*(![^\r\n]*)$")
_UTF_16 = regex.compile(r"(?:\\u[0-9a-fA-F]{4})+")
"""What JSON writes for a character outside the basic plane: two escapes, which are not one to YAML."""

_LINE_WITH_KEY = regex.compile(r"(?m)^[ \t]*(?:- )?[\w$ ]+:(?:\s|$)")

_LONGEST_KEY = 1024
"""Characters: YAML 1.2.2, section 7.4.2."""


def diagnose(error: yaml.YAMLError, text: str, last: LastScalar | None) -> Problem:
    """The problem with `text` that libyaml stopped at. `last` is the last scalar that it read."""
    at = len(text)
    since, doing, problem = at, "", str(error)
    if isinstance(error, yaml.MarkedYAMLError):
        doing, problem = error.context or "", error.problem or ""
        at = min(error.problem_mark.index, at) if error.problem_mark else at
        since = min(error.context_mark.index, at) if error.context_mark else at
    stop = Stop(text, at, since, last)
    match doing, problem:
        case _, "mapping values are not allowed in this context":
            return _colon(stop)
        case _, "found character that cannot start any token":
            return _tab(stop) if stop.char == "\t" else _cannot_start(stop, stop.at)
        case _, "found a tab character that violates indentation":
            return _tab(stop)
        case _, "found a tab character where an indentation space is expected":
            return _tab(stop)
        case "while scanning a tag", _:
            return _tag(stop, since)
        case (("while scanning an anchor" | "while scanning an alias"), _):
            return _anchor(stop)
        case (("while scanning a quoted scalar" | "while parsing a quoted scalar"), _):
            if "escape" in problem or "hexdecimal" in problem:
                return _escape(stop)
            return quote_unclosed(stop, since)
        case "while scanning a simple key", _:
            return _no_colon(stop)
        case "while scanning a block scalar", _:
            return _cannot_start(stop, since)
        case "while scanning a directive", _:
            return _directive(stop, since)
        case _, _ if problem == "found incompatible YAML document" or problem.startswith("found duplicate %"):
            return _directive(stop, at)
        case _, "did not find expected <document start>":
            return _after_the_end(stop)
        case (("while parsing a flow mapping" | "while parsing a flow sequence"), _):
            return between_brackets(stop)
        case "while parsing a flow node", _:
            return no_flow_node(stop)
        case _, "mapping keys are not allowed in this context":
            return _cannot_start(stop, at)
        case _, "block sequence entries are not allowed in this context":
            return _list_on_line(stop)
        case (("while parsing a block mapping" | "while parsing a block collection"), _):
            return _misplaced(stop)
        case "while parsing a block node", _ if stop.char in ("}", "]"):
            message = f"`{stop.char}` closes nothing"
            mark = Mark(at, at + 1, "no brace or bracket is open here")
            return Problem(NOT_YAML, message, (mark,), (), Mask(at, value_end(text, at)))
    return unread(stop)


def _colon(stop: Stop) -> Problem:
    """A colon with a space where no key can be."""
    text, at, last = stop.text, stop.at, stop.last
    colon = Mark(at, at + 1, "this colon ends a key")
    start = line_start(text, at)
    if at - start > _LONGEST_KEY and ": " not in text[start:at]:
        mark = Mark(start, start + 1, f"{at - start} characters before the colon")
        return Problem(NOT_A_KEY, f"a key is longer than {_LONGEST_KEY} characters", (mark,), (), blank_from(text, at))
    if last is None or not stop.follows_last:
        return unread(stop, "a colon where no key can be")
    if stop.crosses_lines():
        found = _MISSING_SPACE.match(text, line_start(text, last.start))
        if found and found.start(1) == last.start:
            return _space_after(text, found.end())
        if last.quoted:
            return quote_unclosed(stop, last.start)
        first = Mark(last.start, line_end(text, last.start), "this text goes on in the lines below it")
        key = Mark(at - len(text[start:at].strip()), at + 1, "indented as more of the text above")
        message = "the indentation makes this line part of the text above it"
        return Problem(INDENTATION, message, (key, first), (), moved(text, at, last.start))
    stop_at = value_end(text, last.start)
    if stop_at <= at:
        return unread(stop, "a colon where no key can be")
    help = (f"quote the text: `{corrected(text, last.start, stop_at)}`",)
    marks = (colon, Mark(last.start, last.end, "in this text"))
    return Problem(COLON_IN_TEXT, "a text without quotes has a colon in it", marks, help, Mask(last.start, stop_at))


def _space_after(text: str, at: int) -> Problem:
    """A colon or a dash at `text[at - 1]` that has text right behind it."""
    char = text[at - 1]
    word = "colon" if char == ":" else "dash"
    line = text[line_start(text, at) : line_end(text, at)]
    cut = at - line_start(text, at)
    help = (f"write `{(line[:cut] + ' ' + line[cut:]).strip()}`",)
    mark = Mark(at - 1, at, f"no space after this {word}")
    return Problem(NO_SPACE, f"a space is missing after a {word}", (mark,), help, Space(at))


def _no_colon(stop: Stop) -> Problem:
    """A line that began like a key, and has no colon."""
    text, since = stop.text, stop.since
    start = line_start(text, since)
    if text[since : since + 1] in ("'", '"') and not text[since + 1 : line_end(text, since)].count(text[since]):
        return quote_unclosed(stop, since)
    for pattern in (_MISSING_SPACE, _DASH_AND_TEXT):
        found = pattern.match(text, start)
        if found:
            return _space_after(text, found.end())
    mark = Mark(since, since + len(text[since : line_end(text, since)].rstrip()), "no colon on this line")
    repair = blank_from(text, since)
    return Problem(NEITHER_KEY_NOR_VALUE, "a line is neither a key nor a value", (mark,), (), repair)


def _tab(stop: Stop) -> Problem:
    text = stop.text
    start = line_start(text, stop.at)
    at = text.find("\t", start, line_end(text, stop.at) + 1)
    at = stop.at if at < 0 else at
    end = at
    while text[end : end + 1] == "\t":
        end += 1
    mark = Mark(at, end, "a tab")
    help = ("indent with spaces",)
    if text[start:at].strip(" "):
        return Problem(TAB, "a tab stands where YAML counts columns", (mark,), help, Blank(at, end))
    return Problem(TAB, "a tab is used as indentation", (mark,), help, blank_of_tabs(text, start))


def _cannot_start(stop: Stop, at: int) -> Problem:
    """`@`, a backtick, `%`, or a `|`, `>` or `?` that begins no block and no key."""
    text = stop.text
    if not _begins_text(text, at):
        return unread(stop)
    end = meant_end(text, at)
    char = text[at : at + 1]
    name = "a backtick" if char == "`" else f"`{char}`"
    mark = Mark(at, at + 1, "not at the start of a text")
    help = (f"quote the text: `{corrected(text, at, end)}`",)
    stands_alone = not text[line_start(text, at) : at].strip() and text[end : end + 1] != ":"
    repair = blank_from(text, at) if stands_alone else Mask(at, end)
    return Problem(CANNOT_START, f"a text without quotes starts with {name}", (mark,), help, repair)


def _begins_text(text: str, at: int) -> bool:
    """Whether a key, a value or an item can begin at `text[at]`."""
    before = text[line_start(text, at) : at].rstrip()
    return not before or before[-1] in ":,[{-?"


def _tag(stop: Stop, at: int) -> Problem:
    """An expression such as `!paid`, read as a tag that is not even one."""
    end = meant_end(stop.text, at)
    written = stop.text[at:end]
    mark = Mark(at, at + len(written.split()[0]), "read as a tag")
    help = (f"quote the expression: `{corrected(stop.text, at, end)}`",)
    message = "an expression that starts with `!` is read as a tag"
    return Problem(EXPRESSION_AS_TAG, message, (mark,), help, Mask(at, end))


def _anchor(stop: Stop) -> Problem:
    text, at = stop.text, stop.since
    tagged = _VALUE_WITH_TAG.search(text[line_start(text, at) : at])
    if tagged:  # `!a && b`: the tag is the mistake, and the ampersands its consequence
        return _tag(stop, line_start(text, at) + max(tagged.start(1), tagged.start(2)))
    if not _begins_text(text, at):
        return unread(replace(stop, at=at))
    end = meant_end(text, at)
    kind = "an anchor" if text[at : at + 1] == "&" else "an alias"
    mark = Mark(at, at + 1, f"starts {kind}")
    help = (f"as a text it is quoted: `{corrected(text, at, end)}`",)
    return Problem(ANCHOR, f"a value that starts with `{text[at : at + 1]}` is {kind}", (mark,), help, Mask(at, end))


def _escape(stop: Stop) -> Problem:
    text = stop.text
    at = text.rfind("\\", stop.since, stop.at + 1)
    at = stop.at if at < 0 else at
    if _LINE_WITH_KEY.search(text, line_end(text, stop.since), at):
        return quote_unclosed(stop, stop.since)  # whatever has been swallowed since is no part of the text
    pair = _UTF_16.match(text, at)
    end = pair.end() if pair else min(max(stop.at + 1, at + 2), line_end(text, at))
    written = text[at:end]
    help: tuple[str, ...] = ("a backslash that is meant is written twice",)
    closing = text.find('"', end)
    if pair:
        help = ("a character outside the basic plane is written `\\U` and eight digits, or as itself",)
    elif 0 <= closing <= line_end(text, at) and "'" not in text[stop.since : closing]:
        help = (f"between single quotes it is an ordinary character: `'{text[stop.since + 1 : closing]}'`",)
    mark = Mark(at, end, "no escape of YAML")
    return Problem(ESCAPE, f"`{written}` is no escape", (mark,), help, Mask(at, end if pair else at + 1))


def _directive(stop: Stop, at: int) -> Problem:
    start = line_start(stop.text, at)
    end = line_end(stop.text, at)
    return Problem(DIRECTIVE, "a YAML directive", (Mark(start, end, "a directive"),), (), Blank(start, end))


def _after_the_end(stop: Stop) -> Problem:
    """Something after the one node that a block is."""
    text, at, last = stop.text, stop.at, stop.last
    before = text[:at].rstrip()
    if before.endswith("...") and line_start(text, len(before)) == len(before) - 3:
        mark = Mark(len(before) - 3, len(before), "the document ends here, and another follows")
        repair = Blank(len(before) - 3, len(before))
        return Problem(SECOND_DOCUMENT, "the block holds a second YAML document", (mark,), (), repair)
    first = first_line(text, at) if stop.begins_line else None
    if last is not None and last.quoted and stop.follows_last:
        return quote_unclosed(stop, last.start) if stop.crosses_lines() else first or after_quote(stop, last)
    return first or unread(stop, f"`{stop.char}` closes nothing" if stop.char in ("}", "]") else "not expected here")


def _list_on_line(stop: Stop) -> Problem:
    """`key: - item`: a list cannot start on the line of its key."""
    text, at = stop.text, stop.at
    end = max(value_end(text, at), at + 1)
    mark = Mark(at, at + 1, "a list cannot start on the line of its key")
    item = text[at:end].lstrip("- ")
    help = (f"write `[{item}]`, or the items on lines of their own",)
    return Problem(NOT_YAML, "a list starts on the line of its key", (mark,), help, Mask(at, end))


def _misplaced(stop: Stop) -> Problem:
    """A line, or the rest of one, that fits none of the mappings and lists that are open."""
    text, at, since, last = stop.text, stop.at, stop.since, stop.last
    if last is not None and last.quoted and stop.follows_last and not (stop.begins_line and not stop.crosses_lines()):
        return quote_unclosed(stop, last.start) if stop.crosses_lines() else after_quote(stop, last)
    if stop.char == ":":
        mark = Mark(at, at + 1, "no key before this colon")
        return Problem(NOT_A_KEY, "a key is empty", (mark,), (), blank_from(text, at))
    if not stop.begins_line:
        label = f"`{stop.char}` closes nothing" if stop.char in ("}", "]") else "not expected after the value"
        return unread(stop, label)
    if (between := between_columns(text, at, since)) is not None:
        return between
    line = Mark(at, at + len(text[at : line_end(text, at)].rstrip()), "fits nothing above it")
    marks = (line, Mark(since, since + 1, "the entries stand in this column"))[: 1 + (since < at)]
    return Problem(INDENTATION, "the indentation of a line fits nothing above it", marks, (), moved(text, at, since))
