"""A schema as tables of PostgreSQL, beside `ninefold.runtime.store.tables`.

Names longer than 63 bytes would be cut off, and two of them might then be one: those of indexes, which nothing refers
to, end in a digest; a longer name of a table or a column is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final, assert_never

from msgspec import structs

from ninefold.plan.environment import ENTERED_COLUMN, IDENTITY_COLUMN, REVISION_COLUMN
from ninefold.plan.schema import Column, Index, Schema, Table
from ninefold.runtime.store import tables as sqlite
from ninefold.runtime.store.postgresql_premises import Ask
from ninefold.runtime.store.tables import ONE, names
from ninefold.sql import credentials, subscribers
from ninefold.sql.events import (
    CREATE_DELIVERIES,
    CREATE_LOG,
    CREATE_SUBSCRIBED,
    CREATE_VERSIONS,
    create_broker,
    create_deliveries_to_rows,
    is_called,
    key_of,
)
from ninefold.sql.fragment import Fragment, identifier, literal
from ninefold.sql.idempotency import CREATE as CREATE_KEYS
from ninefold.sql.plpgsql import FUNCTIONS
from ninefold.sql.postgresql import POSTGRESQL
from ninefold.sql.postgresql_columns import stored_form
from ninefold.sql.postgresql_events import last_of_log
from ninefold.upgrade.shape import ON_DELETE, identifier_type, receivers_key, reference_indexes
from ninefold.upgrade.steps import Support
from ninefold.values import Digest, Integer, Row, Text, Timestamp, Type

LONGEST_NAME = 63
"""Bytes of an identifier (NAMEDATALEN - 1)."""

OWN_FORM = 2
"""How ninefold's own tables are laid out here."""

_TEXT, _TIME, _NUMBER, _BYTES = (stored_form(each()) for each in (Text, Timestamp, Integer, Digest))

ANOTHER: Final = "CAST(gen_random_uuid() AS text)"
"""An identity that no row had before."""

IDENTITY: Final = f"{identifier(IDENTITY_COLUMN)} {_TEXT} NOT NULL DEFAULT {ANOTHER}"
"""A column."""

ENDS: Final = identifier("$subscriber ends")
"""A function and a trigger."""


def identities_to_come(table: str) -> tuple[str, str]:
    """The statements by which rows that come have one. With a default from its first moment the column would be written
    for all rows at once, while nobody else reads the table."""
    alter = f"ALTER TABLE {identifier(table)}"
    column = identifier(IDENTITY_COLUMN)
    return f"{alter} ADD COLUMN {column} {_TEXT}", f"{alter} ALTER COLUMN {column} SET DEFAULT {ANOTHER}"


def too_long(schema: Schema) -> Iterator[str]:
    """The names of a schema that PostgreSQL would cut off, in words."""
    for table in schema.tables:
        for name in (table.name, *(column.name for column in table.columns)):
            if len(name.encode()) > LONGEST_NAME:
                yield f"`{name}` is longer than the {LONGEST_NAME} bytes that a name may have in PostgreSQL"


def create_schema(schema: Schema) -> tuple[str, ...]:
    """The statements that create everything, to be run in one transaction."""
    return (*create_tables(schema), *create_references(schema))


def create_references(schema: Schema) -> tuple[str, ...]:
    """Those of the contract's own tables."""
    return tuple(each for table in schema.tables for each in references(table))


def create_tables(schema: Schema) -> tuple[str, ...]:
    """All but those: rows may arrive in any order."""
    return (
        *FUNCTIONS,
        *_NUMBERS,
        *_STATES,
        CREATE_PROCESSES,
        *(create_table(table, schema) for table in schema.tables),
        *(each for table in schema.tables for each in create_indexes(table)),
        *_DUE,
        *(support("keys", "", schema) if schema.idempotency else ()),
        *(support("log", "", schema) if schema.events else ()),
        *(support("deliveries", "", schema) if schema.subscriptions else ()),
        *(support("broker", "", schema) if schema.broker is not None else ()),
        *(support("versions", "", schema) if schema.versions else ()),
        *(support("subscribed", "", schema) if schema.versions and schema.subscriptions else ()),
        *(each for resource in schema.credentials for each in support("credentials", resource, schema)),
        *(each for resource in schema.scoped for each in support("scopes", resource, schema)),
        *(each for resource in schema.callers for each in support("callers", resource, schema)),
    )


