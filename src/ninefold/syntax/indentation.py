"""Lines that are indented too far, and where they were meant to stand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import takewhile

from ninefold.diagnostics.codes import INDENTATION
from ninefold.diagnostics.frozen import dataclass
from ninefold.syntax.excerpt import Mark, Outdent, Problem, Repair, Space
from ninefold.syntax.stretches import blank_from, indentation, line_end, line_start


def _column(text: str, at: int) -> int:
    """That in which the line of `at` begins."""
    return indentation(text, line_start(text, at))


def moved(text: str, at: int, above: int) -> Repair | None:
    """The line of `at`, and those below it that are indented as far, in the column of what stands at `text[above]`."""
    by = _column(text, at) - _column(text, above)
    return outdented(text, at, by) if by > 0 else blank_from(text, at, siblings=True)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that holds something: where it begins, its column, and what stands there."""

    start: int
    column: int
    content: str

    @property
    def key(self) -> str:
        return self.content.split(": ")[0].removesuffix(":")


def _lines(text: str, start: int = 0, end: int | None = None) -> Iterator[_Line]:
    end = len(text) if end is None else end
    while start < end:
        stop, column = line_end(text, start), indentation(text, start)
        content = text[start + column : stop].rstrip()
        if content and not content.startswith("#"):
            yield _Line(start, column, content)
        start = stop + 1


def between_columns(text: str, at: int, since: int) -> Problem | None:
    """What is wrong where the line of `at` stands further to the left than the entries above it, and further to the
    right than those around them, which begin at `since`: it, or the first entry above it, was meant to stand beside the
    others. None: it was hardly meant so."""
    own, outer = _column(text, at), _column(text, since)
    before = [*_lines(text, line_start(text, since), line_start(text, at))]
    above = list(takewhile(lambda line: line.column > own, reversed(before)))
    if own <= outer or not above:
        return None
    inner = min(line.column for line in above)
    first = next(line for line in reversed(above) if line.column == inner)
    this, *below = _lines(text, line_start(text, at))
    follows = next((line.column for line in below if line.column <= inner), -1)
    if follows == own and sum(line.column == inner for line in above) == 1:
        line = Mark(first.start + inner, line_end(text, first.start), "indented further than what comes below it")
        other = Mark(at, at + 1, "the entries stand in this column")
        repair = outdented(text, first.start, inner - own, this.start)
        return Problem(INDENTATION, "the indentation of a line fits nothing below it", (line, other), (), repair)
    within = below[0].column if below and this.content.endswith(":") else -1
    if not _stands_inside(this, within, follows, text, outer, inner):
        return None
    line = Mark(at, line_end(text, at), "indented less than what comes above it")
    other = Mark(first.start + inner, first.start + inner + 1, "the entries stand in this column")
    message = "the indentation of a line fits nothing above it"
    return Problem(INDENTATION, message, (line, other), (), Space(at, inner - own))


def _stands_inside(this: _Line, within: int, follows: int, text: str, outer: int, inner: int) -> bool:
    """Whether a line was meant to stand in the column `inner`, and not in `outer`. `within`: the column of what it
    holds in lines of its own, `follows`: of what comes behind that; -1: there is none."""
    if within == inner:
        return False  # it would have no value there
    if follows == inner:
        return True
    if inner - this.column != this.column - outer:
        return inner - this.column < this.column - outer
    alike = {line.column for line in _lines(text) if line.key == this.key} & {inner, outer}
    return alike == {inner} if len(alike) == 1 else within - inner == inner - outer


def first_line(text: str, at: int) -> Problem | None:
    """What is wrong with a text of which the first line is indented further than the one at `at`; None: it is not."""
    first = len(text) - len(text.lstrip())
    below = [indentation(line, 0) for line in text[line_start(text, at) :].splitlines() if line.strip()]
    if not below or text[at : at + 1] in ("", "}", "]"):
        return None  # below it are at most characters that are white space to Python and none to YAML
    by = _column(text, first) - min(below)
    if by <= 0:
        return None
    line = Mark(first, line_end(text, first), "indented further than what comes below it")
    other = Mark(at, at + 1, "the entries stand in this column")
    repair = outdented(text, first, by, line_start(text, at))
    return Problem(INDENTATION, "the indentation of the first line fits nothing below it", (line, other), (), repair)


def outdented(text: str, at: int, by: int, end: int | None = None) -> Outdent:
    """What is indented too far, moved to the left: the line of `at` alone where it is a key without a value and the
    lines below it are indented less than what it holds would be, to the column of what is around these; else that line
    and those below it up to `end`, or as long as they are indented as far, by so many characters."""
    start, stop = line_start(text, at), line_end(text, at)
    own, rest = indentation(text, start), text[stop:].lstrip()
    below = _column(text, len(text) - len(rest))
    if text[start:stop].rstrip().endswith(":") and rest and below <= own:
        above = (line for line in reversed(text[:start].splitlines()) if line.strip())
        column = next((found for line in above if (found := indentation(line, 0)) < below), 0)
        return Outdent(start, stop, ((start, start + own - column),) if column < own else ())
    stretches = list[tuple[int, int]]()
    while start < len(text) if end is None else start < end:
        found = indentation(text, start)
        stop = line_end(text, start)
        if text[start:stop].strip():
            if end is None and found < own:
                break
            stretches.append((start, start + min(by, found)))
        start = stop + (2 if text.startswith("\r\n", stop) else 1)
    return Outdent(line_start(text, at), start, tuple(each for each in stretches if each[0] < each[1]))


class Indented:
    """Which lines of a text are indented too far, as is seen where a key comes twice. `told`: of keys that have nothing
    below them, and were asked for, whether it is for that."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.keys: list[int] | None = None
        self.told = dict[int, bool]()

    def between(self, first: Mark, again: Mark) -> list[Problem] | None:
        """What is wrong where a key is given twice in a mapping because a line between both is indented too far, which
        has a key and nothing below it: nothing if that has been said. None: that is not why."""
        if self.keys is None:
            self.keys = _without_value(self.text)
        place = bisect_left(self.keys, first.start)
        at = self.keys[place] if place < len(self.keys) else again.start
        if at >= again.start:
            return None
        if at in self.told:
            return [] if self.told[at] else None
        repair = outdented(self.text, at, 0)
        self.told[at] = bool(repair.stretches)
        if not repair.stretches:
            return None
        line = Mark(at, line_end(self.text, at), "indented as what is above it")
        other = Mark(again.start, again.end, "and nothing is below it")
        message = "the indentation makes this line part of what is above it"
        return [Problem(INDENTATION, message, (line, other), (), repair)]


def _without_value(text: str) -> list[int]:
    """The keys that end their lines, and have nothing in the lines below them, in their order."""
    found, key, own, start = list[int](), None, 0, 0
    while start < len(text):
        stop, indent = line_end(text, start), indentation(text, start)
        first = start + indent
        if content := text[first:stop].rstrip():
            if key is not None and not content.startswith("- ") and indent <= own:
                found.append(key)
            key, own = first if content.endswith(":") and content[0] not in "#-" else None, indent
        start = stop + 1
    return found if key is None else [*found, key]
