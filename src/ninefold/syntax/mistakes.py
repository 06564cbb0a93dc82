"""What libyaml could not read, in plain words: which mistake it was, where, and how reading goes on.

libyaml says where it stopped and what it was doing. What it says is matched here, by its own words, against
the mistakes that people make; the last scalar that it read tells most of them apart.
"""

from __future__ import annotations

from dataclasses import replace

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import (
    AFTER_QUOTE,
    ANCHOR,
    BRACKET_UNCLOSED,
    CANNOT_START,
    COLON_IN_TEXT,
    COMMA_IN_CALL,
    DIRECTIVE,
    ESCAPE,
    EXPRESSION_AS_TAG,
    INDENTATION,
    NEEDS_QUOTES,
    NEITHER_KEY_NOR_VALUE,
    NO_SPACE,
    NOT_A_KEY,
    NOT_YAML,
    QUOTE_UNCLOSED,
    SECOND_DOCUMENT,
    TAB,
)
from ninefold.diagnostics.frozen import dataclass
from ninefold.syntax.excerpt import Blank, Mark, Mask, Problem, Space
from ninefold.syntax.indentation import first_line, moved
from ninefold.syntax.libraries import yaml
from ninefold.syntax.nodes import Style
from ninefold.syntax.scalars import quoted
from ninefold.syntax.stretches import (
    blank_from,
    blank_of_tabs,
    closing_bracket,
    corrected,
    line_end,
    line_start,
    meant_end,
    open_brackets,
    value_end,
)

_MISSING_SPACE = regex.compile(r"[ \t]*(?:- +)*([^\s:#'\"{\[&*!|>@`%-][^:#\r\n]*:)(?=[^\s:/])")
_DASH_AND_TEXT = regex.compile(r"[ \t]*(?:- +)*-(?=[^\s-])")
_VALUE_WITH_TAG = regex.compile(r"(?:^|[:\[{,-])[ \t]+(![^\r\n]*)$|^[ \t]*(![^\r\n]*)$")
_UTF_16 = regex.compile(r"(?:\\u[0-9a-fA-F]{4})+")
"""What JSON writes for a character outside the basic plane: two escapes, which are not one to YAML."""

_LINE_WITH_KEY = regex.compile(r"(?m)^[ \t]*(?:- )?[\w$ ]+:(?:\s|$)")
_KEY_WITH_BRACES = regex.compile(r"[^{}\[\],:\r\n]*(?:\{[^{}\s,:]*\}[^{}\[\],:\s]*)+(?=:\s)")
"""A key such as `GET /orders/{id}`, with the colon that ends it."""

_OPEN_CALL = regex.compile(r"(?P<key>[\w$ -]+: +)(?P<value>[^{}\[\],'\"\r\n]*\([^{}\[\]()'\"\r\n]*),\s*$")
"""The end of a text before which an entry begins whose value is a call, and goes on behind a comma."""

_STATUS = regex.compile(r"[1-5][0-9]{2}")
"""A status, as `responses` has it: what follows it is what it shows."""

_LONGEST_KEY = 1024
"""Characters: YAML 1.2.2, section 7.4.2."""


@dataclass(frozen=True, slots=True)
class LastScalar:
    """The scalar that was read last: `text[start:end]`."""

    start: int
    end: int
    style: Style

    @property
    def quoted(self) -> bool:
        return self.style in (Style.SINGLE, Style.DOUBLE)


@dataclass(frozen=True, slots=True)
class _Stop:
    """Where reading stopped: at `text[at]`, in something that began at `text[since]`."""

    text: str
    at: int
    since: int
    last: LastScalar | None

    @property
    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    @property
    def begins_line(self) -> bool:
        return not self.text[line_start(self.text, self.at) : self.at].strip()

    @property
    def follows_last(self) -> bool:
        """Whether nothing but white space stands between the last scalar and the place."""
        return self.last is not None and not self.text[self.last.end : self.at].strip()

    def crosses_lines(self) -> bool:
        """Whether the last scalar goes over more than one line."""
        return self.last is not None and line_end(self.text, self.last.start) < self.last.end


