"""Where two contracts say something else: their trees walked side by side, each row of the language with its kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Final, Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.ablate.facts import row_of_entry, row_of_item
from ninefold.diff.edges import EDGES
from ninefold.diff.normal import Normal, Words, alone, normal
from ninefold.language.authentication import BY_CALLER
from ninefold.language.expressions import constant_in
from ninefold.language.json_schema import KEYWORDS
from ninefold.language.key import Key, Kind
from ninefold.language.shapes import JSON, NEW_NAME, NEW_NAMES
from ninefold.language.table import WITHIN, key_at
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Scalar, Sequence, Style, is_alike, is_word

How: TypeAlias = Literal["added", "removed", "changed", "renamed", "reordered"]

OTHER_EDGE: Final = {one: other for *pair, _ in EDGES for one, other in (pair, pair[::-1])}
"""What has the one in the place of the other has another edge, and not one more and one less."""

_FILTER: Final = "ENDPOINT.query.PARAMETER"
_NARROWS: Final = "where"
"""What may be written as an expression alone, and the key that has it as its value."""

Route: TypeAlias = tuple[int, ...]
"""Positions that lead from a part's mapping to a place in it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands in one of the two: `node` is the value, with its `entry` where it has a key."""

    route: Route
    node: Node
    entry: Entry | None = None

    @property
    def name(self) -> str:
        """The key before it; empty where it has none."""
        return "" if self.entry is None else self.entry.name

    @property
    def called(self) -> str:
        """The name of what is declared here: by a key, or by an item of a list of names."""
        return self.node.text if self.entry is None and isinstance(self.node, Scalar) else self.name


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `around` are the routes of what it stands in, or of all that has to be replaced to make it alone,
    in the old and in the new document; `whole`: these are the routes of the value itself."""

    part: int
    key: Key
    names: tuple[str, ...]
    how: How
    old: Place | None
    new: Place | None
    around: tuple[Route, Route]
    whole: bool = False

    @property
    def address(self) -> str:
        return f"{self.part} {' > '.join(self.names)}"

    @property
    def called(self) -> tuple[str, str] | None:
        """What something was called, and is; None: it has no other name."""
        if self.old is None or self.new is None or self.key.name in OTHER_EDGE:
            return None
        if self.how == "renamed":
            return self.old.called, self.new.called
        match self.old.node, self.new.node:
            case Scalar(text=before), Scalar(text=after) if self.key.shape == NEW_NAME:
                return before, after
            case _:
                return None


def changes(old: Document, new: Document, old_words: Words, new_words: Words) -> tuple[Change, ...]:
    """All differences, in the order of the parts."""
    walk = _Walk(old_words, new_words, old_words == new_words)
    found: list[Change] = []
    for before, after in zip(old.parts, new.parts, strict=True):
        found += walk.mappings(_Here(before.number, "", None, (), ((), ())), before.facts.entries, after.facts.entries)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Here:
    """Where the two stand. `fixed`: an edit has to replace the whole value at the routes. `value`: they are values in
    JSON, whose lists are what they are by their order."""

    part: int
    path: str
    key: Key | None
    names: tuple[str, ...]
    routes: tuple[Route, Route]
    fixed: bool = False
    value: bool = False

    def change(self, key: Key, name: str, how: How, old: Place | None, new: Place | None) -> Change:
        return Change(self.part, key, (*self.names, name), how, old, new, self.routes, self.fixed)

    def below(self, key: Key, name: str, old: int, new: int) -> _Here:
        routes = self.routes if self.fixed else ((*self.routes[0], old), (*self.routes[1], new))
        value = self.value or key.shape == JSON()
        return _Here(self.part, key.path, key, (*self.names, name), routes, self.fixed, value)


@dataclass(frozen=True, slots=True)
class _Walk:
    """`alike`: what is written alike says the same, since names stand for the same in both."""

    old: Words
    new: Words
    alike: bool
    known: dict[tuple[int, int, str], Normal] = field(default_factory=dict)
    """What is known of a node of one of the two documents, by the path of the key that reads it."""

    def before(self, node: Node, key: Key) -> Normal:
        return self._once(node, key, self.old)

    def after(self, node: Node, key: Key) -> Normal:
        return self._once(node, key, self.new)

    def _once(self, node: Node, key: Key, words: Words) -> Normal:
        """A list is compared with another item by item, and what has come with all that is gone."""
        at = id(node), id(words), key.path
        if at not in self.known:
            self.known[at] = normal(node, key, words)
        return self.known[at]

    def mappings(self, here: _Here, old: tuple[Entry, ...], new: tuple[Entry, ...]) -> Iterator[Change]:
        was = {entry.name: (index, entry) for index, entry in enumerate(old) if _says(entry, here)}
        now = {entry.name: (index, entry) for index, entry in enumerate(new) if _says(entry, here)}
        gone = [each for name, each in was.items() if name not in now]
        come = [each for name, each in now.items() if name not in was]
        for name, (index, entry) in was.items():
            if name in now:
                at, other = now[name]
                if self.alike and is_alike(entry.value, other.value):
                    continue
                key, _ = row_of_entry(here.part, here.path, entry, here.key, here.names)
                yield from self.values(here.below(key, name, index, at), entry, other, key)
        yield from self.moved(here, gone, come)

    def moved(self, here: _Here, gone: list[tuple[int, Entry]], come: list[tuple[int, Entry]]) -> Iterator[Change]:
        """What is there under another name, what is gone and what has come."""
        left = list(come)
        for index, entry in gone:
            key, is_named = row_of_entry(here.part, here.path, entry, here.key, here.names)
            old = Place((*here.routes[0], index), entry.value, entry)
            value = self.before(entry.value, key)
            is_named = is_named or key.kind is Kind.FALLS_BACK or key.shape in BY_CALLER
            twins = [each for each in left if not is_named and self.after(each[1].value, key) == value]
            alike = [each for each in gone if self.before(each[1].value, key) == value]
            if key.name in OTHER_EDGE:
                twins, alike = [each for each in left if each[1].name == OTHER_EDGE[key.name]], [(index, entry)]
            if len(twins) == 1 and len(alike) == 1:
                left.remove(twins[0])
                at, other = twins[0]
                new = Place((*here.routes[1], at), other.value, other)
                yield here.change(key, entry.name, "renamed", old, new)
            else:
                yield here.change(key, entry.name, "removed", old, None)
        for index, entry in left:
            key, _ = row_of_entry(here.part, here.path, entry, here.key, here.names)
            new = Place((*here.routes[1], index), entry.value, entry)
            yield here.change(key, entry.name, "added", None, new)

    def values(self, here: _Here, before: Entry | None, after: Entry | None, key: Key) -> Iterator[Change]:
        assert before is not None and after is not None
        yield from self.nodes(here, key, before.value, after.value, before, after)

    def nodes(
        self, here: _Here, key: Key, old: Node, new: Node, before: Entry | None, after: Entry | None
    ) -> Iterator[Change]:
        """`here` is the value itself."""
        places = Place(here.routes[0], old, before), Place(here.routes[1], new, after)
        if not isinstance(old, Mapping) and self.before(old, key) == self.after(new, key):
            return
        if key.shape in BY_CALLER:
            if self.before(old, key) != self.after(new, key):
                yield self._changed(here, key, places)
            return
        if key.path == _FILTER and (isinstance(old, Scalar) or isinstance(new, Scalar)):
            yield from self.filters(here, key, places)
            return
        match old, new:
            case Mapping(), Mapping() if self._spells_out(old, new, key):
                yield self._changed(here, key, places)
            case Mapping(), Mapping():
                is_value = here.value or None not in (constant_in(old), constant_in(new))
                yield from self.mappings(replace(here, value=is_value), old.entries, new.entries)
                names = [each.name for each in new.entries if old.get(each.name) is not None]
                if key.order == "steps" and names != [each.name for each in old.entries if each.name in names]:
                    yield Change(here.part, key, here.names, "reordered", *places, here.routes, True)
            case Sequence(), Sequence():
                yield from self.lists(here, key, old.items, new.items, places)
            case (Mapping(), _) | (_, Mapping()) if is_word(old, "none") or is_word(new, "none"):
                around = _Here(here.part, here.path, here.key, here.names, here.routes, True)
                yield from self.mappings(
                    around,
                    old.entries if isinstance(old, Mapping) else (),
                    new.entries if isinstance(new, Mapping) else (),
                )
            case (Sequence(), _) | (_, Sequence()) if alone(key) or is_word(old, "none") or is_word(new, "none"):
                around = _Here(here.part, here.path, here.key, here.names, here.routes, True)
                yield from self.lists(around, key, _items(old), _items(new), places)
            case _:
                yield self._changed(here, key, places)

    def filters(self, here: _Here, key: Key, places: tuple[Place, Place]) -> Iterator[Change]:
        """Of a parameter that is written as what it narrows to, or was."""
        old, new = places
        if isinstance(old.node, Scalar) and isinstance(new.node, Scalar):
            yield self._changed(here, key_at(here.part, f"{key.path}.{_NARROWS}"), places)
            return
        around = replace(here, fixed=True)
        entries = (
            each.node.entries if isinstance(each.node, Mapping) else (_narrowing(each.node),) for each in (old, new)
        )
        yield from self.mappings(around, *entries)

    def _spells_out(self, old: Mapping, new: Mapping, key: Key) -> bool:
        """Whether one of the two refers to a schema and the other one says it: what is another then, both say whole."""
        beside = [[each for each in of.entries if each.name not in KEYWORDS] for of in (old, new)]
        refers = [any(each.name == "$ref" for each in of.entries) for of in (old, new)]
        return refers[0] is not refers[1] and {each.name: self.before(each.value, key) for each in beside[0]} == {
            each.name: self.after(each.value, key) for each in beside[1]
        }

    def _changed(self, here: _Here, key: Key, places: tuple[Place, Place]) -> Change:
        return Change(here.part, key, here.names, "changed", *places, here.routes, True)

    def _reordered(self, here: _Here, key: Key, places: tuple[Place, Place], items: tuple[Node, ...]) -> Change:
        """What is in both lists, in the order of the new one: nothing else is another for it."""
        before, after = places
        assert isinstance(before.node, Sequence)
        after = replace(after, node=replace(before.node, items=items))
        return Change(here.part, key, here.names, "reordered", before, after, here.routes, True)

    def lists(
        self, here: _Here, key: Key, old: tuple[Node, ...], new: tuple[Node, ...], places: tuple[Place, Place]
    ) -> Iterator[Change]:
        if key.order == "sequence" or here.value:
            if [self.before(each, key) for each in old] != [self.after(each, key) for each in new]:
                yield self._changed(here, key, places)
            return
        row = row_of_item(here.part, key)
        rest = list(enumerate(new))
        gone: list[tuple[int, Node]] = []
        kept: list[int] = []
        for index, item in enumerate(old):
            twin = next((each for each in rest if self.after(each[1], row) == self.before(item, row)), None)
            if twin is None:
                gone.append((index, item))
            else:
                rest.remove(twin)
                kept.append(twin[0])
        if key.order == "steps" and kept != sorted(kept):
            stood = [index for index in range(len(old)) if index not in {each for each, _ in gone}]
            moved = dict(zip(stood, (new[at] for at in sorted(kept)), strict=True))
            items = tuple(moved.get(index, item) for index, item in enumerate(old))
            yield self._reordered(here, key, places, items)
        for (index, item), (at, other) in zip(gone, rest, strict=False):
            if isinstance(item, Mapping) and isinstance(other, Mapping):
                yield from self.mappings(here.below(row, str(index), index, at), item.entries, other.entries)
        if key.shape == NEW_NAMES and not here.fixed and len(gone) == len(rest) == 1:
            (index, item), (at, other) = gone[0], rest[0]
            places = Place((*here.routes[0], index), item), Place((*here.routes[1], at), other)
            yield here.change(row, _said(item, index), "renamed", *places)
            return
        paired = min(len(gone), len(rest))
        mapped = [n for n in range(paired) if isinstance(gone[n][1], Mapping) and isinstance(rest[n][1], Mapping)]
        for number, (index, item) in enumerate(gone):
            if number not in mapped:
                yield here.change(row, _said(item, index), "removed", Place((*here.routes[0], index), item), None)
        for number, (index, item) in enumerate(rest):
            if number not in mapped:
                yield here.change(row, _said(item, index), "added", None, Place((*here.routes[1], index), item))


def _narrowing(node: Node) -> Entry:
    """An expression under its key, at its own place."""
    offsets = range(node.span.start, node.span.start + len(_NARROWS) + 1)
    return Entry(Scalar(node.span, _NARROWS, _NARROWS, Style.PLAIN, offsets), node)


def _says(entry: Entry, here: _Here) -> bool:
    """Whether an entry states something: what is not shown, or proposed, or `none` where that is what absence is, is as
    if it were not written."""
    if entry.proposed or entry.value.proposed:
        return False
    if isinstance(entry.value, Scalar):
        if entry.value.says("not shown"):
            return False
        if entry.value.says("none"):
            # Within a template it is content: of `{204: none}` the status is said.
            row = row_of_entry(here.part, here.path, entry, here.key)[0]
            return row.path.endswith(WITHIN) or not row.none_is_absence
    return True


def _items(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Sequence):
        return node.items
    return () if is_word(node, "none") else (node,)


def _said(item: Node, index: int) -> str:
    return item.text if isinstance(item, Scalar) else str(index)
