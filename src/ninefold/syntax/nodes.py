"""The tree of facts as it is written: scalars, mappings and lists, each with its place; and the headings of parts."""

from __future__ import annotations

import re
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

    def under(self, name: str) -> tuple[Entry, ...]:
        """The entries of the mapping that stands at a key; none where there is no such mapping."""
        entry = self.get(name)
        return entry.value.entries if entry is not None and isinstance(entry.value, Mapping) else ()


@dataclass(frozen=True, slots=True)
class Sequence:
    span: Span
    items: tuple[Node, ...]
    proposed: bool = False


Node: TypeAlias = Scalar | Mapping | Sequence


def is_word(node: Node | None, word: str) -> bool:
    """Whether a node is the unquoted keyword `word`."""
    return isinstance(node, Scalar) and node.says(word)


def is_alike(one: Node, other: Node) -> bool:
    """Whether two trees are written alike, wherever they stand."""
    if one is other:
        return True
    match one, other:
        case Scalar(), Scalar():
            return one.text == other.text and one.style is other.style and one.proposed is other.proposed
        case Mapping(), Mapping():
            return (
                one.proposed is other.proposed
                and len(one.entries) == len(other.entries)
                and all(
                    of.proposed is twin.proposed and is_alike(of.key, twin.key) and is_alike(of.value, twin.value)
                    for of, twin in zip(one.entries, other.entries, strict=True)
                )
            )
        case Sequence(), Sequence():
            return (
                one.proposed is other.proposed
                and len(one.items) == len(other.items)
                and all(map(is_alike, one.items, other.items))
            )
        case _:
            return False


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


def every_entry(node: Node) -> Iterator[Entry]:
    """All entries of the mappings of a tree, each before those in it."""
    for each in node.entries if isinstance(node, Mapping) else ():
        yield each
        yield from every_entry(each.value)
    for item in node.items if isinstance(node, Sequence) else ():
        yield from every_entry(item)


TITLES = (
    "What the service does",
    "Resources and their fields",
    "States and transitions",
    "Endpoints",
    "Authentication",
    "Events",
    "Errors",
    "Limits",
    "Versioning",
)
"""The headings of the nine parts, in the order of their numbers."""

NUMBERED_TITLES = tuple(f"{number}. {title}" for number, title in enumerate(TITLES, 1))

_NUMBERS = {
    **{name: number for number, name in enumerate(PARTS, 1)},
    **{title.casefold(): number for number, title in enumerate(TITLES, 1)},
}
_NUMBERED = re.compile(r"(?:part\s+)?([0-9]{1,2})(?:\s*[.):–—-]\s*|\s+|$)(.*)", re.IGNORECASE | re.DOTALL)


TOLD_IN: dict[str, int] = {
    **dict.fromkeys(("data model", "entities", "models", "schema", "schemas", "tables", "types"), 2),
    **dict.fromkeys(("lifecycle", "state machine", "state machines", "workflow"), 3),
    **dict.fromkeys(("api", "operations", "paths", "routes", "requests", "responses"), 4),
    **dict.fromkeys(("authorisation", "authorization", "permissions", "roles", "security", "access", "auth"), 5),
    **dict.fromkeys(
        ("webhooks", "events and webhooks", "hooks", "notifications", "streams", "subscriptions", "messages"), 6
    ),
    **dict.fromkeys(("error codes", "error handling", "problems"), 7),
    **dict.fromkeys(("rate limits", "rate limiting", "pagination", "timeouts", "time-outs", "quotas"), 8),
    **dict.fromkeys(("changelog", "compatibility", "deprecations", "versions"), 9),
}
"""Subjects that other documents have headings for, each with the part that tells of it here. They name no part."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading says: the part of its number, and the part of its name, each counted from 1."""

    by_number: int | None
    by_name: int | None

    @property
    def part(self) -> int | None:
        """The part that it names. The name is taken where it disagrees with the number."""
        return self.by_name or self.by_number

    @property
    def disagrees(self) -> bool:
        return None not in (self.by_name, self.by_number) and self.by_name != self.by_number


def heading(text: str) -> Heading:
    """What the text of a heading names: `4`, `4. Whatever`, `Endpoints`, `Part 4: Endpoints`, in any case."""
    words = " ".join(text.split()).strip("*_` ")
    found = _NUMBERED.fullmatch(words)
    number = int(found[1]) if found else None
    name = (found[2] if found else words).strip("*_`.: ").casefold()
    by_number = number if number is not None and 1 <= number <= len(PARTS) else None
    by_name = _NUMBERS.get(name)
    if number is not None and by_number is None and by_name is not None:
        by_number = 0  # a number that no part has
    return Heading(by_number, by_name)