def diagnose(error: yaml.YAMLError, text: str, last: LastScalar | None) -> Problem:
    """The problem with `text` that libyaml stopped at. `last` is the last scalar that it read."""
    at = len(text)
    since, doing, problem = at, "", str(error)
    if isinstance(error, yaml.MarkedYAMLError):
        doing, problem = error.context or "", error.problem or ""
        at = min(error.problem_mark.index, at) if error.problem_mark else at
        since = min(error.context_mark.index, at) if error.context_mark else at
    stop = _Stop(text, at, since, last)
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
            return _quote_unclosed(stop, since)
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
            return _between_brackets(stop)
        case "while parsing a flow node", _:
            return _no_flow_node(stop)
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
    return _unread(stop)


def _unread(stop: _Stop, label: str = "not expected here") -> Problem:
    """What has no description of its own."""
    mark = Mark(stop.at, min(stop.at + 1, len(stop.text)), label)
    rest = line_end(stop.text, stop.at)
    repair = Blank(stop.at, rest) if rest > stop.at and not stop.begins_line else blank_from(stop.text, stop.at)
    return Problem(NOT_YAML, "this cannot be read as YAML", (mark,), (), repair)


def _colon(stop: _Stop) -> Problem:
    """A colon with a space where no key can be."""
    text, at, last = stop.text, stop.at, stop.last
    colon = Mark(at, at + 1, "this colon ends a key")
    start = line_start(text, at)
    if at - start > _LONGEST_KEY and ": " not in text[start:at]:
        mark = Mark(start, start + 1, f"{at - start} characters before the colon")
        return Problem(NOT_A_KEY, f"a key is longer than {_LONGEST_KEY} characters", (mark,), (), blank_from(text, at))
    if last is None or not stop.follows_last:
        return _unread(stop, "a colon where no key can be")
    if stop.crosses_lines():
        found = _MISSING_SPACE.match(text, line_start(text, last.start))
        if found and found.start(1) == last.start:
            return _space_after(text, found.end())
        if last.quoted:
            return _quote_unclosed(stop, last.start)
        first = Mark(last.start, line_end(text, last.start), "this text goes on in the lines below it")
        key = Mark(at - len(text[start:at].strip()), at + 1, "indented as more of the text above")
        message = "the indentation makes this line part of the text above it"
        return Problem(INDENTATION, message, (key, first), (), moved(text, at, last.start))
    stop_at = value_end(text, last.start)
    if stop_at <= at:
        return _unread(stop, "a colon where no key can be")
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


def _no_colon(stop: _Stop) -> Problem:
    """A line that began like a key, and has no colon."""
    text, since = stop.text, stop.since
    start = line_start(text, since)
    if text[since : since + 1] in ("'", '"') and not text[since + 1 : line_end(text, since)].count(text[since]):
        return _quote_unclosed(stop, since)
    for pattern in (_MISSING_SPACE, _DASH_AND_TEXT):
        found = pattern.match(text, start)
        if found:
            return _space_after(text, found.end())
    mark = Mark(since, since + len(text[since : line_end(text, since)].rstrip()), "no colon on this line")
    repair = blank_from(text, since)
    return Problem(NEITHER_KEY_NOR_VALUE, "a line is neither a key nor a value", (mark,), (), repair)


def _tab(stop: _Stop) -> Problem:
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


def _cannot_start(stop: _Stop, at: int) -> Problem:
    """`@`, a backtick, `%`, or a `|`, `>` or `?` that begins no block and no key."""
    text = stop.text
    if not _begins_text(text, at):
        return _unread(stop)
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


def _tag(stop: _Stop, at: int) -> Problem:
    """An expression such as `!paid`, read as a tag that is not even one."""
    end = meant_end(stop.text, at)
    written = stop.text[at:end]
    mark = Mark(at, at + len(written.split()[0]), "read as a tag")
    help = (f"quote the expression: `{corrected(stop.text, at, end)}`",)
    message = "an expression that starts with `!` is read as a tag"
    return Problem(EXPRESSION_AS_TAG, message, (mark,), help, Mask(at, end))


