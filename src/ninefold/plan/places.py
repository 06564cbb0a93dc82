"""Where in the contract something in the plan comes from."""

from __future__ import annotations

import msgspec


class Place(msgspec.Struct, frozen=True, order=True):
    """Line and column, counted from 1."""

    line: int
    column: int
