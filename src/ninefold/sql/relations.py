"""What the parts of an expression are in SQL: one value, a row, or several values as rows of a source.

In SQL a null value and an error are both NULL. Of a type that is not nullable, NULL is an error, and SQL's
three-valued AND, OR and NOT treat it as CEL treats errors. Where a value may be both, a `Scalar` carries the
condition under which it is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.sql.fragment import Fragment, join
from ninefold.values import Type


@dataclass(frozen=True, slots=True)
class Scalar:
    """SQL for one value. `nullable`: NULL may be its value. `fails`: NULL may be an error. `failure`: where
    it may be both, the condition (true or false, never NULL) under which it is an error."""

    text: Fragment
    type: Type
    nullable: bool = False
    fails: bool = False
    failure: Fragment | None = None

    @property
    def is_broken(self) -> Fragment:
        """The condition under which the value is an error; asked only if `fails`."""
        return self.failure if self.failure is not None else "(" + self.text + " IS NULL)"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table in FROM, by its (quoted) alias. `unnumbered`: the field that `serial()` is still to give."""

    resource: str
    alias: str
    unnumbered: str | None = None


@dataclass(frozen=True, slots=True)
class ReferredRow:
    """A row known by its primary key. `loaded`: it came with the request, and whether it may be seen is settled."""

    resource: str
    identifier: Scalar
    loaded: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One of several values: the column `v` of a source in FROM that goes by the alias."""

    alias: str
    type: Type


@dataclass(frozen=True, slots=True)
class FirstRow:
    """The first of several rows, if there are any: those of a relation whose element is a table's row."""

    resource: str
    found: Relation

    def column(self, text: Fragment) -> Fragment:
        """A column of it; null where there is no row."""
        return "(" + self.found.first(text) + ")"


Binding: TypeAlias = Scalar | TableRow | ReferredRow | FirstRow
OneRow: TypeAlias = TableRow | ReferredRow | FirstRow
Bindings: TypeAlias = Mapping[str, Binding]


@dataclass(frozen=True, slots=True)
class Key:
    """What rows are ordered by."""

    text: Fragment
    descending: bool = False

    @property
    def ordering(self) -> Fragment:
        return self.text + " DESC" if self.descending else self.text


@dataclass(frozen=True, slots=True)
class Relation:
    """Several values: rows of `source` for which `where` holds, each giving an `element`, in an order.

    `failures` are conditions outside of it, under any of which the whole is an error. `derived`: the source is
    a query of its own, which cannot read what stands beside it in FROM.
    """

    source: Fragment
    element: Binding
    where: tuple[Fragment, ...] = ()
    order: tuple[Key, ...] = ()
    failures: tuple[Fragment, ...] = ()
    derived: bool = False

    @property
    def order_columns(self) -> tuple[Fragment, ...]:
        """The keys of the order as columns, so that a query around it can be in that order: `ordered_as`."""
        return tuple(key.text + f" AS n{index}" for index, key in enumerate(self.order))

    def ordered_as(self, alias: str) -> tuple[Key, ...]:
        return tuple(Key(Fragment(f"{alias}.n{index}"), key.descending) for index, key in enumerate(self.order))

    def query(self, columns: Fragment | str, *more: Fragment) -> Fragment:
        """`SELECT columns FROM …`, with further conditions."""
        conditions = (*self.where, *more)
        where = " WHERE " + join(" AND ", conditions) if conditions else Fragment("")
        return "SELECT " + (Fragment("") + columns) + " FROM " + self.source + where

    def first(self, column: Fragment) -> Fragment:
        """The query for a column of the first of them."""
        order = " ORDER BY " + join(", ", [key.ordering for key in self.order]) if self.order else Fragment("")
        return self.query(column) + order + " LIMIT 1"


def exists(query: Fragment) -> Fragment:
    return "EXISTS (" + query + ")"


def either(conditions: tuple[Fragment, ...]) -> Fragment:
    return conditions[0] if len(conditions) == 1 else "(" + join(" OR ", conditions) + ")"


def unless(failures: tuple[Fragment, ...], text: Fragment) -> Fragment:
    """NULL under any of the failures, else the text."""
    return "CASE WHEN NOT " + either(failures) + " THEN " + text + " END" if failures else text
