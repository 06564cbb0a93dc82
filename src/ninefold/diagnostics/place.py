"""A place in a document, as it is told."""

from __future__ import annotations

import msgspec


class Place(msgspec.Struct, frozen=True, order=True):
    """A line and a column, both counted from 1; columns count code points."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"
