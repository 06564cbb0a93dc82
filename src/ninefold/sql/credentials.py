"""The credentials that the service issues: for each resource to whose rows it does, a table beside its own.

`$credential R`:

| column     | value                                                                        |
|------------|------------------------------------------------------------------------------|
| `$digest`  | the SHA-256 digest of the credential, which itself is kept nowhere            |
| `$scheme`  | of which scheme it is                                                        |
| `$expires` | when it ends; null: as long as its row is there                              |
| the others | the identifier of the row that it belongs to, under the names that it has there |

`$scopes R`, where a scheme of such credentials lists scopes:

| column     | value                                                    |
|------------|----------------------------------------------------------|
| `$digest`  | that of the credential                                   |
| `$scopes`  | the scopes that it was granted, a JSON array of texts    |

A credential ends with its row: the table refers to it, and deletions cascade. They are part of how a database of ours
is laid out (`ninefold.upgrade.shape`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ninefold.sql.fragment import identifier, literal

DIGEST = identifier("$digest")
SCHEME = identifier("$scheme")
EXPIRES = identifier("$expires")
SCOPES = identifier("$scopes")

CLEANED = 8
"""Expired credentials that go when one is issued: more than come, so the table holds few that have expired."""


def table_name(resource: str) -> str:
    """The name of the table, as the database keeps it."""
    return f"$credential {resource}"


def table_of(resource: str) -> str:
    """The name of the table, quoted."""
    return identifier(table_name(resource))


def scopes_of(resource: str) -> str:
    """The name of the table of their scopes, quoted."""
    return identifier(f"$scopes {resource}")


def create_scopes(resource: str) -> tuple[str, ...]:
    """The statements that create the table of scopes."""
    return (
        f"CREATE TABLE IF NOT EXISTS {scopes_of(resource)} (\n"
        f"  {DIGEST} BLOB NOT NULL PRIMARY KEY {_of_credential(resource)},\n"
        f"  {SCOPES} TEXT NOT NULL\n) STRICT",
    )


def create(resource: str, key: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The statements that create the table. `key`: of the identifier, each column with the form that is stored."""
    name, columns = table_of(resource), ", ".join(identifier(column) for column, _ in key)
    lines = [f"{DIGEST} BLOB NOT NULL PRIMARY KEY", f"{SCHEME} TEXT NOT NULL", f"{EXPIRES} TEXT"]
    lines += [f"{identifier(column)} {form} NOT NULL" for column, form in key]
    lines.append(
        f"FOREIGN KEY ({columns}) REFERENCES {identifier(resource)} ({columns}) ON UPDATE CASCADE ON DELETE CASCADE"
    )
    created = f"CREATE TABLE IF NOT EXISTS {name} (\n  " + ",\n  ".join(lines) + "\n) STRICT"
    return created, *create_indexes(resource, [column for column, _ in key])


def create_indexes(resource: str, key: Sequence[str]) -> tuple[str, ...]:
    """The statements that create those of the table. `key`: the columns of the identifier."""
    columns = ", ".join(map(identifier, key)), EXPIRES
    named = zip(index_names(resource), columns, strict=True)
    return tuple(f"CREATE INDEX IF NOT EXISTS {identifier(name)} ON {table_of(resource)} ({of})" for name, of in named)


def index_names(resource: str) -> tuple[str, str]:
    return f"$credential {resource} by row", f"$credential {resource} by expiry"


def renamed(old: str, new: str, scopes: bool) -> tuple[str, ...]:
    """The statements by which both tables go along with the resource's own, without their indexes. `scopes`: there is
    the second."""
    of = (table_of, scopes_of) if scopes else (table_of,)
    return tuple(f"ALTER TABLE {each(old)} RENAME TO {each(new)}" for each in of)


def called_otherwise(resource: str, old: str, new: str) -> str:
    """The statement by which what was issued as of one scheme is of another."""
    return f"UPDATE {table_of(resource)} SET {SCHEME} = {literal(new)} WHERE {SCHEME} = {literal(old)}"


def last(resource: str) -> str:
    """The statement that gives each scheme with how many of its credentials last beyond the time that is bound."""
    lasts = f"{EXPIRES} IS NULL OR {EXPIRES} > ?"
    return f"SELECT {SCHEME}, count(*) FROM {table_of(resource)} WHERE {lasts} GROUP BY 1 ORDER BY 1"


def of_scopes(resource: str) -> str:
    """That scopes end with the credential that they are of, as a table's constraint."""
    return f"FOREIGN KEY ({DIGEST}) {_of_credential(resource)}"


def _of_credential(resource: str) -> str:
    return f"REFERENCES {table_of(resource)} ({DIGEST}) ON DELETE CASCADE"


def set_apart(
    resource: str, called: str, key: tuple[str, ...], values: Mapping[str, str], goes: str = ""
) -> tuple[str, ...]:
    """The statements that keep the credentials of rows apart, which were known by `key`: `values`, of a row that is
    `called` so, are what they are known by from then on. `goes`: what becomes of that which refers to them."""
    own, apart = table_of(resource), _apart(resource)
    row = " AND ".join(f"{called}.{identifier(name)} = issued.{identifier(name)}" for name in key)
    found = [
        f"(SELECT {value} FROM {identifier(resource)} AS {called} WHERE {row}) AS {identifier(name)}"
        for name, value in values.items()
    ]
    columns = ", ".join((DIGEST, SCHEME, EXPIRES, *found))
    return f"CREATE TABLE {apart} AS SELECT {columns} FROM {own} AS issued", f"DROP TABLE {own} {goes}".rstrip()


def taken_back(resource: str, key: tuple[str, ...], created: tuple[str, ...]) -> tuple[str, ...]:
    """The statements that put them back: `created` are those that make their table. Without a value for each of the
    key there were none."""
    apart, names = _apart(resource), ", ".join((DIGEST, SCHEME, EXPIRES, *map(identifier, key)))
    return *created, f"INSERT INTO {table_of(resource)} ({names}) SELECT {names} FROM {apart}", f"DROP TABLE {apart}"


def _apart(resource: str) -> str:
    return identifier(f"$apart {table_name(resource)}")
