"""Whom an event may concern: who has to be asked of it, among all who wait for one.

An event concerns those of whom something is known that its row has too (`ninefold.plan.events.Concerns`). That is known
as long as nothing changes by which a caller is judged; of those of whom it is not known, everyone is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Generic, TypeAlias, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.binds import binder
from ninefold.plan import environment
from ninefold.plan import events as plan
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.statements import Prepared

Key: TypeAlias = tuple[int, Stored]
"""The number of a column, and the value there."""

A = TypeVar("A")


class Concerns:
    """Which events may concern callers of one kind, made ready."""

    def __init__(self, concerns: plan.Concerns) -> None:
        self._select = Prepared(concerns.select)
        self._callers = tuple(map(binder, concerns.callers))

    def bound(self, after: int, last: int) -> tuple[str, list[Stored]]:
        """The statement that reads of the events behind a position, up to another one, what callers may have, too."""
        return self._select.bound({environment.LOG: {"position": after, "last": last}})

    def of_caller(self, env: Mapping[str, Any]) -> frozenset[Key]:
        found = ((number, value(env)) for number, value in enumerate(self._callers))
        return frozenset(key for key in found if key[1] is not None)


@dataclass(slots=True)
class _Known:
    """`state`: that of the tables by which it is known."""

    concerns: Concerns
    keys: frozenset[Key]
    tables: frozenset[str]
    state: int


@dataclass(slots=True)
class _Alike(Generic[A]):
    """Those who are known by the same tables. `state`: as of which nobody of them is known as of an earlier one."""

    state: int
    those: set[A] = field(default_factory=set)


class Index(Generic[A]):
    """Those who wait, by what is known of them. `unknown`: those of whom nothing is."""

    def __init__(self) -> None:
        self.unknown: dict[A, None] = {}
        self._known: dict[A, _Known] = {}
        self._by_key: dict[Concerns, dict[Key, set[A]]] = {}
        self._by_tables: dict[frozenset[str], _Alike[A]] = {}

    def is_known(self, one: A) -> bool:
        return one in self._known

    def forget(self, one: A) -> None:
        """That one does not wait any more."""
        self._forget(one)
        self.unknown.pop(one, None)

    def know_nothing(self, one: A) -> None:
        self._forget(one)
        self.unknown[one] = None

    def know(self, one: A, concerns: Concerns, keys: frozenset[Key], tables: frozenset[str], state: int) -> None:
        """`state`: of the tables, taken before they were read."""
        known = self._known.get(one)
        if known is not None and (known.concerns, known.keys, known.tables) == (concerns, keys, tables):
            known.state = state
            return
        self.forget(one)
        self._known[one] = _Known(concerns, keys, tables, state)
        for key in keys:
            self._by_key.setdefault(concerns, {}).setdefault(key, set()).add(one)
        alike = self._by_tables.setdefault(tables, _Alike(state))
        alike.state = min(alike.state, state)
        alike.those.add(one)

    def doubt(self, state: Callable[[frozenset[str]], int | None]) -> list[A]:
        """Those who may not be what they were: nothing is known of them. `state`: that of tables, now."""
        doubted = list[A]()
        for tables, alike in tuple(self._by_tables.items()):
            now = state(tables)
            if now != alike.state:
                doubted += [each for each in alike.those if self._known[each].state != now]
                alike.state = alike.state if now is None else now
        for one in doubted:
            self.know_nothing(one)
        return doubted

    @property
    def concerns(self) -> tuple[Concerns, ...]:
        """What has to be read of events to know whom they may concern."""
        return tuple(self._by_key)

    def concerned(self, rows: Mapping[Concerns, Sequence[Row]]) -> Iterator[A]:
        """Those who have to be asked of events, some of them more than once. `rows`: what was read of the events."""
        yield from self.unknown
        for concerns, by_key in self._by_key.items():
            keys = by_key.keys() if concerns not in rows else by_key.keys() & _keys(rows[concerns])
            for key in keys:
                yield from by_key[key]

    def _forget(self, one: A) -> None:
        known = self._known.pop(one, None)
        if known is None:
            return
        for key in known.keys:
            _discard(self._by_key[known.concerns], key, one)
            if not self._by_key[known.concerns]:
                del self._by_key[known.concerns]
        alike = self._by_tables[known.tables]
        alike.those.discard(one)
        if not alike.those:
            del self._by_tables[known.tables]


def _keys(rows: Sequence[Row]) -> set[Key]:
    return {(number, value) for row in rows for number, value in enumerate(row[1:]) if value is not None}


def _discard(by_key: dict[Key, set[A]], key: Key, one: A) -> None:
    by_key[key].discard(one)
    if not by_key[key]:
        del by_key[key]
