"""Where libyaml stopped reading, and what is said of it wherever that was."""

from __future__ import annotations

from ninefold.diagnostics.codes import AFTER_QUOTE, NOT_YAML, QUOTE_UNCLOSED
from ninefold.diagnostics.frozen import dataclass
from ninefold.syntax.excerpt import Blank, Mark, Mask, Problem
from ninefold.syntax.nodes import Style
from ninefold.syntax.scalars import quoted
from ninefold.syntax.stretches import blank_from, line_end, line_start, value_end


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
class Stop:
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


def unread(stop: Stop, label: str = "not expected here") -> Problem:
    """What has no description of its own."""
    mark = Mark(stop.at, min(stop.at + 1, len(stop.text)), label)
    rest = line_end(stop.text, stop.at)
    repair = Blank(stop.at, rest) if rest > stop.at and not stop.begins_line else blank_from(stop.text, stop.at)
    return Problem(NOT_YAML, "this cannot be read as YAML", (mark,), (), repair)


def quote_unclosed(stop: Stop, at: int) -> Problem:
    text = stop.text
    mark = Mark(at, at + 1, "opened here")
    message = "a quotation is never closed"
    help = (f"close it with {text[at]} on its line",)
    if stop.last is not None and stop.last.start == at:
        message = "a quotation is closed by the next one's quote"
        closing = Mark(stop.last.end - 1, stop.last.end, "closed here")
        return Problem(QUOTE_UNCLOSED, message, (mark, closing), help, blank_from(text, at))
    return Problem(QUOTE_UNCLOSED, message, (mark,), help, blank_from(text, at))


def after_quote(stop: Stop, last: LastScalar) -> Problem:
    """Text right behind a closing quote."""
    text = stop.text
    end = max(value_end(text, stop.at), stop.at + 1)
    written = text[last.start : end]
    inner = written[1:].rstrip("'\"")
    mark = Mark(stop.at, end, "after the closing quote")
    help = (f"quote it all: `{quoted(inner if written[-1] == written[0] else written)}`",)
    marks = (mark, Mark(last.start, last.end, "the quoted text"))
    return Problem(AFTER_QUOTE, "a text goes on after its closing quote", marks, help, Mask(last.start, end))
