"""Questions about the rows of a database: whether they are as a change of the contract needs them
(`ninefold.upgrade.steps`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, assert_never

from ninefold.plan.schema import Schema
from ninefold.runtime.store.changing import NAMED, Broken, NotUpgraded
from ninefold.runtime.store.protocol import Row
from ninefold.sql.dialect import Dialect
from ninefold.sql.events import Key, has_numbers, key_of
from ninefold.sql.fragment import identifier
from ninefold.upgrade import steps
from ninefold.upgrade.changes import LOSE_DELIVERIES
from ninefold.upgrade.shape import receivers_key
from ninefold.upgrade.steps import Premise
from ninefold.values import Type
from ninefold.values.json_numbers import decoded

Question: TypeAlias = tuple[str, tuple[Any, ...]]
"""A statement with its binds."""


class Asking(Protocol):
    """What differs between databases. A `column` stands as it is written in a statement."""

    def ask(self, text: str, *binds: Any) -> Sequence[Row]: ...

    def told_by(self, table: str) -> str:
        """What a row of a table is told by."""

    def is_password(self, column: str) -> str:
        """Whether a secret is hashed as a password is, and no digest."""

    def none_of(self, column: str, values: Sequence[str]) -> Question:
        """Whether a text is none of these."""

    def inexact(self, column: str, old: Type, new: Type) -> str:
        """Whether a number is another one once it is converted."""


def broken(premise: Premise, database: Asking) -> Broken | None:
    """None: the rows are as they have to be."""
    text, binds = _breaking(premise, database)
    [(count,)] = database.ask(f"SELECT count(*) FROM ({text}) AS found", *binds)
    if not count:
        return None
    found = database.ask(f"SELECT DISTINCT * FROM ({text}) AS found LIMIT {NAMED + 1}", *binds)
    return Broken(int(str(count)), tuple(row[0] for row in found[:NAMED]), len(found) > NAMED)


def _breaking(premise: Premise, database: Asking) -> Question:
    """The rows that are not as they have to be, each by what is wrong with it."""
    table = identifier(premise.table)
    match premise:
        case steps.HaveValue(table=name, column=column):
            return f"SELECT {database.told_by(name)} FROM {table} WHERE {identifier(column)} IS NULL", ()
        case steps.Differ(table=name, columns=()):
            return f"SELECT {database.told_by(name)} FROM {table} WHERE (SELECT count(*) FROM {table}) > 1", ()
        case steps.Differ(columns=columns):
            names = [identifier(column) for column in columns]
            known = " AND ".join(f"{name} IS NOT NULL" for name in names)
            return f"SELECT {names[0]} FROM {table} WHERE {known} GROUP BY {', '.join(names)} HAVING count(*) > 1", ()
        case steps.Refer(column=column, target=target, key=key):
            own = f"{table}.{identifier(column)}"
            there = f"SELECT 1 FROM {identifier(target)} AS target WHERE target.{identifier(key)} = {own}"
            return f"SELECT {own} FROM {table} WHERE {own} IS NOT NULL AND NOT EXISTS ({there})", ()
        case steps.AreIn(column=column, values=values):
            where, binds = database.none_of(identifier(column), values)
            return f"SELECT {identifier(column)} FROM {table} WHERE {where}", binds
        case steps.AreSecrets(column=column, passwords=passwords):
            kind = database.is_password(identifier(column))
            return f"SELECT {identifier(column)} FROM {table} WHERE {'NOT ' if passwords else ''}({kind})", ()
        case steps.AreNone(table=name, column=column):
            where = f" WHERE {identifier(column)} IS NOT NULL" if column else ""
            return f"SELECT {identifier(column) if column else database.told_by(name)} FROM {table}{where}", ()
        case steps.Convert(column=column, old=old, new=new):
            return (
                f"SELECT {identifier(column)} FROM {table} WHERE {database.inexact(identifier(column), old, new)}",
                (),
            )
        case _:
            assert_never(premise)


def all_are_told(ask: Callable[[str], Sequence[Row]], wanted: Schema, dialect: Dialect) -> None:
    """Where events go to rows of the contract's own, what was written of each is known by its primary key. Raises
    NotUpgraded where there is no such row any more: what waits would be lost, and nobody has said so."""
    if wanted.subscribers is None:
        return
    table, key = wanted.subscribers[0], receivers_key(wanted)
    name = identifier(table)
    if has_numbers(key):
        # What waits may be of another key altogether, of which no database makes a number.
        there = set(ask(f"SELECT {', '.join(identifier(each) for each, _ in key)} FROM {name}"))
        count = sum(_read(str(id), key) not in there for (id,) in ask('SELECT id FROM "$subscription"'))
    else:
        called = key_of(key, name, dialect).text
        [(found,)] = ask(f'SELECT count(*) FROM "$subscription" WHERE id NOT IN (SELECT {called} FROM {name})')
        count = int(str(found))
    if count:
        raise NotUpgraded(
            f"events would go to rows of `{table}` that are not there",
            [f"of {count}, which are gone or have another primary key now, it is known what to deliver"],
            [f"what waits for them goes, too: {LOSE_DELIVERIES}"],
        )


def _read(called: str, key: Key) -> Row | None:
    """The values by which a row is called so; None: by other ones."""
    try:
        return (float(called),) if len(key) == 1 else tuple(decoded(called))
    except (TypeError, ValueError):
        return None
