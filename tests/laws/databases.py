"""Rows of a law in each of the databases, as the service stores them there, and what an expression is of them."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import apsw
import pytest
from tests.postgresql import server

from ninefold.expressions.binds import binder
from ninefold.expressions.scope import Model, stored_as
from ninefold.sql import postgresql
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment
from ninefold.sql.plpgsql import FUNCTIONS
from ninefold.sql.postgresql import POSTGRESQL
from ninefold.sql.postgresql_columns import stored_form
from ninefold.sql.sqlite import SQLITE
from ninefold.values import Boolean, Integer, Number, Type
from ninefold.values.stored import to_sqlite

EACH: Final = pytest.mark.parametrize("dialect", [SQLITE, POSTGRESQL], ids=lambda dialect: dialect.name)


@dataclass(frozen=True)
class Table:
    """`types`: what is stored of a row, a reference as the primary key of the other row is."""

    name: str
    types: Mapping[str, Type]
    rows: Sequence[Mapping[str, Any]]

    @property
    def stored(self) -> list[list[Any]]:
        return [[to_sqlite(type_, row[name]) for name, type_ in self.types.items()] for row in self.rows]

    def create(self, forms: Mapping[type[Type], str], other: str, ending: str) -> str:
        columns = ", ".join(f'"{name}" {forms.get(type(type_), other)}' for name, type_ in self.types.items())
        return f'CREATE TABLE "{self.name}" ({columns}){ending}'


def asked(
    dialect: Dialect, tables: Sequence[Table], fragment: Fragment, env: dict[str, Any], model: Model, end: str
) -> list[Any]:
    """The value of an expression for each row of `end`."""
    binds = [binder(bound, model)(env) for bound in fragment.binds]
    if dialect is SQLITE:
        connection = apsw.Connection(":memory:")
        for table in tables:
            connection.execute(table.create(_SQLITE, "TEXT", " STRICT"))
            marks = ", ".join("?" for _ in table.types)
            connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', table.stored)
        return [row[0] for row in connection.execute(f"SELECT {fragment.text} {end}", binds)]
    types = [stored_as(bound.type, model) for bound in fragment.binds]
    text = postgresql.with_types(f"SELECT {fragment.text} {end}", types)
    loop, connection = _connected()
    return loop.run_until_complete(_asked(connection, tables, postgresql.numbered(text), binds))


_SQLITE: Final[Mapping[type[Type], str]] = {Boolean: "INTEGER", Integer: "INTEGER", Number: "REAL"}
_POSTGRESQL: Final[Mapping[type[Type], str]] = {kind: stored_form(kind()) for kind in (Boolean, Integer, Number)}


@cache
def _connected() -> tuple[asyncio.AbstractEventLoop, Any]:
    import asyncpg

    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(asyncpg.connect(server.database()))
    atexit.register(lambda: (loop.run_until_complete(connection.close()), loop.close()))
    for statement in FUNCTIONS:
        loop.run_until_complete(connection.execute(statement))
    return loop, connection


_made: Final = set[str]()


async def _asked(connection: Any, tables: Sequence[Table], text: str, binds: Sequence[Any]) -> list[Any]:
    for table in tables:
        made = table.create(_POSTGRESQL, 'text COLLATE "C"', "")
        if made not in _made:
            await connection.execute(f'DROP TABLE IF EXISTS "{table.name}"')
            await connection.execute(made)
            _made.add(made)
    transaction = connection.transaction()
    await transaction.start()
    try:
        for table in tables:
            if table.rows:
                marks = ", ".join(f"${number + 1}" for number in range(len(table.types)))
                insert = await connection.prepare(f'INSERT INTO "{table.name}" VALUES ({marks})')
                await insert.executemany([postgresql.fitted(row, forms(insert)) for row in table.stored])
        statement = await connection.prepare(text)
        return [row[0] for row in await statement.fetch(*postgresql.fitted(binds, forms(statement)))]
    finally:
        await transaction.rollback()


def forms(statement: Any) -> tuple[str, ...]:
    return tuple(each.name for each in statement.get_parameters())
