"""A schema as SQLite tables.

All tables are STRICT: what is stored has the form that `ninefold.values` says, or the statement fails.

Rows are kept by rowid, also where the key is text: measured with 100,000 orders, tables WITHOUT ROWID took twice
as long to fill (random keys then move whole rows about, not just index entries), were a sixth larger, and read no
faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ninefold.plan.environment import ENTERED_COLUMN, IDENTITY_COLUMN, REVISION_COLUMN
from ninefold.plan.schema import Column, Index, Schema, Table
from ninefold.sql import credentials, subscribers
from ninefold.sql.events import (
    CREATE_DELIVERIES,
    CREATE_LOG,
    CREATE_READING,
    CREATE_SUBSCRIBED,
    CREATE_VERSIONS,
    create_broker,
    create_deliveries_to_rows,
    has_numbers,
    is_called,
    key_of,
)
from ninefold.sql.fragment import Fragment, identifier
from ninefold.sql.idempotency import CREATE as CREATE_KEYS
from ninefold.sql.sqlite import SQLITE
from ninefold.upgrade.shape import ON_DELETE, identifier_type, receivers_key, reference_indexes
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Digest,
    Duration,
    Integer,
    Null,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
)

ONE = identifier("$one")
"""The key of a table that has one row, and no primary key."""

NOW = "strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'"
"""A time as it is stored."""


def create_schema(schema: Schema) -> tuple[str, ...]:
    """The statements that create everything, to be run in one transaction."""
    statements = (statement for table in schema.tables for statement in create_resource(table, schema))
    return (
        *statements,
        *(CREATE_KEYS if schema.idempotency else ()),
        *(CREATE_LOG if schema.events else ()),
        *(CREATE_READING if schema.log else ()),
        *(deliveries(schema) if schema.subscriptions else ()),
        *(create_broker(schema.broker) if schema.broker is not None else ()),
        *(CREATE_VERSIONS if schema.versions else ()),
        *(CREATE_SUBSCRIBED if schema.versions and schema.subscriptions else ()),
        *(statement for resource in schema.credentials for statement in create_credentials(resource, schema)),
        *(statement for resource in schema.scoped for statement in credentials.create_scopes(resource)),
        *(statement for resource in schema.callers for statement in of_callers(resource, schema)),
    )


def create_rows(schema: Schema) -> Iterator[tuple[str, ...]]:
    """The statements for each table of rows, and for each of the credentials that are issued to them."""
    yield from (create_resource(table, schema) for table in schema.tables)
    yield from (create_credentials(resource, schema) for resource in schema.credentials)
    yield from (credentials.create_scopes(resource) for resource in schema.scoped)


def deliveries(schema: Schema) -> tuple[str, ...]:
    """The statements for what is to be delivered."""
    if schema.subscribers is None:
        return CREATE_DELIVERIES
    table, *key = schema.subscribers
    refers = f" REFERENCES {identifier(table)} ({names(tuple(key))}) ON UPDATE CASCADE ON DELETE CASCADE"
    return (*create_deliveries_to_rows("" if _by_trigger(schema) else refers), *endings(schema))


def endings(schema: Schema) -> tuple[str, ...]:
    """What a foreign key to the rows that events go to would do, where none leads there: triggers, which go with their
    table, and are made as often as may be."""
    if schema.subscribers is None or not _by_trigger(schema):
        return ()
    table, key = schema.subscribers[0], receivers_key(schema)
    old, new = (key_of(key, row, SQLITE).text for row in ("OLD", "NEW"))
    is_old = f"WHERE {is_called(Fragment('id'), key, 'OLD', SQLITE).text}; END"
    begin, on = "CREATE TRIGGER IF NOT EXISTS ", f" ON {identifier(table)}"
    return (
        f"{begin}{identifier(f'$subscription of {table} ends')} AFTER DELETE{on}"
        f' BEGIN DELETE FROM "$subscription" {is_old}',
        f"{begin}{identifier(f'$subscription of {table} follows')} AFTER UPDATE{on} WHEN {old} <> {new}"
        f' BEGIN UPDATE "$subscription" SET id = {new} {is_old}',
    )


def of_callers(resource: str, schema: Schema) -> tuple[str, ...]:
    """What ends, with each row of a resource, that to which it has subscribed; and what has ended so already."""
    key = next(each.key for each in schema.tables if each.name == resource)
    return subscribers.ended(resource, key, subscribers.SQLITE), *subscribers.triggers(resource, key)


def _by_trigger(schema: Schema) -> bool:
    """Several fields are one value in `$subscription`, and a number has several texts there: no foreign key leads from
    these to a row."""
    key = receivers_key(schema)
    return len(key) != 1 or has_numbers(key)


def create_credentials(resource: str, schema: Schema) -> tuple[str, ...]:
    """The statements for the credentials that are issued to the rows of a resource."""
    table = next(each for each in schema.tables if each.name == resource)
    forms = {column.name: _stored_form(column.type, schema) for column in table.columns}
    return credentials.create(resource, tuple((name, forms[name]) for name in table.key))


def create_resource(table: Table, schema: Schema) -> tuple[str, ...]:
    """The statements for one table with its indexes. A table may refer to one that is created after it."""
    indexes = (create_index(table.name, index) for index in (*table.indexes, *reference_indexes(table)))
    return (create_table(table, schema), *indexes)


def create_table(table: Table, schema: Schema) -> str:
    lines = [define_column(table, column, schema) for column in table.columns]
    lines.append(f"{identifier(REVISION_COLUMN)} TEXT NOT NULL")
    if table.states:
        lines.append(f"{identifier(ENTERED_COLUMN)} TEXT")
    if table.identified:
        lines.append(f"{identifier(IDENTITY_COLUMN)} TEXT NOT NULL DEFAULT (lower(hex(randomblob(16))))")
    lines += [f"{identifier(each.stored)} {_stored_form(each.column.type, schema)}" for each in table.aside]
    # What SQLite numbers is its primary key, whatever rows are known by.
    numbered = next((column.name for column in table.columns if column.serial), None)
    if not table.key:
        lines.append(f"{ONE} INTEGER NOT NULL {'UNIQUE' if numbered else 'PRIMARY KEY'} DEFAULT 1 CHECK ({ONE} = 1)")
    elif numbered is None:
        lines.append(f"PRIMARY KEY ({names(table.key)})")
    elif (numbered,) != table.key:  # credentials refer to all of it
        lines.append(f"UNIQUE ({names(table.key)})")
    return f"CREATE TABLE {identifier(table.name)} (\n  " + ",\n  ".join(lines) + "\n) STRICT"


def define_column(table: Table, column: Column, schema: Schema) -> str:
    """A column as it stands in CREATE TABLE and in ALTER TABLE … ADD COLUMN.

    AUTOINCREMENT, so that the number of a deleted row is not given again. A key of an SQLite table admits nulls
    unless it says otherwise.
    """
    if column.serial:
        return f"{identifier(column.name)} INTEGER PRIMARY KEY AUTOINCREMENT"
    text = f"{identifier(column.name)} {_stored_form(column.type, schema)}"
    if column.required or column.name in table.key:
        text += " NOT NULL"
    for reference in table.references:
        if reference.column == column.name:
            text += f" REFERENCES {identifier(reference.table)} ({identifier(reference.key)})"
            text += f" ON UPDATE CASCADE ON DELETE {ON_DELETE[reference.on_delete]}"
    return text


def add_column(table: Table, column: Column, schema: Schema) -> str:
    return f"ALTER TABLE {identifier(table.name)} ADD COLUMN {define_column(table, column, schema)}"


def add_entered(table: Table) -> tuple[str, ...]:
    """Nobody noted when the rows that are there entered their states: they count from now."""
    name, column = identifier(table.name), identifier(ENTERED_COLUMN)
    return (
        f"ALTER TABLE {name} ADD COLUMN {column} TEXT",
        f"UPDATE {name} SET {column} = {NOW}",
    )


def create_index(table: str, index: Index) -> str:
    columns = ", ".join(
        f"{identifier(name[1:])} DESC" if name.startswith("-") else identifier(name) for name in index.columns
    )
    unique = "UNIQUE " if index.unique else ""
    return f"CREATE {unique}INDEX {identifier(index.name)} ON {identifier(table)} ({columns})"


def _stored_form(type_: Type, schema: Schema) -> str:
    match type_:
        case Boolean() | Integer():
            return "INTEGER"
        case Number():
            return "REAL"
        case Text() | Timestamp() | Array() | Object() | Anything() | Null():
            return "TEXT"
        case Digest():
            return "BLOB"
        case Row(resource=resource):
            return _stored_form(identifier_type(resource, schema), schema)
        case Duration():
            raise ValueError("a duration is never stored")
        case _:
            assert_never(type_)


def is_known_by_rowid(table: Table, schema: Schema) -> bool:
    """Whether SQLite's own number of a row is its primary key: an integer that stands alone there."""
    types = [column.type for column in table.columns if (column.name,) == table.key]
    return any(_stored_form(each, schema) == "INTEGER" for each in types)


def names(columns: tuple[str, ...]) -> str:
    return ", ".join(identifier(name) for name in columns)
