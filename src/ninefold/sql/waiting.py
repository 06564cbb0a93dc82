"""What waits for rows of the contract's own, while these are known by something else: their tables are made anew."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.sql.dialect import Dialect
from ninefold.sql.events import DROP_DELIVERIES, Key, called_by, is_called
from ninefold.sql.fragment import Fragment, identifier
from ninefold.values import Type

_FOLLOWED, _WAS = identifier("$followed"), identifier("$was")
_TABLES = (("$subscription", "id"), ("$delivery", "subscription"), ("$subscribed in", "id"))
"""Each refers to the first."""


def set_apart(
    table: str, called: str, was: Key, now: Sequence[tuple[str, Type]], dialect: Dialect, *, versions: bool
) -> tuple[str, ...]:
    """The statements that keep it apart, of rows that were known by `was`: `now`, of a row that is `called` so, is what
    they are known by from then on. What waits for a row that is not there keeps its name. `versions`: some is of
    others than the newest."""
    same = is_called(Fragment(f"kept.{_WAS}"), was, called, dialect)
    new = called_by([Fragment(value) for value, _ in now], [type_ for _, type_ in now], dialect)
    kept = f'(SELECT id AS {_WAS} FROM "$subscription") AS kept'
    source = f"{identifier(table)} AS {called} JOIN {kept} ON {same.text}"
    found = [f"CREATE TEMP TABLE {_FOLLOWED} AS SELECT kept.{_WAS} AS was, {new.text} AS called FROM {source}"]
    for name, column in _TABLES[: 2 + versions]:
        apart = _apart(name)
        found.append(f"CREATE TABLE {apart} AS SELECT * FROM {identifier(name)}")
        follows = f"SET {column} = followed.called FROM {_FOLLOWED} AS followed WHERE followed.was = {apart}.{column}"
        found.append(f"UPDATE {apart} {follows}")
    return (*found, f"DROP TABLE {_FOLLOWED}", *DROP_DELIVERIES)


def taken_back(created: Sequence[str], subscribed: Sequence[str], *, versions: bool) -> tuple[str, ...]:
    """The statements that put it back: those that make its tables, and of these the one of versions."""
    found = [*created, *(subscribed if versions else ())]
    for name, _ in _TABLES[: 2 + versions]:
        found += [f"INSERT INTO {identifier(name)} SELECT * FROM {_apart(name)}", f"DROP TABLE {_apart(name)}"]
    return tuple(found)


def _apart(name: str) -> str:
    return identifier(f"$apart {name}")
