"""YAML 1.2, as much of it as the language has, from libyaml's events to nodes with exact places.

No anchors, aliases, merge keys, second documents or directives, and no tag but `!proposed`. libyaml's
events are used and its composer is not: it resolves scalars by YAML 1.1, keeps the last of two equal keys,
and overflows the stack on deep nesting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from math import inf
from typing import TypeAlias

from ninefold.diagnostics.codes import (
    ANCHOR,
    COMMA_IN_CALL,
    DIRECTIVE,
    DUPLICATE_KEY,
    EXPRESSION_AS_TAG,
    MERGE_KEY,
    NO_JSON_NUMBER,
    NO_VALUE,
    NOT_A_KEY,
    SECOND_DOCUMENT,
    TAG,
    TOO_DEEP,
)
from ninefold.diagnostics.diagnostic import Code, Diagnostic, Outcome
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import nearest
from ninefold.syntax.excerpt import Blank, Excerpt, Mark, Mask, Outdent, Problem, Readable, Space, readable
from ninefold.syntax.indentation import Indented
from ninefold.syntax.libraries import events, yaml
from ninefold.syntax.mistakes import diagnose
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from ninefold.syntax.scalars import STYLES, core_value, quoted, read_scalar
from ninefold.syntax.stops import LastScalar
from ninefold.syntax.stretches import Piece, blank_from, content_start, corrected, in_flow, meant_end, value_end

DEEPEST = 64
"""How deep mappings and sequences may stand in one another."""

MOST_PROBLEMS = 500
"""Of one block; then its reading ends."""

_MOST_READINGS = 40
_MOST_CHARACTERS = 4_000_000
"""How often a block is mended and read again, and how many characters may be read so: it bounds the time."""

PROPOSED = "!proposed"

_Node: TypeAlias = events.ScalarEvent | events.CollectionStartEvent


def compose(excerpt: Excerpt) -> Outcome[Node | None]:
    """The tree of a block; `None` when it holds nothing. Nothing is raised: what cannot be read has its
    diagnostic, and the value is what could be read before, after and around it."""
    text = readable(excerpt)
    found: list[Diagnostic] = []
    left_out: list[int] = []
    readings = min(_MOST_READINGS, 2 + _MOST_CHARACTERS // (len(excerpt.text) + 1))
    for reading in range(readings):
        composer = _Composer(text, left_out)
        root = composer.read()
        problems = _causes(composer.problems)
        repairs = {problem.repair for problem in problems if problem.repair}
        last = not repairs or reading == readings - 1
        found += [p.diagnostic(text.excerpt) for p in problems if last or p.repair]
        if last:
            break
        # From the end, so that a repair does not move the places of those still to be made.
        for repair in sorted(repairs, key=lambda repair: repair.start, reverse=True):
            text = text.mended(repair)
            match repair:
                case Blank(start):
                    left_out.append(start)
                case Space(start, count):
                    left_out[:] = [each + count * (each > start) for each in left_out]
                case Outdent(stretches=gone):
                    left_out[:] = [each - sum(end - at for at, end in gone if at < each) for each in left_out]
    return Outcome(root, tuple(found))


def _causes(problems: list[Problem]) -> list[Problem]:
    """The problems without those about the shape of what cannot be read at all: they follow from that."""
    blanks = [problem.repair for problem in problems if isinstance(problem.repair, Blank)]
    return [
        problem
        for problem in problems
        if problem.code not in (NOT_A_KEY, NO_VALUE, COMMA_IN_CALL)
        or not any(b.start <= problem.marks[0].start < b.end and b is not problem.repair for b in blanks)
    ]


def proposal(node: Node) -> Node:
    """A node that stands in a `yaml proposed` block or carries the tag: proposed, and each of its entries is."""
    if isinstance(node, Mapping):
        entries = tuple(
            replace(entry, value=replace(entry.value, proposed=True), proposed=True) for entry in node.entries
        )
        return replace(node, entries=entries, proposed=True)
    return replace(node, proposed=True)


def _gap(span: Span) -> Scalar:
    """What stands for a value of which nobody can know what was meant, once that has been told: nothing more is
    said of it."""
    return Scalar(span, "not shown", "not shown", Style.PLAIN, range(span.start, span.start + 10))


@dataclass(slots=True)
class _Open:
    """A mapping or sequence that is being read. Offsets are the excerpt's."""

    start: int
    end: int
    mapping: bool
    flow: bool
    proposed: bool
    problems_before: int
    entries: list[Entry] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    seen: dict[str, Mark] = field(default_factory=dict)
    key: Scalar | None = None
    key_mark: Mark | None = None

    @property
    def wants_key(self) -> bool:
        return self.mapping and self.key_mark is None


