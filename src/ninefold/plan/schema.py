"""What is stored: tables, columns, keys. The database keeps the shape of it that made it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ninefold.expressions.tree import Typed
from ninefold.plan.statement import ResultColumn
from ninefold.values import LEAST_INTEGER, Type


class Column(msgspec.Struct, frozen=True, omit_defaults=True):
    """`required`: no row is without a value. The primary key of a service-numbered resource is `serial`."""

    name: str
    type: Type
    required: bool = False
    serial: bool = False


class Reference(msgspec.Struct, frozen=True, omit_defaults=True):
    """`column` holds the primary key of a row of `table`; `key` is the column there."""

    column: str
    table: str
    key: str
    on_delete: Literal["refuse", "cascade", "clear"] = "refuse"


class Index(msgspec.Struct, frozen=True, omit_defaults=True):
    """`columns` with a minus before those that descend; kept for speed alone unless `unique`."""

    name: str
    columns: tuple[str, ...]
    unique: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, whichever way they are ordered."""
        return tuple(column.removeprefix("-") for column in self.columns)


class Machine(msgspec.Struct, frozen=True):
    """`column` holds one of `states` in every row."""

    column: str
    states: tuple[str, ...]


class Aside(msgspec.Struct, frozen=True):
    """A column that a contract had and another has not: `stored` is its name in the table, where it is free of all that
    the contract demanded of it."""

    column: Column
    stored: str


class Table(msgspec.Struct, frozen=True, omit_defaults=True):
    """One resource. Every table also has the column `$revision` (text, never null); one whose rows have states, the
    column `$entered` besides: the time at which a row entered the state that it is in. It has no value where that is
    not known, and then no timer takes the row anywhere. `machine` says which states these are. Without a `key` the
    table has one row. `identified`: it has the column `$identity` (text, never null), which tells a row from all that
    were. `passwords`: the columns of secrets that are hashed as such; others hold digests of tokens.
    `sensitive`: the columns whose values are told to nobody who has not asked for them. `aside`: of a database alone,
    the columns of contracts that it served before."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    references: tuple[Reference, ...] = ()
    indexes: tuple[Index, ...] = ()
    states: bool = False
    machine: Machine | None = None
    passwords: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    aside: tuple[Aside, ...] = ()
    identified: bool = False


class Schema(msgspec.Struct, frozen=True, omit_defaults=True):
    """Beside the tables are kept, where it is so: `idempotency`, keys (`ninefold.sql.idempotency`); `events`, the log,
    and `subscriptions`, what is to be delivered of it (`ninefold.sql.events`); and for each resource in `credentials`,
    those that are issued to its rows (`ninefold.sql.credentials`). `versions`: events may be something else in another
    version. `subscribers`: the table of those that events are delivered to, and its key, where it is the contract's
    own. `broker`: the name of what the log is sent to. `log`: the log is read as a resource. `aside`: of a database
    alone, the resources of contracts that it served before. `callers`: the resources whose rows may be who subscribed;
    what such a row subscribed to ends with it."""

    tables: tuple[Table, ...] = ()
    idempotency: bool = False
    events: bool = False
    subscriptions: bool = False
    credentials: tuple[str, ...] = ()
    versions: bool = False
    subscribers: tuple[str, ...] | None = None
    broker: str | None = None
    log: bool = False
    scoped: tuple[str, ...] = ()
    """Those in `credentials` whose credentials have scopes."""
    aside: tuple[Table, ...] = ()
    callers: tuple[str, ...] = ()


class Held(msgspec.Struct, frozen=True):
    """A field, and the JSON Schema that every value of it is as."""

    column: ResultColumn
    schema: dict[str, Any]


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    """A `check` of a resource, by its code (`room.check.too_small`; without one `room.check`) and in words. `binds`:
    constants, one for each `?` of its column."""

    name: str
    words: str
    binds: tuple[Typed, ...] = ()


class Stored(msgspec.Struct, frozen=True, omit_defaults=True):
    """The rows of a resource. `select`, after the binds of its rules, gives as many as its last bind says of those
    behind the one before, a row by SQLite's own count: that count, the primary key in `key` columns, the values of
    `fields`, then whether it keeps each of `rules`. `shown`: the primary key may be told. `ordered`: in PostgreSQL rows
    are in the order of so many columns, which stand in the place of that count, and a bind before theirs says whether
    the first rows are wanted."""

    resource: str
    select: str
    key: int
    fields: tuple[Held, ...]
    shown: bool = True
    rules: tuple[Rule, ...] = ()
    ordered: int = 0

    @property
    def begin(self) -> tuple[None | int, ...]:
        """The binds before the last for the first rows."""
        return (True, *[None] * self.ordered) if self.ordered else (LEAST_INTEGER,)

    def behind(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """The same for the rows behind one."""
        return (False, *row[: self.ordered]) if self.ordered else (row[0],)

    @property
    def cells(self) -> int:
        """How many columns stand before the primary key."""
        return self.ordered or 1

    def named(self, field: Held) -> str:
        """A field as it is told of: `order.note`."""
        return f"{self.resource}.{field.column.name}"
