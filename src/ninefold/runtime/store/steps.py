"""The steps of an upgrade as SQLite takes them (`ninefold.upgrade.steps`): statements that are run in one transaction,
and questions about the rows that are there.

A table that is made anew takes the place of the old one as https://sqlite.org/lang_altertable.html#otheralter says:
foreign keys are off meanwhile, so that nothing cascades when the old one goes, and are checked before the end.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import assert_never

import apsw
from msgspec import structs

from ninefold.plan.environment import ENTERED_COLUMN, IDENTITY_COLUMN, REVISION_COLUMN
from ninefold.plan.schema import Schema, Table
from ninefold.runtime.store import tables
from ninefold.runtime.store.beside_rows import credentials_renamed
from ninefold.runtime.store.changing import looked_for
from ninefold.runtime.store.premises import Question
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.worked import ANEW, Worked, filled, revision_of, worked
from ninefold.sql import waiting
from ninefold.sql.credentials import called_otherwise, create_scopes, set_apart, table_name, taken_back
from ninefold.sql.events import (
    CREATE_LOG,
    CREATE_READING,
    CREATE_SUBSCRIBED,
    CREATE_VERSIONS,
    DROP_DELIVERIES,
    create_broker,
)
from ninefold.sql.fragment import identifier, literal
from ninefold.sql.idempotency import CREATE as CREATE_KEYS
from ninefold.sql.sqlite import SQLITE
from ninefold.sql.subscribers import SQLITE as JSON
from ninefold.sql.subscribers import key_renamed, known_otherwise, resource_renamed
from ninefold.upgrade import sources, steps
from ninefold.upgrade.changes import Changes
from ninefold.upgrade.shape import reference_indexes
from ninefold.upgrade.steps import Step
from ninefold.values import Boolean, Integer, Number, Type, json_text


def take(step: Step, wanted: Schema, connection: apsw.Connection, emptied: Counter[str]) -> None:
    """`emptied`: fields, with how many of their values none is put in the place of. Raises apsw.Error and Failed."""
    for statement in _statements(step, wanted, connection, emptied):
        connection.execute(statement)


UNGUARDED = (*steps.UNGUARDED, steps.AddIdentities)
"""Foreign keys have to be off while these are taken."""


def rebuilds(changes: Changes) -> bool:
    return any(isinstance(step, UNGUARDED) for step in changes.steps)


def _statements(step: Step, wanted: Schema, connection: apsw.Connection, emptied: Counter[str]) -> Iterator[str]:
    match step:
        case steps.MakeTable(table=table):
            yield from tables.create_resource(table, wanted)
        case steps.MakeSupport(what=what, of=of):
            yield from _support(what, of, wanted)
        case steps.AddColumn(table=table, column=column):
            yield tables.add_column(table, column, wanted)
        case steps.AddEntered(table=table):
            yield from tables.add_entered(table)
        case steps.DropEntered(table=name):
            yield f"ALTER TABLE {identifier(name)} DROP COLUMN {identifier(ENTERED_COLUMN)}"
        case steps.AddIdentities(table=table):
            yield from _identified(table, wanted, connection)
        case steps.Relax(table=name, column=column):
            yield f"ALTER TABLE {identifier(name)} ALTER COLUMN {identifier(column)} DROP NOT NULL"
        case steps.Require(table=name, column=column):
            yield f"ALTER TABLE {identifier(name)} ALTER COLUMN {identifier(column)} SET NOT NULL"
        case steps.SetAside():
            yield from _set_aside(step, connection)
        case steps.TakeBack(table=name, aside=aside):
            yield _rename(name, aside.stored, aside.column.name)
        case steps.Remake():
            yield from _remade(step, wanted, connection)
        case steps.SetTableAside(table=table):
            yield from _table_aside(table, connection)
        case steps.TakeTableBack(table=table):
            yield f"ALTER TABLE {identifier(steps.aside_name(table.name))} RENAME TO {identifier(table.name)}"
        case steps.MakeIndex(table=name, index=index):
            yield tables.create_index(name, index)
        case steps.DropIndex(index=index):
            yield f"DROP INDEX IF EXISTS {identifier(index.name)}"
        case steps.RenameTable(old=old, new=new):
            yield f"ALTER TABLE {identifier(old)} RENAME TO {identifier(new)}"
            yield from credentials_renamed(old, new, step.issued, step.scopes)
            yield from resource_renamed(old, new, JSON) if step.subscribers else ()
        case steps.RenameColumn(table=name, old=old, new=new, credentials=credentials, subscribers=subscribers):
            yield from (_rename(each, old, new) for each in (name, *((table_name(name),) if credentials else ())))
            if subscribers:
                yield key_renamed(name, old, new, JSON)
        case steps.Fill() | steps.MapState():
            yield _decided(step, connection, emptied)
        case steps.RemoveRows():
            yield from _removed(step, connection)
        case steps.Reissue(table=name, column=column, password=password, required=required):
            nobodys = (_NO_PASSWORD if password else "randomblob(32)") if required else "NULL"
            yield f"UPDATE {identifier(name)} SET {identifier(column)} = {nobodys}, {ANEW}"
        case steps.Keep(table=name, column=column, to=to):
            yield f"ALTER TABLE {identifier(name)} ADD COLUMN {identifier(to)} {_form(connection, name, column)}"
            yield f"UPDATE {identifier(name)} SET {identifier(to)} = {identifier(column)}"
        case steps.Forget(table=name, column=column):
            yield f"ALTER TABLE {identifier(name)} DROP COLUMN {identifier(column)}"
        case _:
            yield from _beside(step, wanted, connection)


def _support(what: steps.Support, of: str, wanted: Schema) -> tuple[str, ...]:
    match what:
        case "keys":
            return CREATE_KEYS
        case "log":
            return CREATE_LOG
        case "reading":
            return CREATE_READING
        case "deliveries":
            return tables.deliveries(wanted)
        case "broker":
            return create_broker(wanted.broker or "")
        case "versions":
            return CREATE_VERSIONS
        case "subscribed":
            return CREATE_SUBSCRIBED
        case "credentials":
            return tables.create_credentials(of, wanted)
        case "scopes":
            return create_scopes(of)
        case "callers":
            return tables.of_callers(of, wanted)
        case _:
            assert_never(what)


def _beside(step: steps.Beside, wanted: Schema, connection: apsw.Connection) -> Iterator[str]:
    """What is kept beside rows. No trigger may speak of a table that is not there while others are called otherwise."""
    match step:
        case steps.SetCredentialsApart(table=name, key=key, values=values):
            of = identifier(name)
            yield from set_apart(name, of, key, {column: _value(value, of) for column, value in values.items()})
        case steps.TakeCredentialsBack(table=name):
            table = next(each for each in wanted.tables if each.name == name)
            yield from taken_back(name, table.key, tables.create_credentials(name, wanted))
        case steps.CallCredentials(table=name, old=old, new=new):
            yield called_otherwise(name, old, new)
        case steps.FollowSubscribers(table=name, key=key, values=values):
            of = identifier(name)
            found = {column: _value(value, of) for column, value in values.items()}
            yield known_otherwise(name, of, key, found, JSON)
        case steps.SetDeliveriesApart(table=name, was=was, now=now, versions=versions):
            yield from untold(connection)
            of = identifier(name)
            known = [("NULL" if value is None else _value(value, of), type_) for value, type_ in now]
            yield from waiting.set_apart(name, of, was, known, SQLITE, versions=versions)
        case steps.TakeDeliveriesBack(of=shape):
            yield from waiting.taken_back(tables.deliveries(shape), CREATE_SUBSCRIBED, versions=shape.versions)
        case steps.DropDeliveries():
            yield from (*untold(connection), *DROP_DELIVERIES)
        case steps.CallReceivers():  # triggers follow by themselves
            pass
        case _:
            assert_never(step)


def untold(connection: apsw.Connection) -> Iterator[str]:
    """What tells that rows which events go to are gone, or known by something else (`tables.endings`), goes."""
    there = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '$subscription of %'"
    yield from (f"DROP TRIGGER {identifier(str(name))}" for (name,) in connection.execute(there).fetchall())


# Columns


def _rename(table: str, column: str, name: str) -> str:
    return f"ALTER TABLE {identifier(table)} RENAME COLUMN {identifier(column)} TO {identifier(name)}"


def _set_aside(step: steps.SetAside, connection: apsw.Connection) -> Iterator[str]:
    """What refers to rows is copied: it must not keep them from being deleted, nor go with them."""
    table, column, stored = step.table, step.aside.column.name, step.aside.stored
    for (index,) in connection.execute(
        "SELECT DISTINCT l.name FROM pragma_index_list(?1) AS l JOIN pragma_index_info(l.name) AS i WHERE i.name = ?2",
        (table, column),
    ).fetchall():
        yield f"DROP INDEX {identifier(str(index))}"
    refers = connection.execute('SELECT 1 FROM pragma_foreign_key_list(?) WHERE "from" = ?', (table, column)).fetchall()
    name = identifier(table)
    if refers:
        yield f"ALTER TABLE {name} ADD COLUMN {identifier(stored)} {_form(connection, table, column)}"
        yield f"UPDATE {name} SET {identifier(stored)} = {identifier(column)}"
        yield f"ALTER TABLE {name} DROP COLUMN {identifier(column)}"
    else:
        yield f"ALTER TABLE {name} ALTER COLUMN {identifier(column)} DROP NOT NULL"
        yield _rename(table, column, stored)


def _form(connection: apsw.Connection, table: str, column: str) -> str:
    """The stored form of a column."""
    [(form,)] = connection.execute("SELECT type FROM pragma_table_info(?) WHERE name = ?", (table, column)).fetchall()
    return str(form)


# Rows


def _decided(step: steps.Fill | steps.MapState, connection: apsw.Connection, emptied: Counter[str]) -> str:
    table = identifier(step.table)
    match step:
        case steps.Fill(column=column):
            given = _called(connection, filled(step, emptied))
            return f"UPDATE {table} SET {identifier(column)} = {given}, {ANEW}{_where(step, connection)}"
        case steps.MapState(column=column, by=by, old=old, new=new, kept=kept):
            since = "" if kept else f", {identifier(ENTERED_COLUMN)} = {tables.NOW}"
            changed = f"{identifier(column)} = {literal(new)}, {ANEW}{since}"
            return f"UPDATE {table} SET {changed} WHERE {identifier(by)} = {literal(old)}"
        case _:
            assert_never(step)


def _where(step: steps.Fill | steps.RemoveRows, connection: apsw.Connection) -> str:
    if step.where is None:
        return ""
    return f" WHERE {_called(connection, worked(step.where, Boolean(), step.reads, said=step.said))}"


def _removed(step: steps.RemoveRows, connection: apsw.Connection) -> Iterator[str]:
    """Rows, and what is kept beside them and ends with them. No foreign key does that meanwhile; a trigger does it to
    receivers that several fields identify (`tables.endings`), and not to what refers to these."""
    table = identifier(step.table)
    yield f"CREATE TEMP TABLE {_GOING} AS SELECT rowid AS at FROM {table}{_where(step, connection)}"
    going = f"rowid IN (SELECT at FROM {_GOING})"
    yield from _ended_beside(step.table, going, connection)
    yield f"DELETE FROM {table} WHERE {going}"
    yield f"DROP TABLE {_GOING}"
    yield from unsubscribed(connection)


def unsubscribed(connection: apsw.Connection) -> Iterator[str]:
    """What refers to subscriptions that have ended."""
    for own, columns, _ in _beside_rows("$subscription", connection):
        yield f'DELETE FROM {identifier(own)} WHERE {columns} NOT IN (SELECT id FROM "$subscription")'


def _ended_beside(table: str, going: str, connection: apsw.Connection) -> Iterator[str]:
    for own, columns, to in _beside_rows(table, connection):
        gone = f"({columns}) IN (SELECT {to} FROM {identifier(table)} WHERE {going})"
        yield from _ended_beside(own, gone, connection)
        yield f"DELETE FROM {identifier(own)} WHERE {gone}"


def _beside_rows(table: str, connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """The tables of ninefold's own that refer to a table: by which columns, and to which of it."""
    found = connection.execute(_BESIDE, (table,)).fetchall()
    return [(str(own), str(columns), str(to)) for own, columns, to in found]


