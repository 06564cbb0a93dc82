"""Records read from a document: each fact by the reader of its shape, or by the one that its declaration names."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, Final, TypeVar

from ninefold.language import leaves, shapes
from ninefold.language.declaration import Declared, Each, Holding, One, Several, held_by, members, of_each_record
from ninefold.language.expressions import assignments, expression, template
from ninefold.language.key import Key
from ninefold.language.quantities import duration, full_date, size
from ninefold.language.reading import Level, Read, Reading, Slot, TableOfKeys, collected, spoken
from ninefold.syntax.nodes import Entry, Node, Part, Scalar
from ninefold.syntax.nodes import Mapping as MappingNode

T = TypeVar("T")

READERS: Final[Mapping[type, Read[Any]]] = {
    shapes.Word: leaves.word,
    shapes.Text: leaves.text,
    shapes.Integer: leaves.integer,
    shapes.Boolean: leaves.boolean,
    shapes.Expression: expression,
    shapes.Duration: duration,
    shapes.Size: size,
    shapes.Date: full_date,
    shapes.MediaType: leaves.media_type,
    shapes.HeaderName: leaves.header,
    shapes.Path: leaves.path,
    shapes.Name: leaves.name,
    shapes.Names: leaves.names,
    shapes.Template: template,
    shapes.ListOf: leaves.words,
    shapes.MappingOf: assignments,
}
"""The readers of shapes: of a list, one of words, and of a mapping, one from names to expressions."""


def reader(each: Declared) -> Read[Any]:
    """What reads the value of a key. `KeyError` where its shape has no reader: the declaration has to name one."""
    if each.read is not None:
        return each.read
    return READERS[type(each.key.shape)] if each.holding is None else of_records(each.holding, each.key)


def part_of(r: Reading, record: type[T], part: Part) -> T:
    """A whole part. What one sentence says for it is said of each of its facts."""
    said = spoken(part)
    if said is not None:
        return record(**dict.fromkeys((each.attribute for each in members(record) if each.whole is None), said))
    is_open = any(not each.key.path and isinstance(each.holding, Each) for each in members(record))
    return facts_of(r, record, r.keyed(part.facts, keys_of(record), "", is_open=is_open))


def facts_of(r: Reading, record: type[T], level: Level, **own: object) -> T:
    """A record from the mapping that states it. `own`: what it has besides its facts, such as its name and place."""
    known = {each.name for each in fields(record)}  # type: ignore[arg-type]
    return record(**{name: value for name, value in own.items() if name in known}, **read_members(r, record, level))


def read_members(r: Reading, record: type, level: Level, only: Collection[str] = ()) -> dict[str, Any]:
    """The facts of a record, or some of them, by the names of its members."""
    found: dict[str, Any] = {}
    for each in members(record):
        if only and each.attribute not in only:
            continue
        if each.whole is not None:
            found[each.attribute] = each.whole(level)
        elif not each.key.path and isinstance(each.holding, Each):
            found[each.attribute] = collected(r, level.named, level.node.span, partial(of_entry(each.holding), r))
        else:
            found[each.attribute] = level.fact(each.name, reader(each), main=each.main)
    return found


@of_each_record
def keys_of(record: type) -> TableOfKeys:
    """The keys of a mapping that states a record."""
    stated = ((*each.beside, each.key) if each.key.path else each.below for each in members(record))
    return {key.name: key for keys in stated for key in keys if not key.is_placeholder and "." not in key.path}


@of_each_record
def keys_as_they_were(record: type) -> TableOfKeys:
    """The same where it states what was different: `none` says there that there was none of it."""
    return {name: replace(key, says_none=key.admits_none) for name, key in keys_of(record).items()}


def _keys_below(holder: Key | None, record: type) -> TableOfKeys:
    """The same below another key, as the table has them."""
    keys = keys_of(record)
    if holder is None or holder.line is None:
        return keys
    return {name: held_by(holder, key, name) for name, key in keys.items()}


def of_records(holding: Holding, holder: Key | None = None) -> Read[Any]:
    """The reader of what holds a record, below a key."""

    def read(r: Reading, node: Node, slot: Slot) -> Any:
        match holding:
            case One(record, of_values):
                level = r.keyed(node, _keys_below(holder, record), slot.called)
                found = _values(record, level) if of_values else facts_of(r, record, level, span=node.span)
                return found if isinstance(node, MappingNode) else None
            case Each(admits=admits):
                if not isinstance(node, MappingNode):
                    r.wrong_shape(node, slot)
                    return None
                named = [entry for entry in node.entries if admits is None or admits(r, entry)]
                return r.each(named, partial(of_entry(holding, holder), r))
            case Several(record, _, admits, alone):
                if isinstance(node, Scalar):
                    r.wrong_shape(node, slot, _as_a_record(record, node))
                    return None
                items = (node,) if alone and isinstance(node, MappingNode) else r.items(node, slot)
                if items is None:
                    return None
                for text in (each for each in items if isinstance(each, Scalar)):
                    r.wrong_shape(text, Slot(slot.called, shapes.Members()), _as_a_record(record, text))
                items = tuple(each for each in items if not isinstance(each, Scalar))
                keys = _keys_below(holder, record)
                every = ((item, _values(record, r.keyed(item, keys, slot.called))) for item in items)
                return tuple(each for item, each in every if admits is None or admits(r, item, slot, each))

    return read


def _as_a_record(record: type, text: Scalar) -> tuple[str, ...]:
    """The help where a text stands for a record: it is what the first key holds that is asked for always, if one is."""
    first = next((each for each in members(record) if each.question is not None and each.when is None), None)
    quoted = json.dumps(text.text, ensure_ascii=False)
    return () if first is None or not text.text else (f"write `{{{first.name}: {quoted}}}`",)


def _values(record: type, level: Level) -> Any:
    """A record inside a fact: its members are values."""
    return record(span=level.node.span, **values_of(level, record))


def values_of(level: Level, record: type) -> dict[str, Any]:
    """What the members of a record are inside a fact, by their names; nothing of those that are not said."""
    found = (
        (each.attribute, level.inner(each.name, reader(each)) if each.whole is None else each.whole(level))
        for each in members(record)
    )
    return {name: value for name, value in found if value is not None}


def of_entry(holding: Each, holder: Key | None = None) -> Callable[[Reading, Entry], Any]:
    """The reader of a record under a name, below a key."""

    def of_entry(r: Reading, entry: Entry) -> Any:
        level = r.keyed(entry.value, _keys_below(holder, holding.record), entry.name, holding.refused)
        if holding.look is not None:
            holding.look(r, entry, level)
        return facts_of(r, holding.record, level, name=entry.name, span=entry.key.span)

    return of_entry
