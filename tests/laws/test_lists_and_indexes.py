"""Every list of every contract: an index serves it, as SQLite itself says, or `check` notes that none does; and no
table has an index that another one makes superfluous."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations, islice
from pathlib import Path

import apsw
import msgspec
import pytest
from tests.agreement.contracts import contract
from tests.agreement.versions import compiled as random_contract
from tests.contracts import ALL, EXAMPLES, ROOT, compiled
from tests.slices import PARTS, PIECES, some

from ninefold.diagnostics.codes import GROWS
from ninefold.pipeline import Loaded
from ninefold.plan.environment import ENTERED_COLUMN
from ninefold.plan.operations import List
from ninefold.plan.routes import Served
from ninefold.plan.schema import Index, Schema, Table
from ninefold.plan.statement import Statement
from ninefold.runtime.store import tables
from ninefold.runtime.store.connections import connect
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.upgrade.shape import reference_indexes

CONTRACTS = some([*ALL, *sorted((ROOT / "tests").glob("*/contract.md"))], 4)
RANDOM = 360
MOST = 500
"""Statements of one list that are looked at."""


def named(path: Path) -> str:
    return "-".join(path.relative_to(ROOT).with_suffix("").parts)


def test_an_index_is_of_columns_of_its_table() -> None:
    """SQLite takes a name in quotes that is no column for a text, and indexes that."""
    wrong = []
    for path in sorted((ROOT / "tests" / "cases").glob("*/plan.json")):
        for table in json.loads(path.read_bytes())["schema"].get("tables", ()):
            columns = {each["name"] for each in table["columns"]}
            columns |= {ENTERED_COLUMN} if table.get("states") else set()
            for index in table.get("indexes", ()):
                if not {each.removeprefix("-") for each in index["columns"]} <= columns:
                    wrong.append(f"{path.parent.name}: {index['name']}")
    assert not wrong, "\n".join(wrong)


def lists(loaded: Loaded) -> Iterator[tuple[str, List]]:
    """The lists that are served, for each kind of caller, by their endpoints."""
    for route in () if loaded.plan is None else loaded.plan.routes:
        for admission in route.admissions if isinstance(route, Served) else ():
            if isinstance(admission.operation, List):
                yield route.key, admission.operation


def variants(operation: List) -> Iterator[tuple[frozenset[str], str, frozenset[str]]]:
    """Each statement that can come of a list, as far as its rows and their order go: its filters, its order, and its
    switches."""
    names = [each.name for each in operation.filters]
    known = {piece.when for piece in operation.select.pieces}
    for count in range(len(names) + 1):
        for chosen in combinations(names, count):
            for sort in operation.sorts:
                for further in ({f"after {sort.name}"}, set[str]()):
                    if further <= known:
                        filters = {f"filter {name}" for name in chosen}
                        yield frozenset(chosen), sort.name, frozenset({*filters, f"sort {sort.name}", *further})


def noted_of(operation: List, filters: frozenset[str], order: str) -> bool:
    """Whether what is noted of a list is of this statement, too. That totals and pages count what they pass over is of
    how much is read, and not of what finds it."""
    for reason in operation.grows:
        named = set(re.findall("`(.*?)`", reason))
        if reason.startswith("the filter"):
            found = bool(named & filters)
        elif reason.startswith("what is found by"):
            found = bool(named & filters) and order != ""
        elif reason.startswith("of "):
            found = len(named & filters) > 1
        else:
            found = reason not in ("`page.total` counts every row", "what stands before a page is read as well")
        if found:
            return True
    return False


def text(statement: Statement, switches: frozenset[str]) -> str:
    return "".join(
        piece.text
        for piece in statement.pieces
        if (piece.when is None or piece.when in switches) and (piece.unless is None or piece.unless not in switches)
    )


def not_served(connection: apsw.Connection, operation: List, switches: frozenset[str], turned: bool) -> str | None:
    """What SQLite does that no index does: it puts rows in order, or reads rows that it then passes over. `turned`: the
    order may be the usual one backwards, and rows of the same time are put into that of their identifiers."""
    statement = text(operation.select, switches)
    found = connection.execute(f"EXPLAIN QUERY PLAN {statement}", (None,) * statement.count("?")).fetchall()
    outer = [str(detail) for id, parent, _, detail in found if parent == 0]
    if any("USE TEMP B-TREE" in each and not (turned and " LAST " in each) for each in outer):
        return None if finds_one(connection, outer[0]) else "; ".join(outer)
    condition = statement.rpartition(f' AS "{operation.resource}" WHERE ')[2].partition(" ORDER BY ")[0]
    scans = [each for each in outer if each.startswith(f"SCAN {operation.resource}")]
    return f"{scans[0]}: {condition}" if scans and f'"{operation.resource}".' in condition else None


def finds_one(connection: apsw.Connection, step: str) -> bool:
    """Whether a step looks for one row, by all columns of a unique index."""
    found = re.search(r"USING (?:COVERING )?INDEX (.*) \((.*)\)$", step)
    if found is None:
        return False
    columns = "SELECT count(name) FROM pragma_index_info(?)"
    [(is_unique,)] = connection.execute(
        'SELECT max("unique") FROM sqlite_schema JOIN pragma_index_list(sqlite_schema.name) AS i WHERE i.name = ?',
        (found[1],),
    )
    [(count,)] = connection.execute(columns, (found[1],))
    return bool(is_unique) and found[2].count("=?") == count


def served_or_noted(loaded: Loaded) -> None:
    if loaded.plan is None:
        return
    connection = apsw.Connection(":memory:")
    for statement in tables.create_schema(loaded.plan.schema):
        connection.execute(statement)
    noted: dict[str, str] = {}
    for each in loaded.diagnostics:
        if each.code is GROWS:
            key = each.message.split("`")[1]
            noted[key] = f"{noted.get(key, '')}; {each.labels[0].text}"
    stored = {table.name for table in loaded.plan.schema.tables}
    for key, operation in lists(loaded):
        assert set(operation.grows) <= set(noted.get(key, "").split("; ")), key
        if operation.count is not None or operation.paging.by in ("offset", "page"):
            assert operation.grows, key
        for filters, order, switches in islice(variants(operation), MOST):
            if operation.resource not in stored:
                assert operation.grows, f"{key} reads the log"
            elif not noted_of(operation, filters, order):
                why = not_served(connection, operation, switches, turned=bool(filters) and order != "")
                assert why is None, f"{key} {sorted(switches)}: {why}"


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=named)
def test_an_index_serves_a_list_or_check_notes_it(path: Path) -> None:
    served_or_noted(compiled(path))


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_so_it_is_of_random_contracts(part: int) -> None:
    for seed in range(part, RANDOM, PIECES):
        loaded = random_contract(contract(seed))
        served_or_noted(loaded)
        if loaded.plan is not None:
            assert list(superfluous(loaded.plan.schema)) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_a_list_is_prepared_once(path: Path, tmp_path: Path) -> None:
    """Whatever is bound. SQLite asks who may do what a statement does whenever it prepares it."""
    loaded = compiled(path)
    assert loaded.plan is not None
    apsw.Connection(str(tmp_path / "rows.db")).close()
    connection = connect(tmp_path / "rows.db")
    for statement in tables.create_schema(loaded.plan.schema):
        connection.execute(statement)
    asked: list[object] = []

    def may(*what: object) -> int:
        asked.append(what)
        return int(apsw.SQLITE_OK)

    connection.authorizer = may
    stored = {table.name for table in loaded.plan.schema.tables}
    again = {}
    for key, operation in lists(loaded):
        for _, _, switches in variants(operation) if operation.resource in stored else ():
            statement = text(operation.select, switches)
            for bind in (1, 2):
                asked.clear()
                connection.execute(statement, (bind,) * statement.count("?")).fetchall()
                assert asked or bind == 2 or statement in again
            again[statement] = (key, list(asked))
    assert again
    assert [key for key, asked in again.values() if asked] == []
    connection.close()


def orders(table: Table) -> Iterator[tuple[bool, tuple[str, ...]]]:
    yield True, table.key
    for each in (*table.indexes, *reference_indexes(table)):
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


@pytest.mark.long
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