_GOING = 'temp."$going"'
_QUOTED = "group_concat('\"' || replace(key.\"{}\", '\"', '\"\"') || '\"', ', ')"
_BESIDE = f"""
    SELECT own.name, {_QUOTED.format("from")}, {_QUOTED.format("to")}
    FROM sqlite_schema AS own JOIN pragma_foreign_key_list(own.name) AS key
    WHERE own.type = 'table' AND own.name LIKE '$%' AND key."table" = ? GROUP BY own.name, key.id"""


def _called(connection: apsw.Connection, expression: Worked) -> str:
    """An expression as a call of a function of this connection."""
    columns, given = expression
    name = f"decided_{next(_NUMBERS)}"
    connection.create_scalar_function(name, lambda *stored: given(stored), len(columns))
    return f"{name}({', '.join(map(identifier, columns))})"


_NUMBERS = itertools.count()


_NO_PASSWORD = (
    "CAST('$argon2id$v=19$m=65536,t=3,p=4$' || substr(hex(randomblob(11)), 1, 21) || 'A$'"
    " || hex(randomblob(21)) || 'A' AS BLOB)"
)
"""A hash that no password has."""


# Tables


def _identified(table: Table, wanted: Schema, connection: apsw.Connection) -> Iterator[str]:
    """SQLite adds no column to rows that are there whose default is another one in each: their table is made anew."""
    kept = {column.name: sources.Kept(column.name) for column in table.columns}
    asides = tuple((each, each.stored) for each in table.aside)
    anew = steps.Remake(structs.replace(table, aside=()), kept, asides, table.states)
    yield from _remade(anew, wanted, connection)


