"""All that a database holds, to another one of another kind: rows with their hidden columns, credentials, keys, the log
and what is still to be delivered of it, the numbers that rows were given, the database's secret and its history.

Both sides store a value in a form from which the same value is read (`ninefold.values`), and order keys by code point.
So each table is read by its primary key, and a move that was cut short goes on behind the last key that has arrived.
At the end both sides are read again: their counts and digests have to be equal.

What processes count while they run (rates) does not go along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, Protocol, TypeAlias

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.runtime.store.protocol import Command, NotDone, Row, Stored
from ninefold.runtime.store.record import Upgrade
from ninefold.upgrade.changes import changes
from ninefold.values import Row as ReferenceTo

BATCH: Final = 1_000
"""Rows that are read, and committed, together."""


class NotMoved(NotDone):
    """`then` leads on over the database that is moved. What has arrived at the other side stays there, and is gone on
    with."""


@dataclass(frozen=True, slots=True)
class Table:
    """Its columns, and those of its primary key, which order its rows."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """What a database knows of itself and has to be the same after a move. `fit`: how its rows fit the contract.
    `numbers`: the last that the rows of a table were given. `decided`: which documents of upgrades were done."""

    key: bytes
    contract: bytes | None
    fit: bytes | None
    numbers: Mapping[str, int]
    upgrades: tuple[Upgrade, ...]
    decided: bytes | None


class Side(Protocol):
    """`name`: as its operator calls it, without a password."""

    name: str

    def tables(self) -> tuple[Table, ...]: ...

    def count(self, table: str) -> int: ...

    def rows(self, table: Table, after: Row | None) -> list[Row]:
        """Up to `BATCH` rows behind a key, in the order of their keys, in the form that SQLite stores."""


class Source(Side, Protocol):
    """The side that is read; nobody writes to it meanwhile. `schema`: what the other side has to be."""

    schema: Schema

    def notes(self) -> Notes: ...


class Target(Side, Protocol):
    """The side that is written. Its tables are in an order in which one refers to those before it. `has_all`: all has
    arrived before, and nobody could say so any more."""

    has_all: bool

    def last(self, table: Table) -> Row | None:
        """The greatest key that has arrived."""

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        """All of them, or none."""

    def finish(self, notes: Notes) -> None:
        """It can be served from now on."""


def made_of(stored: Schema, wanted: Schema, name: str) -> Schema:
    """What the other side has to be, so that all has a place: the fields that are set aside, and what is kept
    beside rows since an earlier contract. Raises NotMoved where a database is not what its contract says."""
    found = changes(stored, wanted)
    if not found.same:
        raise NotMoved(
            f"the database {name} is not what the contract says",
            then=(Command("to see what becomes of it", "upgrade"),),
        )
    if hidden := [each.name for each in stored.aside] + list(_of_nothing(stored)):
        raise NotMoved(
            f"in the database {name} is set aside what its contract no longer has",
            [f"`{each}`" for each in hidden],
            ("serving the earlier contract takes it up again",),
            (Command("to end it", "upgrade", tuple(word for name in hidden for word in ("--drop", name))),),
        )
    return found.after


def _of_nothing(stored: Schema) -> Iterator[str]:
    """The fields that are set aside, and referred to a resource that is not there any more."""
    there = {table.name for table in stored.tables}
    for table in stored.tables:
        for each in table.aside:
            if isinstance(each.column.type, ReferenceTo) and each.column.type.resource not in there:
                yield f"{table.name}.{each.column.name}"


@dataclass(frozen=True, slots=True)
class Moved:
    """`digest`: SHA-256 of the rows in the order of their keys, the same on both sides, in hexadecimal digits."""

    table: str
    rows: int
    digest: str


Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told of a table how many of its rows have arrived, and how many there are."""


def move(source: Source, target: Target, progress: Progress) -> tuple[Moved, ...]:
    """Raises NotMoved."""
    there = {table.name: table for table in source.tables()}
    pairs = [_pair(table, there.pop(table.name, None), source, target) for table in target.tables()]
    if without := [f"`{name}`: {source.count(name):,} rows" for name in there if source.count(name)]:
        raise NotMoved(f"{source.name} holds what {target.name} has no place for", without)
    if target.has_all:
        return _arrived(source, target, pairs)
    notes = source.notes()
    for mine, table in pairs:
        count = source.count(mine.name)
        arrived = target.count(mine.name)
        after = target.last(table)
        progress(mine.name, arrived, count)
        while rows := source.rows(mine, after):
            target.insert(table, rows)
            after = _key(table, rows[-1])
            arrived += len(rows)
            progress(mine.name, arrived, count)
    moved = tuple(_compared(source, target, mine, table) for mine, table in pairs)
    target.finish(notes)
    return moved


def _pair(table: Table, mine: Table | None, source: Side, target: Side) -> tuple[Table, Table]:
    """A table as both sides have it, its columns in one order."""
    if mine is None:
        raise NotMoved(f"{source.name} has no table `{table.name}`: it was made by another ninefold")
    if set(mine.columns) != set(table.columns) or mine.key != table.key:
        raise NotMoved(f"`{table.name}` is another table in {source.name} than in {target.name}")
    return Table(mine.name, table.columns, mine.key), table


def _key(table: Table, row: Row) -> Row:
    return tuple(row[table.columns.index(each)] for each in table.key)


def _compared(source: Side, target: Side, mine: Table, table: Table) -> Moved:
    before, after = _digest(source, mine), _digest(target, table)
    if before != after:
        raise NotMoved(
            f"`{table.name}` is not the same on both sides",
            (
                f"{source.name}: {before.rows:,} rows, {before.digest}",
                f"{target.name}: {after.rows:,} rows, {after.digest}",
            ),
            (f"{target.name} was written to by somebody else: empty it, and begin again",),
        )
    return before


def _arrived(source: Source, target: Target, pairs: Sequence[tuple[Table, Table]]) -> tuple[Moved, ...]:
    found = tuple(_digest(source, mine) for mine, _ in pairs)
    if found != tuple(_digest(target, table) for _, table in pairs):
        raise NotMoved(
            f"there is something in the database {target.name}",
            (f"{source.name} was moved there before, and one of them was written to since",),
            ("name an empty one",),
        )
    return found


def _digest(side: Side, table: Table) -> Moved:
    digest, count = sha256(), 0
    for row in _all(side, table):
        digest.update(msgspec.msgpack.encode(row))
        count += 1
    return Moved(table.name, count, digest.hexdigest())


def _all(side: Side, table: Table) -> Iterator[Row]:
    after: Row | None = None
    while rows := side.rows(table, after):
        yield from rows
        after = _key(table, rows[-1])


def page(table: Table, quoted: Callable[[str], str], after: Row | None) -> tuple[str, tuple[Stored, ...]]:
    """The statement that reads the next rows, with its binds, in SQL that SQLite and PostgreSQL both have."""
    columns, key = ", ".join(map(quoted, table.columns)), ", ".join(map(quoted, table.key))
    behind = "" if after is None else f" WHERE ({key}) > ({', '.join('?' * len(table.key))})"
    return f"SELECT {columns} FROM {quoted(table.name)}{behind} ORDER BY {key} LIMIT {BATCH}", after or ()


def last_key(table: Table, quoted: Callable[[str], str]) -> str:
    key = [quoted(each) for each in table.key]
    order = ", ".join(f"{each} DESC" for each in key)
    return f"SELECT {', '.join(key)} FROM {quoted(table.name)} ORDER BY {order} LIMIT 1"
