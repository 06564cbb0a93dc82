"""A schema as tables of PostgreSQL, beside `ninefold.runtime.store.tables`.

Names longer than 63 bytes would be cut off, and two of them might then be one: those of indexes, which nothing refers
to, end in a digest; a longer name of a table or a column is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from ninefold.plan.environment import ENTERED_COLUMN, REVISION_COLUMN
from ninefold.plan.schema import Column, Index, Schema, Table
from ninefold.sql import credentials
from ninefold.sql.fragment import identifier
from ninefold.sql.plpgsql import FUNCTIONS
from ninefold.sql.postgresql import stored_form
from ninefold.upgrade.shape import ON_DELETE, identifier_type, reference_indexes
from ninefold.values import Digest, Integer, Row, Text, Timestamp, Type

LONGEST_NAME = 63
"""Bytes of an identifier (NAMEDATALEN - 1)."""

_TEXT, _TIME, _NUMBER, _BYTES = (stored_form(each()) for each in (Text, Timestamp, Integer, Digest))
ONE = identifier("$one")


def not_there_yet(schema: Schema) -> Iterator[str]:
    """What of a schema cannot be kept in PostgreSQL yet, in words."""
    for table in schema.tables:
        for name in (table.name, *(column.name for column in table.columns)):
            if len(name.encode()) > LONGEST_NAME:
                yield f"`{name}` is longer than the {LONGEST_NAME} bytes that a name may have in PostgreSQL"
    if schema.subscribers is not None:
        yield f"events are delivered to rows of the contract's own, `{schema.subscribers[0]}`"
    if schema.broker is not None:
        yield "events are sent to a broker"


def create_schema(schema: Schema) -> tuple[str, ...]:
    """The statements that create everything, to be run in one transaction."""
    return (
        *FUNCTIONS,
        *_NUMBERS,
        *(_create_table(table, schema) for table in schema.tables),
        *(each for table in schema.tables for each in _references(table)),
        *(create_index(table.name, index) for table in schema.tables for index in _indexes(table)),
        *(_KEYS if schema.idempotency else ()),
        *(_LOG if schema.events else ()),
        *(_DELIVERIES if schema.subscriptions else ()),
        *(_VERSIONS if schema.versions else ()),
        *(_SUBSCRIBED if schema.versions and schema.subscriptions else ()),
        *(each for resource in schema.credentials for each in _credentials(resource, schema)),
        *(_scopes(resource) for resource in schema.scoped),
    )


def _indexes(table: Table) -> tuple[Index, ...]:
    # A secret that is derived and not stored has an index, of which SQLite makes one of a constant.
    stored = {*(column.name for column in table.columns), ENTERED_COLUMN}
    return tuple(each for each in (*table.indexes, *reference_indexes(table)) if stored.issuperset(each.names))


def _create_table(table: Table, schema: Schema) -> str:
    lines = [_column(table, column, schema) for column in table.columns]
    lines.append(f"{identifier(REVISION_COLUMN)} {_TEXT} NOT NULL")
    if table.states:
        lines.append(f"{identifier(ENTERED_COLUMN)} {_TIME}")
    if table.key:
        lines.append(f"PRIMARY KEY ({_names(table.key)})")
    else:
        lines.append(f"{ONE} {_NUMBER} NOT NULL PRIMARY KEY DEFAULT 1 CHECK ({ONE} = 1)")
    return f"CREATE TABLE {identifier(table.name)} (\n  " + ",\n  ".join(lines) + "\n)"


def _column(table: Table, column: Column, schema: Schema) -> str:
    text = f"{identifier(column.name)} {_form(column.type, schema)}"
    if column.serial:
        unique = "" if column.name in table.key else " UNIQUE"
        return f"{text} NOT NULL DEFAULT {_next(table.name)}{unique}"
    return text + (" NOT NULL" if column.required or column.name in table.key else "")


def _next(table: str) -> str:
    """The next number of a table's rows. As in SQLite, one that was not kept is given again, which a sequence does not:
    the positions of events have no holes."""
    return '"$next"(\'' + table.replace("'", "''") + "')"


def _form(type_: Type, schema: Schema) -> str:
    return stored_form(identifier_type(type_.resource, schema) if isinstance(type_, Row) else type_)


def _references(table: Table) -> Iterator[str]:
    """A table may refer to one that is created after it."""
    for each in table.references:
        to, what = f"{identifier(each.table)} ({identifier(each.key)})", ON_DELETE[each.on_delete]
        yield (
            f"ALTER TABLE {identifier(table.name)} ADD FOREIGN KEY ({identifier(each.column)}) REFERENCES {to}"
            f" ON UPDATE CASCADE ON DELETE {what}"
        )


def create_index(table: str, index: Index) -> str:
    columns = ", ".join(
        f"{identifier(name[1:])} DESC" if name.startswith("-") else identifier(name) for name in index.columns
    )
    unique = "UNIQUE " if index.unique else ""
    return f"CREATE {unique}INDEX {identifier(_short(index.name))} ON {identifier(table)} ({columns})"


def _short(name: str) -> str:
    written = name.encode()
    if len(written) <= LONGEST_NAME:
        return name
    return written[: LONGEST_NAME - 13].decode(errors="ignore") + " " + sha256(written).hexdigest()[:12]


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(identifier(name) for name in columns)


# ── The tables that are ninefold's own: ninefold.sql.idempotency, events and credentials say what they hold ──

_NUMBERS = (
    f'CREATE TABLE "$number" ("table" {_TEXT} PRIMARY KEY, last {_NUMBER} NOT NULL)',
    'CREATE FUNCTION "$next"(counted text) RETURNS bigint LANGUAGE sql VOLATILE AS $$ INSERT INTO "$number" AS known'
    ' VALUES (counted, 1) ON CONFLICT ("table") DO UPDATE SET last = known.last + 1 RETURNING known.last $$',
)
"""The last number that the rows of a table were given."""

_KEYS = (
    f'CREATE TABLE "$idempotency" (key {_BYTES} PRIMARY KEY, request {_BYTES} NOT NULL, response {_BYTES} NOT NULL,'
    f" expires {_NUMBER} NOT NULL)",
    'CREATE INDEX "$idempotency by expires" ON "$idempotency" (expires)',
)

_LOG = (
    f'CREATE TABLE "$event" (seq {_NUMBER} PRIMARY KEY DEFAULT {_next("$event")}, id {_TEXT} NOT NULL,'
    f" kind {_TEXT} NOT NULL, resource {_TEXT} NOT NULL, row {_TEXT} NOT NULL, seen {_TEXT}, time {_TEXT} NOT NULL,"
    f" payload {_TEXT} NOT NULL)",
)

_DELIVERIES = (
    f'CREATE TABLE "$subscription" (id {_TEXT} PRIMARY KEY REFERENCES "subscription" (id) ON DELETE CASCADE,'
    f" who {_TEXT} NOT NULL, caller {_TEXT} NOT NULL, generation {_NUMBER} NOT NULL DEFAULT 0, overlap {_TEXT},"
    f" paused {_TEXT}, disabled {_TEXT})",
    f'CREATE TABLE "$delivery" (subscription {_TEXT} NOT NULL REFERENCES "$subscription" (id) ON DELETE CASCADE,'
    f' event {_NUMBER} NOT NULL REFERENCES "$event" (seq) ON DELETE CASCADE, lane {_TEXT} NOT NULL,'
    f" attempts {_NUMBER} NOT NULL DEFAULT 0, due {_TEXT}, dead {_TEXT}, PRIMARY KEY (subscription, event))",
    'CREATE INDEX "$delivery by event" ON "$delivery" (event)',
    'CREATE INDEX "$delivery by due" ON "$delivery" (subscription, due, event) WHERE dead IS NULL AND due IS NOT NULL',
    'CREATE INDEX "$delivery by lane" ON "$delivery" (subscription, lane, event) WHERE dead IS NULL',
)

_VERSIONS = (
    f'CREATE TABLE "$event in version" (event {_NUMBER} NOT NULL REFERENCES "$event" (seq) ON DELETE CASCADE,'
    f" version {_TEXT} NOT NULL, kind {_TEXT}, payload {_TEXT}, PRIMARY KEY (event, version))",
)

_SUBSCRIBED = (
    f'CREATE TABLE "$subscribed in" (id {_TEXT} PRIMARY KEY REFERENCES "$subscription" (id) ON DELETE CASCADE,'
    f" version {_TEXT} NOT NULL)",
)


def _credentials(resource: str, schema: Schema) -> tuple[str, ...]:
    """The credentials that are issued to the rows of a resource."""
    owner = next(each for each in schema.tables if each.name == resource)
    types = {column.name: column.type for column in owner.columns}
    table, columns = credentials.table_of(resource), _names(owner.key)
    lines = [
        f"{credentials.DIGEST} {_BYTES} PRIMARY KEY",
        f"{credentials.SCHEME} {_TEXT} NOT NULL",
        f"{credentials.EXPIRES} {_TEXT}",
        *(f"{identifier(name)} {_form(types[name], schema)} NOT NULL" for name in owner.key),
        f"FOREIGN KEY ({columns}) REFERENCES {identifier(resource)} ({columns}) ON UPDATE CASCADE ON DELETE CASCADE",
    ]
    return (
        f"CREATE TABLE {table} (\n  " + ",\n  ".join(lines) + "\n)",
        f"CREATE INDEX {identifier(_short(f'$credential {resource} by row'))} ON {table} ({columns})",
        f"CREATE INDEX {identifier(_short(f'$credential {resource} by expiry'))} ON {table} ({credentials.EXPIRES})",
    )


def _scopes(resource: str) -> str:
    return (
        f"CREATE TABLE {credentials.scopes_of(resource)} ({credentials.DIGEST} {_BYTES} PRIMARY KEY REFERENCES"
        f" {credentials.table_of(resource)} ({credentials.DIGEST}) ON DELETE CASCADE,"
        f" {credentials.SCOPES} {_TEXT} NOT NULL)"
    )