def _remade(step: steps.Remake, wanted: Schema, connection: apsw.Connection) -> Iterator[str]:
    table = step.table
    new, name = f"$new {table.name}", identifier(table.name)
    asides = [
        (identifier(aside.stored), identifier(now), _form(connection, table.name, now)) for aside, now in step.asides
    ]
    yield tables.create_table(structs.replace(table, name=new), wanted)
    for stored, _, form in asides:
        yield f"ALTER TABLE {identifier(new)} ADD COLUMN {stored} {form}"
    columns = {identifier(column): _value(value, name) for column, value in step.values.items()}
    columns |= {stored: now for stored, now, _ in asides}
    columns[identifier(REVISION_COLUMN)] = revision_of(step)
    if table.states:
        columns[identifier(ENTERED_COLUMN)] = identifier(ENTERED_COLUMN) if step.entered else tables.NOW
    if step.identified:
        columns[identifier(IDENTITY_COLUMN)] = identifier(IDENTITY_COLUMN)
    is_own = any(column.serial for column in table.columns) or tables.is_known_by_rowid(table, wanted)
    if table.key and not is_own:
        columns["rowid"] = "rowid"
    names, values = ", ".join(columns), ", ".join(columns.values())
    looked, found = looked_for(step)
    yield from looked
    yield f"INSERT INTO {identifier(new)} ({names}) SELECT {values} FROM {name} ORDER BY rowid"
    yield from found
    if any(column.serial for column in table.columns) and _is_numbered(connection, table.name):
        # A number that was given is not given again, also where its row is gone.
        yield f"DELETE FROM sqlite_sequence WHERE name = {literal(new)}"
        highest = f"coalesce((SELECT max(rowid) FROM {identifier(new)}), 0)"
        there = f"FROM sqlite_sequence WHERE name = {literal(table.name)}"
        yield f"INSERT INTO sqlite_sequence SELECT {literal(new)}, max(seq, {highest}) {there}"
    yield f"DROP TABLE {name}"
    yield f"ALTER TABLE {identifier(new)} RENAME TO {name}"
    for index in (*table.indexes, *reference_indexes(table)):
        yield tables.create_index(table.name, index)


