"""How a record of the language is declared: a frozen class, each of whose members says all that holds of its key.

    @dataclass(frozen=True, slots=True)
    class Rate:
        name: str
        span: Span
        allow: Fact[int] | None = asked("allow", Integer(1), "How many requests.", RATE, "the rate is not applied")

From a declaration follow the rows of the table (`rows`, and from these the reference, the editor's schema and what
`ablate` takes away), the reader (`language.records`), the uses and renamings of names (`language.uses`), the open
questions (`questions.open`) and the lines of `explain` (`tools.explain.told`). A record says nothing of where it
stands: one shape stands at several places, by the members that hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, fields
from functools import cache, partial
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypeVar

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.language.fact import Fact, Name, Shown, is_open, within
from ninefold.language.headers import Header
from ninefold.language.key import Key, Kind, Order, Side, falling_back
from ninefold.language.question import Question
from ninefold.language.reading import Level, Read, Reading, Refused, Slot
from ninefold.language.shapes import ListOf, MappingOf, Members, OneOf, Shape
from ninefold.language.verbs import Verb
from ninefold.syntax.nodes import Entry, Node
from ninefold.values.plain import Plain

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class One:
    """A mapping with the keys of a record. `of_values`: it stands inside a fact, as `Several` does."""

    record: type
    of_values: bool = False
    row: Key | None = None
    shape: Shape = Members()


@dataclass(frozen=True, slots=True)
class Each:
    """A mapping from names that the contract chooses (`of` says of what, as in `MappingOf`) to such mappings. `row` is
    the placeholder's row: `named("RATE", …)`. `look` says what is wrong with an entry before its facts are read, and
    `admits` whether it is one at all; `refused` are keys that others know and the language has not, with the reason.
    `about`: what its questions are about, by its name and that of the record that it stands in."""

    record: type
    row: Key
    of: str = ""
    look: Callable[[Reading, Entry, Level], None] | None = None
    admits: Callable[[Reading, Entry], bool] | None = None
    refused: Refused | None = None
    about: str = "{0}"

    @property
    def shape(self) -> Shape:
        return MappingOf(self.of) if self.of else Members()


@dataclass(frozen=True, slots=True)
class Several:
    """A list of such mappings, `row` being that of an item, where it has one. It stands inside a fact: the members of
    its records are no facts, but values, and what is not shown in one leaves the whole list open. `admits`: whether
    what is read of an item says enough to count; what it lacks is said there. `alone`: one may stand without a list."""

    record: type
    row: Key | None
    admits: Callable[[Reading, Node, Slot, Any], bool] | None = None
    alone: bool = False

    @property
    def shape(self) -> Shape:
        return OneOf((Members(), ListOf(Members()))) if self.alone else ListOf(Members())


Holding: TypeAlias = One | Each | Several
"""What holds a record."""


@dataclass(frozen=True, slots=True)
class When:
    """What has to be so for a key to be asked for. `holds`: of the record; None: it is of the whole contract, and
    what asks knows of it."""

    words: str
    holds: Callable[[Any], bool] | None = None

    def holds_of(self, record: object) -> bool:
        """Whether it is so of a record, as far as the record can say."""
        return self.holds is None or self.holds(record)


def if_asked(question: Question) -> When:
    """That it is so is what the question says itself of when it is asked."""
    return When(question.asked.removeprefix("if "))


def says(told: str, member: str, *words: str, if_open: bool = False) -> When:
    """A member of the same record is one of some words, or is open, `if_open`."""

    def holds(record: object) -> bool:
        fact = getattr(record, member)
        return fact.value.text in words if isinstance(fact, Shown) else if_open and is_open(fact)

    return When(told, holds)


@dataclass(frozen=True, slots=True)
class OfVerbs:
    """What a key does, and of which verbs: where an endpoint has no such verb the key has no effect, and is told so.
    `instead`: of which of those something else says what was probably meant, and what."""

    of: Callable[[Verb], bool]
    words: str
    instead: tuple[Callable[[Verb], bool], str] | None = None

    def help(self, verb: Verb) -> tuple[str, ...]:
        """What to write instead, of a verb of which the key has no effect."""
        return self.instead[1:] if self.instead is not None and self.instead[0](verb) else ()


@dataclass(frozen=True, slots=True)
class Declared:
    """A member of a record.

    `key` is its row, with a path that runs from the record. `question`: the one that asks for it; `asks` its words
    where they are not the question's, with `{}` for the subject. `main`: it is what `not shown` for the whole record
    leaves open.

    `told`: what `explain` calls it, `words` how it tells its value, where the shape does not say, and `sentence` where
    the value stands in place of a `{}`, and not after what it is called; of records, what their facts stand under, with
    the name in place of the `{}`. `meanings`: the fixed ones that hold of it.

    `below`: the rows below it that no record has; `beside`: other keys of the mapping that are read with it. `whole`:
    it is read from the whole mapping. A key with the path `""` is that mapping itself: names that the contract chooses
    (`Each`), or what `below` says. `planned`: its plain value goes along to the plan (`said`); so it does where it is a
    `header` that every response carries of the endpoint, or of the version, at which it stands. `does`: of an endpoint
    or of a parameter, where not all verbs do something with it.
    """

    key: Key
    attribute: str = ""
    holding: Holding | None = None
    question: Question | None = None
    asks: str = ""
    when: When | None = None
    read: Read[Any] | None = None
    main: bool = False
    told: str = ""
    words: Callable[[Any], str] | None = None
    sentence: str = ""
    meanings: tuple[str, ...] = ()
    below: tuple[Key, ...] = ()
    beside: tuple[Key, ...] = ()
    whole: Callable[[Level], Any] | None = None
    planned: bool = False
    header: Header | None = None
    does: OfVerbs | None = None

    @property
    def name(self) -> str:
        """The key as it is written."""
        return self.key.name


_DECLARED: Final = "declared"
"""Under which name the metadata of a dataclass's field has its declaration."""


