"""What SQLite and we keep beside the rows of a table, where these go to a new database, or their table is renamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import apsw

from ninefold.plan.schema import Table
from ninefold.sql import credentials
from ninefold.sql.fragment import identifier


def credentials_go_along(old: apsw.Connection, new: apsw.Connection, table: Table, scoped: bool) -> None:
    """Those that were issued to rows which came along and are known by the same fields. `scoped`: with their scopes,
    which both databases have."""
    columns = (credentials.DIGEST, credentials.SCHEME, credentials.EXPIRES, *map(identifier, table.key))
    name, listed = credentials.table_of(table.name), ", ".join(columns)
    same = " AND ".join(f"row.{identifier(key)} = ?{3 + n}" for n, key in enumerate(table.key, start=1))
    keep = (
        f"INSERT INTO {name} ({listed}) SELECT {', '.join(f'?{n}' for n in range(1, len(columns) + 1))}"
        f" WHERE EXISTS (SELECT 1 FROM {identifier(table.name)} AS row WHERE {same})"
    )
    for row in old.execute(f"SELECT {listed} FROM {name}"):
        new.execute(keep, row)
    if scoped:
        digest, scopes, of_scopes = credentials.DIGEST, credentials.SCOPES, credentials.scopes_of(table.name)
        along = (
            f"INSERT INTO {of_scopes} ({digest}, {scopes}) SELECT ?1, ?2"
            f" WHERE EXISTS (SELECT 1 FROM {name} WHERE {digest} = ?1)"
        )
        for row in old.execute(f"SELECT {digest}, {scopes} FROM {of_scopes}"):
            new.execute(along, row)


def numbers_go_on(old: apsw.Connection, new: apsw.Connection, tables: Mapping[str, str]) -> None:
    """`serial()` goes on where it was: the number of a row that is deleted, or not there for a while, is not given
    again (https://sqlite.org/autoinc.html). `tables`: by what they are called in the old database, as in the new."""
    counts = "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'"
    if not (old.execute(counts).fetchall() and new.execute(counts).fetchall()):
        return
    for called, last in old.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
        name = tables.get(str(called))
        # Where a table has no number any more, nothing reads this.
        there = new.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (name,)).fetchall()
        highest = max(int(str(seq)) for (seq,) in ((last,), *there))
        new.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        if name is not None:
            new.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, highest))


def credentials_renamed(old: str, new: str, issued: Sequence[str] | None, scopes: bool) -> Iterator[str]:
    """The statements by which they are called by the new name of their resource. `issued`: the columns by which they
    know its rows; None: there are none."""
    if issued is None:
        return
    yield from credentials.renamed(old, new, scopes)
    yield from (f"DROP INDEX IF EXISTS {identifier(each)}" for each in credentials.index_names(old))
    yield from credentials.create_indexes(new, issued)