def _is_numbered(connection: apsw.Connection, table: str) -> bool:
    there = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").fetchall()
    return bool(there) and bool(connection.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", (table,)).fetchall())


def _value(value: sources.Value, of: str) -> str:
    """`of`: the table, which may refer to itself and has columns that are called as those of others are."""
    match value:
        case sources.Kept(column=column):
            return identifier(column)
        case sources.Converted(column=column, new=new):
            return f"CAST({identifier(column)} AS {_number(new)})"
        case sources.Followed(column=column, table=table, old=old, new=new):
            same = f"target.{identifier(old)} = {of}.{identifier(column)}"
            return f"(SELECT target.{identifier(new)} FROM {identifier(table)} AS target WHERE {same})"
        case _:
            assert_never(value)


def _number(type_: Type) -> str:
    assert isinstance(type_, Integer | Number)
    return "INTEGER" if isinstance(type_, Integer) else "REAL"


def _table_aside(table: Table, connection: apsw.Connection) -> Iterator[str]:
    """Its rows under a name that no contract can have. What refers to rows of others does so no more."""
    name, aside = identifier(table.name), identifier(steps.aside_name(table.name))
    if not table.references:
        yield f"ALTER TABLE {name} RENAME TO {aside}"
        return
    forms = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table.name,)).fetchall()
    columns = ", ".join(f"{identifier(str(column))} {form}" for column, form in forms)
    listed = ", ".join(identifier(str(column)) for column, _ in forms)
    yield f"CREATE TABLE {aside} ({columns}) STRICT"
    yield f"INSERT INTO {aside} ({listed}) SELECT {listed} FROM {name} ORDER BY rowid"
    yield f"DROP TABLE {name}"


# What is asked of rows


class Asking:
    """`ninefold.runtime.store.premises.Asking`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def ask(self, text: str, *binds: Stored) -> list[Row]:
        return self._connection.execute(text, binds).fetchall()

    def told_by(self, table: str) -> str:
        return "rowid"

    def is_password(self, column: str) -> str:
        return f"substr({column}, 1, 7) = CAST('$argon2' AS BLOB)"

    def none_of(self, column: str, values: Sequence[str]) -> Question:
        return f"{column} NOT IN (SELECT value FROM json_each(?))", (json_text(list(values)),)

    def inexact(self, column: str, old: Type, new: Type) -> str:
        return f"CAST(CAST({column} AS {_number(new)}) AS {_number(old)}) <> {column}"