def _row(
    kind: Kind,
    name: str,
    shape: Shape,
    meaning: str,
    absent: str,
    question: Question | None = None,
    when: When | None = None,
    says_none: bool = False,
    side: Side | None = None,
    order: Order | None = None,
    promise: str | None = None,
    amount: int | None = None,
) -> Key:
    words = when.words if when is not None and kind is Kind.ASKED_WHEN else None
    asks = None if question is None else question.id
    return Key(0, name, kind, shape, meaning, absent, asks, words, None, says_none, side, order, promise, amount)


def _declared(key: Key, shape: Shape | Holding, *, default: object = None, **also: Any) -> Any:
    """A field of a dataclass, `None` where nothing is written."""
    holding = shape if isinstance(shape, Holding) else None
    return field(default=default, metadata={_DECLARED: Declared(key, holding=holding, **also)})


def _member(
    kind: Kind,
    name: str,
    shape: Shape | Holding,
    meaning: str,
    absent: str,
    *,
    question: Question | None = None,
    when: When | None = None,
    says_none: bool = False,
    line: tuple[int, str] | None = None,
    side: Side | None = None,
    order: Order | None = None,
    promise: str | None = None,
    amount: int | None = None,
    **also: Any,
) -> Any:
    own = shape.shape if isinstance(shape, Holding) else shape
    asks = None if kind in (Kind.RESTRICTS, Kind.ADDS, Kind.NAMES) else question
    order = "steps" if order is None and isinstance(shape, Several) else order  # what is first is done, or told, first
    if also.get("header") is not None:
        also, side, promise = also | {"planned": True}, side or "gives", promise or "add a response header"
    key = _row(kind, name, own, meaning, absent, asks, when, says_none, side, order, promise, amount)
    return _declared(key if line is None else falling_back(key, *line), shape, question=question, when=when, **also)


restricts = partial(_member, Kind.RESTRICTS)
adds = partial(_member, Kind.ADDS)
names = partial(_member, Kind.NAMES)
tells = partial(_member, Kind.TELLS, absent="Nothing that a caller sees.")


def asked(name: str, shape: Shape | Holding, meaning: str, question: Question, gap: str, **also: Any) -> Any:
    """A key that a question asks for, always or `when` something is so. `gap`: what a gap costs."""
    kind = Kind.ASKED if also.get("when") is None else Kind.ASKED_WHEN
    return _member(kind, name, shape, meaning, f"A gap: {gap}.", question=question, **also)


