"""The stored shape: what a database was made for, and how that differs from what is wanted now.

A shape is a schema of which only that is kept which decides how rows are stored. What may change without touching
a row is not in it: whether a value may be null (`required` says it), what is inside arrays and objects, and which
states there are: of those it only matters which ones rows are in.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Column, Index, Reference, Schema, Table
from ninefold.runtime.store import tables
from ninefold.sql import credentials
from ninefold.sql.events import CREATE_LOG, CREATE_READING, CREATE_SUBSCRIBED, CREATE_VERSIONS, create_broker
from ninefold.sql.idempotency import CREATE as CREATE_KEYS
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

FORM = 1
"""The version of how a database of ours is laid out (`user_version`): the table `$ninefold`, the JSON of a shape,
and the forms of values."""


@dataclass(frozen=True, slots=True)
class Same:
    """Nothing stored has to change. `drop` and `create` are of indexes that are for speed alone, and of what is noted
    of states where a resource has none any more."""

    drop: tuple[str, ...] = ()
    create: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Addition:
    """Something new that needs no value in the rows there are. `statements` make it."""

    words: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Additions:
    """To be made in one transaction: what is to `drop` first, what is to `create` last."""

    additions: tuple[Addition, ...]
    drop: tuple[str, ...] = ()
    create: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Differences:
    """What cannot be changed without deciding over rows that are there, one sentence each."""

    words: tuple[str, ...]


Comparison: TypeAlias = Same | Additions | Differences


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
    )


def encode_shape(schema: Schema) -> bytes:
    """The shape as JSON, as the database keeps it."""
    return msgspec.json.encode(shape(schema))


def decode_shape(data: bytes) -> Schema:
    """Raises msgspec.DecodeError (or its subclass ValidationError) for what `encode_shape` did not make."""
    return msgspec.json.decode(data, type=Schema)


def compare(stored: Schema, wanted: Schema) -> Comparison:
    """What has to be done so that a database of shape `stored` serves the schema `wanted`."""
    old = {table.name: table for table in shape(stored).tables}
    new = {table.name: table for table in shape(wanted).tables}
    additions: list[Addition] = []
    drop: list[str] = []
    create: list[str] = []
    differences = [f"resource `{name}` is stored, and the contract no longer has it" for name in old if name not in new]
    for name, table in new.items():
        if name not in old:
            additions.append(Addition(f"resource `{name}`", tables.create_resource(table, wanted)))
            continue
        differences += _differences(old[name], table)
        additions += _additions(old[name], table, wanted)
        before, after = _speed(old[name]), _speed(table)
        drop += [tables.drop_index(index) for key, index in before.items() if after.get(key) != index]
        drop += [tables.drop_index(index) for index in _copies(old[name], table)]
        if old[name].states and not table.states:
            # Kept, it would be wrong as soon as the field is written without it.
            drop.append(tables.drop_entered(table))
        create += [tables.create_index(name, index) for key, index in after.items() if before.get(key) != index]
    if stored.subscriptions and wanted.subscriptions and stored.subscribers != wanted.subscribers:
        was, now = ("subscription" if each is None else each[0] for each in (stored.subscribers, wanted.subscribers))
        differences.append(f"deliveries are stored to rows of `{was}`, and go to rows of `{now}` now")
    if differences:
        return Differences(tuple(differences))
    # A contract that takes keys no longer leaves them where they are: they expire by themselves.
    if wanted.idempotency and not stored.idempotency:
        additions.append(Addition("the idempotency keys of requests", CREATE_KEYS))
    # The log and what is to be delivered stay as well: what has happened is not undone by a contract.
    if wanted.events and not stored.events:
        additions.append(Addition("the log of events", CREATE_LOG))
    if wanted.subscriptions and not stored.subscriptions:
        additions.append(Addition("the deliveries of events", tables.deliveries(wanted)))
    if wanted.broker is not None and wanted.broker != stored.broker:
        additions.append(Addition("what is sent to a broker", create_broker(wanted.broker)))
    if wanted.versions and not stored.versions:
        additions.append(Addition("events as other versions have them", CREATE_VERSIONS))
    if (wanted.versions and wanted.subscriptions) and not (stored.versions and stored.subscriptions):
        additions.append(Addition("the versions of subscriptions", CREATE_SUBSCRIBED))
    # And so do credentials, which nobody finds any more: they expire by themselves, or go with their rows.
    for name in wanted.credentials:
        if name not in stored.credentials:
            create_them = tables.create_credentials(name, wanted)
            additions.append(Addition(f"the credentials that are issued to a `{name}`", create_them))
        if name in wanted.scoped and name not in stored.scoped:
            create_them = credentials.create_scopes(name)
            additions.append(Addition(f"the scopes of the credentials that are issued to a `{name}`", create_them))
    if wanted.log and not stored.log:
        create += CREATE_READING
    if additions:
        return Additions(tuple(additions), tuple(drop), tuple(create))
    return Same(tuple(drop), tuple(create))


def _differences(old: Table, new: Table) -> list[str]:
    found: list[str] = []
    if old.key != new.key:
        found.append(f"the primary key of `{new.name}` is stored as {_all(old.key)}, and is now {_all(new.key)}")
    columns = {column.name: column for column in new.columns}
    known = {column.name: column for column in old.columns}
    for name, was in known.items():
        field = f"field `{new.name}.{name}`"
        if name not in columns:
            found.append(f"{field} is stored, and the contract no longer has it")
            continue
        now = columns[name]
        if was.type != now.type:
            found.append(f"{field} is stored as {type_in_words(was.type)}, and is now {type_in_words(now.type)}")
        if was.required != now.required:
            found.append(f"{field} is stored as {_necessity(was)}, and is now {_necessity(now)}")
        if was.serial != now.serial:
            found.append(f"{field} is {'no longer' if was.serial else 'now'} numbered by the service")
        before, after = _reference(old, name), _reference(new, name)
        if before and after and before.on_delete != after.on_delete:
            was_said, is_said = (tables.ON_DELETE[each.on_delete].lower() for each in (before, after))
            found.append(f"{field} is stored with `on delete: {was_said}`, and has now `{is_said}`")
        elif (before is None) != (after is None) or (before and after and before.key != after.key):
            found.append(f"{field} refers to other rows than it did")
    for name, column in columns.items():
        if name not in known and column.required:
            found.append(f"field `{new.name}.{name}` is new and required, and the rows there are have no value for it")
    unique = {*_unique(new), tuple(sorted(new.key))}
    found.extend(
        f"{_all(columns)} of `{new.name}` is stored as unique, and is no longer"
        for columns in _unique(old)
        if columns not in unique
    )
    return found


def _additions(old: Table, new: Table, wanted: Schema) -> list[Addition]:
    known = {column.name for column in old.columns}
    found = [
        Addition(f"field `{new.name}.{column.name}`", (tables.add_column(new, column, wanted),))
        for column in new.columns
        if column.name not in known
    ]
    if new.states and not old.states:
        found.append(Addition(f"the time since when each `{new.name}` is in its state", tables.add_entered(new)))
    unique = _unique(old)
    found.extend(
        Addition(f"unique {_all(columns)} of `{new.name}`", (tables.create_index(new.name, index),))
        for columns, index in _unique(new).items()
        if columns not in unique
    )
    return found


def _speed(table: Table) -> dict[str, Index]:
    """The indexes that are not unique. They change no answer, and follow the contract's lists without further words."""
    return {index.name: index for index in (*table.indexes, *tables.reference_indexes(table)) if not index.unique}


