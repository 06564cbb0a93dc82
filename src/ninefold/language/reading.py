"""How a tree of facts is read: mappings with the keys of the table, and facts that are shown, none, or gaps.

Reading is total. What is wrong gets a diagnostic where it stands, once, and stays a gap; what is right beside it
is read.

A gap lies in the nearest fact that holds it. Where `not shown` or `!proposed` stands deeper than a fact (an item of a
list, a leaf of a template), that whole fact is the gap, or the proposal; where it stands at something that holds
facts of its own (an endpoint, a field), each of those facts is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from ninefold.diagnostics.codes import BARE_WORD, KEYWORD_NOT_USED, NO_ANSWER, UNKNOWN_KEY, WRONG_SHAPE
from ninefold.diagnostics.diagnostic import Code, Diagnostic, Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import nearest
from ninefold.expressions.terms import Meaning
from ninefold.language.fact import Fact, Gap, Proposal, Shown, StatedNone
from ninefold.language.fact import Name as FactName
from ninefold.language.json_schema import KEYWORDS
from ninefold.language.key import Key, KeysUnder
from ninefold.language.shapes import Members, Shape, describe
from ninefold.language.slips import meant, slips
from ninefold.language.written import Written, written
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Part, Scalar, Sequence, Style, Word, is_word

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a value stands: what it is called in a message, and what it should look like. `none`: the word that says
    that there is none of it; `""`: there is no such word."""

    called: str
    shape: Shape
    none: str = "none"


def slot_of(key: Key) -> Slot:
    return Slot(key.name, key.shape, "none" if key.admits_none else "")


@dataclass(frozen=True, slots=True)
class Term:
    """An expression that part 2 names. `meaning`, with other terms spelled out, is None where it is a gap or cannot be
    read; `value` is where it is written; `reads`: the terms that it reads by name."""

    name: FactName
    meaning: Meaning | None
    value: Span
    reads: frozenset[str]


Refused: TypeAlias = MappingProxyType[str, str]

TableOfKeys: TypeAlias = dict[str, Key]
"""The keys of one mapping, by their names."""

Read: TypeAlias = Callable[["Reading", Node, Slot], T | None]
"""Reads a value. `None`: it cannot be read, and a diagnostic says why."""