def instead(name: str, shape: Shape | Holding, meaning: str, part: int, line: str, **also: Any) -> Any:
    """A key that stands instead of another line, in a part. `question`: what asks for it without that line."""
    return _member(Kind.FALLS_BACK, name, shape, meaning, "", line=(part, line), **also)


def named(
    placeholder: str,
    kind: Kind,
    meaning: str,
    absent: str,
    shape: Shape | None = None,
    asks: Question | None = None,
    *,
    when: When | None = None,
    side: Side | None = None,
    promise: str | None = None,
) -> Key:
    """The row of a placeholder, for the names of records if it has no shape of its own."""
    return _row(kind, placeholder, shape or Members(), meaning, absent, asks, when, False, side, None, promise)


def together(rows: tuple[Key, ...], whole: Callable[[Level], Any]) -> Any:
    """Keys of the mapping itself that are read as one, such as the keywords of a schema."""
    return adds("", Members(), "", "", below=rows, whole=whole)


def of_each_record(function: Callable[[type], T]) -> Callable[[type], T]:
    """What is found out once of each kind of record."""
    return cache(function)


@of_each_record
def members(record: type) -> tuple[Declared, ...]:
    """The declared members of a record, in their order."""
    found = ((each.name, each.metadata.get(_DECLARED)) for each in fields(record))
    return tuple(replace(each, attribute=name) for name, each in found if each is not None)


def said(record: object) -> dict[str, Plain]:
    """What of a record goes along to the plan, by its keys; nothing of what is a gap, or `none`."""
    stated = ((each.name, getattr(record, each.attribute)) for each in members(type(record)) if each.planned)
    return {name: _plain(fact.value) for name, fact in stated if isinstance(fact, Shown)}


def headers(record: type, said: Iterable[str]) -> dict[str, Header]:
    """Those that every response carries by what a record says, by its keys."""
    stated = frozenset(said)
    return {each.name: each.header for each in members(record) if each.header is not None and each.name in stated}


def _plain(value: Any) -> Plain:
    plain: Plain = value.text if isinstance(value, Name) else value
    return plain


def members_within(record: type, whole: Fact[Any] | None) -> dict[str, Fact[Any]]:
    """The facts inside a fact that is such a record, by their attributes; those alone of which something is said."""
    found = {each.attribute: within(whole, attrgetter(each.attribute)) for each in members(record)}
    return {attribute: fact for attribute, fact in found.items() if fact is not None}


def key_of(record: type, attribute: str) -> Key:
    """The row of a member, with a path that runs from the record."""
    return next(each.key for each in members(record) if each.attribute == attribute)


def rows(record: type, part: int, at: str = "") -> tuple[Key, ...]:
    """The rows of the table for a record that stands at a path of a part."""
    return tuple(_rows(record, part, at))


def _rows(record: type, part: int, at: str) -> Iterator[Key]:
    def placed(key: Key, *before: str) -> Key:
        return key.at(part, join(at, *before, key.path))

    for each in members(record):
        yield from map(placed, each.beside)
        own = placed(each.key)
        if each.key.path:
            yield own
        yield from (placed(row, each.key.path) for row in each.below)
        if each.holding is not None:
            yield from _below(own, each.holding)


def join(*paths: str) -> str:
    """A path from its stretches; an empty one is the mapping itself."""
    return ".".join(filter(None, paths))


def _below(key: Key, holding: Holding) -> Iterator[Key]:
    """The rows of what stands below a key."""
    path = key.path if holding.row is None else join(key.path, holding.row.path)
    if holding.row is not None:
        yield holding.row.at(key.part, path)
    for each in _rows(holding.record, key.part, path):
        yield held_by(key, each, each.path.removeprefix(f"{path}."))


def held_by(holder: Key, key: Key, path: str) -> Key:
    """A key as it is below another one, by a path. Where that falls back to another line, so does each below it, and if
    no question asks for it there, none does for them."""
    if holder.line is None:
        return key
    part, line = holder.line
    return falling_back(replace(key, question=key.question if holder.is_asked else None), part, join(line, path))
