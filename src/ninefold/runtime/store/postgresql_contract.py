"""What ends going over to another contract (`postgresql_running.py`): `contract`, once nobody serves the contract
before, or `undo`, once nobody serves the new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from ninefold.plan.environment import IDENTITY_COLUMN
from ninefold.plan.schema import Schema, Table
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import postgresql_tables as tables
from ninefold.runtime.store.changing import Before, Decide, NotUpgraded, Over, hidden
from ninefold.runtime.store.postgresql_between import GO_ON, note_anew, note_between, on_its_way
from ninefold.runtime.store.postgresql_premises import Ask
from ninefold.runtime.store.postgresql_running import (
    BEGIN,
    Side,
    added,
    beside,
    demanded,
    found_over,
    is_to,
    likewise,
    patiently,
    plan_of,
    undemanded,
)
from ninefold.runtime.store.postgresql_serving import ASK_AGAIN, LOST, SERVES
from ninefold.runtime.store.postgresql_steps import Changing, drop_references
from ninefold.runtime.store.protocol import Command, Judge
from ninefold.sql import credentials, idempotency
from ninefold.sql.fragment import identifier
from ninefold.upgrade import steps
from ninefold.upgrade.changes import Changes, in_order
from ninefold.upgrade.running import Between, Running
from ninefold.upgrade.steps import Step

# ── Contract ──────────────────────────────────────────────────────────────────────────────────────────────────


def contract(url: str, plan: ServicePlan, decide: Decide, judge: Judge, before: Before) -> Over:
    """Come to the end: demand what the plan demands, and set aside what it has not. Raises NotUpgraded while a node of
    the contract before serves."""
    with beside(url) as side:
        noted = side.found.between
        if noted is None:
            see = Command("to see what is to be done", "upgrade")
            raise NotUpgraded(f"the database {side.name} is not between two contracts", then=(see,))
        served = plan_of(side, before, noted.old)
        plan, new = likewise(plan, served, noted.old)
        is_to(noted, new, side.name)
        if not noted.moved:
            raise NotUpgraded(on_its_way(noted, side.name), ("rows have not all been moved yet",), then=(GO_ON,))
        _is_left(side, noted.old, "the contract before")
        found, over = found_over(side, plan, decide, served, before)
        if over.refused:
            return Over(side.name, over.refused)
        required = [each for each in over.contract if isinstance(each, steps.Require)]
        for each in required:
            demanded(side, each.table, each.column)
        patiently(side, lambda: _contracted(side, noted, plan, found, over), lambda: _fit(side, judge))
        return Over(side.name, taken=tuple(_taken(over)), aside=_hidden(side, found.after))


def _is_left(side: Side, number: int, which: str) -> None:
    if nodes := side.nodes_of(number):
        serve = "1 node of it serves" if nodes == 1 else f"{nodes} nodes of it serve"
        raise NotUpgraded(f"the database {side.name} is served for {which}", (serve,), ("stop what serves it",))
    if number in side.may_come():
        raise NotUpgraded(f"a process that served the database {side.name} for {which} {LOST}", help=(ASK_AGAIN,))


def _fit(side: Side, judge: Judge) -> None:
    """What is noted of rows and of the contract is noted in the same transaction."""
    if unfit := judge(side.session(), ()):
        raise NotUpgraded("rows are not as the contract says", tuple(each.words for each in unfit))


def _hidden(side: Side, shape: Schema) -> tuple[tuple[str, int], ...]:
    side.ask(BEGIN)
    found = tuple(hidden(Changing(side.session(), side.ask), shape))
    side.ask("ROLLBACK")
    return found


def _contracted(side: Side, noted: Between, plan: ServicePlan, found: Changes, over: Running) -> None:
    if not side.nobody_serves(noted.old):
        _is_left(side, noted.old, "the contract before")
        raise NotUpgraded("a node of the contract before begins to serve", help=("stop it",))
    database = Changing(side.session(), side.ask)
    for step in in_order(over.contract):
        _take(step, database, plan.schema)
    for each in over.move:
        side.ask(f"ALTER TABLE {identifier(each.table)} ALTER COLUMN {identifier(each.column)} DROP DEFAULT")
    for step in over.contract:
        if isinstance(step, steps.Require):
            undemanded(side.ask, step.table, step.column)
    _let_go(side, noted)
    database.note_shape(found.after)
    database.note_upgrade(found.after, None)
    note_between(side.ask, None)
    note_anew(side.ask, {SERVES: str(noted.new).encode()})


def _let_go(side: Side, noted: Between) -> None:
    """Nobody is held to what the other contract says any more."""
    for table, name in noted.checks:
        side.ask(f"ALTER TABLE {identifier(table)} DROP CONSTRAINT {identifier(tables.short(name))}")


def _take(step: Step, database: Changing, schema: Schema) -> None:
    if isinstance(step, steps.SetTableAside):
        # It alone refers to nothing any more: whoever else does is kept to it as ever.
        drop_references(step.table.name, database.ask)
        rename = f"ALTER TABLE {identifier(step.table.name)} RENAME TO {identifier(steps.aside_name(step.table.name))}"
        database.ask(rename)
    else:
        database.take((step,), schema)


def _taken(over: Running) -> Iterator[str]:
    for step in over.contract:
        match step:
            case steps.SetAside(table=table, aside=aside):
                yield f"field `{table}.{aside.column.name}`"
            case steps.SetTableAside(table=table):
                yield f"resource `{table.name}`"
            case _:
                pass


# ── Undo ──────────────────────────────────────────────────────────────────────────────────────────────────────


def undo(url: str) -> Over:
    """Take back what was added, unless a node of the new contract serves. What rows were given by such a node is set
    aside. Raises NotUpgraded."""
    with beside(url) as side:
        noted = side.found.between
        if noted is None:
            help = "there is no backup of a database in PostgreSQL but its operator's: pg_dump makes one"
            raise NotUpgraded(f"the database {side.name} is not between two contracts", help=(help,))
        _is_left(side, noted.new, f"the contract `{noted.name}`")
        shape = patiently(side, lambda: _undone(side, noted))
        return Over(side.name, taken=tuple(added(noted)), aside=_hidden(side, shape))


def _undone(side: Side, noted: Between) -> Schema:
    if not side.nobody_serves(noted.new):
        raise NotUpgraded("a node of the new contract begins to serve", help=("stop it",))
    database = Changing(side.session(), side.ask)
    shape = side.found.shape
    for name in noted.indexes:
        side.ask(f"DROP INDEX IF EXISTS {identifier(tables.short(name))}")
    _let_go(side, noted)
    identified = noted.identified if noted.moved else ()
    for name in () if noted.moved else noted.identified:
        side.ask(f"ALTER TABLE {identifier(name)} DROP COLUMN {identifier(IDENTITY_COLUMN)}")
    kept = [each for each in noted.tables if noted.begun and _has(side.ask, each.name, "")]
    for table, column in noted.columns:
        if noted.begun and _has(side.ask, table, column.name):
            own = next(each for each in shape.tables if each.name == table)
            aside = steps.set_aside(column, own.aside)
            _take(steps.SetAside(table, aside), database, shape)
            changed = structs.replace(own, aside=(*own.aside, aside))
            shape = structs.replace(shape, tables=tuple(changed if each is own else each for each in shape.tables))
        else:
            side.ask(f"ALTER TABLE {identifier(table)} DROP COLUMN {identifier(column.name)}")
    supports = [each for each in noted.supports if noted.begun and _is_kept(each, noted, kept)]
    for support in noted.supports:
        if support not in supports and (name := _support_table(*support)):
            side.ask(f"DROP TABLE {name} CASCADE")
    for each in noted.tables:
        if each in kept:
            _take(steps.SetTableAside(each), database, shape)
        else:
            side.ask(f"DROP TABLE {identifier(each.name)} CASCADE")
    shape = structs.replace(
        shape,
        tables=tuple(
            structs.replace(each, identified=each.identified or each.name in identified) for each in shape.tables
        ),
        aside=(*shape.aside, *kept),
        idempotency=shape.idempotency or ("keys", "") in supports,
        credentials=(*shape.credentials, *(of for what, of in supports if what == "credentials")),
        scoped=(*shape.scoped, *(of for what, of in supports if what == "scopes")),
        callers=(*shape.callers, *(of for what, of in supports if what == "callers")),
    )
    database.note_shape(shape)
    note_between(side.ask, None)
    note_anew(side.ask, {SERVES: str(noted.old).encode()})
    return shape


def _has(ask: Ask, table: str, column: str) -> bool:
    """Whether there are rows, or values in them."""
    where = f" WHERE {identifier(column)} IS NOT NULL" if column else ""
    return bool(ask(f"SELECT 1 FROM {identifier(table)}{where} LIMIT 1"))


def _is_kept(support: tuple[steps.Support, str], noted: Between, kept: Sequence[Table]) -> bool:
    of = support[1]
    return of not in {each.name for each in noted.tables} or of in {each.name for each in kept}


def _support_table(what: steps.Support, of: str) -> str:
    match what:
        case "keys":
            return idempotency.TABLE
        case "credentials":
            return credentials.table_of(of)
        case "scopes":
            return credentials.scopes_of(of)
        case _:
            return ""
