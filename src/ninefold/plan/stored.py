"""What stored values have to be beyond the types of their columns: rows that were there before the contract said so may
be otherwise."""

from __future__ import annotations

from typing import Any

import msgspec

from ninefold.plan.statement import ResultColumn


class Held(msgspec.Struct, frozen=True):
    """A field, and the JSON Schema that every value of it is as."""

    column: ResultColumn
    schema: dict[str, Any]


class Stored(msgspec.Struct, frozen=True, omit_defaults=True):
    """The rows of a resource. `select` gives as many as its second bind says of those behind its first, a row by
    SQLite's own count: that count, the identifier in `key` columns, then the values of `fields`. `shown`: the
    identifier may be told."""

    resource: str
    select: str
    key: int
    fields: tuple[Held, ...]
    shown: bool = True
