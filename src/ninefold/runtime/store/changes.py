"""Which tables a statement reads, and which the writer has changed: for those who keep what they have read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import apsw

from ninefold.runtime.store.failures import meaning
from ninefold.runtime.store.protocol import Stored


class Changes:
    """Counts by table. Whoever reads a table, and finds the same number before a later read as before this one, would
    read the same again: a table counts as being changed from its first change on until that is committed, or undone,
    and counted. SQLite tells of each row (https://sqlite.org/c3ref/update_hook.html), in the writer's thread."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._counts: Counter[str] = Counter()
        self._changing: set[str] = set()
        connection.set_update_hook(self._changes)

    def _changes(self, kind: int, database: str, table: str, row: int) -> None:
        self._changing.add(table)

    def settled(self) -> None:
        """What was changed is committed, or undone."""
        self._counts.update(self._changing)
        self._changing.clear()

    def state(self, tables: Collection[str]) -> int | None:
        """A number that is another one once one of these tables has changed. None: one of them is being changed."""
        if not self._changing.isdisjoint(tables):
            return None
        return sum([self._counts[each] for each in tables])


def tables_read(connection: apsw.Connection, text: str, binds: Sequence[Stored]) -> frozenset[str]:
    """The tables that a statement reads, as SQLite itself tells (https://sqlite.org/c3ref/set_authorizer.html). It is
    not run. Raises Unavailable."""
    found: set[str] = set()

    def reads(action: int, table: str | None, *_: object) -> int:
        if action == apsw.SQLITE_READ and table is not None:
            found.add(table)
        return apsw.SQLITE_OK

    connection.authorizer = reads
    try:
        connection.execute("EXPLAIN " + text, binds).fetchall()
    except apsw.Error as error:
        raise meaning(error) from error
    finally:
        connection.authorizer = None
    return frozenset(found)