@dataclass
class Reading:
    """What is remembered while a document is read. `accept`: proposals are in force. `keys_under`: the table."""

    document: Document
    accept: bool
    keys_under: KeysUnder
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _proposed: bool = False
    """An entry around the facts that are read now is a proposal, and so is each of them."""
    _candidate: bool = False
    """A candidate is being read: what is in it is a proposal as a whole, not each for itself."""
    _hole: Span | None = None
    """A `not shown` in the fact that is read now."""
    _touched: bool = False
    """A `!proposed` in the fact that is read now."""
    terms: dict[str, Term] = field(default_factory=dict)
    """The terms of part 2, once they are read."""
    _levels: dict[tuple[int, str], tuple[TableOfKeys, bool]] = field(default_factory=dict)
    """The keys of each mapping that has been read, and whether the contract chooses the names of others."""
    _comparisons: int = 20_000
    """How many more names may be compared to find what a wrong one was meant to be."""
    slips: dict[Span, str] = field(default_factory=dict)
    """The help where a value is nearly `none` or `not shown`, should something turn out to be wrong with it."""

    @cached_property
    def types(self) -> Entry | None:
        """The entry `types` of part 2."""
        return self.document.part("resources").facts.get("types")

    @cached_property
    def written(self) -> Written:
        """The names of resources and transitions, before they are read."""
        return written(self.document, self.keys_under)

    def say(self, code: Code, message: str, *labels: Label, help: Iterable[str] = (), of: str = "") -> None:
        slip = self.slips.get(labels[0].span) if labels else None
        help = (slip,) if slip is not None else help
        self.diagnostics.append(Diagnostic(code, message, labels, tuple(help), of))

    def nearest(self, name: str, candidates: Collection[str]) -> str | None:
        """What a wrong name was probably meant to be. A document with very many wrong names is not told of all."""
        if len(name) > 100 or len(candidates) > self._comparisons:
            return None
        self._comparisons -= len(candidates)
        return nearest(name, candidates)

    def did_you_mean(self, name: str, candidates: Collection[str]) -> tuple[str, ...]:
        """The same as the help line of a diagnostic: one line, or none."""
        found = self.nearest(name, candidates)
        return (f"did you mean `{found}`?",) if found else ()

    def wrong_shape(self, node: Node, slot: Slot, help: Iterable[str] = ()) -> None:
        if isinstance(node, Scalar) and node.style is Style.PLAIN and ": " in node.text:
            return  # no YAML has such a text without quotes: it is a mistake that has been told
        found = described(node)
        if found == NOTHING:
            help = (f"write {describe(slot.shape)}{', be it `{}`' * (slot.shape == Members())}; or `not shown`",)
            self.say(WRONG_SHAPE, f"nothing is written for {quoted(slot.called)}", Label(node.span), help=help)
        else:
            message = f"{quoted(slot.called)} is {found}, not {describe(slot.shape)}"
            self.say(WRONG_SHAPE, message, Label(node.span), help=tuple(help) or meant(node, slot.shape))

    def fact(self, node: Node, slot: Slot, read: Read[T], proposed: bool = False) -> Fact[T]:
        """A value as a fact."""
        if is_word(node, "not shown"):
            return Gap(node.span)
        before = self._proposed, self._candidate, self._hole, self._touched
        proposed = proposed or node.proposed or self._proposed
        self._proposed, self._candidate = False, self._candidate or proposed
        self._hole, self._touched = None, False
        stated: Shown[T] | StatedNone | None
        if slot.none and is_word(node, slot.none):
            stated = StatedNone(node.span)
        else:
            self.note_slips(node, slot)
            value = read(self, node, slot)
            stated = None if value is None else Shown(value, node.span)
        hole, proposed = self._hole, proposed or self._touched
        self._proposed, self._candidate, self._hole, self._touched = before
        if stated is None or hole is not None:
            return Gap(hole or node.span)
        if not (proposed or self._candidate):
            return stated
        if self.accept:
            return (
                StatedNone(stated.span, True)
                if isinstance(stated, StatedNone)
                else Shown(stated.value, stated.span, True)
            )
        return stated if self._candidate else Proposal(stated, node.span)

    def note_slips(self, node: Node, slot: Slot) -> None:
        """What is nearly `none` or `not shown` may be a name that is declared, or a text: it is remembered until
        something is said of it."""
        self.slips.update(slips(node, slot.shape, slot.none))

    def states(self, node: Node, proposed: bool = False) -> bool:
        """Whether a value inside a fact states something; a gap or a proposal there is one of the whole fact."""
        if proposed or node.proposed:
            self._touched = True
        if is_word(node, "not shown"):
            self._hole = self._hole or node.span
            return False
        return not is_word(node, "none")

    def is_no_answer(self, key: Key | None, value: Node, called: str = "") -> bool:
        """Says of a value that it is no answer: of nothing at all, and of `none` unless the table says that it is one.
        `called`: what the key is written as, where it stands for any name."""
        is_none = is_word(value, "none")
        if key is None or not (described(value) == NOTHING or (is_none and not key.admits_none)):
            if key is not None:
                self.note_slips(value, slot_of(key))
            return False
        named, help = quoted(called or key.name), (key.advice,)
        if is_none:
            label = "it is asked for, and this is no answer" if key.is_asked else "not to be told from leaving it out"
            self.say(NO_ANSWER, f"{named} is `none`", Label(value.span, label), help=help)
        else:
            self.say(WRONG_SHAPE, f"nothing is written for {named}", Label(value.span), help=help)
        return True

    def leaves_open(self, place: Span) -> None:
        """What is read now depends on something that is a gap: the whole fact is one."""
        self._hole = self._hole or place

    def items(self, node: Node, slot: Slot) -> tuple[Node, ...] | None:
        """The items of a list that state something."""
        if not isinstance(node, Sequence):
            self.wrong_shape(node, slot)
            return None
        for item in node.items:
            if is_word(item, "none"):
                self.say(
                    BARE_WORD,
                    f"`none` is an item of {quoted(slot.called)}",
                    Label(item.span),
                    help=('leave it out, or quote it where the text is meant: `"none"`',),
                )
        return tuple(item for item in node.items if self.states(item))

    def entries(self, node: Node, slot: Slot) -> tuple[Entry, ...] | None:
        """The entries of a mapping from names, inside a fact, that state something."""
        if not isinstance(node, Mapping):
            self.wrong_shape(node, slot)
            return None
        return tuple(entry for entry in node.entries if self.states(entry.value, entry.proposed))

    def each(self, entries: Iterable[Entry], read: Callable[[Entry], T]) -> tuple[T, ...]:
        """What each entry declares, where it holds facts of its own. One that is `none` is not there."""
        found: list[T] = []
        for entry in entries:
            if is_word(entry.value, "none"):
                continue
            self.note_slips(entry.value, Slot(entry.name, Members()))
            with self.proposing(entry.proposed or entry.value.proposed):
                found.append(read(entry))
        return tuple(found)

    @contextmanager
    def proposing(self, proposed: bool) -> Iterator[None]:
        """The facts read meanwhile are proposals."""
        before = self._proposed
        self._proposed = before or proposed
        yield
        self._proposed = before

    def level(self, node: Node, part: int, path: str, called: str, refused: Refused | None = None) -> Level:
        """A mapping with the keys that the table has at `path`."""
        known = self._levels.get((part, path))
        if known is None:
            below = self.keys_under(part, path)
            keys = {key.name: key for key in below if not key.is_placeholder}
            known = self._levels[part, path] = keys, len(keys) < len(below)
        keys, is_open = known
        return self.keyed(node, keys, called, refused, is_open=is_open)

    def keyed(
        self,
        node: Node,
        keys: TableOfKeys,
        called: str,
        refused: Refused | None = None,
        *,
        is_open: bool = False,
    ) -> Level:
        """A mapping with some keys; what is not a mapping has none. `refused` are keys that others know and the
        language has not, with the reason. `is_open`: the contract chooses the names of others."""
        if is_word(node, "not shown"):
            return Level(self, node, keys, called, {}, (), node.span)
        if not isinstance(node, Mapping):
            self.wrong_shape(node, Slot(called, Members()), meant(node, Members()) or _keys_are(tuple(keys)))
            return Level(self, node, keys, called, {}, (), None)
        known: dict[str, Entry] = {}
        named: list[Entry] = []
        for entry in node.entries:
            if (key := keys.get(entry.name)) is not None:
                if not (key.none_is_absence and is_word(entry.value, "none")):
                    known[entry.name] = entry
            elif refused is not None and entry.name in refused:
                self.say(
                    KEYWORD_NOT_USED,
                    f"{quoted(entry.name)} is not part of the language",
                    Label(entry.key.span),
                    help=(refused[entry.name],),
                )
            elif is_open:
                named.append(entry)
            else:
                self.unknown(entry.key, called, tuple(keys))
        return Level(self, node, keys, called, known, tuple(named), None)

    def unknown(self, key: Scalar, called: str, candidates: tuple[str, ...], help: Iterable[str] = ()) -> None:
        where = f"{quoted(called)} has" if called else "this part has"
        help = tuple(help) or self.did_you_mean(key.text, candidates) or _keys_are(candidates)
        self.say(UNKNOWN_KEY, f"{where} no key {quoted(key.text)}", Label(key.span, "not a key"), help=help)


