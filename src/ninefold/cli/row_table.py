"""Rows as text: a table where it fits, else one field a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from rich.cells import cell_len

from ninefold.cli.terminal import is_coloured, width
from ninefold.diagnostics.render import visible

MASK = "***"
NOTHING = "-"

LONGEST = 60
"""Cells of a value in a table; a longer one is shown whole, one field a line."""


def masked(row: dict[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    """A row of which the values of some fields are not told. That there is none is no secret."""
    return {name: MASK if name in hidden and value is not None else value for name, value in row.items()}


def rows_as_text(rows: Sequence[dict[str, Any]], fields: Sequence[str]) -> str:
    """Every row with all of `fields`, in their order."""
    table = [[shown(row.get(name)) for name in fields] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(fields, *table, strict=True)]
    if sum(widths) + 2 * len(widths) <= width() and max(widths, default=0) <= LONGEST:
        lines = [_dimmed(_line(fields, widths)), *(_line(row, widths) for row in table)]
        return "\n".join(line.rstrip() for line in lines)
    return "\n\n".join("\n".join(_lines(fields, row)) for row in table)


def shown(value: Any) -> str:
    """A value in one line: a text as it is, nothing as a dash, all else as JSON."""
    match value:
        case None:
            return NOTHING
        case str():
            return visible(value.replace("\n", "\\n"))
        case _:
            return visible(msgspec.json.encode(value).decode())


def _lines(fields: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    left = max(map(cell_len, fields), default=0)
    for name, value in zip(fields, row, strict=True):
        yield f"{_dimmed(_padded(name, left))}  {value}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(_padded(cell, size) for cell, size in zip(cells, widths, strict=True))


def _padded(text: str, size: int) -> str:
    return text + " " * (size - cell_len(text))


def _dimmed(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if is_coloured(sys.stdout) else text
