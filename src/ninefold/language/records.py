"""Records read from a document: each fact by the reader of its shape, or by the one that its declaration names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from functools import cache, partial
from typing import Any, Final, TypeVar

from ninefold.language import leaves, shapes
from ninefold.language.declaration import Declared, Each, Holding, One, Several, members, of_each_record
from ninefold.language.expressions import assignments, expression, header_values, template
from ninefold.language.fact import Fact
from ninefold.language.quantities import duration, full_date, size, waits
from ninefold.language.reading import Level, Read, Reading, Slot, TableOfKeys, collected, spoken
from ninefold.syntax.nodes import Entry, Node, Part, Scalar
from ninefold.syntax.nodes import Mapping as MappingNode

T = TypeVar("T")

READERS: Final[Mapping[type, Read[Any]]] = {
    shapes.Word: leaves.word,
    shapes.Text: leaves.text,
    shapes.Integer: leaves.integer,
    shapes.Expression: expression,
    shapes.Duration: duration,
    shapes.Size: size,
    shapes.Date: full_date,
    shapes.MediaType: leaves.media_type,
    shapes.HeaderName: leaves.header,
    shapes.Path: leaves.path,
    shapes.Name: leaves.name,
    shapes.Template: template,
}
"""The readers of shapes that have one each."""


def part_of(r: Reading, record: type[T], part: Part) -> T:
    """A whole part. What one sentence says for it is said of each of its facts."""
    said = spoken(part)
    if said is not None:
        return record(**dict.fromkeys((each.attribute for each in members(record) if each.whole is None), said))
    is_open = any(not each.key.path and isinstance(each.holding, Each) for each in members(record))
    return facts_of(r, record, r.keyed(part.facts, keys_of(record), "", is_open=is_open))


def facts_of(r: Reading, record: type[T], level: Level, **own: object) -> T:
    """A record from the mapping that states it. `own`: what it has besides its facts, such as its name and place."""
    return record(
        **{name: value for name, value in own.items() if name in _own_fields(record)}, **read_members(r, record, level)
    )


def read_members(r: Reading, record: type, level: Level, only: Collection[str] = ()) -> dict[str, Any]:
    """The facts of a record, or some of them, by the names of its members."""
    groups: dict[str, Level | Fact[Any] | None] = {}
    found: dict[str, Any] = {}
    for each in members(record):
        if only and each.attribute not in only:
            continue
        if each.whole is not None:
            found[each.attribute] = each.whole(level)
        elif not each.key.path and isinstance(each.holding, Each):
            found[each.attribute] = collected(r, level.named, level.node.span, partial(of_entry(each.holding), r))
        elif each.group is None:
            found[each.attribute] = level.fact(each.name, reader(each), main=each.main)
        else:
            found[each.attribute] = _in_group(r, record, each, level, groups)
    return found


def _in_group(
    r: Reading, record: type, each: Declared, level: Level, groups: dict[str, Level | Fact[Any] | None]
) -> Fact[Any] | None:
    """A fact in a mapping that is no record of its own; `none` and `not shown` for the mapping are said of it."""
    assert each.group is not None
    name, entry = each.group.name, level.known.get(each.group.name)
    if entry is None:
        return None
    if name not in groups:
        if isinstance(entry.value, Scalar) and (entry.value.says("none") or entry.value.says("not shown")):
            groups[name] = level.fact(name, reader(each))
        else:
            groups[name] = r.keyed(entry.value, _keys_within(record, name), name)
    below = groups[name]
    if not isinstance(below, Level):
        return below
    with r.proposing(entry.proposed or entry.value.proposed):
        return below.fact(each.name, reader(each), main=True)


@of_each_record
def keys_of(record: type) -> TableOfKeys:
    """The keys of a mapping that states a record."""
    stated = ((*each.beside, each.group or each.key) if each.key.path else each.below for each in members(record))
    return {key.name: key for keys in stated for key in keys if not key.is_placeholder and "." not in key.path}


@cache
def _keys_within(record: type, group: str) -> TableOfKeys:
    found = (each for each in members(record) if each.group is not None and each.group.name == group)
    return {each.name: each.key for each in found}


@of_each_record
def _own_fields(record: type) -> frozenset[str]:
    """What a record has besides its facts."""
    return frozenset(each.name for each in fields(record)) - {each.attribute for each in members(record)}


def reader(each: Declared) -> Read[Any]:
    """What reads the value of a key."""
    if each.read is not None:
        return each.read
    return of_shape(each.key.shape) if each.holding is None else of_records(each.holding)


def of_shape(shape: shapes.Shape) -> Read[Any]:
    """The reader of a shape. `KeyError` where there is none: the declaration has to name one."""
    match shape:
        case shapes.Boolean(only_true):
            return leaves.only_true if only_true else leaves.boolean
        case shapes.Names(alone=alone):
            return leaves.name_or_names if alone else leaves.names
        case shapes.ListOf(shapes.Word()):
            return leaves.words
        case shapes.ListOf(shapes.Duration()):
            return waits
        case shapes.MappingOf("headers to expressions"):
            return header_values
        case shapes.MappingOf(of) if of.endswith("to expressions"):
            return assignments
        case _:
            return READERS[type(shape)]


def of_records(holding: Holding) -> Read[Any]:
    """The reader of what holds a record."""
    match holding:
        case One(record, of_values):
            return _one_of_values(record) if of_values else _one(record)
        case Each():
            return _each(holding)
        case Several():
            return _several(holding)


def _one(record: type[T]) -> Read[T]:
    def read(r: Reading, node: Node, slot: Slot) -> T | None:
        level = r.keyed(node, keys_of(record), slot.called)
        return facts_of(r, record, level, span=node.span) if isinstance(node, MappingNode) else None

    return read


def _one_of_values(record: type[Any]) -> Read[Any]:
    def read(r: Reading, node: Node, slot: Slot) -> Any:
        found = _values(r, record, node, slot.called)
        return found if isinstance(node, MappingNode) else None

    return read


def _values(r: Reading, record: type[Any], node: Node, called: str) -> Any:
    """A record inside a fact: its members are values."""
    return record(span=node.span, **values_of(r.keyed(node, keys_of(record), called), record))


def values_of(level: Level, record: type) -> dict[str, Any]:
    """What the members of a record are inside a fact, by their names; nothing of those that are not said."""
    found = (
        (each.attribute, level.inner(each.name, reader(each)) if each.whole is None else each.whole(level))
        for each in members(record)
    )
    return {name: value for name, value in found if value is not None}


def of_entry(holding: Each) -> Callable[[Reading, Entry], Any]:
    """The reader of a record under a name."""

    def of_entry(r: Reading, entry: Entry) -> Any:
        level = r.keyed(entry.value, keys_of(holding.record), entry.name, holding.refused)
        if holding.look is not None:
            holding.look(r, entry, level)
        return facts_of(r, holding.record, level, name=entry.name, span=entry.key.span)

    return of_entry


def _each(holding: Each) -> Read[tuple[Any, ...]]:
    one, admits = of_entry(holding), holding.admits

    def read(r: Reading, node: Node, slot: Slot) -> tuple[Any, ...] | None:
        if not isinstance(node, MappingNode):
            r.wrong_shape(node, slot)
            return None
        named = [entry for entry in node.entries if admits is None or admits(r, entry)]
        return r.each(named, lambda entry: one(r, entry))

    return read


def _several(holding: Several) -> Read[tuple[Any, ...]]:
    record, admits = holding.record, holding.admits

    def read(r: Reading, node: Node, slot: Slot) -> tuple[Any, ...] | None:
        items = r.items(node, slot)
        if items is None:
            return None
        found = ((item, _values(r, record, item, slot.called)) for item in items)
        return tuple(each for item, each in found if admits is None or admits(r, item, slot, each))

    return read
