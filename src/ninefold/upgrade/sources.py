"""Where the value of a column comes from when its table is made anew."""

from __future__ import annotations

from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.values import Type


@dataclass(frozen=True, slots=True)
class Kept:
    """A column of the old table, by the name that it has there."""

    column: str


@dataclass(frozen=True, slots=True)
class Converted:
    """A column of the old table in the form of another type: an integer of a number, or a number of an integer."""

    column: str
    old: Type
    new: Type


@dataclass(frozen=True, slots=True)
class Followed:
    """A reference that follows the identifier of its rows: it held `old` of `table`, and holds `new`."""

    column: str
    table: str
    old: str
    new: str


Value: TypeAlias = Kept | Converted | Followed