def support(what: Support, of: str, schema: Schema) -> tuple[str, ...]:
    """The statements for what is kept beside the rows. `of`: the resource, of `credentials`, `scopes` and `callers`."""
    match what:
        case "keys":
            return _own(CREATE_KEYS)
        case "log":
            return _own(CREATE_LOG)
        case "reading":
            return ()  # indexes alone, for whoever reads the log as rows
        case "deliveries":
            if schema.subscribers is None:
                return _own(CREATE_DELIVERIES)
            return (*_own(create_deliveries_to_rows()), *endings(schema))
        case "broker":
            return _own(map(last_of_log, create_broker(schema.broker or "")))
        case "versions":
            return _own(CREATE_VERSIONS)
        case "subscribed":
            return _own(CREATE_SUBSCRIBED)
        case "credentials":
            return _own(_credentials(of, schema))
        case "scopes":
            return _own(credentials.create_scopes(of))
        case "callers":
            key = next(each.key for each in schema.tables if each.name == of)
            return subscribers.ended(of, key, subscribers.POSTGRESQL), *subscribers.postgresql_triggers(of, key)
        case _:
            assert_never(what)


def endings(schema: Schema) -> tuple[str, ...]:
    """`$subscription` holds the identifiers of rows of the contract's own as texts, which no foreign key leads to: what
    one would do, a trigger does. It goes with its table, and is made as often as may be."""
    if schema.subscribers is None:
        return ()
    key = receivers_key(schema)
    old, new = (key_of(key, row, POSTGRESQL).text for row in ("OLD", "NEW"))
    is_old = is_called(Fragment("id"), key, "OLD", POSTGRESQL).text
    return (
        f"CREATE OR REPLACE FUNCTION {ENDS}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF TG_OP = 'DELETE' THEN"
        f' DELETE FROM "$subscription" WHERE {is_old}; ELSIF {old} <> {new} THEN'
        f' UPDATE "$subscription" SET id = {new} WHERE {is_old}; END IF; RETURN NULL; END $$',
        f"CREATE OR REPLACE TRIGGER {ENDS} AFTER DELETE OR UPDATE ON {identifier(schema.subscribers[0])} FOR EACH ROW"
        f" EXECUTE FUNCTION {ENDS}()",
    )


def create_indexes(table: Table) -> tuple[str, ...]:
    return tuple(create_index(table.name, index) for index in indexes(table))


def indexes(table: Table) -> tuple[Index, ...]:
    # A secret that is derived and not stored has an index, of which SQLite makes one of a constant.
    stored = {*(column.name for column in table.columns), ENTERED_COLUMN}
    return tuple(each for each in (*table.indexes, *reference_indexes(table)) if stored.issuperset(each.names))


def create_table(table: Table, schema: Schema) -> str:
    lines = [define_column(table, column, schema) for column in table.columns]
    lines.append(f"{identifier(REVISION_COLUMN)} {_TEXT} NOT NULL")
    if table.states:
        lines.append(f"{identifier(ENTERED_COLUMN)} {_TIME}")
    if table.identified:
        lines.append(IDENTITY)
    lines += [f"{identifier(each.stored)} {_form(each.column.type, schema)}" for each in table.aside]
    if table.key:
        lines.append(f"PRIMARY KEY ({names(table.key)})")
    else:
        lines.append(f"{ONE} {_NUMBER} NOT NULL PRIMARY KEY DEFAULT 1 CHECK ({ONE} = 1)")
    return f"CREATE TABLE {identifier(table.name)} (\n  " + ",\n  ".join(lines) + "\n)"


def define_column(table: Table, column: Column, schema: Schema) -> str:
    text = f"{identifier(column.name)} {_form(column.type, schema)}"
    if column.serial:
        unique = "" if column.name in table.key else " UNIQUE"
        return f"{text} NOT NULL DEFAULT {next_number(table.name)}{unique}"
    return text + (" NOT NULL" if column.required or column.name in table.key else "")


def next_number(table: str) -> str:
    """The next number of a table's rows. As in SQLite, one that was not kept is given again, which a sequence does not:
    the positions of events have no holes."""
    return f'"$next"({literal(table)})'


def numbered_anew(table: str, ask: Ask) -> Iterator[str]:
    """The numbers of its rows are counted by its name."""
    there = ask(
        "SELECT attname FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum"
        " WHERE d.adrelid = $1::text::regclass",
        identifier(table),
    )
    for (column,) in there:
        if not str(column).startswith("$"):
            yield f"ALTER TABLE {identifier(table)} ALTER COLUMN {identifier(column)} SET DEFAULT {next_number(table)}"


def _form(type_: Type, schema: Schema) -> str:
    return stored_form(identifier_type(type_.resource, schema) if isinstance(type_, Row) else type_)


def references(table: Table) -> Iterator[str]:
    """A table may refer to one that is created after it."""
    for each in table.references:
        to, what = f"{identifier(each.table)} ({identifier(each.key)})", ON_DELETE[each.on_delete]
        yield (
            f"ALTER TABLE {identifier(table.name)} ADD FOREIGN KEY ({identifier(each.column)}) REFERENCES {to}"
            f" ON UPDATE CASCADE ON DELETE {what}"
        )


def create_index(table: str, index: Index) -> str:
    return sqlite.create_index(table, structs.replace(index, name=short(index.name)))


