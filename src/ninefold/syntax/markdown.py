"""The blocks of a Markdown document (CommonMark 0.31), each with its exact place.

markdown-it-py says which lines belong to which block; the offsets within the lines are found here. Two
things are treated otherwise than CommonMark does: a fence that is not closed ends before the part or block
that it would swallow, and so does an open HTML comment. Both have their diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import FENCE_UNCLOSED, HTML_UNCLOSED
from ninefold.diagnostics.diagnostic import Diagnostic, Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span
from ninefold.syntax.excerpt import Excerpt
from ninefold.syntax.libraries import MarkdownIt, Token
from ninefold.syntax.nodes import heading


@dataclass(frozen=True, slots=True)
class HeadingBlock:
    """A heading of level 1 to 6 outside lists and quotations, by `#` or underlined."""

    span: Span
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`text` is without the prefixes of its lines. `top`: it stands in no list and no quotation."""

    span: Span
    text: str
    top: bool


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block. `opening` is its first line; `info` what is written behind the fence."""

    span: Span
    opening: Span
    info: str
    excerpt: Excerpt


@dataclass(frozen=True, slots=True)
class Indented:
    """A block that is code because it is indented."""

    span: Span


@dataclass(frozen=True, slots=True)
class Html:
    span: Span
    text: str


Block: TypeAlias = HeadingBlock | Paragraph | Fence | Indented | Html

_MOST_CUTS = 40
_MOST_CHARACTERS = 4_000_000
"""How often a document is read on after an open fence, and how many characters may be read so: it bounds the time."""

_LONGEST_HEADING = 200
_FENCE_LINE = regex.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(\S[^\r\n]*)?")
_HEADING_LINE = regex.compile(r" {0,3}##[ \t]+([^\r\n]*?)(?:[ \t]+#+)?[ \t]*")
_OPEN_HTML = (
    (regex.compile(r"<!--"), regex.compile(r"-->")),
    (
        regex.compile(r"<(?:script|pre|style|textarea)(?=\s|>|$)", re.I),
        regex.compile(r"</(?:script|pre|style|textarea)>", re.I),
    ),
    (regex.compile(r"<\?"), regex.compile(r"\?>")),
    (regex.compile(r"<!\[CDATA\["), regex.compile(r"\]\]>")),
    (regex.compile(r"<![A-Za-z]"), regex.compile(r">")),
)
"""HTML that goes on over empty lines until its end is written: CommonMark 0.31, section 4.6, kinds 1 to 5."""


def blocks_of(source: Source) -> tuple[list[Block], list[Diagnostic]]:
    """The blocks of a document in their order, and what is wrong with its Markdown."""
    reader = _Reader(source)
    blocks: list[Block] = []
    line = 0
    cuts = min(_MOST_CUTS, 1 + _MOST_CHARACTERS // (len(source.text) + 1))
    while True:
        cut: int | None = None
        for block, cut in reader.blocks_from(line):
            blocks.append(block)
            if cut is not None and cuts > 0:
                break
        if cut is None or cuts == 0:
            return blocks, reader.diagnostics
        line, cuts = cut, cuts - 1


class _Reader:
    """A document and its lines, counted from 0 as markdown-it-py does."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.starts = source.line_starts
        self.diagnostics: list[Diagnostic] = []
        self.markdown = MarkdownIt("commonmark").disable("reference")
        self.markdown.core.ruler.enableOnly(["normalize", "block"])

    def blocks_from(self, first: int) -> Iterator[tuple[Block, int | None]]:
        """The blocks from a line on, each with the line from which reading has to begin anew, if it has to."""
        # With a line break at the end, the number of content lines tells whether a fence is closed.
        tokens = self.markdown.parse(self.source.text[self.starts[first] :] + "\n")
        for index, token in enumerate(tokens):
            if token.map is None:
                continue
            begin, end = token.map[0] + first, min(token.map[1] + first, len(self.starts))
            match token.type:
                case "heading_open" if token.level == 0:
                    content = tokens[index + 1].content
                    lines = end - 1 if token.markup in ("=", "-") else end
                    span = self.text_span(begin, lines, "" if token.markup.startswith("#") else content)
                    yield HeadingBlock(span, int(token.tag[1]), content), None
                case "paragraph_open":
                    content = tokens[index + 1].content
                    yield Paragraph(self.text_span(begin, end, content), content, token.level == 0), None
                case "fence":
                    yield self.fence(token, begin, end)
                case "code_block":
                    yield Indented(self.text_span(begin, end, "")), None
                case "html_block":
                    yield self.html(token, begin, end)

    def line(self, number: int) -> str:
        return self.source.line(number + 1)

    def text_span(self, begin: int, end: int, content: str) -> Span:
        """The span of lines `begin` to `end` (exclusive): from where `content` starts in the first of them, or
        else its first character, to the last character of the last line that has one."""
        while end > begin + 1 and not self.line(end - 1).strip():
            end -= 1
        line = self.line(begin)
        first = content.split("\n", 1)[0].strip()
        column = line.rfind(first) if first else len(line) - len(line.lstrip())
        start = self.starts[begin] + max(column, 0)
        return Span(start, max(start, self.starts[end - 1] + len(self.line(end - 1).rstrip())))

    def fence(self, token: Token, begin: int, end: int) -> tuple[Fence, int | None]:
        content = token.content.split("\n")[:-1]
        mapped = token.map or [0, 0]
        closed = len(content) == mapped[1] - mapped[0] - 2
        opening = self.fence_opening(begin, token.markup)
        cut: int | None = None
        swallowed = self.swallowed(token, content, closed) if token.level == 0 else None
        if swallowed is not None:
            cut = begin + 1 + swallowed
            self.unclosed_fence(token, opening, cut)
            content, end = content[:swallowed], cut
        elif not closed:
            self.unclosed_fence(token, opening, None)
        last = end - 1
        while last > begin and not self.line(last).strip():
            last -= 1
        span = Span(opening.start, max(opening.end, self.starts[last] + len(self.line(last).rstrip())))
        return Fence(span, opening, token.info.strip(), self.excerpt(begin + 1, content)), cut

    def fence_opening(self, line: int, markup: str) -> Span:
        text = self.line(line)
        column = max(text.find(markup), 0)
        return Span(self.starts[line] + column, self.starts[line] + max(len(text.rstrip()), column))

    def swallowed(self, token: Token, content: list[str], closed: bool) -> int | None:
        """The index of the first line of a fence's content that was not meant to be in it: the heading of a
        part or the opening of another block. A closed fence that has another's opening in it was closed by
        the end of that one; one that has neither may hold what it likes."""
        opening = next((i for i, line in enumerate(content) if _opens_inside(line, token.markup)), None)
        if closed and opening is None:
            return None
        stop = len(content) if opening is None else opening
        return next((i for i, line in enumerate(content[:stop]) if _names_part(line)), opening)

    def unclosed_fence(self, token: Token, opening: Span, cut: int | None) -> None:
        message = "a fenced block is never closed"
        help = (f"close it with a line {token.markup}",)
        if cut is None:
            where = " in its list or quotation" if token.level else ""
            labels: tuple[Label, ...] = (Label(opening, f"opened here, and holds all that follows{where}"),)
        else:
            line = self.line(cut)
            indent = len(line) - len(line.lstrip())
            span = Span(self.starts[cut] + indent, self.starts[cut] + len(line.rstrip()))
            what = "this part" if _names_part(line) else "this block"
            labels = (Label(opening, "opened here"), Label(span, f"{what} would stand inside it"))
            help = (f"close it with a line {token.markup} before line {cut + 1}",)
        self.diagnostics.append(Diagnostic(FENCE_UNCLOSED, message, labels, help))

    def excerpt(self, begin: int, content: list[str]) -> Excerpt:
        """The lines of a fence, without the prefixes of the lists and quotations that it stands in."""
        parts: list[str] = []
        starts: list[int] = []
        shifts: list[int] = []
        at = 0
        for number, inner in enumerate(content, begin):
            line = self.line(number)
            # A tab that is only in part the prefix's gives its other columns as spaces: all of them are the tab.
            kept = len(inner) if line.endswith(inner) else _common_end(line, inner)
            padding = len(inner) - kept
            start = self.starts[number] + len(line) - kept
            for column in range(padding):
                starts.append(at + column)
                shifts.append(start - 1 - at - column)
            starts.append(at + padding)
            shifts.append(start - at - padding)
            stop = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.source.text)
            ending = self.source.text[self.starts[number] + len(line) : stop]
            parts.append(" " * padding + line[len(line) - kept :] + ending)
            at += len(parts[-1])
        if not starts:
            start = self.starts[begin] if begin < len(self.starts) else len(self.source.text)
            return Excerpt("", (0,), (start,))
        return Excerpt("".join(parts), tuple(starts), tuple(shifts))

    def html(self, token: Token, begin: int, end: int) -> tuple[Html, int | None]:
        text = token.content.lstrip()
        cut: int | None = None
        for opening, closing in _OPEN_HTML:
            found = opening.match(text)
            if found is None:
                continue
            if closing.search(text, found.end()) is None:
                lines = token.content.split("\n")
                inside = next((i for i, line in enumerate(lines) if i and _names_part(line)), None)
                span = self.text_span(begin, begin + 1, "")
                span = Span(span.start, min(span.end, span.start + found.end()))
                labels: tuple[Label, ...] = (Label(span, "opened here, and holds all that follows"),)
                if inside is not None and token.level == 0:
                    cut = end = begin + inside
                    labels = (
                        Label(span, "opened here"),
                        Label(self.text_span(cut, cut + 1, ""), "this part would stand inside it"),
                    )
                message = f"`{found.group()}` is never closed"
                self.diagnostics.append(Diagnostic(HTML_UNCLOSED, message, labels))
            break
        span = self.text_span(begin, max(end, begin + 1), "")
        return Html(span, self.source.cut(span)), cut


def _opens_inside(line: str, markup: str) -> bool:
    found = _FENCE_LINE.fullmatch(line)
    return bool(found and found[2] and found[1].startswith(markup) and "`" not in found[2])


def _names_part(line: str) -> bool:
    found = _HEADING_LINE.fullmatch(line) if len(line) <= _LONGEST_HEADING else None
    return bool(found and heading(found[1]).part)


def _common_end(line: str, inner: str) -> int:
    """How many characters at the end of `inner` stand at the end of `line`."""
    count = 0
    while count < min(len(line), len(inner)) and line[-1 - count] == inner[-1 - count]:
        count += 1
    return count
