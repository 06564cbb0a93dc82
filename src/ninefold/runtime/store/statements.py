"""A statement made ready: which of its pieces take part, and what they bind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ninefold.expressions.evaluate import Env, binder
from ninefold.plan.statement import Statement
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.values import Value, sqlite_reader

Bind: TypeAlias = Callable[[Env], Stored]

NO_SWITCHES: frozenset[str] = frozenset()

_KEPT = 512
"""How many choices of a statement's pieces are kept joined. Their number is known before any request, but may be
two to the power of the switches, and a client chooses them."""


class Prepared:
    """A plan's statement whose binds are compiled. Its text depends on the names of the switches alone."""

    __slots__ = ("_chosen", "_pieces", "columns", "switches")

    def __init__(self, statement: Statement) -> None:
        self._pieces = tuple(
            (piece.when, piece.unless, piece.text, tuple(map(binder, piece.binds))) for piece in statement.pieces
        )
        named = {name for piece in statement.pieces for name in (piece.when, piece.unless)}
        self.switches = frozenset(name for name in named if name is not None)
        self.columns = statement.columns
        self._chosen: dict[frozenset[str], tuple[str, tuple[Bind, ...]]] = {}

    def bound(self, env: Env, switches: frozenset[str] = NO_SWITCHES) -> tuple[str, list[Stored]]:
        """The text with these switches on, and its binds for one request."""
        chosen = self._chosen.get(switches)
        if chosen is None:
            chosen = self._choose(switches)
        text, binds = chosen
        return text, [each(env) for each in binds]

    def _choose(self, switches: frozenset[str]) -> tuple[str, tuple[Bind, ...]]:
        taking_part = [
            (text, binds)
            for when, unless, text, binds in self._pieces
            if (when is None or when in switches) and (unless is None or unless not in switches)
        ]
        chosen = "".join(text for text, _ in taking_part), tuple(each for _, binds in taking_part for each in binds)
        if len(self._chosen) >= _KEPT:
            self._chosen.clear()
        self._chosen[switches] = chosen
        return chosen


class RowReader:
    """The rows of a statement as the rows of a resource that expressions read: its fields by name."""

    __slots__ = ("_columns",)

    def __init__(self, statement: Statement) -> None:
        self._columns = tuple((column.name, sqlite_reader(column.type)) for column in statement.columns)

    def __call__(self, row: Row) -> dict[str, Value]:
        return {
            name: stored if read is None else read(stored)
            for (name, read), stored in zip(self._columns, row, strict=False)
        }
