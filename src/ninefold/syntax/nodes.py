"""The tree of facts as it is written: scalars, mappings and sequences, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span

JSONScalar: TypeAlias = None | bool | int | float | str

PARTS = (
    "purpose",
    "resources",
    "states",
    "endpoints",
    "authentication",
    "events",
    "errors",
    "limits",
    "versioning",
)
"""The nine parts by their names; a part's number is its position, counted from 1."""


class Style(Enum):
    """How a scalar is written. Only a plain one can be a keyword, a number or a truth value."""

    PLAIN = "plain"
    SINGLE = "single"
    DOUBLE = "double"
    LITERAL = "literal"
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Scalar:
    """`span` covers the scalar as written, quotes included; `text` is its content.

    `value` is the content by the YAML 1.2 core schema: a quoted or block scalar is always text.
    `offsets[i]` is the place in the document of the i-th code point of `text`; there is one more, the
    end of the content, so that a part of an expression can be shown where it stands.
    """

    span: Span
    text: str
    value: JSONScalar
    style: Style
    offsets: range | tuple[int, ...]
    proposed: bool = False

    def part(self, start: int, end: int) -> Span:
        """The span in the document of `text[start:end]`."""
        last = len(self.offsets) - 1
        return Span(self.offsets[min(start, last)], self.offsets[min(end, last)])

    def says(self, word: str) -> bool:
        """Whether this is the unquoted keyword `word` (such as `none` or `not shown`)."""
        return self.style is Style.PLAIN and self.text == word


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value. `proposed`: it stands in a block fenced `yaml proposed`, or its value
    carries the tag `!proposed`."""

    key: Scalar
    value: Node
    proposed: bool = False

    @property
    def name(self) -> str:
        return self.key.text

    @property
    def span(self) -> Span:
        return self.key.span.to(self.value.span)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Entries in written order; no two have the same key."""

    span: Span
    entries: tuple[Entry, ...]
    proposed: bool = False

    def get(self, name: str) -> Entry | None:
        for entry in self.entries:
            if entry.name == name:
                return entry
        return None


@dataclass(frozen=True, slots=True)
class Sequence:
    span: Span
    items: tuple[Node, ...]
    proposed: bool = False


Node: TypeAlias = Scalar | Mapping | Sequence


class Word(Enum):
    """What one sentence says for a whole part."""

    NONE = "none"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Statement:
    """`<any words>: none.` or `<any words>: not shown.`, or the same word as a plain form's value."""

    word: Word
    span: Span


@dataclass(frozen=True, slots=True)
class Part:
    """One of the nine parts as written.

    `number` counts from 1. `place` is the heading (the key, in the plain form), or the title where
    the part has no heading. `facts` holds the entries of all its blocks, in order. `prose` are its
    paragraphs. `present` is false where the document has no such part at all.
    """

    number: int
    name: str
    place: Span
    present: bool
    facts: Mapping
    statement: Statement | None
    prose: tuple[Span, ...]
    blocks: tuple[Span, ...] = ()
    """The fenced blocks (or the value, in the plain form) that hold the facts, in order."""


@dataclass(frozen=True, slots=True)
class Document:
    """A contract as written: a title and always nine parts, in the order of their numbers."""

    source: Source
    title: str
    title_span: Span
    parts: tuple[Part, ...]

    def part(self, name: str) -> Part:
        return self.parts[PARTS.index(name)]


def scalars(node: Node | None) -> Iterator[Scalar]:
    """All scalars of a tree in written order, keys included."""
    match node:
        case Scalar():
            yield node
        case Mapping(entries=entries):
            for entry in entries:
                yield entry.key
                yield from scalars(entry.value)
        case Sequence(items=items):
            for item in items:
                yield from scalars(item)
        case None:
            return
