"""Every list of every contract: an index serves it, as SQLite itself says, or `check` notes that none does; and no
table has an index that another one makes superfluous."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import apsw
import msgspec
import pytest

from ninefold.checks.codes import GROWS
from ninefold.database import tables
from ninefold.database.sqlite import Opened, open_sqlite
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.operations import List
from ninefold.plan.routes import Served
from ninefold.plan.schema import Index, Schema, Table
from ninefold.plan.statement import Statement

ROOT = Path(__file__).parents[2]
CONTRACTS = [
    *sorted((ROOT / "examples").glob("*.md")),
    *sorted((ROOT / "tests" / "cases").glob("*/contract.*")),
    *sorted((ROOT / "tests").glob("*/contract.md")),
]
MOST = 500
"""Statements of one list that are looked at."""


def named(path: Path) -> str:
    return "-".join(path.relative_to(ROOT).with_suffix("").parts)


@cache
def compiled(path: Path) -> Loaded:
    return compile_document(path.name, path.read_bytes())


def lists(loaded: Loaded) -> Iterator[tuple[str, List]]:
    """The lists that are served, for each kind of caller, by their endpoints."""
    for route in () if loaded.plan is None else loaded.plan.routes:
        for admission in route.admissions if isinstance(route, Served) else ():
            if isinstance(admission.operation, List):
                yield route.key, admission.operation


def variants(operation: List) -> Iterator[tuple[str, frozenset[str]]]:
    """Each statement that can come of a list, as far as its rows and their order go; first of each what is sought."""
    names = [each.name for each in operation.filters]
    known = {piece.when for piece in operation.select.pieces}
    for count in range(len(names) + 1):
        for chosen in combinations(names, count):
            filters = {f"filter {name}" for name in chosen}
            for sort in operation.sorts:
                for further in ({f"after {sort.name}"}, set[str]()):
                    if further <= known:
                        told = " ".join((*sorted(filters), sort.name, *further))
                        yield told, frozenset({*filters, f"sort {sort.name}", *further})


def text(statement: Statement, switches: frozenset[str]) -> str:
    return "".join(
        piece.text
        for piece in statement.pieces
        if (piece.when is None or piece.when in switches) and (piece.unless is None or piece.unless not in switches)
    )


def not_served(connection: apsw.Connection, operation: List, switches: frozenset[str]) -> str | None:
    """What SQLite does that no index does: it puts rows in order, or reads rows that it then passes over."""
    statement = text(operation.select, switches)
    found = connection.execute(f"EXPLAIN QUERY PLAN {statement}", (None,) * statement.count("?")).fetchall()
    outer = [str(detail) for id, parent, _, detail in found if parent == 0]
    # Backwards, rows of the same time are put into the order of their identifiers, and no others.
    if any("USE TEMP B-TREE" in each and "LAST TERM" not in each for each in outer):
        return "; ".join(outer)
    condition = statement.rpartition(f' AS "{operation.resource}" WHERE ')[2].partition(" ORDER BY ")[0]
    scans = [each for each in outer if each.startswith(f"SCAN {operation.resource}")]
    return f"{scans[0]}: {condition}" if scans and condition not in ("TRUE", "1") else None


@pytest.mark.parametrize("path", CONTRACTS, ids=named)
def test_an_index_serves_a_list_or_check_notes_it(path: Path) -> None:
    loaded = compiled(path)
    if loaded.plan is None:
        return
    connection = apsw.Connection(":memory:")
    for statement in tables.create_schema(loaded.plan.schema):
        connection.execute(statement)
    noted = {each.message.split("`")[1] for each in loaded.diagnostics if each.code is GROWS}
    logs = {table.name for table in loaded.plan.schema.tables}
    for key, operation in lists(loaded):
        if key in noted or operation.resource not in logs:
            assert key in noted, f"{key} reads the log"
            continue
        assert operation.count is None and operation.paging.by in ("cursor", "none"), key
        for number, (told, switches) in enumerate(variants(operation)):
            if number < MOST:
                why = not_served(connection, operation, switches)
                assert why is None, f"{key} {told}: {why}"


def orders(table: Table) -> Iterator[tuple[bool, tuple[str, ...]]]:
    yield True, table.key
    for each in (*table.indexes, *tables.reference_indexes(table)):
        yield each.unique, each.columns


def turned(columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name[1:] if name.startswith("-") else f"-{name}" for name in columns)


def superfluous(schema: Schema) -> Iterator[str]:
    """Indexes that are the beginning of another one or of the key, read forwards or backwards."""
    for table in schema.tables:
        found = list(orders(table))
        for number, (unique, columns) in enumerate(found):
            for other, (_, longer) in enumerate(found):
                begins = columns in (longer[: len(columns)], turned(longer)[: len(columns)])
                if number != other and number > 0 and begins and not (unique and len(longer) > len(columns)):
                    yield f"{table.name}: {columns} beside {longer}"


@pytest.mark.parametrize("path", CONTRACTS, ids=named)
def test_no_index_is_superfluous(path: Path) -> None:
    plan = compiled(path).plan
    if plan is not None:
        assert list(superfluous(plan.schema)) == []


def kept(path: Path) -> list[str]:
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL ORDER BY sql")
    indexes = [str(sql) for (sql,) in found]
    connection.close()
    return indexes


def opened(path: Path, schema: Schema) -> list[str]:
    found = open_sqlite(str(path), schema)
    assert isinstance(found, Opened), found
    found.database.close()
    return kept(path)


def test_a_database_has_the_indexes_of_the_contract_that_serves_it(tmp_path: Path) -> None:
    """Whatever indexes an earlier contract, or an earlier ninefold, had."""
    loaded = compiled(ROOT / "examples" / "orders.md")
    assert loaded.plan is not None
    schema = loaded.plan.schema
    earlier = msgspec.structs.replace(
        schema,
        tables=tuple(
            msgspec.structs.replace(
                table,
                indexes=(
                    *(each for each in table.indexes if each.unique),
                    Index(f"{table.name} by -id", ("-id",)),
                    *(Index(each.name, tuple(reversed(each.columns))) for each in table.indexes[:1] if not each.unique),
                ),
            )
            for table in schema.tables
        ),
    )
    wanted = opened(tmp_path / "new.db", schema)
    old = opened(tmp_path / "old.db", earlier)
    assert set(wanted) - set(old) and set(old) - set(wanted)
    assert opened(tmp_path / "old.db", schema) == wanted
