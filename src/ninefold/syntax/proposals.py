"""The proposals of a document as they are written: what each proposes, and by which words it says so.

A proposal is an entry of a block fenced `yaml proposed`, or a value that carries the tag `!proposed`. Only the
outermost counts: what stands inside a proposal is part of it, tagged once more or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.diagnostics import regex
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Part, Scalar, Sequence

_TAG = regex.compile(r"(?:[ \t\r\n>,:\[{?-]|#[^\r\n]*)*(!proposed)(?![^\s,\]}])")
"""The tag, after all that may stand between a key and its value: marks, comments, the prefixes of a quotation."""


PROPOSED_BLOCK = regex.compile(r"(?:`{3,}|~{3,})[ \t]*ya?ml(?P<word>[ \t]+proposed)[ \t]*(?=[\r\n]|$)")
"""The opening of a block fenced `yaml proposed`, from its fence on."""


@dataclass(frozen=True, slots=True)
class Written:
    """A proposal. `names` are the keys that lead to it from its part, outside in (an item of a list by its index);
    it has none where a whole part of the plain form is one. `key`: where its key stands, or the item itself.
    `tags`: each `!proposed` in it; the first makes it a proposal, unless `in_block` says that its block does."""

    part: int
    part_name: str
    names: tuple[str, ...]
    key: Span
    node: Node
    tags: tuple[Span, ...]
    in_block: bool

    @property
    def span(self) -> Span:
        """The key and the value."""
        return self.key.to(self.node.span)

    @property
    def path(self) -> str:
        """How it is called: `note.fields.id.on create`."""
        return ".".join(self.names) or self.part_name


def proposals(document: Document) -> tuple[Written, ...]:
    """All proposals of a document, in the order of the parts."""
    if "proposed" not in document.source.text:
        return ()
    return tuple(found for part in document.parts for found in _of_part(document.source.text, part))


def _of_part(text: str, part: Part) -> Iterator[Written]:
    # In the plain form the value of a part may carry the tag; in the literate form, `place` is its heading.
    whole = _tag(text, part.place.end, part.facts.span.start)
    if part.facts.entries and part.facts.proposed and whole is not None:
        tags = (whole, *_tags_in(text, part.facts))
        yield Written(part.number, part.name, (), part.place, part.facts, tags, False)
    else:
        for entry in part.facts.entries:
            yield from _of_entry(text, part, (), entry)


def _of_entry(text: str, part: Part, names: tuple[str, ...], entry: Entry) -> Iterator[Written]:
    here = (*names, entry.name)
    if not (entry.proposed or entry.value.proposed):
        yield from _of_node(text, part, here, entry.value)
        return
    tag = _tag(text, entry.key.span.end, entry.value.span.start)
    tags = (*((tag,) if tag else ()), *_tags_in(text, entry.value))
    yield Written(part.number, part.name, here, entry.key.span, entry.value, tags, tag is None)


def _of_node(text: str, part: Part, names: tuple[str, ...], node: Node) -> Iterator[Written]:
    match node:
        case Mapping(entries=entries):
            for entry in entries:
                yield from _of_entry(text, part, names, entry)
        case Sequence(items=items):
            for index, (item, start) in enumerate(zip(items, _starts(node), strict=True)):
                here = (*names, str(index))
                if not item.proposed:
                    yield from _of_node(text, part, here, item)
                elif tag := _tag(text, start, item.span.start):
                    yield Written(part.number, part.name, here, item.span, item, (tag, *_tags_in(text, item)), False)
        case Scalar():
            pass


def _tags_in(text: str, node: Node) -> Iterator[Span]:
    """The tags of what stands inside a node."""
    match node:
        case Mapping(entries=entries):
            for entry in entries:
                if tag := _tag(text, entry.key.span.end, entry.value.span.start):
                    yield tag
                yield from _tags_in(text, entry.value)
        case Sequence(items=items):
            for item, start in zip(items, _starts(node), strict=True):
                if tag := _tag(text, start, item.span.start):
                    yield tag
                yield from _tags_in(text, item)
        case Scalar():
            pass


def _starts(node: Sequence) -> tuple[int, ...]:
    """For each item of a list, where what precedes it ends."""
    return (node.span.start, *(item.span.end for item in node.items[:-1]))[: len(node.items)]


def _tag(text: str, start: int, end: int) -> Span | None:
    """The tag between a key (or the item before) and its value, if there is one."""
    found = _TAG.match(text, start, max(start, end))
    return Span(*found.span(1)) if found else None
