"""The steps of an upgrade as PostgreSQL takes them (`ninefold.upgrade.steps`), beside `ninefold.runtime.store.steps`,
which are SQLite's.

Where a step could have a reference keep rows, change them, or be kept by them, all references go first, and are made
again at the end, when each is looked at.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, assert_never

from msgspec import structs

from ninefold.plan.environment import ENTERED_COLUMN, IDENTITY_COLUMN, REVISION_COLUMN
from ninefold.plan.schema import Schema, Table
from ninefold.runtime.store import postgresql_tables as tables
from ninefold.runtime.store import record
from ninefold.runtime.store.changing import Broken, Dangling, left_dangling, looked_for
from ninefold.runtime.store.postgresql_premises import Ask, Asking
from ninefold.runtime.store.premises import all_are_told, broken
from ninefold.runtime.store.protocol import Row, Session, Stored
from ninefold.runtime.store.worked import ANEW, Worked, filled, revision_of, worked
from ninefold.sql import waiting
from ninefold.sql.credentials import called_otherwise, of_scopes, scopes_of, set_apart, table_name, taken_back
from ninefold.sql.events import DROP_DELIVERIES
from ninefold.sql.fragment import identifier, literal
from ninefold.sql.postgresql import POSTGRESQL, fitted
from ninefold.sql.postgresql_columns import stored_form
from ninefold.sql.subscribers import FUNCTION, key_renamed, known_otherwise, resource_renamed
from ninefold.sql.subscribers import POSTGRESQL as JSON
from ninefold.upgrade import sources, steps
from ninefold.upgrade.shape import encode_shape
from ninefold.upgrade.steps import Premise, Step
from ninefold.values import Boolean, Timestamp

BATCH: Final = 1_000
"""Rows that are worked out together."""

_FORM: Final = (
    "SELECT format_type(atttypid, atttypmod) || CASE WHEN attcollation = 0 THEN '' ELSE"
    " (SELECT ' COLLATE \"' || collname || '\"' FROM pg_collation AS c WHERE c.oid = attcollation) END, typname"
    " FROM pg_attribute JOIN pg_type AS t ON t.oid = atttypid WHERE attrelid = $1::text::regclass AND attname = $2"
)
_REFERENCES: Final = (
    "SELECT c.conname, c.conrelid::regclass::text, c.conrelid, f.attname FROM pg_constraint AS c"
    " JOIN pg_attribute AS f ON f.attrelid = c.conrelid AND f.attnum = c.conkey[1]"
    " JOIN pg_class AS of ON of.oid = c.conrelid"
    " WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace AND of.relname NOT LIKE '$%'"
)
"""Those of resources: name, table, its number and its column."""

_REFERRING: Final = (
    "SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE contype = 'f' AND confrelid = $1::text::regclass"
)
_INDEXES: Final = (
    "SELECT i.indexrelid::regclass::text, coalesce(c.conname, '') FROM pg_index AS i"
    " JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::smallint[])"
    " LEFT JOIN pg_constraint AS c ON c.conindid = i.indexrelid AND c.conrelid = i.indrelid"
    " WHERE i.indrelid = $1::text::regclass AND a.attname = $2"
)
NOW: Final = "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
_TIME: Final = stored_form(Timestamp())


class Changing:
    """`ninefold.runtime.store.changing.Changing`."""

    def __init__(self, session: Session, ask: Ask) -> None:
        self.session = session
        self._ask = ask
        self._unbound = False
        self.emptied = Counter[str]()
        # What goes through a table page by page is planned for the page that it is at.
        ask("SET LOCAL plan_cache_mode = force_custom_plan")

    def ask(self, text: str) -> list[Row]:
        return [tuple(row) for row in self._ask(text)]

    def take(self, every: Iterable[Step], wanted: Schema) -> None:
        for step in every:
            if isinstance(step, steps.UNGUARDED) and not self._unbound:
                self._unbound = True
                _unbind(self._ask)
            _take(step, wanted, self._ask, self.emptied)

    def refer(self, wanted: Schema) -> None:
        of_callers = (each for name in wanted.callers for each in tables.support("callers", name, wanted))
        for statement in (*tables.endings(wanted), *of_callers):
            self._ask(statement)
        all_are_told(self.ask, wanted, POSTGRESQL)
        _bind(wanted, self._ask)

    def broken(self, premise: Premise) -> Broken | None:
        return broken(premise, Asking(self._ask))

    def note_shape(self, shape: Schema) -> None:
        self._ask(f"UPDATE {record.TABLE} SET value = $1 WHERE name = 'shape'", encode_shape(shape))

    def note_upgrade(self, shape: Schema, backup: Path | None) -> None:
        found = self._ask(f"SELECT value FROM {record.TABLE} WHERE name = 'upgrades'")
        before = record.decode_upgrades(found[0][0] if found else None)
        [(now,)] = self._ask(f"SELECT {NOW}")
        noted = record.encode_upgrades((*before, record.Upgrade(str(now), str(backup or ""), "")))
        self.session.run(f"INSERT INTO {record.TABLE} VALUES ('upgrades', ?) {record.ANEW}", (noted,))


def _take(step: Step, wanted: Schema, ask: Ask, emptied: Counter[str]) -> None:
    """Raises an error of asyncpg, and Failed."""
    match step:
        case steps.Fill(table=table, column=column):
            _fill(table, column, ask, filled(step, emptied), step)
        case steps.RemoveRows():
            _remove(step, ask)
        case steps.Reissue(table=table, column=column, password=password, required=required):
            make = (_no_password if password else lambda: secrets.token_bytes(32)) if required else lambda: None
            _fill(table, column, ask, ((), lambda _: make()), None)
        case _:
            for statement in _statements(step, wanted, ask):
                ask(statement)


def _statements(step: Step, wanted: Schema, ask: Ask) -> Iterator[str]:
    match step:
        case steps.MakeTable(table=table):
            yield from (tables.create_table(table, wanted), *tables.create_indexes(table))
        case steps.MakeSupport(what=what, of=of):
            yield from tables.support(what, of, wanted)
        case steps.AddColumn(table=table, column=column):
            yield f"ALTER TABLE {identifier(table.name)} ADD COLUMN {tables.define_column(table, column, wanted)}"
        case steps.AddEntered(table=table):
            yield f"ALTER TABLE {identifier(table.name)} ADD COLUMN {identifier(ENTERED_COLUMN)} {_TIME}"
            yield f"UPDATE {identifier(table.name)} SET {identifier(ENTERED_COLUMN)} = {NOW}"
        case steps.DropEntered(table=name):
            yield f"ALTER TABLE {identifier(name)} DROP COLUMN {identifier(ENTERED_COLUMN)}"
        case steps.AddIdentities(table=table):
            yield f"ALTER TABLE {identifier(table.name)} ADD COLUMN {tables.IDENTITY}"
        case steps.Relax(table=name, column=column):
            yield _alter(name, column, "DROP NOT NULL")
        case steps.Require(table=name, column=column):
            yield _alter(name, column, "SET NOT NULL")
        case steps.SetAside(table=name, aside=aside):
            yield from _free(name, aside.column.name, ask)
            yield _rename(name, aside.column.name, aside.stored)
        case steps.TakeBack(table=name, aside=aside):
            yield _rename(name, aside.stored, aside.column.name)
        case steps.Remake():
            yield from _remade(step, wanted, ask)
        case steps.SetTableAside(table=table):
            # Its rows, under a name that no contract can have, refer to nothing any more.
            yield f"ALTER TABLE {identifier(table.name)} RENAME TO {identifier(steps.aside_name(table.name))}"
        case steps.TakeTableBack(table=table):
            yield f"ALTER TABLE {identifier(steps.aside_name(table.name))} RENAME TO {identifier(table.name)}"
        case steps.MakeIndex(table=name, index=index):
            table = next(each for each in wanted.tables if each.name == name)
            if index in tables.indexes(table):
                yield tables.create_index(name, index)
        case steps.DropIndex(index=index):
            yield f"DROP INDEX IF EXISTS {identifier(tables.short(index.name))}"
        case steps.RenameTable(old=old, new=new):
            yield from _table_renamed(step, ask)
            yield from resource_renamed(old, new, JSON) if step.subscribers else ()
        case steps.RenameColumn(table=name, old=old, new=new, credentials=credentials, subscribers=subscribers):
            yield from (_rename(each, old, new) for each in (name, *((table_name(name),) if credentials else ())))
            if subscribers:
                yield key_renamed(name, old, new, JSON)
        case steps.MapState(table=name, column=column, by=by, old=old, new=new, kept=kept):
            since = "" if kept else f", {identifier(ENTERED_COLUMN)} = {NOW}"
            yield (
                f"UPDATE {identifier(name)} SET {identifier(column)} = {literal(new)}, {ANEW}{since}"
                f" WHERE {identifier(by)} = {literal(old)}"
            )
        case steps.Keep(table=name, column=column, to=to):
            yield f"ALTER TABLE {identifier(name)} ADD COLUMN {identifier(to)} {_form(name, column, ask)}"
            yield f"UPDATE {identifier(name)} SET {identifier(to)} = {identifier(column)}"
        case steps.Forget(table=name, column=column):
            yield f"ALTER TABLE {identifier(name)} DROP COLUMN {identifier(column)}"
        case steps.Fill() | steps.RemoveRows() | steps.Reissue():
            raise AssertionError("worked out row by row")
        case _:
            yield from _beside(step, wanted)


def _table_renamed(step: steps.RenameTable, ask: Ask) -> Iterator[str]:
    old, new = step.old, step.new
    yield f"ALTER TABLE {identifier(old)} RENAME TO {identifier(new)}"
    yield f'UPDATE "$number" SET "table" = {literal(new)} WHERE "table" = {literal(old)}'
    yield from tables.numbered_anew(new, ask)
    yield from tables.credentials_renamed(old, new, step.scopes) if step.issued is not None else ()


def _beside(step: steps.Beside, wanted: Schema) -> Iterator[str]:
    """What is kept beside rows."""
    match step:
        case steps.SetCredentialsApart(table=name, key=key, values=values):
            found = {column: _value(value, name) for column, value in values.items()}
            yield from set_apart(name, identifier(f"$old {name}"), key, found, goes="CASCADE")
        case steps.TakeCredentialsBack(table=name, scopes=scopes):
            table = next(each for each in wanted.tables if each.name == name)
            yield from taken_back(name, table.key, tables.support("credentials", name, wanted))
            if scopes:
                yield f"ALTER TABLE {scopes_of(name)} ADD {of_scopes(name)}"
        case steps.CallCredentials(table=name, old=old, new=new):
            yield called_otherwise(name, old, new)
        case steps.FollowSubscribers(table=name, key=key, values=values):
            found = {column: _value(value, name) for column, value in values.items()}
            yield known_otherwise(name, identifier(f"$old {name}"), key, found, JSON)
        case steps.SetDeliveriesApart(table=name, was=was, now=now, versions=versions):
            called = identifier(f"$old {name}")
            known = [("NULL" if value is None else _value(value, name), type_) for value, type_ in now]
            yield from waiting.set_apart(name, called, was, known, POSTGRESQL, versions=versions)
        case steps.TakeDeliveriesBack(of=shape):
            subscribed = tables.support("subscribed", "", shape)
            created = tables.support("deliveries", "", shape)
            yield from waiting.taken_back(created, subscribed, versions=shape.versions)
        case steps.DropDeliveries():
            yield from (f"DROP FUNCTION IF EXISTS {each}() CASCADE" for each in (tables.ENDS, FUNCTION))
            yield from DROP_DELIVERIES
        case steps.CallReceivers(of=shape):
            yield from tables.endings(shape)
        case _:
            assert_never(step)


# Columns


def _alter(table: str, column: str, what: str) -> str:
    return f"ALTER TABLE {identifier(table)} ALTER COLUMN {identifier(column)} {what}"


def _rename(table: str, column: str, name: str) -> str:
    return f"ALTER TABLE {identifier(table)} RENAME COLUMN {identifier(column)} TO {identifier(name)}"


def _form(table: str, column: str, ask: Ask) -> str:
    """The stored form of a column, as it stands behind its name."""
    return str(ask(_FORM, identifier(table), column)[0][0])


def _free(table: str, column: str, ask: Ask) -> Iterator[str]:
    """A column without all demands: what it refers to, what is unique in it, that there is a value."""
    for name, of, _, referring in ask(_REFERENCES):
        if of == ask("SELECT $1::text::regclass::text", identifier(table))[0][0] and referring == column:
            yield f"ALTER TABLE {identifier(table)} DROP CONSTRAINT {identifier(name)}"
    for index, constraint in ask(_INDEXES, identifier(table), column):
        yield (
            f"ALTER TABLE {identifier(table)} DROP CONSTRAINT {identifier(constraint)}"
            if constraint
            else f"DROP INDEX {index}"
        )
    yield _alter(table, column, "DROP DEFAULT")
    yield _alter(table, column, "DROP NOT NULL")


# Rows


def _fill(table: str, column: str, ask: Ask, cells: Worked, of: steps.Fill | None) -> None:
    for rows in _rows(table, cells[0], ask, of):
        give(table, column, ask, [place for place, _ in rows], [cells[1](row) for _, row in rows], f", {ANEW}")


def give(table: str, column: str, ask: Ask, places: Sequence[Any], values: Sequence[Stored], also: str = "") -> None:
    """Rows their values, each by its place."""
    form, kind = ask(_FORM, identifier(table), column)[0]
    ask(
        f"UPDATE {identifier(table)} AS filled SET {identifier(column)} = given.value{also}"
        f" FROM unnest($1::tid[], $2::{str(form).partition(' COLLATE')[0]}[]) AS given(place, value)"
        " WHERE filled.ctid = given.place",
        places,
        fitted(values, [kind] * len(values)),
    )


def _remove(step: steps.RemoveRows, ask: Ask) -> None:
    table = step.table
    if step.where is None:
        ask(f"DELETE FROM {identifier(table)}")
        return
    for rows in _rows(table, (), ask, step):
        ask(f"DELETE FROM {identifier(table)} WHERE ctid = ANY ($1::tid[])", [place for place, _ in rows])


def _rows(
    table: str, columns: Sequence[str], ask: Ask, of: steps.Fill | steps.RemoveRows | None
) -> Iterator[list[tuple[Any, tuple[Stored, ...]]]]:
    """The rows of which the `where` of a step holds, as they were before the first of them is changed: where each is,
    and what some columns hold, as SQLite would store it."""
    where = None if of is None or of.where is None else worked(of.where, Boolean(), of.reads, said=of.said)
    read, holds = where or ((), lambda _: True)
    names = ", ".join(("ctid", *map(identifier, (*columns, *read))))
    ask(f'DECLARE "$rows" NO SCROLL CURSOR FOR SELECT {names} FROM {identifier(table)}')
    while found := ask(f'FETCH {BATCH} FROM "$rows"'):
        rows = [(row[0], as_stored(row[1:])) for row in found]
        yield [(at, row[: len(columns)]) for at, row in rows if holds(row[len(columns) :])]
    ask('CLOSE "$rows"')


def as_stored(row: Sequence[Any]) -> tuple[Stored, ...]:
    """As SQLite would store it."""
    return tuple(int(each) if isinstance(each, bool) else each for each in row)


def _no_password() -> bytes:
    """A hash that no password has."""
    return f"$argon2id$v=19$m=65536,t=3,p=4${secrets.token_hex(11)[:21]}A${secrets.token_hex(21)}A".encode()


# Tables


def _remade(step: steps.Remake, wanted: Schema, ask: Ask) -> Iterator[str]:
    """Beside the old table, which goes."""
    table = step.table
    name, old = identifier(table.name), identifier(f"$old {table.name}")
    asides = [(identifier(aside.stored), identifier(now), _form(table.name, now, ask)) for aside, now in step.asides]
    yield f"ALTER TABLE {name} RENAME TO {old}"
    yield tables.create_table(table, wanted)
    for stored, _, form in asides:
        yield f"ALTER TABLE {name} ADD COLUMN {stored} {form}"
    columns = {identifier(column): _value(value, table.name) for column, value in step.values.items()}
    columns |= {stored: now for stored, now, _ in asides}
    columns[identifier(REVISION_COLUMN)] = revision_of(step)
    if table.states:
        columns[identifier(ENTERED_COLUMN)] = identifier(ENTERED_COLUMN) if step.entered else NOW
    if step.identified:
        columns[identifier(IDENTITY_COLUMN)] = identifier(IDENTITY_COLUMN)
    referring = ask(_REFERRING, old)
    for constraint, of, _ in referring:
        yield f"ALTER TABLE {of} DROP CONSTRAINT {identifier(constraint)}"
    looked, found = looked_for(step)
    yield from looked
    yield f"INSERT INTO {name} ({', '.join(columns)}) SELECT {', '.join(columns.values())} FROM {old}"
    yield from found
    yield f"DROP TABLE {old}"
    yield from tables.create_indexes(table)
    for constraint, of, definition in referring:
        there = str(definition).replace(f" REFERENCES {old}(", f" REFERENCES {name}(")
        yield f"ALTER TABLE {of} ADD CONSTRAINT {identifier(constraint)} {there}"


def _value(value: sources.Value, table: str) -> str:
    match value:
        case sources.Kept(column=column):
            return identifier(column)
        case sources.Converted(column=column, new=new):
            return f"CAST({identifier(column)} AS {stored_form(new)})"
        case sources.Followed(column=column, table=to, old=old, new=new):
            # A table that is made anew may refer to itself, by what it was.
            source = f"$old {to}" if to == table else to
            same = f"target.{identifier(old)} = {identifier(f'$old {table}')}.{identifier(column)}"
            return f"(SELECT target.{identifier(new)} FROM {identifier(source)} AS target WHERE {same})"
        case _:
            assert_never(value)


# References


def drop_references(table: str, ask: Ask) -> None:
    """Its rows refer to nothing any more."""
    [(own,)] = ask(f"SELECT {literal(identifier(table))}::regclass::oid")
    for name, of, number, _ in ask(_REFERENCES):
        if number == own:
            ask(f"ALTER TABLE {of} DROP CONSTRAINT {identifier(name)}")


def _unbind(ask: Ask) -> None:
    """Nothing refers to anything, until `_bind`."""
    for name, of, _, _ in ask(_REFERENCES):
        ask(f"ALTER TABLE {of} DROP CONSTRAINT {identifier(name)}")


def _bind(wanted: Schema, ask: Ask) -> None:
    """All references that a schema has and the database does not. Raises NotUpgraded where a row would refer to
    nothing."""
    there = {(int(of), str(column)) for _, _, of, column in ask(_REFERENCES)}
    lacking: list[Table] = []
    dangling: list[Dangling] = []
    for table in wanted.tables:
        [(own,)] = ask("SELECT $1::text::regclass::oid", identifier(table.name))
        own_lacking = tuple(each for each in table.references if (int(own), each.column) not in there)
        lacking.append(structs.replace(table, references=own_lacking))
        for each in own_lacking:
            found = broken(steps.Refer(table.name, each.column, each.table, each.key), Asking(ask))
            if found is not None:
                dangling.append(Dangling(table.name, each.column, each.table, found.count))
    if dangling:
        raise left_dangling(dangling)
    for table in lacking:
        for statement in tables.references(table):
            ask(statement)
