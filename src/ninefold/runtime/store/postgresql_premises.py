"""How a database in PostgreSQL is asked about its rows (`ninefold.runtime.store.premises`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from ninefold.runtime.store.premises import Question
from ninefold.sql.fragment import identifier
from ninefold.values import Integer, Number, Type

Ask: TypeAlias = Callable[..., list[Any]]
"""Asks a statement with its binds, and gives the rows."""

_FIRST_OF_KEY: Final = (
    "SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]"
    " WHERE indrelid = $1::text::regclass AND indisprimary"
)


class Asking:
    """`ninefold.runtime.store.premises.Asking`."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def told_by(self, table: str) -> str:
        found = self.ask(_FIRST_OF_KEY, identifier(table))
        return identifier(str(found[0][0])) if found else "1"

    def is_password(self, column: str) -> str:
        return f"substr({column}, 1, 7) = CAST('$argon2' AS bytea)"

    def none_of(self, column: str, values: Sequence[str]) -> Question:
        return f"{column} <> ALL ($1::text[])", (list(values),)

    def inexact(self, column: str, old: Type, new: Type) -> str:
        assert isinstance(old, Integer | Number) and isinstance(new, Integer | Number)
        double = column if isinstance(old, Number) else f"CAST({column} AS double precision)"
        outside = f"{double} >= 9223372036854775808 OR {double} < -9223372036854775808"
        back = f"CAST({double} AS bigint)" + ("" if isinstance(old, Integer) else "::double precision")
        return f"CASE WHEN {outside} THEN TRUE ELSE {back} <> {column} END"