@dataclass(frozen=True, slots=True)
class Level:
    """A mapping of the document. `keys`: those that it may have. `known` are the entries of these, `named` those whose
    names the contract chooses, `gap` is set where the whole mapping is `not shown`."""

    reading: Reading
    node: Node
    keys: TableOfKeys
    called: str
    known: dict[str, Entry]
    named: tuple[Entry, ...]
    gap: Span | None

    def slot(self, name: str) -> Slot:
        return slot_of(self.keys[name])

    def fact(self, name: str, read: Read[T], main: bool = False) -> Fact[T] | None:
        """What is said under a key. `main`: it is what `not shown` for the whole mapping leaves open."""
        if self.gap is not None:
            return Gap(self.gap) if main else None
        entry = self.known.get(name)
        if entry is None:
            return None
        if self.reading.is_no_answer(self.keys[name], entry.value):
            return Gap(entry.value.span)
        return self.reading.fact(entry.value, self.slot(name), read, entry.proposed)

    def inner(self, name: str, read: Read[T]) -> T | None:
        """What is said under a key of a mapping that stands inside a fact."""
        entry = self.known.get(name)
        if entry is None or self.reading.is_no_answer(self.keys[name], entry.value):
            return None
        if not self.reading.states(entry.value, entry.proposed):
            return None
        return read(self.reading, entry.value, self.slot(name))

    def declared(self, read: Callable[[Entry], T]) -> tuple[T, ...]:
        return self.reading.each(self.named, read)


def spoken(part: Part) -> StatedNone | Gap | None:
    """What one sentence says for a whole part."""
    if part.statement is None or part.facts.entries:
        return None
    return StatedNone(part.statement.span) if part.statement.word is Word.NONE else Gap(part.statement.span)


def collected(
    reading: Reading, entries: tuple[Entry, ...], span: Span, read: Callable[[Entry], T]
) -> Fact[tuple[T, ...]] | None:
    """What a part declares by name, as one fact; where every entry is a proposal, so is the whole."""
    if not entries:
        return None
    if all(entry.proposed or entry.value.proposed for entry in entries):
        return reading.fact(
            Mapping(span, entries), Slot("", Members()), lambda r, _, __: r.each(entries, read), proposed=True
        )
    return Shown(reading.each(entries, read), span)


NOTHING = "nothing"


def described(node: Node) -> str:
    """What a value is, in words."""
    match node:
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
        case Scalar(value=None, text=""):
            return NOTHING
        case Scalar(value=None):
            return "`null`"
        case Scalar(value=bool()):
            return f"`{node.text}`"
        case Scalar(value=int() | float()):
            return f"the number {shortened(node.text)}"
        case Scalar():
            return f"the text {quoted(node.text)}"


def _keys_are(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The help that tells the keys of a mapping, if they are few; not those of JSON Schema beside others."""
    own = tuple(each for each in keys if each not in KEYWORDS) if KEYWORDS.issubset(keys) else keys
    besides = "" if own == keys else "besides those of JSON Schema, "
    return (f"{besides}its keys are {', '.join(f'`{each}`' for each in own)}",) if 0 < len(own) <= 20 else ()


def shortened(text: str, length: int = 60) -> str:
    """Text for a message: on one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def quoted(text: str) -> str:
    return f"`{shortened(text)}`"
