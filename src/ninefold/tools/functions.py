"""The functions, operators and macros of expressions, as docs/expressions.md and `ninefold explain NAME` tell them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ninefold.expressions.forms import MACROS, OF_TEMPLATES, SPECIAL
from ninefold.expressions.functions import TABLE, Overload
from ninefold.expressions.scope import describe
from ninefold.sql.operators import is_in_sql
from ninefold.values import Anything, Type

PAGE: Final = "expressions.md"
"""In docs."""


class Row(NamedTuple):
    """A name with one of its meanings: how it is written, its types, and whether the database has it."""

    name: str
    written: str
    types: str
    meaning: str
    in_sql: str


def functions() -> Iterator[Row]:
    """In the order of their table; types that share a meaning stand together."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for each in TABLE:
        takes = ", ".join(map(_type, each.parameters)) or "nothing"
        key = (each.name, _written(each), each.meaning, "yes" if is_in_sql(each) else "request values only")
        found.setdefault(key, []).append(f"{takes} → {_type(each.gives(each.parameters))}")
    for (name, written, meaning, in_sql), types in found.items():
        yield Row(name, written, "; ".join(types), meaning, in_sql)


def told_of(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each heading of the page under which something is said of a name, or of one as the page writes it (`serial()`),
    with what is."""
    rows = tuple(each for each in functions() if name in (each.name.casefold(), each.written.strip("`").casefold()))
    if rows:
        yield (
            "Functions",
            tuple(f"{each.written}: {each.types}: {each.meaning}. In SQL: {each.in_sql}." for each in rows),
        )
    for heading, forms in (("Operators", SPECIAL), ("Macros", MACROS), ("What templates have", OF_TEMPLATES)):
        said = tuple(f"`{form}`: {says}." for form, says in forms.items() if form.casefold() == name)
        if said:
            yield heading, said


def names() -> Iterator[str]:
    yield from dict.fromkeys((*(each.name for each in TABLE), *SPECIAL, *MACROS, *OF_TEMPLATES))


def _type(of: Type) -> str:
    return "any" if isinstance(of, Anything) else describe(of).partition(" ")[2]


def _written(overload: Overload) -> str:
    names = "abcdef"[: len(overload.parameters)]
    if overload.style == "operator":
        return f"`{overload.name}a`" if len(names) == 1 else f"`a {overload.name} b`"
    if overload.style == "method":
        return f"`a.{overload.name}({', '.join(names[1:])})`"
    return f"`{overload.name}({', '.join(names)})`"
