"""A database in PostgreSQL as a side of a move (`ninefold.runtime.store.move`).

What is being written is noted as such, and not served, until all has arrived. References are made at the end: rows may
arrive in any order.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import record
from ninefold.runtime.store.move import Notes, NotMoved, Table, last_key, made_of, page
from ninefold.runtime.store.postgresql_between import NotServed
from ninefold.runtime.store.postgresql_link import Link
from ninefold.runtime.store.postgresql_opening import (
    CREATE_NOTES,
    MOVING,
    alone,
    asking,
    examine,
    known,
    note,
    noted,
    notes_of,
    prepared,
)
from ninefold.runtime.store.postgresql_tables import create_references, create_tables, too_long
from ninefold.runtime.store.protocol import Row
from ninefold.sql.fragment import identifier
from ninefold.sql.postgresql import fitted
from ninefold.upgrade.shape import shape

T = TypeVar("T")

_OF_NODES: Final = ("$ninefold", "$number", "$state", "$due", "$process", "$wrote", "$node", "$held")
"""`Notes`; and what nodes have together, which is made anew."""

_TABLES: Final = (
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY oid"
)
_COLUMNS: Final = (
    "SELECT attname, typname FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid"
    " WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
_KEY: Final = (
    "SELECT attname FROM pg_index CROSS JOIN unnest(indkey::smallint[]) WITH ORDINALITY AS part(number, place)"
    " JOIN pg_attribute ON attrelid = indrelid AND attnum = part.number"
    " WHERE indrelid = $1::text::regclass AND indisprimary ORDER BY place"
)


class Side:
    """A connection, on a loop that runs while it is asked. Everything raises what a `Link` does."""

    def __init__(self, link: Link, loop: AbstractEventLoop, name: str) -> None:
        self.name = name
        self._link, self._loop = link, loop

    def _await(self, waited: Awaitable[T]) -> T:
        return self._loop.run_until_complete(waited)

    def ask(self, text: str, *binds: Any) -> list[Any]:
        return list(self._await(self._link.fetch(text, *binds)))

    def do(self, *statements: str) -> None:
        """All of them, or none."""
        self._await(self._link.execute(";\n".join(("BEGIN", *statements, "COMMIT"))))

    def tables(self) -> tuple[Table, ...]:
        return tuple(self._table(name) for (name,) in self.ask(_TABLES) if name not in _OF_NODES)

    def _table(self, name: str) -> Table:
        columns = tuple(column for column, _ in self.ask(_COLUMNS, identifier(name)))
        return Table(name, columns, tuple(column for (column,) in self.ask(_KEY, identifier(name))))

    def count(self, table: str) -> int:
        return int(self.ask(f"SELECT count(*) FROM {identifier(table)}")[0][0])

    def rows(self, table: Table, after: Row | None) -> list[Row]:
        text, binds = page(table, identifier, after)
        return self._run(text, binds)

    def _run(self, text: str, binds: Row) -> list[Row]:
        rows, _ = self._await(self._link.run(text, binds))
        return [tuple(int(value) if isinstance(value, bool) else value for value in row) for row in rows]


class Source(Side):
    def __init__(self, link: Link, loop: AbstractEventLoop, name: str, schema: Schema) -> None:
        super().__init__(link, loop, name)
        self.schema = schema

    def notes(self) -> Notes:
        found = noted(self.ask)
        numbers = {name: int(last) for name, last in self.ask('SELECT "table", last FROM "$number"')}
        upgrades = record.decode_upgrades(found.get("upgrades"))
        return Notes(
            found["key"], found.get("contract"), found.get("fit"), numbers, upgrades, found.get(record.DECIDED)
        )


@contextmanager
def source(url: str, plan: ServicePlan) -> Iterator[Source]:
    """While nobody serves it, as it is at one moment. Raises NotMoved."""
    with _connected(url) as (link, loop, name):
        ask = asking(link, loop)
        ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        found = known(ask, name)
        if found is None:
            raise NotMoved(f"the database {name} is empty")
        yield Source(link, loop, name, made_of(found.shape, plan.schema, name))


class Target(Side):
    def __init__(self, link: Link, loop: AbstractEventLoop, name: str, plan: ServicePlan) -> None:
        super().__init__(link, loop, name)
        self._plan = plan
        self.has_all = False

    def last(self, table: Table) -> Row | None:
        return next(iter(self._run(last_key(table, identifier), ())), None)

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        forms = dict(self.ask(_COLUMNS, identifier(table.name)))
        in_order = [forms[column] for column in table.columns]
        records = [fitted(row, in_order) for row in rows]
        self._await(self._link.copy(table.name, table.columns, records))

    def finish(self, notes: Notes) -> None:
        self.ask("BEGIN")
        for statement in create_references(self._plan.schema):
            self.ask(statement)
        numbered = 'INSERT INTO "$number" ("table", last) VALUES ($1, $2)'
        for name, last in notes.numbers.items():
            self.ask(numbered, name, last)
        kept = {"upgrades": record.encode_upgrades(notes.upgrades)} if notes.upgrades else {}
        kept |= {} if notes.contract is None else {"contract": notes.contract}
        kept |= {} if notes.fit is None else {"fit": notes.fit}
        kept |= {} if notes.decided is None else {record.DECIDED: notes.decided}
        self.ask('DELETE FROM "$ninefold" WHERE name = $1', MOVING)
        note(self.ask, {"key": notes.key, **kept, **notes_of(self._plan)})
        self.ask("COMMIT")


@contextmanager
def target(url: str, plan: ServicePlan, key: bytes) -> Iterator[Target]:
    """`key`: the secret of the database that is moved, by which a move that was begun is known again. Raises
    NotMoved."""
    if lacking := tuple(too_long(plan.schema)):
        raise NotMoved("the contract cannot be served from PostgreSQL yet", lacking)
    with _connected(url) as (link, loop, name):
        side = Target(link, loop, name, plan)
        examine(side.ask, name)
        if not _is_begun(side, plan, key):
            side.ask("BEGIN")
            for statement in (*create_tables(plan.schema), CREATE_NOTES):
                side.ask(statement)
            note(side.ask, {MOVING: key})
            prepared(link, loop, plan)
            side.ask("COMMIT")
        yield side


def _is_begun(side: Target, plan: ServicePlan, key: bytes) -> bool:
    """Whether this move was begun; where nothing was, the database is empty. Raises NotMoved or NotServed."""
    [(ours,)] = side.ask("SELECT to_regclass('\"$ninefold\"') IS NOT NULL")
    moving = noted(side.ask).get(MOVING) if ours else None
    if moving == key:
        return True
    if moving is not None:
        raise NotMoved(f"the move of another database into {side.name} has not come to its end")
    found = known(side.ask, side.name)
    side.has_all = found is not None and (found.key, found.shape) == (key, shape(plan.schema))
    if found is not None and not side.has_all:
        raise NotMoved(f"there is something in the database {side.name}", help=("name an empty one",))
    return side.has_all


@contextmanager
def _connected(url: str) -> Iterator[tuple[Link, AbstractEventLoop, str]]:
    """While nobody serves the database, and nobody else moves it."""
    try:
        with alone(url) as found:
            yield found
    except NotServed as error:
        raise NotMoved(error.refused.message, error.refused.details, error.refused.help) from None