def _anchor(stop: _Stop) -> Problem:
    text, at = stop.text, stop.since
    tagged = _VALUE_WITH_TAG.search(text[line_start(text, at) : at])
    if tagged:  # `!a && b`: the tag is the mistake, and the ampersands its consequence
        return _tag(stop, line_start(text, at) + max(tagged.start(1), tagged.start(2)))
    if not _begins_text(text, at):
        return _unread(replace(stop, at=at))
    end = meant_end(text, at)
    kind = "an anchor" if text[at : at + 1] == "&" else "an alias"
    mark = Mark(at, at + 1, f"starts {kind}")
    help = (f"as a text it is quoted: `{corrected(text, at, end)}`",)
    return Problem(ANCHOR, f"a value that starts with `{text[at : at + 1]}` is {kind}", (mark,), help, Mask(at, end))


def _escape(stop: _Stop) -> Problem:
    text = stop.text
    at = text.rfind("\\", stop.since, stop.at + 1)
    at = stop.at if at < 0 else at
    if _LINE_WITH_KEY.search(text, line_end(text, stop.since), at):
        return _quote_unclosed(stop, stop.since)  # whatever has been swallowed since is no part of the text
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


def _quote_unclosed(stop: _Stop, at: int) -> Problem:
    text = stop.text
    mark = Mark(at, at + 1, "opened here")
    message = "a quotation is never closed"
    help = (f"close it with {text[at]} on its line",)
    if stop.last is not None and stop.last.start == at:
        message = "a quotation is closed by the next one's quote"
        closing = Mark(stop.last.end - 1, stop.last.end, "closed here")
        return Problem(QUOTE_UNCLOSED, message, (mark, closing), help, blank_from(text, at))
    return Problem(QUOTE_UNCLOSED, message, (mark,), help, blank_from(text, at))


def _directive(stop: _Stop, at: int) -> Problem:
    start = line_start(stop.text, at)
    end = line_end(stop.text, at)
    return Problem(DIRECTIVE, "a YAML directive", (Mark(start, end, "a directive"),), (), Blank(start, end))


def _after_the_end(stop: _Stop) -> Problem:
    """Something after the one node that a block is."""
    text, at, last = stop.text, stop.at, stop.last
    before = text[:at].rstrip()
    if before.endswith("...") and line_start(text, len(before)) == len(before) - 3:
        mark = Mark(len(before) - 3, len(before), "the document ends here, and another follows")
        repair = Blank(len(before) - 3, len(before))
        return Problem(SECOND_DOCUMENT, "the block holds a second YAML document", (mark,), (), repair)
    first = first_line(text, at) if stop.begins_line else None
    if last is not None and last.quoted and stop.follows_last:
        return _quote_unclosed(stop, last.start) if stop.crosses_lines() else first or _after_quote(stop, last)
    return first or _unread(stop, f"`{stop.char}` closes nothing" if stop.char in ("}", "]") else "not expected here")


def _between_brackets(stop: _Stop) -> Problem:
    """Neither a comma nor the closing bracket where one of them has to be."""
    text, last = stop.text, stop.last
    if last is not None and stop.follows_last:
        if last.quoted and not stop.crosses_lines() and stop.char not in ("", "\r", "\n"):
            return _comma_before_quote(stop, last) or _after_quote(stop, last)
        plain = last.style is Style.PLAIN
        closing = closing_bracket(text, stop.since)
        if stop.crosses_lines() and closing is not None and line_end(text, closing) == line_end(text, stop.at):
            return _broken_line(stop, last, closing)
        if plain and not stop.crosses_lines() and closing is not None:
            return _needs_quotes(stop, last)
    return _bracket_unclosed(stop, stop.since)


def _comma_before_quote(stop: _Stop, last: LastScalar) -> Problem | None:
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


def _broken_line(stop: _Stop, last: LastScalar, closing: int) -> Problem:
    """A word between braces that a line break has cut in two."""
    text = stop.text
    mark = Mark(last.start, line_end(text, last.start), "goes on in the next line")
    repair = Blank(line_start(text, stop.since), line_end(text, closing))
    return Problem(NOT_YAML, "a key, or a text with a colon, goes over two lines", (mark,), (), repair)


