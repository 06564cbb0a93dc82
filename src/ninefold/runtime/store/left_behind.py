"""What a carrying over left behind, kept in a file of its own until a contract can hold it again.

A save may be empty for a moment, or lack a line that the next one has. So nothing goes with the database that held it:
each row that stayed behind, and each value of a row that went along without it, is kept here as it was stored, with
its type and the time at which it was left.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import apsw
import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store.protocol import Stored
from ninefold.values import Type

Cells: TypeAlias = dict[str, tuple[Type, Stored]]
"""Values by column, each with the type as which it was stored."""

_CREATE: Final = "CREATE TABLE IF NOT EXISTS left (resource TEXT, key BLOB, since REAL, cells BLOB) STRICT"
_KEY: Final = msgspec.msgpack.Decoder(tuple[str, ...])
_CELLS: Final = msgspec.msgpack.Decoder(dict[str, tuple[Type, Any]])
"""MessagePack tells text from bytes by itself, as SQLite does."""


@dataclass(frozen=True, slots=True)
class Left:
    """`key` empty: the row itself stayed behind; else it went along, and `cells` are the values that did not, and those
    of the columns in `key`, by which it is known. `since`: seconds of the clock."""

    resource: str
    key: tuple[str, ...]
    since: float
    cells: Mapping[str, tuple[Type, Stored]]


class LeftBehind:
    """An open file of them. Every method raises apsw.Error."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        connection.execute(_CREATE)

    def add(self, left: Left) -> None:
        key, cells = msgspec.msgpack.encode(left.key), msgspec.msgpack.encode(left.cells)
        self._connection.execute("INSERT INTO left VALUES (?, ?, ?, ?)", (left.resource, key, left.since, cells))

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


class LeftOfRows:
    """What was left of the rows of one resource that went along."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], dict[tuple[Stored, ...], list[Left]]] = {}

    def add(self, left: Left) -> None:
        values = tuple(left.cells[name][1] for name in left.key)
        self._known.setdefault(left.key, {}).setdefault(values, []).append(left)

    def rest(self) -> Iterator[Left]:
        """What was not taken: its rows are gone, or cannot be known."""
        return chain.from_iterable(chain.from_iterable(known.values() for known in self._known.values()))

    def taken(self, cells: Cells) -> list[Left]:
        """What was left of a row, whose cells are filled with it. A primary key may be among it by which more of the
        row is known."""
        found: list[Left] = []
        waiting = set(self._known)
        while more := [key for key in waiting if all(not _is_empty(cells, name) for name in key)]:
            waiting.difference_update(more)
            for key in more:
                for left in self._known[key].pop(tuple(cells[name][1] for name in key), ()):
                    cells |= {name: cell for name, cell in left.cells.items() if _is_empty(cells, name)}
                    found.append(left)
        return found


def _is_empty(cells: Mapping[str, tuple[Type, Stored]], name: str) -> bool:
    return name not in cells or cells[name][1] is None
