"""Expand and move, of a database in PostgreSQL whose nodes go on (`postgresql_running.py`): what was cut short goes on
where it was when it is asked for again. Rows are moved a thousand at a time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from msgspec import structs

from ninefold.expressions.tree import Constant, Typed, Variable
from ninefold.plan.environment import IDENTITY_COLUMN
from ninefold.plan.schema import Schema, Table
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import postgresql_tables as tables
from ninefold.runtime.store.changing import Before, Decide, NotUpgraded, Over
from ninefold.runtime.store.postgresql_between import note_anew, note_between
from ninefold.runtime.store.postgresql_opening import prepared
from ninefold.runtime.store.postgresql_premises import Ask
from ninefold.runtime.store.postgresql_running import (
    Side,
    added,
    beside,
    demanded,
    found_over,
    insisted,
    is_to,
    likewise,
    patiently,
    plan_of,
    required,
    served_now,
    validate,
)
from ninefold.runtime.store.postgresql_serving import SERVES
from ninefold.runtime.store.postgresql_steps import BATCH, NOW, Changing, as_stored, give
from ninefold.runtime.store.protocol import Stored
from ninefold.runtime.store.worked import filled
from ninefold.sql.fragment import identifier, literal
from ninefold.upgrade import steps
from ninefold.upgrade.changes import in_order
from ninefold.upgrade.running import Between, Hold, Running, between
from ninefold.values import Boolean, Digest
from ninefold.values.stored import to_sqlite

_IS_VALID: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"


def expand(url: str, plan: ServicePlan, decide: Decide, before: Before) -> Over:
    """Add what a plan needs, and give rows their values: nodes of both contracts may serve the database then. `plan`:
    one for PostgreSQL. Raises NotUpgraded."""
    if lacking := tuple(tables.too_long(plan.schema)):
        raise NotUpgraded("the contract cannot be served from PostgreSQL yet", lacking)
    with beside(url) as side:
        noted = side.found.between
        number, served = served_now(side, before) if noted is None else (noted.old, plan_of(side, before, noted.old))
        plan, new = likewise(plan, served, number)
        if noted is not None:
            is_to(noted, new, side.name)
        _, over = found_over(side, plan, decide, served, before)
        nodes = side.nodes_of(number)
        if refused := (*over.refused, *(() if noted is not None else _left(side, over))):
            return Over(side.name, refused, nodes)
        if noted is None:
            noted = _expanded(side, plan, over, number, new)
        for index in over.indexes:
            insisted(lambda: _indexed(side, index, plan.schema))  # noqa: B023
        validate(side)
        moved = tuple((f"{each.table}.{each.column}", _moved(side, each, plan.schema)) for each in over.move)
        if not noted.moved:
            for name in noted.identified:
                _identified(side, next(each for each in plan.schema.tables if each.name == name))
            patiently(side, lambda: note_between(side.ask, structs.replace(noted, moved=True)))
        held = tuple(f"what this contract allows of `{each.about}`" for each in over.holds)
        return Over(side.name, nodes=nodes, added=tuple(added(noted)), moved=moved, held=held)


def _expanded(side: Side, plan: ServicePlan, over: Running, old: int, new: int) -> Between:
    if new == old:
        raise NotUpgraded(f"this contract is served from {side.name}: nothing is to be done")
    noted = between(over, old, new, plan.name)

    def work() -> None:
        if set(side.serving()) - {old}:
            raise NotUpgraded(f"nodes of another contract have begun to serve {side.name}")
        database = Changing(side.session(), side.ask)
        database.take(
            in_order([each for each in over.expand if not isinstance(each, steps.AddIdentities)]), plan.schema
        )
        to_come = chain.from_iterable(map(tables.identities_to_come, noted.identified))
        for statement in (*_references(over, plan.schema), *_defaults(over), *to_come, *_held(over)):
            side.ask(statement)
        prepared(side.link, side.loop, plan)
        note_between(side.ask, noted)
        note_anew(side.ask, {SERVES: f"{old} {new}".encode()})

    patiently(side, work)
    return noted


def _references(over: Running, schema: Schema) -> Iterator[str]:
    """Of new tables, which have no rows, and of new columns, whose rows are looked at later."""
    for step in over.expand:
        if isinstance(step, steps.MakeTable):
            yield from tables.references(step.table)
        elif isinstance(step, steps.AddColumn):
            table = next(each for each in schema.tables if each.name == step.table.name)
            own = tuple(each for each in table.references if each.column == step.column.name)
            for statement in tables.references(structs.replace(table, references=own)):
                yield f"{statement} NOT VALID"


def _defaults(over: Running) -> Iterator[str]:
    """What rows are given by those who know nothing of a column."""
    for each in over.move:
        alter = f"ALTER TABLE {identifier(each.table)} ALTER COLUMN {identifier(each.column)}"
        yield f"{alter} SET DEFAULT {_default(each, each.value)}"


def _held(over: Running) -> Iterator[str]:
    """What the contract before demands of every row, of those that the new one would make otherwise."""
    for each in over.holds:
        if each.limits:
            name = identifier(tables.short(each.name))
            yield f"ALTER TABLE {identifier(each.table)} ADD CONSTRAINT {name} CHECK ({_holds(each)}) NOT VALID"


def _left(side: Side, over: Running) -> Iterator[str]:
    """Rows that were left as they are would be held to it by the next write."""
    for each in over.holds:
        if each.limits and side.ask(f"SELECT 1 FROM {identifier(each.table)} WHERE NOT ({_holds(each)}) LIMIT 1"):
            yield f"what `{each.table}.{each.column}` may hold: rows were left that are not as the contract before says"


def _holds(hold: Hold) -> str:
    return " AND ".join(_condition(identifier(hold.column), *limit) for limit in hold.limits.items())


def _condition(column: str, keyword: str, value: Any) -> str:
    match keyword:
        case "enum":
            return f"{column} IN ({', '.join(literal(each) if isinstance(each, str) else str(each) for each in value)})"
        case "minLength" | "maxLength":
            return f"char_length({column}) {'>=' if keyword == 'minLength' else '<='} {int(value)}"
        case _:
            return f"{column} {'>=' if keyword == 'minimum' else '<='} {value}"


def _default(step: steps.Fill, value: Typed) -> str:
    match value:
        case Constant(value=constant):
            return _constant(step, to_sqlite(step.type, constant))
        case Variable():
            return NOW
        case _:
            return "gen_random_uuid()::text"


def _constant(step: steps.Fill, stored: Stored) -> str:
    match step.type, stored:
        case Boolean(), _:
            return "TRUE" if stored else "FALSE"
        case Digest(), _:
            raise AssertionError("no secret is given to rows")
        case _, str():
            return literal(stored)
        case _:
            return repr(stored)


def _indexed(side: Side, step: steps.MakeIndex, schema: Schema) -> None:
    """Beside those who write. One whose making was cut short is there, and of no use."""
    table = next(each for each in schema.tables if each.name == step.table)
    if step.index not in tables.indexes(table):
        return
    name = identifier(tables.short(step.index.name))
    found = side.ask(_IS_VALID, name)
    if found and found[0][0]:
        return
    if found:
        side.ask(f"DROP INDEX CONCURRENTLY {name}")
    made = tables.create_index(step.table, step.index)
    side.ask(made.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY", 1))


Place: TypeAlias = tuple[Any, ...]
"""The primary key of the row before; empty: none is."""


def _page_by_page(side: Side, page: Callable[[Place], tuple[Place | None, int]]) -> int:
    """How many rows were given something, by a function that does it for some behind a place, and tells the next one.
    Between two batches those who serve write as long as one took."""
    after: Place | None = ()
    count = 0
    while after is not None:
        begun, of = time.monotonic(), after
        after, given = patiently(side, lambda: page(of))  # noqa: B023
        count += given
        time.sleep(time.monotonic() - begun if after else 0)
    return count


def _moved(side: Side, step: steps.Fill, schema: Schema) -> int:
    """How many rows were given a value that had none."""
    table = next(each for each in schema.tables if each.name == step.table)
    return _page_by_page(side, lambda after: _page(side.ask, step, table.key, after))


def _identified(side: Side, table: Table) -> None:
    """Each row that is there is given an identity; then no row may be without one."""
    _page_by_page(side, lambda after: _identities(side.ask, table, after))
    demanded(side, table.name, IDENTITY_COLUMN)
    patiently(side, lambda: required(side.ask, table.name, IDENTITY_COLUMN))


def _identities(ask: Ask, table: Table, after: Place) -> tuple[Place | None, int]:
    by, column = ", ".join(map(identifier, table.key)), identifier(IDENTITY_COLUMN)
    behind = f" WHERE ({by}) > ({', '.join(f'${number}' for number in range(1, len(after) + 1))})" if after else ""
    ordered = f" ORDER BY {by} LIMIT {BATCH}" if table.key else ""
    read = f"ctid, {column}{f', {by}' if by else ''}"
    found = ask(f"SELECT {read} FROM {identifier(table.name)}{behind}{ordered}", *after)
    lacking = [row[0] for row in found if row[1] is None]
    give = f"UPDATE {identifier(table.name)} SET {column} = {tables.ANOTHER} WHERE ctid = ANY($1)"
    ask(give, lacking)
    return tuple(found[-1])[2:] if table.key and len(found) == BATCH else None, len(lacking)


def _page(ask: Ask, step: steps.Fill, key: Sequence[str], after: Place) -> tuple[Place | None, int]:
    """The rows behind a primary key: the last of them, None where there are no more, and how many had no value."""
    read, given = filled(step, Counter())
    names, by = (", ".join(map(identifier, each)) for each in ((*key, *read), key))
    behind = f" WHERE ({by}) > ({', '.join(f'${number}' for number in range(1, len(key) + 1))})" if after else ""
    ordered = f" ORDER BY {by} LIMIT {BATCH}" if key else ""
    found = ask(f"SELECT ctid, {names} FROM {identifier(step.table)}{behind}{ordered}", *after)
    lacking = [row for row in found if row[-1] is None]
    values = [given(as_stored(tuple(row)[1 + len(key) :])) for row in lacking]
    give(step.table, step.column, ask, [row[0] for row in lacking], values)
    more = key and len(found) == BATCH
    return tuple(found[-1])[1 : 1 + len(key)] if more else None, len(lacking)