def _needs_quotes(stop: _Stop, last: LastScalar) -> Problem:
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


def _bracket_unclosed(stop: _Stop, at: int) -> Problem:
    text = stop.text
    char = text[at : at + 1]
    word = "brace" if char == "{" else "bracket"
    if char not in ("{", "["):
        return _unread(stop)
    closing = closing_bracket(text, at)
    if closing is not None and not stop.crosses_lines():
        mark = Mark(stop.at, min(stop.at + 1, len(text)), "a comma or the closing " + word + " was expected here")
        repair = blank_from(text, at)
        repair = Blank(repair.start, max(repair.end, line_end(text, closing))) if repair else None
        return Problem(NOT_YAML, "this cannot be read as YAML", (mark, Mark(at, at + 1, "opened here")), (), repair)
    marks = [Mark(at, at + 1, f"this {word} is never closed")]
    if stop.at < len(text):
        marks.append(Mark(stop.at, stop.at + 1, "a comma or the closing " + word + " was expected by here"))
    help = (f"close it with `{'}' if char == '{' else ']'}`",)
    return Problem(BRACKET_UNCLOSED, f"a {word} is never closed", tuple(marks), help, blank_from(text, at))


def _no_flow_node(stop: _Stop) -> Problem:
    """A value was expected between brackets, and there is a comma, a stray bracket, or the end."""
    opened = open_brackets(stop.text, stop.at)
    if opened and closing_bracket(stop.text, opened[-1]) is None:
        return _bracket_unclosed(stop, opened[-1])
    if stop.char == ",":
        mark = Mark(stop.at, stop.at + 1, "nothing stands before this comma")
        return Problem(NOT_YAML, "this cannot be read as YAML", (mark,), (), Blank(stop.at, stop.at + 1))
    return _unread(stop, "a value was expected here")


def _list_on_line(stop: _Stop) -> Problem:
    """`key: - item`: a list cannot start on the line of its key."""
    text, at = stop.text, stop.at
    end = max(value_end(text, at), at + 1)
    mark = Mark(at, at + 1, "a list cannot start on the line of its key")
    item = text[at:end].lstrip("- ")
    help = (f"write `[{item}]`, or the items on lines of their own",)
    return Problem(NOT_YAML, "a list starts on the line of its key", (mark,), help, Mask(at, end))


def _after_quote(stop: _Stop, last: LastScalar) -> Problem:
    """Text right behind a closing quote."""
    text = stop.text
    end = max(value_end(text, stop.at), stop.at + 1)
    written = text[last.start : end]
    inner = written[1:].rstrip("'\"")
    mark = Mark(stop.at, end, "after the closing quote")
    help = (f"quote it all: `{quoted(inner if written[-1] == written[0] else written)}`",)
    marks = (mark, Mark(last.start, last.end, "the quoted text"))
    return Problem(AFTER_QUOTE, "a text goes on after its closing quote", marks, help, Mask(last.start, end))


def _misplaced(stop: _Stop) -> Problem:
    """A line, or the rest of one, that fits none of the mappings and lists that are open."""
    text, at, since, last = stop.text, stop.at, stop.since, stop.last
    if last is not None and last.quoted and stop.follows_last and not (stop.begins_line and not stop.crosses_lines()):
        return _quote_unclosed(stop, last.start) if stop.crosses_lines() else _after_quote(stop, last)
    if stop.char == ":":
        mark = Mark(at, at + 1, "no key before this colon")
        return Problem(NOT_A_KEY, "a key is empty", (mark,), (), blank_from(text, at))
    if not stop.begins_line:
        label = f"`{stop.char}` closes nothing" if stop.char in ("}", "]") else "not expected after the value"
        return _unread(stop, label)
    line = Mark(at, at + len(text[at : line_end(text, at)].rstrip()), "fits nothing above it")
    marks = (line, Mark(since, since + 1, "the entries stand in this column"))[: 1 + (since < at)]
    return Problem(INDENTATION, "the indentation of a line fits nothing above it", marks, (), moved(text, at, since))