def _copies(old: Table, new: Table) -> list[Index]:
    """The unique indexes that only keep unique what the key or another of them does."""
    wanted = {index.name for index in new.indexes}
    unique = [(tuple(sorted(index.columns)), index) for index in old.indexes if index.unique]
    kept = {tuple(sorted(new.key)), *(columns for columns, index in unique if index.name in wanted)}
    return [index for columns, index in unique if index.name not in wanted and columns in kept]


def _table_shape(table: Table) -> Table:
    columns = tuple(
        Column(column.name, _coarse(column.type), column.required, column.serial) for column in table.columns
    )
    return Table(table.name, columns, table.key, table.references, table.indexes, table.states)


def _coarse(type_: Type) -> Type:
    match type_:
        case Boolean():
            return Boolean()
        case Integer():
            return Integer()
        case Number():
            return Number()
        case Text():
            return Text()
        case Timestamp():
            return Timestamp()
        case Digest():
            return Digest()
        case Array():
            return Array(items=Anything())
        case Object():
            return Object()
        case Row(resource=resource):
            return Row(resource=resource)
        case Anything() | Null():
            return Anything()
        case Duration():
            return Duration()
        case _:
            assert_never(type_)


def type_in_words(type_: Type) -> str:
    """What a stored type is called, in the words of JSON Schema, with its article."""
    match type_:
        case Row(resource=resource):
            return f"a reference to `{resource}`"
        case Digest():
            return "a secret"
        case Array() | Object() | Integer():
            return f"an {type(type_).__name__.lower()}"
        case Boolean() | Number():
            return f"a {type(type_).__name__.lower()}"
        case Text():
            return "a string"
        case Timestamp():
            return "a date-time"
        case Duration():
            return "a duration"
        case Anything() | Null():
            return "any JSON value"
        case _:
            assert_never(type_)


def _necessity(column: Column) -> str:
    return "required" if column.required else "optional"


def _reference(table: Table, column: str) -> Reference | None:
    return next((reference for reference in table.references if reference.column == column), None)


def _unique(table: Table) -> dict[tuple[str, ...], Index]:
    """By what they keep unique: the order of the columns and their names do not matter to that."""
    return {
        tuple(sorted(column.removeprefix("-") for column in index.columns)): index
        for index in table.indexes
        if index.unique
    }


def _all(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)
