"""Mappings of a document changed in place: keys renamed, entries merged, moved and dropped, written as the mapping is.

What nobody names stays as it is, byte for byte. A value that moves takes its own changes along: a node is written by
`text_of` only after what it holds has been changed. An entry that is dropped takes its line, and leaves its comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Dict
from typing import Final

from ninefold.diagnostics.source import Span
from ninefold.syntax.edits import Edit, edited, line_break
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from ninefold.syntax.scalars import quoted
from ninefold.syntax.stretches import line_end, line_start

_NOT_IN_FLOW: Final = re.compile(r"[,\[\]{}]|: |:$| #|^[#&*!|>'\"%@`?-] ?")
_COMMENT: Final = re.compile(r"[ \t]*(#[^\r\n]*)?")

Pairs = Dict[str, "Node | str"]
"""Entries of a new mapping, in order; a value is a node of the document, or a text as it is to be written."""


class Layout:
    """A document while it is changed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.break_ = line_break(text)
        self.edits: list[Edit] = []

    def done(self) -> str:
        return edited(self.text, self.edits)

    # Nodes

    def text_of(self, node: Node) -> str:
        """A node as it is written, with the changes of what it holds, which are taken out of the document's."""
        span = node.span
        inside = [each for each in self.edits if span.start <= each.span.start and each.span.end <= span.end]
        self.edits = [each for each in self.edits if each not in inside]
        moved = [Edit(Span(each.span.start - span.start, each.span.end - span.start), each.text) for each in inside]
        return edited(self.text[span.start : span.end], moved)

    def in_flow(self, node: Node) -> bool:
        """Whether a node is written between braces or brackets, or on one line of its own."""
        if isinstance(node, Scalar):
            return node.style not in (Style.LITERAL, Style.FOLDED)
        return self.text[node.span.start : node.span.start + 1] in ("{", "[")

    def column(self, at: int) -> int:
        return at - line_start(self.text, at)

    def _prefix(self, at: int) -> str:
        """What stands before a key on its line, as a line below it begins."""
        return self.text[line_start(self.text, at) : at].replace("-", " ")

    def _entry(self, name: str, text: str) -> str:
        return f"{name}:{'' if text.startswith(self.break_) else ' '}{text}"

    # Changes of a mapping

    def replace(self, span: Span, text: str) -> None:
        self.edits.append(Edit(span, text))

    def rename(self, entry: Entry, name: str) -> None:
        self.replace(entry.key.span, name)

    def write(self, inside: Mapping, entry: Entry, text: str) -> None:
        """Another value, where the old one stood if that was on the line of its key."""
        if self.in_flow(entry.value):
            self.edits = [each for each in self.edits if not _within(each.span, entry.value.span)]
            self.replace(entry.value.span, text)
        else:
            self.merge(inside, [entry], entry.name, text)

    def merge(
        self, inside: Mapping, entries: Iterable[Entry], name: str, value: str | Pairs, proposed: bool = False
    ) -> None:
        """One entry in the place of several: it stands where the first of them stood. `proposed`: it is a proposal, as
        it is where one of them carries the tag."""
        first, *others = sorted(entries, key=lambda each: each.key.span)
        text = value if isinstance(value, str) else self.mapping(value, first.key.span.start, self.in_flow(inside))
        for entry in others:
            self.drop(inside, entry)
        if proposed or first.value.proposed or any(each.value.proposed for each in others):
            text = f"!proposed{'' if text.startswith(self.break_) else ' '}{text}"
        self.edits = [each for each in self.edits if not _within(each.span, first.span)]
        ends_line = self.text[first.span.end - 1] in "\r\n"
        self.replace(first.span, self._entry(name, text) + (self.break_ if ends_line else ""))

    def add(self, inside: Mapping, after: Entry, name: str, value: str | Pairs) -> None:
        """A new entry behind another."""
        at, flow = after.span.end, self.in_flow(inside)
        text = value if isinstance(value, str) else self.mapping(value, after.key.span.start, flow)
        entry = self._entry(name, text)
        if flow:
            self.replace(Span(at, at), f", {entry}")
        else:
            end = line_end(self.text, max(at - 1, after.key.span.start))
            prefix = self._prefix(after.key.span.start)
            if end < len(self.text):
                below = end + len(self.break_)
                self.replace(Span(below, below), f"{prefix}{entry}{self.break_}")
            else:
                self.replace(Span(end, end), f"{self.break_}{prefix}{entry}")

    def add_before(self, inside: Mapping, before: Entry, name: str, value: str) -> None:
        """A new entry in front of another."""
        at = before.key.span.start
        prefix = self._prefix(at)
        self.replace(Span(at, at), f"{name}: {value}{', ' if self.in_flow(inside) else self.break_ + prefix}")

    def splice(self, inside: Mapping, entry: Entry, pairs: Dict[str, str]) -> None:
        """Several entries in the place of one."""
        at = entry.key.span.start
        prefix = self._prefix(at)
        between = ", " if self.in_flow(inside) else self.break_ + prefix
        self.edits = [each for each in self.edits if not _within(each.span, entry.span)]
        self.replace(entry.span, between.join(f"{name}: {value}" for name, value in pairs.items()))

    def wrap(self, entry: Entry, name: str) -> None:
        """The mapping that is an entry's value under a key of its own."""
        value = entry.value
        if self.in_flow(value):
            self.replace(Span(value.span.start, value.span.start), f"{{{name}: ")
            self.replace(Span(value.span.end, value.span.end), "}")
        else:
            self._merge_below(entry, name)

    def _merge_below(self, entry: Entry, name: str) -> None:
        prefix = self._prefix(entry.key.span.start) + "  "
        below = self._below(entry.value, prefix)
        self.replace(Span(entry.key.span.end, entry.value.span.end), f":{self.break_}{prefix}{name}:{below}")

    def drop(self, inside: Mapping, entry: Entry) -> None:
        """Nothing in the place of an entry."""
        self.edits = [each for each in self.edits if not _within(each.span, entry.span)]
        at = inside.entries.index(entry)
        if self.in_flow(inside):
            self._drop_between_braces(inside, at)
            return
        start, end = entry.span.start, entry.span.end
        first_on_line = not self.text[line_start(self.text, start) : start].strip(" \t>")
        comment = _COMMENT.match(self.text, end)
        rest = comment.end() if comment else end
        if first_on_line and rest == line_end(self.text, end):
            kept = comment[1] if comment and comment[1] else ""
            begin = line_start(self.text, start)
            after = rest + len(self.break_) if rest < len(self.text) else rest
            prefix = self.text[begin:start]
            self.replace(Span(begin, after), f"{prefix}{kept}{self.break_}" if kept else "")
        elif at + 1 < len(inside.entries):
            # The first entry of an item of a list: the next one takes its place behind the dash.
            self.replace(Span(start, inside.entries[at + 1].key.span.start), "")
        else:
            self.replace(entry.span, "{}")

    def _drop_between_braces(self, inside: Mapping, at: int) -> None:
        entries = inside.entries
        if at + 1 < len(entries):
            self.replace(Span(entries[at].span.start, entries[at + 1].span.start), "")
        elif at:
            self.replace(Span(entries[at - 1].span.end, entries[at].span.end), "")
        else:
            self.replace(entries[at].span, "")

    # New text

    def scalar(self, node: Node | str) -> str:
        """A value as it may stand between braces."""
        if isinstance(node, str):
            return node
        if isinstance(node, Scalar):
            if node.style in (Style.LITERAL, Style.FOLDED):
                return quoted(node.text)
            written = self.text_of(node)
            if node.style is Style.PLAIN and _NOT_IN_FLOW.search(written):
                return quoted(node.text)
            return " ".join(written.split()) if "\n" in written or "\r" in written else written
        if self.in_flow(node):
            return self.text_of(node)
        if isinstance(node, Sequence):
            return f"[{', '.join(self.scalar(item) for item in node.items)}]"
        return f"{{{', '.join(f'{self.key(each)}: {self.scalar(each.value)}' for each in node.entries)}}}"

    def copy(self, node: Node) -> str:
        """The same, of a value that stays where it is as well."""
        kept = list(self.edits)
        text = self.text_of(node) if self.in_flow(node) else self.scalar(node)
        self.edits = kept
        return text

    def key(self, entry: Entry) -> str:
        """A key as it is written, or as it is to be written."""
        renamed = [each for each in self.edits if each.span == entry.key.span]
        return renamed[0].text if renamed else self.text[entry.key.span.start : entry.key.span.end]

    def items(self, items: Iterable[Pairs | Node]) -> str:
        """A list of mappings on one line."""
        written = (
            self.scalar(each) if isinstance(each, Scalar | Mapping | Sequence) else self.mapping(each, 0, True)
            for each in items
        )
        return f"[{', '.join(written)}]"

    def mapping(self, pairs: Pairs, at: int, flow: bool) -> str:
        """A mapping as the value of a key that stands at `at`: between braces, or, where it holds lines of its own,
        in lines."""
        lines = not flow and any(not isinstance(each, str) and not self.in_flow(each) for each in pairs.values())
        if not lines:
            written = f"{{{', '.join(f'{name}: {self.scalar(value)}' for name, value in pairs.items())}}}"
            return written
        prefix = self._prefix(at) + "  "
        return "".join(f"{self.break_}{prefix}{name}:{self._below(value, prefix)}" for name, value in pairs.items())

    def _below(self, value: Node | str, prefix: str) -> str:
        """A value behind its colon, moved to another depth: its lines are indented as much more or less."""
        if isinstance(value, str):
            return f" {value}"
        column = self.column(value.span.start)
        written = self.text_of(value)
        if isinstance(value, Scalar) and value.style in (Style.LITERAL, Style.FOLDED):
            head, *lines = written.rstrip("\r\n").split(self.break_)
            depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
            moved = [prefix + "  " + line[depth:] if line.strip() else "" for line in lines]
            return " " + self.break_.join([head, *moved])
        if self.in_flow(value):
            return f" {written}"
        first, *lines = written.rstrip("\r\n").split(self.break_)
        moved = [prefix + "  " + line[column:] if line.strip() else "" for line in lines]
        return self.break_ + self.break_.join([prefix + "  " + first, *moved])


def key_of(name: str) -> str:
    """A key as it is written between braces."""
    return quoted(name) if _NOT_IN_FLOW.search(name) else name


def _within(one: Span, other: Span) -> bool:
    return other.start <= one.start and one.end <= other.end
