"""The stored shape: what a database was made for.

A shape is a schema of which only that is kept which decides how rows are stored. What may change without touching
a row is not in it: what is inside arrays and objects, and which states there are: of those it only matters which ones
rows are in.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import msgspec
from msgspec import structs

from ninefold.expressions.scope import describe
from ninefold.plan.schema import Column, Index, Schema, Table
from ninefold.values import (
    Anything,
    Array,
    Null,
    Row,
    Type,
)

FORM = 1
"""The version of how a database of ours is laid out (`user_version`): the table `$ninefold`, the JSON of a shape,
and the forms of values."""


ON_DELETE = {"refuse": "RESTRICT", "cascade": "CASCADE", "clear": "SET NULL"}
"""What becomes of a reference, in SQL's words."""


def shape(schema: Schema) -> Schema:
    """What of a schema is stored shape."""
    return Schema(
        tuple(_table_shape(table) for table in schema.tables),
        schema.idempotency,
        schema.events,
        schema.subscriptions,
        schema.credentials,
        schema.versions,
        schema.subscribers,
        schema.broker,
        schema.log,
        schema.scoped,
        schema.aside,
        schema.callers,
    )


def encode_shape(schema: Schema) -> bytes:
    """The shape as JSON, as the database keeps it."""
    return msgspec.json.encode(shape(schema))


def digest(schema: Schema) -> str:
    """By which a shape is known where it is written down."""
    return sha256(encode_shape(schema)).hexdigest()[:12]


def decode_shape(data: bytes) -> Schema:
    """Raises msgspec.DecodeError (or its subclass ValidationError) for what `encode_shape` did not make."""
    return msgspec.json.decode(data, type=Schema)


def identifier_type(resource: str, schema: Schema) -> Type:
    """The type of the column that identifies a row of `resource`, itself perhaps a reference.

    Raises ValueError if there is no such table, its key has several columns, or keys refer to each other in a circle.
    """
    tables = {table.name: table for table in schema.tables}
    seen: set[str] = set()
    while resource not in seen:
        seen.add(resource)
        table = tables.get(resource)
        if table is None or len(table.key) != 1:
            raise ValueError(f"{resource} has no primary key of one column")
        found = _types(table)[table.key[0]]
        if not isinstance(found, Row):
            return found
        resource = found.resource
    raise ValueError(f"the primary key of {resource} refers to itself")


def _types(table: Table) -> dict[str, Type]:
    """Of all columns: what rows were known by may be hidden until their table is made anew."""
    hidden = {each.stored: each.column.type for each in table.aside}
    return hidden | {column.name: column.type for column in table.columns}


def receivers_key(schema: Schema) -> list[tuple[str, Type]]:
    """The columns that identify the rows that events go to (`Schema.subscribers`), and what these are stored as."""
    resource, *names = schema.subscribers or ("",)
    types = {name: type_ for each in schema.tables if each.name == resource for name, type_ in _types(each).items()}
    found = [(name, types[name]) for name in names]
    return [
        (name, identifier_type(type_.resource, schema) if isinstance(type_, Row) else type_) for name, type_ in found
    ]


def reference_indexes(table: Table) -> tuple[Index, ...]:
    """One for each reference that no key or index begins with: to delete a row, the database looks for those that refer
    to it, and without an index it reads the whole table."""
    orders = (table.key, *(index.columns for index in table.indexes))
    found = {columns[0].removeprefix("-") for columns in orders if columns}
    return tuple(
        Index(f"{table.name} by {column}", (column,))
        for column in dict.fromkeys(reference.column for reference in table.references)
        if column not in found
    )


def _table_shape(table: Table) -> Table:
    columns = tuple(
        Column(column.name, _coarse(column.type), column.required, column.serial) for column in table.columns
    )
    return structs.replace(table, columns=columns, machine=None, passwords=(), sensitive=())


def _coarse(type_: Type) -> Type:
    match type_:
        case Array():
            return Array(items=Anything())
        case Row(resource=resource):
            return Row(resource=resource)
        case Null():
            return Anything()
        case _:
            return type(type_)()


def type_in_words(type_: Type) -> str:
    """What a stored type is called, in the words of JSON Schema, with its article."""
    match type_:
        case Row(resource=resource):
            return f"a reference to `{resource}`"
        case Anything() | Null():
            return "any JSON value"
        case _:
            return describe(_coarse(type_))


def names_there(table: Table, types: Mapping[str, Type] | None = None) -> dict[str, str]:
    """What columns, and what was set aside, are called in the database. `types`: of which the latter has to be."""
    back = (each for each in table.aside if types is None or types.get(each.column.name) == each.column.type)
    aside = {name: each.stored for each in back for name in (each.stored, each.column.name)}
    return aside | {column.name: column.name for column in table.columns}
