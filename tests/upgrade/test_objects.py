"""After an upgrade by which resources are renamed, a database has the tables, indexes and triggers that a new one has,
under the same names: none stays behind under a name of before, and nothing is left out that goes with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import apsw
import msgspec
import pytest
from tests.contracts import SERVED, compiled, contract_of
from tests.postgresql import server
from tests.slices import some

from ninefold.diagnostics.source import Source
from ninefold.plan.schema import Column, Reference, Schema, Table
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store.changing import Decide, all_fit
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened
from ninefold.runtime.store.record import Known
from ninefold.runtime.store.upgrading import upgrade_database
from ninefold.tools.decisions import document
from ninefold.tools.decisions.decide import decide
from ninefold.upgrade.changes import Outcome
from ninefold.values import Row

pytestmark = [pytest.mark.serves, pytest.mark.long]

BY_POSTGRESQL: Final = re.compile(r"_(pkey|not_null|fkey|key|check)\d*$")
"""What PostgreSQL calls by a name that it chooses, and that is free."""

BUILT_IN: Final = ("event", "subscription")
OF_POSTGRESQL: Final = """
    SELECT kind, name, of FROM (
        SELECT 'relation ' || relkind::text AS kind, relname AS name, '' AS of, relnamespace AS place FROM pg_class
        UNION ALL SELECT 'constraint', conname, relname, relnamespace FROM pg_constraint
            JOIN pg_class ON pg_class.oid = conrelid
        UNION ALL SELECT 'trigger', tgname, relname, relnamespace FROM pg_trigger
            JOIN pg_class ON pg_class.oid = tgrelid WHERE NOT tgisinternal
        UNION ALL SELECT 'function', proname, '', pronamespace FROM pg_proc) AS known
    WHERE place = 'public'::regnamespace ORDER BY 1, 2, 3"""


def objects(database: str) -> set[tuple[str, ...]]:
    if database.startswith("postgresql:"):
        found = {tuple(map(str, row)) for row in server.run(database, OF_POSTGRESQL)}
    else:
        connection = apsw.Connection(database)
        found = {tuple(map(str, row)) for row in connection.execute("SELECT type, name, tbl_name FROM sqlite_schema")}
        connection.close()
    return {each for each in found if each[1] != "$ninefold_upgrades" and not BY_POSTGRESQL.search(each[1])}


def renamed(schema: Schema, names: dict[str, str]) -> Schema:
    """What a contract with other names of its resources wants."""

    def column(each: Column) -> Column:
        if not isinstance(each.type, Row):
            return each
        type_ = msgspec.structs.replace(each.type, resource=names[each.type.resource])
        return msgspec.structs.replace(each, type=type_)

    def reference(each: Reference) -> Reference:
        return msgspec.structs.replace(each, table=names[each.table])

    def table(each: Table) -> Table:
        return msgspec.structs.replace(
            each,
            name=names[each.name],
            columns=tuple(map(column, each.columns)),
            references=tuple(map(reference, each.references)),
        )

    return msgspec.structs.replace(
        schema,
        tables=tuple(map(table, schema.tables)),
        credentials=tuple(names[each] for each in schema.credentials),
        scoped=tuple(names[each] for each in schema.scoped),
        callers=tuple(names[each] for each in schema.callers),
        subscribers=None if schema.subscribers is None else (names[schema.subscribers[0]], *schema.subscribers[1:]),
    )


def of_alone(plan: ServicePlan, schema: Schema) -> ServicePlan:
    """A plan that serves nothing of a schema."""
    return ServicePlan(plan.name, plan.title, schema, (), plan.problems, dialect=plan.dialect)


def opened(database: str, plan: ServicePlan) -> None:
    opening = open_database(database, plan)
    assert isinstance(opening, Opened), opening
    opening.database.close()


def deciding(wanted: Schema, names: dict[str, str]) -> Decide:
    lines = "".join(f"  - {{rename: {old}, to: {new}}}\n" for old, new in names.items() if old != new)
    read = document.read(Source("a.upgrade.yaml", f"changes:\n{lines}"))

    def decided(stored: Schema, known: Known) -> Outcome:
        found, wrong = decide(read.value, stored, wanted)
        assert not wrong, [each.message for each in wrong]
        return found

    return decided


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("directory", some(SERVED, 8), ids=lambda directory: directory.name)
def test_nothing_is_called_by_a_name_of_before(directory: Path, kind: str, tmp_path: Path) -> None:
    plan = compiled(contract_of(directory)).plan_for(kind)
    if plan is None or {each.name for each in plan.schema.tables} <= {*BUILT_IN}:
        pytest.skip("it keeps no rows of its own")
    names = {each.name: each.name if each.name in BUILT_IN else f"{each.name}_2" for each in plan.schema.tables}
    was, now = (of_alone(plan, each) for each in (plan.schema, renamed(plan.schema, names)))
    of = [str(tmp_path / f"{each}.db") if kind == "sqlite" else server.database() for each in ("old", "new")]
    opened(of[0], was)
    done = upgrade_database(of[0], now, deciding(now.schema, names), all_fit, True, None)
    assert done.made, done.changes
    opened(of[1], now)
    assert objects(of[0]) == objects(of[1])
