"""A piece of SQL: its text, and the values that it binds, in their order.

Fragments are made of literals of this program and quoted identifiers alone. No value of a request or a row ever becomes
text: it is a bind, and a bind is a typed expression over the request (`ninefold.expressions.tree`), evaluated when the
statement runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ninefold.expressions.tree import Typed

PLACEHOLDER = "?"


class Fragment(msgspec.Struct, frozen=True):
    """`text` holds one `?` for each bind, in order, and no other question mark."""

    text: str
    binds: tuple[Typed, ...] = ()

    def __add__(self, other: Fragment | str) -> Fragment:
        if isinstance(other, str):
            return Fragment(self.text + other, self.binds)
        return Fragment(self.text + other.text, self.binds + other.binds)

    def __radd__(self, other: str) -> Fragment:
        return Fragment(other + self.text, self.binds)


def bind(value: Typed) -> Fragment:
    """The place of one value."""
    return Fragment(PLACEHOLDER, (value,))


def join(separator: str, fragments: Iterable[Fragment]) -> Fragment:
    """The fragments one after another, with a separator between them."""
    parts = tuple(fragments)
    return Fragment(separator.join(part.text for part in parts), tuple(bound for part in parts for bound in part.binds))


def identifier(name: str) -> str:
    """A quoted identifier (SQL:2016, delimited identifier)."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text of the contract's own names and words, as it stands in a statement that takes no binds."""
    return "'" + text.replace("'", "''") + "'"


def column(alias: str, name: str) -> Fragment:
    """A column of the table that goes by this name in a text."""
    return Fragment(f"{identifier(alias)}.{identifier(name)}")


TRUE = Fragment("TRUE")
FALSE = Fragment("FALSE")


def all_of(conditions: Sequence[Fragment]) -> Fragment:
    """That all of these hold; without any, nothing is left out."""
    return join(" AND ", conditions) if conditions else TRUE
