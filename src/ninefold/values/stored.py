"""The form in which SQLite stores a value, by the table of `ninefold.values`; PostgreSQL is given the same, made to fit
(`ninefold.sql.postgresql`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from ninefold.values import Anything, Array, Boolean, Number, Object, Type, Value, json_text
from ninefold.values.json_numbers import decoded

SQLiteValue: TypeAlias = None | int | float | str | bytes


def sqlite_writer(type_: Type) -> Callable[[Any], SQLiteValue] | None:
    """A function from a Python value to the form that SQLite stores; `None`: the value as it is."""
    match type_:
        case Boolean():
            return lambda value: None if value is None else int(value)
        case Array() | Object() | Anything():
            return lambda value: None if value is None else json_text(value)
        case _:
            return None


def sqlite_reader(type_: Type) -> Callable[[Any], Value] | None:
    """A function from what SQLite stores to the Python value; `None`: the value as it is."""
    match type_:
        case Boolean():
            return lambda stored: None if stored is None else bool(stored)
        case Number():  # one zero: SQL computes two
            return lambda stored: None if stored is None else stored or 0.0
        case Array() | Object() | Anything():
            return lambda stored: None if stored is None else decoded(stored)
        case _:
            return None


def to_sqlite(type_: Type, value: Value) -> SQLiteValue:
    """The form that SQLite stores. Where it is hot, keep a `sqlite_writer`."""
    write = sqlite_writer(type_)
    return cast(SQLiteValue, value if write is None else write(value))


def from_sqlite(type_: Type, stored: SQLiteValue) -> Value:
    """The Python value of what SQLite stores. Where it is hot, keep a `sqlite_reader`."""
    read = sqlite_reader(type_)
    return stored if read is None else read(stored)
