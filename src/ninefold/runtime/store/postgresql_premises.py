"""Questions about the rows of a database in PostgreSQL: whether they are as a change of the contract needs them
(`ninefold.upgrade.steps`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, assert_never

from ninefold.runtime.store.changing import NAMED, Broken
from ninefold.sql.fragment import identifier
from ninefold.upgrade import steps
from ninefold.upgrade.steps import Premise
from ninefold.values import Integer, Number, Type

Ask: TypeAlias = Callable[..., list[Any]]
"""Asks a statement with its binds, and gives the rows."""

_FIRST_OF_KEY: Final = (
    "SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]"
    " WHERE indrelid = $1::text::regclass AND indisprimary"
)


def broken(premise: Premise, ask: Ask) -> Broken | None:
    """None: the rows are as they have to be."""
    text, binds = _breaking(premise, ask)
    [(count,)] = ask(f"SELECT count(*) FROM ({text}) AS found", *binds)
    if not count:
        return None
    found = ask(f"SELECT DISTINCT * FROM ({text}) AS found LIMIT {NAMED + 1}", *binds)
    return Broken(int(count), tuple(row[0] for row in found[:NAMED]), len(found) > NAMED)


def _breaking(premise: Premise, ask: Ask) -> tuple[str, tuple[Any, ...]]:
    """The rows that are not as they have to be, each by what is wrong with it."""
    table = identifier(premise.table)
    match premise:
        case steps.HaveValue(column=column):
            return f"SELECT {_named(premise.table, ask)} FROM {table} WHERE {identifier(column)} IS NULL", ()
        case steps.Differ(columns=columns):
            names = ", ".join(map(identifier, columns))
            known = " AND ".join(f"{identifier(column)} IS NOT NULL" for column in columns) or "TRUE"
            first, grouped = (identifier(columns[0]), f"GROUP BY {names}") if columns else ("1", "")
            return f"SELECT {first} FROM {table} WHERE {known} {grouped} HAVING count(*) > 1", ()
        case steps.Refer(column=column, target=target, key=key):
            own = f"{table}.{identifier(column)}"
            there = f"SELECT 1 FROM {identifier(target)} AS target WHERE target.{identifier(key)} = {own}"
            return f"SELECT {own} FROM {table} WHERE {own} IS NOT NULL AND NOT EXISTS ({there})", ()
        case steps.AreIn(column=column, values=values):
            return f"SELECT {identifier(column)} FROM {table} WHERE {identifier(column)} <> ALL ($1::text[])", (
                list(values),
            )
        case steps.AreSecrets(column=column, passwords=passwords):
            is_password = f"(substr({identifier(column)}, 1, 7) = CAST('$argon2' AS bytea))"
            return f"SELECT {identifier(column)} FROM {table} WHERE {is_password} <> {passwords}", ()
        case steps.AreNone(column=column):
            where = f" WHERE {identifier(column)} IS NOT NULL" if column else ""
            return f"SELECT {identifier(column) if column else _named(premise.table, ask)} FROM {table}{where}", ()
        case steps.Convert(column=column, old=old, new=new):
            name = identifier(column)
            return f"SELECT {name} FROM {table} WHERE {_inexact(name, old, new)}", ()
        case _:
            assert_never(premise)


def _inexact(name: str, old: Type, new: Type) -> str:
    """Whether a value is another one once it is converted."""
    assert isinstance(old, Integer | Number) and isinstance(new, Integer | Number)
    double = name if isinstance(old, Number) else f"CAST({name} AS double precision)"
    outside = f"{double} >= 9223372036854775808 OR {double} < -9223372036854775808"
    back = f"CAST({double} AS bigint)" + ("" if isinstance(old, Integer) else "::double precision")
    return f"CASE WHEN {outside} THEN TRUE ELSE {back} <> {name} END"


def _named(table: str, ask: Ask) -> str:
    """What a row is told by."""
    found = ask(_FIRST_OF_KEY, identifier(table))
    return identifier(str(found[0][0])) if found else "1"
