"""What a carrying over left behind, kept in a file of its own until a contract can hold it again.

A save may be empty for a moment, or lack a line that the next one has. So nothing goes with the database that held it:
each row that stayed behind, and each value of a row that went along without it, is kept here as it was stored, with
its type and the time at which it was left. Several values may be kept under one name of one row, each of its type.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import apsw
import msgspec

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.runtime.store.protocol import Stored
from ninefold.values import Type

Cell: TypeAlias = tuple[Type, Stored]
"""A value with the type as which it was stored."""

Cells: TypeAlias = dict[str, Cell]
"""By column."""

Fits: TypeAlias = Callable[[str, Cell], bool]
"""Whether a value has a place in the column of that name, as the shape has it that rows go to."""

_CREATE: Final = "CREATE TABLE IF NOT EXISTS left (resource TEXT, key BLOB, since REAL, cells BLOB) STRICT"
_KEY: Final = msgspec.msgpack.Decoder(dict[str, tuple[Type, Any]] | None)
_CELLS: Final = msgspec.msgpack.Decoder(dict[str, tuple[Type, Any]])
"""MessagePack tells text from bytes by itself, as SQLite does."""


@dataclass(frozen=True, slots=True)
class Left:
    """`key` None: the row itself stayed behind; else it went along, `key` is by which it is known (nothing, where its
    table has one row), and `cells` are the values that did not. `since`: seconds of the clock."""

    resource: str
    key: Mapping[str, Cell] | None
    since: float
    cells: Mapping[str, Cell]


class LeftBehind:
    """An open file of them. Every method raises apsw.Error."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        connection.execute(_CREATE)

    def add(self, left: Left) -> None:
        key, cells = msgspec.msgpack.encode(left.key), msgspec.msgpack.encode(left.cells)
        self._connection.execute("INSERT INTO left VALUES (?, ?, ?, ?)", (left.resource, key, left.since, cells))

    def is_any(self) -> bool:
        return bool(self._connection.execute("SELECT 1 FROM left LIMIT 1").fetchall())

    def give_up(self, until: float) -> None:
        self._connection.execute("DELETE FROM left WHERE since < ?", (until,))

    def all(self) -> Iterator[Left]:
        """In the order in which they were left. A row in which a type stands that this ninefold does not know is passed
        over: nothing could take it."""
        for resource, key, since, cells in self._connection.execute("SELECT * FROM left ORDER BY rowid"):
            try:
                assert isinstance(key, bytes) and isinstance(cells, bytes)
                yield Left(str(resource), _KEY.decode(key), float(str(since)), _CELLS.decode(cells))
            except msgspec.DecodeError:
                continue


@contextmanager
def opened(path: Path) -> Iterator[LeftBehind]:
    """The file at `path`, made with mode 0600 if it is not there; what is added is there when the block has ended
    well. Raises apsw.Error and OSError."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = apsw.Connection(str(path))
    try:
        with connection:
            yield LeftBehind(connection)
    finally:
        connection.close()


def waits(path: Path) -> bool:
    """Whether something is kept in the file at `path`, which need not be there."""
    if path.exists():
        with suppress(apsw.Error), opened(path) as left:
            return left.is_any()
    return False


def give_up(path: Path, until: float) -> None:
    """What was left before that. Raises apsw.Error and OSError."""
    with opened(path) as left:
        left.give_up(until)


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of that which was left of a row: `since`, by column, when the values were left with which the row is
    filled; `kept`, those that it does not have now; `overtaken`, the columns of those that it cannot have any more,
    since it has got others that fit."""

    since: dict[str, float] = field(default_factory=dict)
    kept: list[Left] = field(default_factory=list)
    overtaken: list[str] = field(default_factory=list)

    def fill(self, cells: Cells, left: Left, fits: Fits, now: float) -> None:
        assert left.key is not None
        for name, cell in left.cells.items():
            there = cells.get(name)
            if there is None or there[1] is None:
                cells[name], self.since[name] = cell, left.since
            elif there == cell:
                continue
            elif not fits(name, cell):
                self.kept.append(replace(left, cells={name: cell}))
            elif fits(name, there):
                self.overtaken.append(name)
            else:
                self.kept.append(Left(left.resource, left.key, self.since.get(name, now), {name: there}))
                cells[name], self.since[name] = cell, left.since


class LeftOfRows:
    """What was left of the rows of one resource that went along."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], dict[tuple[Stored, ...], list[Left]]] = {}

    def add(self, left: Left) -> None:
        assert left.key is not None
        values = tuple(value for _, value in left.key.values())
        self._known.setdefault(tuple(left.key), {}).setdefault(values, []).append(left)

    def rest(self) -> Iterator[Left]:
        """What was not taken: its rows are gone, or cannot be known."""
        return chain.from_iterable(chain.from_iterable(known.values() for known in self._known.values()))

    def taken(self, cells: Cells, fits: Fits, now: float, hidden: Iterable[Left] = ()) -> Taken:
        """What was left of a row, whose cells are filled with what has a place there; `hidden` comes before it. A
        primary key may be among it by which more of the row is known."""
        taken = Taken()
        found = list(hidden)
        while True:
            for left in found:
                taken.fill(cells, left, fits, now)
            known = [
                (names, tuple(cells[name][1] for name in names)) for names in self._known if cells.keys() >= {*names}
            ]
            found = [left for names, values in known for left in self._known[names].pop(values, ())]
            if not found:
                return taken
