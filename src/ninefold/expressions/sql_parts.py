"""What the parts of an expression become in SQL, and what is asked of all of them.

In SQL a null value and an error are both NULL. Of a type that is not nullable, NULL is an error, and SQL's
three-valued AND, OR and NOT treat it as CEL treats errors. Where a value may be both, a `Scalar` carries the
condition under which it is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Final, TypeAlias

from ninefold.diagnostics.diagnostic import Code
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions import codes
from ninefold.expressions.reads import (
    needs_database,
)
from ninefold.expressions.scope import Model, ResourceShape
from ninefold.expressions.sql_log import source
from ninefold.expressions.tree import (
    Typed,
)
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, identifier, join
from ninefold.values import Type

Visible: TypeAlias = Callable[[str, str], Fragment | None]
"""The condition under which a row of a resource, known by an alias, may be seen; `None`: always."""


def everything(resource: str, alias: str) -> Fragment | None:
    """The `Visible` that hides nothing."""
    return None


MOST_QUERIES: Final = 24
"""How many queries one expression may hold; SQLite takes ever longer to prepare more, and at some point refuses."""


class NotInSQL(ValueError):
    """`to_sql` was asked for what `sql_problem` refuses."""

    def __init__(self, code: Code, message: str, node: Typed, help: tuple[str, ...] = ()):
        super().__init__(message)
        self.code: Final = code
        self.message: Final = message
        self.node: Final = node
        self.help: Final = help


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
    """A row of a table in FROM, by its (quoted) alias."""

    resource: str
    alias: str


@dataclass(frozen=True, slots=True)
class ReferredRow:
    """A row known by its identifier. `loaded`: it came with the request, and whether it may be seen is settled."""

    resource: str
    identifier: Scalar
    loaded: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One of several values: the column `v` of a source in FROM that goes by the alias."""

    alias: str
    type: Type


Binding: TypeAlias = Scalar | TableRow | ReferredRow
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


def exists(query: Fragment) -> Fragment:
    return "EXISTS (" + query + ")"


def either(conditions: tuple[Fragment, ...]) -> Fragment:
    return conditions[0] if len(conditions) == 1 else "(" + join(" OR ", conditions) + ")"


def unless(failures: tuple[Fragment, ...], text: Fragment) -> Fragment:
    """NULL under any of the failures, else the text."""
    return "CASE WHEN NOT " + either(failures) + " THEN " + text + " END" if failures else text


@dataclass
class Parts(ABC):
    """One expression on its way to SQL: fresh aliases, and the computed fields that it is inside of. `bounded`: it is
    asked whether it can be written at all; what views and row rules put around it later has bounds of its own."""

    model: Model
    dialect: Dialect
    visible: Visible
    taken: frozenset[str]
    whole: Typed
    bounded: bool = False
    _aliases: int = 0
    _inside: list[str] = field(default_factory=list)

    @abstractmethod
    def scalar(self, typed: Typed, scope: Bindings, positive: bool = False) -> Scalar:
        """One value."""

    @abstractmethod
    def relation(self, typed: Typed, scope: Bindings, ordered: bool = True) -> Relation:
        """The values of an array-typed expression. `ordered`: their order matters."""

    @contextmanager
    def inside(self, computed: str) -> Iterator[None]:
        """The expression of a computed field: its value is the same whoever reads it, so that it reads all rows."""
        visible, self.visible = self.visible, everything
        self._inside.append(computed)
        try:
            yield
        finally:
            self._inside.pop()
            self.visible = visible

    def fresh(self) -> str:
        """An alias that is not in use, quoted."""
        self._aliases += 1
        while f"t{self._aliases}" in self.taken:
            self._aliases += 1
        if self.bounded and self._aliases > MOST_QUERIES + len(self.taken):
            raise self.refuse(self.whole, f"as SQL, this holds more than {MOST_QUERIES} queries")
        return identifier(f"t{self._aliases}")

    def refuse(self, node: Typed, message: str, *help: str) -> NotInSQL:
        return NotInSQL(codes.NOT_IN_SQL, message, node, help)

    def reads_rows(self, typed: Typed, scope: Bindings) -> bool:
        return needs_database(typed, scope.keys(), self.model)

    def _shape(self, node: Typed, resource: str) -> ResourceShape:
        shape = self.model.get(resource)
        if shape is None:
            raise self.refuse(node, f"the fields of `{resource}` are not known")
        return shape

    def _identifier(self, node: Typed, resource: str) -> tuple[str, Type]:
        """The one identifier field of a resource, and its type."""
        shape = self._shape(node, resource)
        if shape.identifier_type is None:
            fields = " and ".join(f"`{each}`" for each in shape.identifier)
            why = f"its identifier is {fields}" if shape.identifier else "there is one, without an identifier"
            raise NotInSQL(codes.NOT_A_VALUE, f"a row of `{resource}` is no value: {why}", node)
        return shape.identifier[0], shape.identifier_type

    def table(self, resource: str) -> tuple[Fragment, TableRow, tuple[Fragment, ...]]:
        """A source for FROM, the row in it, and the condition under which it may be seen."""
        alias = self.fresh()
        seen = self.visible(resource, alias[1:-1])
        return (
            source(resource, self.model) + f" AS {alias}",
            TableRow(resource, alias),
            () if seen is None else (seen,),
        )