class _Composer:
    """One reading of a text: a stack of open collections, fed with events."""

    def __init__(self, readable: Readable, left_out: list[int]) -> None:
        """`left_out`: where something begins that cannot be read, of which that has been told."""
        self.left_out = left_out
        self.excerpt = readable.excerpt
        self.text = readable.excerpt.text
        self.masked = readable.masked
        self.problems: list[Problem] = []
        self.stack: list[_Open] = []
        self.root: Node | None = None
        self.documents = 0
        self.last: LastScalar | None = None
        self.complete = True
        self.indented = Indented(self.text)

    def read(self) -> Node | None:
        try:
            for event in _events(self.masked):
                if not self.take(event) or len(self.problems) > MOST_PROBLEMS:
                    break
        except yaml.YAMLError as error:
            self.problems.append(diagnose(error, self.text, self.last))
        self.complete = not self.stack
        while self.stack:
            self.close(self.stack[-1].end)
        return self.root

    def take(self, event: events.Event) -> bool:
        """Takes an event in; false when nothing after it is to be read."""
        match event:
            case events.ScalarEvent():
                self.scalar(event)
            case events.CollectionStartEvent():
                return self.open(event)
            case events.CollectionEndEvent():
                flow = self.stack[-1].flow
                self.close(_at(event.end_mark) if flow else self.stack[-1].end)
            case events.DocumentStartEvent():
                return self.start_document(event)
            case events.AliasEvent():
                self.alias(event)
        return True

    def start_document(self, event: events.DocumentStartEvent) -> bool:
        start, end = _at(event.start_mark), _at(event.end_mark)
        if event.version or event.tags:
            stop = len(self.text[start:end].split("\n")[0])
            self.report(DIRECTIVE, "a YAML directive", Mark(start, start + stop, "a directive"))
        self.documents += 1
        if self.documents == 1:
            return True
        alone = not self.text[end:].split("\n")[0].strip()
        repair = Blank(start, end) if alone else None
        mark = Mark(start, end, "a second document starts here")
        self.problems.append(Problem(SECOND_DOCUMENT, "the block holds a second YAML document", (mark,), (), repair))
        return False

    def alias(self, event: events.AliasEvent) -> None:
        start, end = _at(event.start_mark), _at(event.end_mark)
        end = max(end, meant_end(self.text, start))
        mark = Mark(start, end, "read as an alias")
        help = (f"as a text it is quoted: `{corrected(self.text, start, end)}`",)
        problem = Problem(ANCHOR, "a value that starts with `*` is a YAML alias", (mark,), help, Mask(start, end))
        self.problems.append(problem)
        self.add(Scalar(self.excerpt.span(start, end), "", None, Style.PLAIN, (self.excerpt.place(start),)), start, end)

    def scalar(self, event: events.ScalarEvent) -> None:
        end = _at(event.end_mark)
        start = self.content_start(event, end)
        style = STYLES.get(event.style or "", Style.PLAIN)
        is_key = bool(self.stack) and self.stack[-1].wants_key
        proposed = self.properties(event, start, end, style is Style.PLAIN, is_key)
        read = read_scalar(self.text, start, end, style, event.value)
        value = read.text if style is not Style.PLAIN or is_key else self.value(read.text, start, end)
        if is_key and style is Style.PLAIN:
            value = _key_value(read.text)
        if style in (Style.LITERAL, Style.FOLDED):
            end = max(read.end, start + 1)
        offsets = self.excerpt.offsets(read.text, read.places, read.end)
        if end > start:
            self.last = LastScalar(start, end, style)
        span = self.excerpt.span(start, end)
        is_left_out = start == end and not is_key and any(self.text[end:at].isspace() for at in self.left_out)
        node = _gap(span) if is_left_out or value == inf else Scalar(span, read.text, value, style, offsets, proposed)
        self.add(node, start, end)

    def value(self, text: str, start: int, end: int) -> None | bool | int | float | str:
        """Infinite: it is a number that JSON does not have, and that has been said."""
        try:
            return core_value(text)
        except OverflowError:
            mark = Mark(start, end, "no JSON number")
            shown = text if len(text) <= 40 else text[:40] + "…"
            self.report(NO_JSON_NUMBER, f"`{shown}` is a number that JSON does not have", mark)
            return inf

    def content_start(self, event: _Node, end: int) -> int:
        start = _at(event.start_mark)
        return content_start(self.text, start, end) if event.tag or event.anchor else start

    def properties(self, event: _Node, start: int, end: int, plain: bool, is_key: bool) -> bool:
        """Judges the tag and the anchor of a node whose content is `text[start:end]`; gives whether it is proposed."""
        if not event.anchor and not event.tag:
            return False
        if event.tag == PROPOSED and not event.anchor and not is_key:
            return True
        tag_start = _at(event.start_mark)
        line_end = value_end(self.text, tag_start)
        if event.anchor:
            written = self.text[tag_start : max(start, tag_start + 1)].split()[0]
            mark = Mark(tag_start, tag_start + len(written), "read as an anchor")
            repair = Mask(tag_start, line_end) if plain and end <= line_end and not is_key else None
            help = (f"as a text it is quoted: `{corrected(self.text, tag_start, line_end)}`",) if repair else ()
            message = "a value that starts with `&` has a YAML anchor"
            self.problems.append(Problem(ANCHOR, message, (mark,), help, repair))
            return False
        written = self.text[tag_start : max(start, tag_start + 1)].split()[0]
        mark = Mark(tag_start, tag_start + len(written), "read as a tag")
        if event.tag == PROPOSED:
            help = (f"`!proposed` stands before the value: `{self.text[start:end]}: !proposed …`",)
            self.problems.append(Problem(TAG, "the tag stands before a key", (mark,), help))
        elif nearest(written, (PROPOSED,)):
            self.problems.append(Problem(TAG, f"`{written}` is not a tag", (mark,), (f"did you mean `{PROPOSED}`?",)))
        elif plain and not is_key and not written.startswith(("!!", "!<")):
            repair = Mask(tag_start, max(line_end, end))
            help = (f"quote the expression: `{corrected(self.text, tag_start, max(line_end, end))}`",)
            message = "an expression that starts with `!` is read as a tag"
            self.problems.append(Problem(EXPRESSION_AS_TAG, message, (mark,), help, repair))
        else:
            self.problems.append(Problem(TAG, f"`{written}` is not a tag", (mark,)))
        return False

    def open(self, event: events.CollectionStartEvent) -> bool:
        end = _at(event.end_mark)
        start = self.content_start(event, end)
        is_key = bool(self.stack) and self.stack[-1].wants_key
        proposed = self.properties(event, start, end, False, is_key)
        if len(self.stack) == DEEPEST:
            mark = Mark(start, max(end, start + 1), f"the {DEEPEST + 1}th level")
            repair = blank_from(self.text, start)
            self.problems.append(Problem(TOO_DEEP, f"values are nested more than {DEEPEST} deep", (mark,), (), repair))
            return False
        mapping = isinstance(event, events.MappingStartEvent)
        flow = bool(event.flow_style) and self.text[start : start + 1] in ("{", "[")
        before = len(self.problems)
        self.stack.append(_Open(start, max(end, start), mapping, flow, proposed, before))
        return True

    def close(self, end: int) -> None:
        """Ends the innermost collection and gives it to the one around it."""
        done = self.stack.pop()
        end = max(end, done.end)
        if self.stack and self.stack[-1].wants_key:
            # Whatever is wrong within it, the mistake is that it is a key.
            del self.problems[done.problems_before :]
        elif done.flow and self.complete:
            self.problems += in_flow(self.text, done.start, end, done.pieces, done.mapping)
        span = self.excerpt.span(done.start, end)
        node: Node = Mapping(span, tuple(done.entries)) if done.mapping else Sequence(span, tuple(done.items))
        is_key = bool(self.stack) and self.stack[-1].wants_key
        if not is_key and done.pieces and all(piece.lone for piece in done.pieces):
            node = _gap(span)
        self.add(proposal(node) if done.proposed else node, done.start, end)

    def add(self, node: Node, start: int, end: int) -> None:
        """Puts a node where it belongs: the root, an item, a key, or the value of the key before it."""
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.end = max(parent.end, end)
        plain = isinstance(node, Scalar) and node.style is Style.PLAIN
        if not parent.mapping:
            parent.items.append(node)
            if parent.flow:
                parent.pieces.append(Piece(None, start, end, plain, False))
        elif parent.key_mark is None:
            parent.key, parent.key_mark = self.key(node, start, end, parent), Mark(start, end)
        else:
            key, mark = parent.key, parent.key_mark
            empty = False
            if parent.flow:
                empty = plain and start == end and not node.proposed and ":" not in self.text[mark.end : start]
                piece = Piece(mark, mark.start if empty else start, mark.end if empty else end, plain, empty)
                if empty and parent.pieces and parent.pieces[-1].plain and parent.entries:
                    # `enum: a, b`: the value before the comma may not be all of it.
                    parent.entries[-1] = replace(parent.entries[-1], value=_gap(parent.entries[-1].value.span))
                parent.pieces.append(piece)
            if key is not None and not empty:
                parent.entries.append(Entry(key, node, node.proposed))
            parent.key, parent.key_mark = None, None

    def key(self, node: Node, start: int, end: int, parent: _Open) -> Scalar | None:
        """A node as a key, if it can be one and is new."""
        if not isinstance(node, Scalar):
            mark = Mark(start, end, "read as a mapping" if isinstance(node, Mapping) else "read as a list")
            written = self.text[start:end]
            one_line = len(written) <= 200 and len(written.splitlines()) == 1
            help = (f"quote it: `{quoted(written)}`",) if one_line else ()
            repair = Mask(start, end) if one_line else None
            self.problems.append(Problem(NOT_A_KEY, "a key is one text", (mark,), help, repair))
            return None
        if node.style is Style.PLAIN and not node.text:
            self.report(NOT_A_KEY, "a key is empty", Mark(start, max(end, start), "no key here"))
            return None
        if node.style is Style.PLAIN and node.text == "<<":
            self.report(MERGE_KEY, "`<<` merges nothing here", Mark(start, end, "a merge key"))
            return None
        mark = Mark(start, end)
        first = parent.seen.setdefault(node.text, mark)
        if first is not mark:
            marks = (Mark(start, end, "given again here"), Mark(first.start, first.end, "given here first"))
            moved = None if parent.flow else self.indented.between(first, marks[0])
            if moved is not None:
                self.problems += moved
                return None
            self.problems.append(Problem(DUPLICATE_KEY, f"the key `{node.text}` is given twice", marks))
            return None
        return node

    def report(self, code: Code, message: str, mark: Mark) -> None:
        self.problems.append(Problem(code, message, (mark,)))


def _key_value(text: str) -> None | bool | int | float | str:
    """A key is its text; as a value, it is what the core schema says, where JSON can hold that."""
    try:
        return core_value(text)
    except OverflowError:
        return text


def _at(mark: object) -> int:
    """The offset of a mark of libyaml: in code points, whatever it takes for a line."""
    index = getattr(mark, "index", 0)
    assert isinstance(index, int)
    return index


def _events(text: str) -> Iterator[events.Event]:
    yield from yaml.parse(text, Loader=yaml.CLoader)
