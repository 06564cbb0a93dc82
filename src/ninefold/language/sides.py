"""Where what a key says is felt, and what of it part 9 may promise: told at the key, or at what holds it."""

from __future__ import annotations

from functools import cache
from typing import Final

from ninefold.language.key import Key, Side
from ninefold.language.table import key_at

OF_PARTS: Final[tuple[Side, ...]] = (
    "runs", "used", "moves", "takes", "guards", "tells", "gives", "takes", "takes"
)  # fmt: skip
"""By part, of what neither a key nor what holds it says."""


@cache
def side_of(part: int, path: str) -> Side:
    """The side of a row of the table, or of what stands inside it without a row of its own."""
    while path:
        found = _row(part, path)
        if found is not None and found.side is not None:
            return found.side
        path = path.rpartition(".")[0]
    return OF_PARTS[part - 1]


@cache
def _row(part: int, path: str) -> Key | None:
    try:
        return key_at(part, path)
    except KeyError:
        return None
