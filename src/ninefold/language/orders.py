"""Orders of a list: the fields that rows are sorted by, each with its direction, and the names by which a request
chooses among several orders."""

from __future__ import annotations

import re
from typing import Final

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import SAME_NAME, WRONG_SHAPE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.syntax.nodes import Mapping, Node


@dataclass(frozen=True, slots=True)
class SortKey:
    """A field, ascending, or descending with a minus before it."""

    field: str
    descending: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Offered:
    """An order that can be chosen. `name`: of its own; None: it is called by its one key, as callers know its field."""

    name: str | None
    keys: tuple[SortKey, ...]
    span: Span


DIRECTION: Final = regex.compile(r"(\w+)[ :]+(asc(?:ending)?|desc(?:ending)?)", re.IGNORECASE)
"""What SQL writes for `name` and `-name`."""
KEY: Final = "a field (with `-` before it for descending)"


def _keys(r: Reading, node: Node, slot: Slot) -> tuple[SortKey, ...] | None:
    listed = leaves.names(r, node, slot)
    if listed is None:
        return None
    for each in listed:
        if (found := DIRECTION.fullmatch(each.text)) is not None:
            r.say(
                WRONG_SHAPE,
                f"{quoted(each.text)} is not how a field is sorted by",
                Label(each.span),
                help=(f"write `{'-' if found[2].casefold().startswith('desc') else ''}{found[1]}`",),
            )
            return None
    return tuple(SortKey(each.text.removeprefix("-"), each.text.startswith("-"), each.span) for each in listed)


def read_sort_keys(r: Reading, node: Node, slot: Slot) -> tuple[SortKey, ...] | None:
    """The keys of one order, no field of them twice."""
    found = _keys(r, node, slot)
    first: dict[str, SortKey] = {}
    for each in found or ():
        if (earlier := first.setdefault(each.field, each)) is not each:
            message = f"{quoted(each.field)} is sorted by twice"
            r.say(SAME_NAME, message, Label(each.span, "says nothing any more"), Label(earlier.span, "the first time"))
            return None
    return found


def read_offered(r: Reading, node: Node, slot: Slot) -> tuple[Offered, ...] | None:
    """Fields, by each of which an order is called; or names, each with the order that it chooses."""
    if not isinstance(node, Mapping):
        listed = _keys(r, node, slot)
        return None if listed is None else tuple(Offered(None, (each,), each.span) for each in listed)
    found = []
    for entry in r.entries(node, slot) or ():
        if not entry.name:
            r.say(WRONG_SHAPE, "an order has no name", Label(entry.key.span))
            continue
        keys = read_sort_keys(r, entry.value, Slot(entry.name, shapes.Names(KEY, alone=True)))
        if keys is not None:
            found.append(Offered(entry.name, keys, entry.key.span))
    return tuple(found)
