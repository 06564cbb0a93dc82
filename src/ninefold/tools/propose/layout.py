"""Where a fact that is not there yet would stand in a document, and the insertions that put it there as a proposal.

Nothing is taken away and nothing is moved. A key goes to the end of its mapping, written as the mapping is (a line
of its own, or between braces), its source into a comment. What a part of the literate form lacks altogether goes
into a block fenced `yaml proposed`. A `not shown` that is written becomes a comment behind the proposal.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter

from ninefold.diagnostics.source import Span
from ninefold.syntax.edits import Edit, insertion, line_break
from ninefold.syntax.nodes import (
    NUMBERED_TITLES,
    Document,
    Entry,
    Mapping,
    Node,
    Part,
    Scalar,
    Sequence,
    Style,
    Word,
    is_word,
)
from ninefold.syntax.parser import Form, form_of
from ninefold.syntax.proposals import PROPOSED_BLOCK
from ninefold.syntax.stretches import line_end, line_start
from ninefold.tools.propose.facts import (
    TAG,
    Branch,
    Leaf,
    Proposed,
    Tree,
    in_flow,
    in_lines,
    is_short,
    lines_below,
    sources,
    trees,
)

_PREFIX = re.compile(r"[ \t>]*(?:- *)*")
"""What may stand before the first key on a line: indentation, the marks of a quotation, of lists."""

_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_COMMENT = re.compile(r"[ \t]*(?:#.*)?")


def insertions(document: Document, facts: Iterable[Proposed]) -> tuple[Edit, ...]:
    """The insertions by which the document proposes the facts, where there is a place for them. What stands there
    already is left alone."""
    placing = _Placing(document)
    for part, tree in sorted(trees(facts).items()):
        placing.part(document.parts[part - 1], tree)
    return (*placing.edits, *placing.comments())


class _Placing:
    """A document while places are found in it. `notes` are the comments that a line gets, by the line's end."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.source.text
        self.break_ = line_break(self.text)
        self.literate = form_of(document.source.name, self.text) is Form.LITERATE
        # No text stands within another, so that those in order of their starts are in order of their ends.
        self.scalars = sorted(chain.from_iterable(_scalars(part.facts) for part in document.parts))
        self.edits: list[Edit] = []
        self.notes: dict[int, list[str]] = {}

    def comments(self) -> Iterator[Edit]:
        for end, notes in self.notes.items():
            # Behind the last value of a line a `#` can only begin a comment.
            before = bisect_right(self.scalars, end, key=attrgetter("end")) - 1
            start = max(line_start(self.text, end), self.scalars[before].end if before >= 0 else 0)
            mark = "; " if "#" in self.text[start:end] else "  # "
            yield insertion(end, mark + "; ".join(dict.fromkeys(notes)))

    def insert(self, at: int, text: str) -> None:
        self.edits.append(insertion(at, text))

    def lines(self, lines: Iterable[str], prefix: str = "") -> str:
        """Lines, each behind a line break."""
        return "".join(f"{self.break_}{prefix}{line}" for line in lines)

    # Parts

    def part(self, part: Part, tree: Branch) -> None:
        if not self.literate:
            self.plain_part(part, tree)
            return
        self.within(part.facts, tree, tagged=True)
        lacking = _lacking(part.facts, tree)
        if not lacking:
            return
        lines = _entries(lacking, tagged=False)
        if part.blocks and PROPOSED_BLOCK.match(self.text, part.blocks[-1].start):
            closing = line_start(self.text, part.blocks[-1].end - 1)
            prefix = self.prefix(Span(part.blocks[-1].end, part.blocks[-1].end))
            self.insert(closing, "".join(f"{prefix}{line}{self.break_}" for line in lines))
            return
        block = ["```yaml proposed", *lines, "```"]
        if part.present:
            at = self.end_of(part)
            follows = self.text[at:].removeprefix(self.break_)
            ending = "" if not follows or follows.startswith(self.break_) else self.break_
            self.insert(at, self.lines(["", *block]) + ending)
            return
        block = [f"## {NUMBERED_TITLES[part.number - 1]}", "", *block]
        following = [each.place.start for each in self.document.parts[part.number :] if each.present]
        if following:
            at = line_start(self.text, following[0])
            lead = "" if not at or self.text[:at].endswith(self.break_ * 2) else self.break_
            self.insert(at, lead + self.break_.join([*block, "", ""]))
        else:
            self.append(["", *block])

    def append(self, lines: Iterable[str]) -> None:
        """Lines at the end of the document."""
        end = len(self.text)
        if self.text and not self.text.endswith(("\n", "\r")) and not any(e.span.start == end for e in self.edits):
            self.insert(end, self.break_)
        self.insert(end, "".join(line + self.break_ for line in lines))

    def end_of(self, part: Part) -> int:
        """The end of the line after which a new block of a part stands: behind its last block, else behind the
        sentence that speaks for it, its prose, its heading."""
        said = (part.statement.span,) if part.statement is not None else part.prose[-1:]
        last = (part.blocks[-1:] or said or (part.place,))[0]
        at = line_end(self.text, max(last.start, last.end - 1))
        if last is part.place:
            after = at + len(self.break_)
            underline = self.text[after : line_end(self.text, after)] if after <= len(self.text) else ""
            if _UNDERLINE.fullmatch(underline):
                at = after + len(underline)
        return at

    def plain_part(self, part: Part, tree: Branch) -> None:
        if not part.present:
            self.append([f"{part.name}:", *(f"  {line}" for line in _entries(tree, tagged=True))])
            return
        if part.statement is None:
            flow, tagged = self.is_flow(part.facts), not self.is_tagged(part)
            self.within(part.facts, tree, tagged, flow)
            if part.facts.entries or flow:
                self.add(part.facts, _lacking(part.facts, tree), tagged)
        elif part.statement.word is Word.NOT_SHOWN:
            span, end = part.statement.span, line_end(self.text, part.statement.span.start)
            prefix = self.prefix(part.place)
            if _COMMENT.fullmatch(self.text, span.end, end):
                self.insert(span.start, "# ")
                self.insert(end, self.lines(_entries(tree, tagged=True), prefix + "  "))

    def is_tagged(self, part: Part) -> bool:
        return part.facts.proposed and TAG in self.text[part.place.end : part.facts.span.start]

    # Mappings

    def within(self, holder: Mapping, tree: Branch, tagged: bool, flow: bool = False) -> None:
        """What the tree has below keys that are there already. `flow`: the mapping stands between braces."""
        for name, below in tree.items():
            entry = holder.get(name)
            if entry is None:
                continue
            own = tagged and not (entry.proposed or entry.value.proposed)
            if is_word(entry.value, "not shown"):
                self.instead(entry, below, own, flow)
            elif isinstance(entry.value, Mapping) and not isinstance(below, Leaf):
                self.within(entry.value, below, own, flow or self.is_flow(entry.value))
                self.add(entry.value, _lacking(entry.value, below), own)

    def instead(self, entry: Entry, tree: Tree, tagged: bool, flow: bool) -> None:
        """A proposal for what is `not shown`: those words become a comment."""
        span = entry.value.span
        end = line_end(self.text, span.end)
        tag = f"{TAG} " if tagged else ""
        prefix = self.prefix(entry.key.span)
        alone = _COMMENT.fullmatch(self.text, span.end, end) is not None
        if "\n" in self.text[span.start : span.end]:
            return
        if alone and not flow and not is_short(tree):
            once = len(said := sources(tree)) == 1
            self.insert(span.start, f"{tag}# {said[0]}; before: " if once else f"{tag}# before: ")
            self.insert(end, self.lines(lines_below(tree, silent=once), prefix))
            return
        self.insert(span.start, f"{tag}{in_flow(tree)}  # {'; '.join(sources(tree))}; before: ")
        if not alone:
            self.insert(span.end, self.break_ + prefix + "  ")

    def add(self, holder: Mapping, tree: Branch, tagged: bool) -> None:
        """New keys of a mapping: at its end, or, what belongs there, at its start."""
        first = {name: below for name, below in tree.items() if isinstance(below, Leaf) and below.first}
        last = {name: below for name, below in tree.items() if name not in first}
        if self.is_flow(holder):
            self.add_in_flow(holder, first, last, tagged)
            return
        if first and not self.before(holder.entries[0], _entries(first, tagged)):
            last = {**first, **last}
        # The empty lines at the end of a block scalar may be part of it: a key goes before it.
        end = _last_value(holder)
        block_scalar = isinstance(end, Scalar) and end.style in (Style.LITERAL, Style.FOLDED)
        if last and block_scalar:
            self.before(holder.entries[-1], _entries(last, tagged))
        elif last:
            prefix = self.prefix(holder.entries[0].key.span)
            self.insert(line_end(self.text, end.span.end), self.lines(_entries(last, tagged), prefix))

    def before(self, entry: Entry, lines: Iterable[str]) -> bool:
        """Lines before that of a key, if nothing but indentation precedes it."""
        start, prefix = line_start(self.text, entry.key.span.start), self.prefix(entry.key.span)
        if self.text[start : entry.key.span.start] != prefix:
            return False
        self.insert(start, "".join(f"{prefix}{line}{self.break_}" for line in lines))
        return True

    def add_in_flow(self, holder: Mapping, first: Branch, last: Branch, tagged: bool) -> None:
        tag = f"{TAG} " if tagged else ""
        start = holder.span.start + 1
        places = (
            (start, first, "", ", " if holder.entries else ""),
            (holder.entries[-1].value.span.end if holder.entries else start, last, ", " if holder.entries else "", ""),
        )
        for at, tree, before, behind in places:
            end = line_end(self.text, at)
            if not tree or self.is_within_text(end):
                continue  # where the line ends, there is no place for a comment
            added = ", ".join(f"{name}: {tag}{in_flow(below)}" for name, below in tree.items())
            self.insert(at, before + added + behind)
            self.notes.setdefault(end, []).extend(source for below in tree.values() for source in sources(below))

    def is_within_text(self, at: int) -> bool:
        before = bisect_left(self.scalars, at, key=attrgetter("start")) - 1
        return before >= 0 and at < self.scalars[before].end

    def is_flow(self, mapping: Mapping) -> bool:
        return self.text.startswith("{", mapping.span.start)

    def prefix(self, key: Span) -> str:
        """What stands before a key of the same mapping on a new line: the marks of a quotation, and indentation. Of
        what is no key, what precedes it on its line."""
        found = _PREFIX.match(self.text, line_start(self.text, key.start), key.start)
        return found[0].replace("-", " ") if found else ""


def _lacking(holder: Mapping, tree: Branch) -> Branch:
    """What the tree has that the mapping has not."""
    return {name: below for name, below in tree.items() if holder.get(name) is None}


def _entries(tree: Branch, tagged: bool) -> tuple[str, ...]:
    return tuple(line for name, below in tree.items() for line in in_lines(name, below, tagged))


def _last_value(node: Node) -> Node:
    """The innermost value that ends a value written in block style."""
    while True:
        match node:
            case Mapping(span=span, entries=(*_, last)) if span.end <= last.value.span.end:
                node = last.value
            case Sequence(span=span, items=(*_, last)) if span.end <= last.span.end:
                node = last
            case _:
                return node


def _scalars(node: Node) -> Iterator[Span]:
    match node:
        case Mapping(entries=entries):
            for entry in entries:
                yield entry.key.span
                yield from _scalars(entry.value)
        case Sequence(items=items):
            for item in items:
                yield from _scalars(item)
        case Scalar(span=span):
            yield span