def short(name: str) -> str:
    written = name.encode()
    if len(written) <= LONGEST_NAME:
        return name
    return written[: LONGEST_NAME - 13].decode(errors="ignore") + " " + sha256(written).hexdigest()[:12]


# ── The tables that are ninefold's own: ninefold.sql.idempotency, events and credentials say what they hold ──

_NUMBERS = (
    f'CREATE TABLE "$number" ("table" {_TEXT} PRIMARY KEY, last {_NUMBER} NOT NULL)',
    'CREATE FUNCTION "$next"(counted text) RETURNS bigint LANGUAGE sql VOLATILE AS $$ INSERT INTO "$number" AS known'
    ' VALUES (counted, 1) ON CONFLICT ("table") DO UPDATE SET last = known.last + 1 RETURNING known.last $$',
)
"""The last number that the rows of a table were given."""

_FORMS = {
    "INTEGER PRIMARY KEY AUTOINCREMENT": f"{_NUMBER} PRIMARY KEY DEFAULT {next_number('$event')}",
    "INTEGER": _NUMBER,
    "TEXT": _TEXT,
    "BLOB": _BYTES,
    " STRICT": "",
}
_SAID = re.compile(
    r'(?P<index>INDEX IF NOT EXISTS )"(?P<name>[^"]*)"|"[^"]*"|INTEGER PRIMARY KEY AUTOINCREMENT|INTEGER|TEXT|BLOB'
    r"| STRICT\Z"
)


_STATES = (
    f'CREATE UNLOGGED TABLE "$state" (name {_BYTES} PRIMARY KEY, value {_BYTES} NOT NULL, until {_NUMBER} NOT NULL)',
    'CREATE INDEX "$state by until" ON "$state" (until)',
    """
CREATE FUNCTION "$swap"(asked bytea[], olds bytea[], written bytea[], news bytea[], untils bigint[],
  OUT moment bigint, OUT swapped boolean, OUT names bytea[], OUT held bytea[]) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('ninefold counts ' || current_schema(), 0));
  moment := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  SELECT array_agg(s.name), array_agg(s.value) INTO names, held FROM "$state" AS s WHERE s.name = ANY (asked);
  swapped := NOT EXISTS (SELECT FROM unnest(asked, olds) AS a(name, old)
    LEFT JOIN unnest(names, held) AS s(name, value) ON s.name = a.name WHERE s.value IS DISTINCT FROM a.old);
  IF swapped THEN
    INSERT INTO "$state" AS s (name, value, until) SELECT * FROM unnest(written, news, untils)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value, until = excluded.until;
    DELETE FROM "$state" WHERE name IN (SELECT s.name FROM "$state" AS s WHERE s.until < moment
      ORDER BY s.until LIMIT 2 * cardinality(written));
  END IF;
END $$""",
)
"""What nodes count together. A state that is as if there were none goes sooner or later, two for each that is written.
Nobody changes states but by this function, which one does at a time."""

CREATE_PROCESSES: Final = (
    'CREATE TABLE IF NOT EXISTS "$process"'
    " (process bigint PRIMARY KEY, serves int NOT NULL, holder bigint NOT NULL, gone timestamptz)"
)
"""Those that serve the database. `holder`: of its lock, the process of PostgreSQL, or its lease. `gone`: from when on
it does not come back."""

_DUE = (
    f'CREATE TABLE "$due" ({ONE} {_NUMBER} PRIMARY KEY DEFAULT 1 CHECK ({ONE} = 1), due {_TIME},'
    f" waits boolean NOT NULL, asked {_TIME} NOT NULL, progress {_TEXT}, written {_TIME})",
    "INSERT INTO \"$due\" (due, waits, asked) VALUES ('', FALSE, '')",
)
"""`ninefold.sql.nodes`."""


def _own(statements: Iterable[str]) -> tuple[str, ...]:
    """What makes tables of ninefold's own in SQLite, with the forms of PostgreSQL."""

    def form(found: re.Match[str]) -> str:
        if found["index"]:
            return found["index"] + identifier(short(found["name"]))
        return _FORMS.get(found[0], found[0])

    return tuple(_SAID.sub(form, each) for each in statements)


def _credentials(resource: str, schema: Schema) -> tuple[str, ...]:
    """The statements for the credentials that are issued to the rows of a resource."""
    owner = next(each for each in schema.tables if each.name == resource)
    forms = {column.name: _form(column.type, schema) for column in owner.columns}
    return credentials.create(resource, tuple((name, forms[name]) for name in owner.key))


def credentials_renamed(old: str, new: str, scopes: bool) -> Iterator[str]:
    """Of a resource that is renamed; they are called by it."""
    yield from credentials.renamed(old, new, scopes)
    for was, now in zip(credentials.index_names(old), credentials.index_names(new), strict=True):
        yield f"ALTER INDEX {identifier(short(was))} RENAME TO {identifier(short(now))}"
