"""The facts of a contract one by one: every entry of a mapping and every item of a list, with the kind that says what
its absence costs; and a document with one of them taken away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.json_schema import HOLDING, NARROWING
from ninefold.language.key import Key, Kind, Order
from ninefold.language.shapes import JSON, ListOf, Members, OneOf, Shape, Template
from ninefold.language.table import WITHIN, keys_under, row_written
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Scalar, Sequence, Style
from ninefold.values.keywords import BY_NAME

IN_LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
"""Keywords that hold several schemas without names."""


@dataclass(frozen=True, slots=True)
class Written:
    """One fact as it is written.

    `path` is its row of the vocabulary, of a schema within another that of the outermost; inside a template or a value,
    that of the key that holds them, with `.*`. `names` lead to it as a reader would say them (items of lists count from
    0), `route` as positions. `span` covers it with its key, `place` its value alone. `within` are the kinds of what it
    stands in, the part's own entry first. `is_named`: the language has a word for it; else the contract chose its name,
    or it is an item.
    """

    part: int
    path: str
    kind: Kind
    names: tuple[str, ...]
    route: tuple[int, ...]
    span: Span
    place: Span
    within: tuple[Kind, ...]
    is_named: bool

    @property
    def address(self) -> str:
        """How it is called: `7 codes > busy > status`."""
        return f"{self.part} {' > '.join(self.names)}"


def written(document: Document) -> tuple[Written, ...]:
    """All facts of a document, in its order."""
    return tuple(fact for part in document.parts for fact in _Part(part.number).of_mapping(part.facts, "", None))


@dataclass(frozen=True, slots=True)
class _Part:
    number: int
    names: tuple[str, ...] = ()
    route: tuple[int, ...] = ()
    within: tuple[Kind, ...] = ()

    def of_mapping(self, node: Mapping, path: str, holder: Key | None) -> Iterator[Written]:
        for index, entry in enumerate(node.entries):
            key, is_named = row_of_entry(self.number, path, entry, holder, self.names)
            yield from self._fact(index, entry.name, key, is_named, entry.span, entry.value)

    def of_sequence(self, node: Sequence, holder: Key) -> Iterator[Written]:
        for index, item in enumerate(node.items):
            yield from self._fact(index, str(index), row_of_item(self.number, holder), False, item.span, item)

    def _fact(self, index: int, name: str, key: Key, is_named: bool, span: Span, value: Node) -> Iterator[Written]:
        names, route = (*self.names, name), (*self.route, index)
        yield Written(self.number, key.path, key.kind, names, route, span, value.span, self.within, is_named=is_named)
        below = _Part(self.number, names, route, (*self.within, key.kind))
        match value:
            case Mapping():
                yield from below.of_mapping(value, key.path, key)
            case Sequence():
                yield from below.of_sequence(value, key)
            case Scalar():
                pass


def row_of_entry(
    part: int, path: str, entry: Entry, holder: Key | None, names: tuple[str, ...] = ()
) -> tuple[Key, bool]:
    """The row of a key, and whether it is the language's own word: else the placeholder that stands for it, or, in a
    template or a value, a row of the same path that says what such a member does. Where one may stand without a list,
    its keys are those of an item. `names` lead to the mapping."""
    row = row_written(part, path, entry.name)
    if row is not None and not row.is_placeholder:
        only_narrows = row.is_asked and row.parent != path and not _says_values(row, names)
        return replace(row, kind=Kind.RESTRICTS, question=None, when=None) if only_narrows else row, True
    if row is not None:
        alone = holder is not None and _has(holder.shape, ListOf) and _has(holder.shape, Members)
        return row_of_entry(part, row.path, entry, row) if alone else (row, False)
    if holder is None:
        raise ValueError(f"{entry.name}: no such key, which a contract without errors does not have")
    return _inside(holder), False


def _says_values(row: Key, names: tuple[str, ...]) -> bool:
    """Whether a schema within another says which values there are within a value, and does not only narrow them: its
    type is asked for then (`questions.resources.unsaid`). `row`: of a keyword in it."""
    around = [*_keywords(names[len(row.parent.split(".")) :])]
    return bool({*around[-1:]} & {*HOLDING}) and not {*around} & {*NARROWING}


def _keywords(names: tuple[str, ...]) -> Iterator[str]:
    """Those that lead from a schema to one within it, without the names, and the numbers, of what they hold."""
    left = iter(names)
    for name in left:
        yield name
        if name in BY_NAME or name in IN_LISTS:
            next(left, None)


def row_of_item(part: int, holder: Key) -> Key:
    """The row of an item of a list: the placeholder for it, or that of the list, whose keys are those of its items."""
    if (row := row_written(part, holder.path)) is not None:
        return row
    return holder if keys_under(part, holder.path) and _has(holder.shape, Members) else _inside(holder)


def _inside(holder: Key) -> Key:
    """What has no row of its own. A member of a template is shown, or read, and is not where it is not there: it adds.
    The words of other lists are of the kind of their list."""
    kind = Kind.ADDS if _has(holder.shape, Template) or _has(holder.shape, JSON) else holder.kind
    order: Order | None = holder.order if holder.order in ("steps", "other") else None
    return Key(holder.part, holder.path + WITHIN, kind, holder.shape, "", "", order=order)


def _has(shape: Shape, wanted: type) -> bool:
    match shape:
        case OneOf(shapes):
            return any(_has(each, wanted) for each in shapes)
        case ListOf(item) if wanted is not ListOf:
            return _has(item, wanted)
        case _:
            return isinstance(shape, wanted)


Removal: TypeAlias = Literal["taken out", "not shown", "none"]
"""What stands in the place of a fact: nothing, `not shown`, or `none`."""

REMOVALS: tuple[Removal, ...] = ("taken out", "not shown", "none")


Said: TypeAlias = str | tuple[tuple[str, str], ...]
"""What stands in the place of a fact instead: an unquoted word, or a mapping of names to such words."""


def without(document: Document, fact: Written, removal: Removal) -> Document:
    """The document as if this had been written instead of the fact."""
    return _with(document, fact, None if removal == "taken out" else removal)


def instead(document: Document, fact: Written, said: Said) -> Document:
    """The document as if this had been said in the place of the fact."""
    return _with(document, fact, said)


def _with(document: Document, fact: Written, said: Said | None) -> Document:
    part = document.parts[fact.part - 1]
    facts = _edited(part.facts, fact.route, said)
    assert isinstance(facts, Mapping)
    parts = list(document.parts)
    parts[fact.part - 1] = replace(part, facts=facts)
    return replace(document, parts=tuple(parts))


def _edited(node: Node, route: tuple[int, ...], said: Said | None) -> Node:
    """The node with what is said at the end of the route; None: without what stands there."""
    first, *rest = route

    def below(value: Node) -> Node | None:
        if rest:
            return _edited(value, tuple(rest), said)
        return None if said is None else _saying(value, said)

    match node:
        case Mapping(entries=entries):
            value = below(entries[first].value)
            entry = () if value is None else (replace(entries[first], value=value),)
            return replace(node, entries=(*entries[:first], *entry, *entries[first + 1 :]))
        case Sequence(items=items):
            item = below(items[first])
            kept = () if item is None else (item,)
            return replace(node, items=(*items[:first], *kept, *items[first + 1 :]))
        case Scalar():
            raise ValueError("a route leads through mappings and sequences")


def _saying(value: Node, said: Said) -> Node:
    """What is said, at the place of a value."""
    if isinstance(said, str):
        return _word(value, said)
    return Mapping(value.span, tuple(Entry(_word(value, name), _word(value, word)) for name, word in said))


def _word(value: Node, word: str) -> Scalar:
    """An unquoted word. All of it is at the value's beginning: the place has its own length."""
    start = value.span.start
    places = tuple(min(start + i, value.span.end) for i in range(len(word) + 1))
    return Scalar(value.span, word, False if word == "false" else word, Style.PLAIN, places)
