"""An expression that `check` takes has a value, or is an error, whatever JSON its fields hold: nothing else is raised,
and the database says the same, or `check` refuses to ask it."""

from __future__ import annotations

from typing import Any, Final

import apsw
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.laws.worlds import INTEGERS, NUMBERS, TEXTS, TIMES, written
from tests.slices import examples

from ninefold.expressions.ast import Problem
from ninefold.expressions.binds import binder
from ninefold.expressions.check import check
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.functions import TABLE, Overload
from ninefold.expressions.parse import parse
from ninefold.expressions.reads import may_fail
from ninefold.expressions.scope import ResourceShape, Scope, fits
from ninefold.expressions.tree import Typed
from ninefold.sql.expressions import sql_problem, to_sql
from ninefold.values import (
    LONGEST_TEXT,
    Anything,
    Array,
    Boolean,
    Duration,
    Integer,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    optional,
)
from ninefold.values.stored import from_sqlite, to_sqlite

JSON: Final = st.recursive(
    st.none() | st.booleans() | INTEGERS | NUMBERS | TEXTS | TIMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
LONG: Final = st.sampled_from(["x" * LONGEST_TEXT, "ß" * (LONGEST_TEXT // 2), "1" * 5_000, "-" + "9" * 400, "1e400"])
ODD: Final = st.sampled_from(
    ["PT1e400S", "-P0D", "2026-02-30T00:00:00Z", "9999-12-31T23:59:60Z", "-0", "0.0", "\ud7ff"]
)

KINDS: Final[dict[str, tuple[Type, st.SearchStrategy[Any]]]] = {
    "flag": (Boolean(), st.booleans()),
    "whole": (Integer(), INTEGERS),
    "amount": (Number(), NUMBERS),
    "word": (Text(), TEXTS | LONG | ODD),
    "time": (Timestamp(), TIMES),
    "maps": (Object(), st.dictionaries(TEXTS, JSON, max_size=3)),
    "any": (Anything(), JSON.filter(lambda value: value is not None)),
    "flags": (Array(items=Boolean()), st.lists(st.booleans(), max_size=3)),
    "wholes": (Array(items=Integer(nullable=True)), st.lists(st.none() | INTEGERS, max_size=3)),
    "amounts": (Array(items=Number()), st.lists(NUMBERS, max_size=3)),
    "words": (Array(items=Text(nullable=True)), st.lists(st.none() | TEXTS | ODD, max_size=3)),
    "times": (Array(items=Timestamp()), st.lists(TIMES, max_size=3)),
    "objects": (Array(items=Object()), st.lists(st.dictionaries(TEXTS, JSON, max_size=2), max_size=3)),
    "anys": (Array(items=Anything(nullable=True)), st.lists(JSON, max_size=3)),
    "nested": (Array(items=Array(items=Anything(nullable=True))), st.lists(st.lists(JSON, max_size=2), max_size=3)),
}
FIELDS: Final[dict[str, Type]] = {
    "id": Integer(),
    **{name: type_ for name, (type_, _) in KINDS.items()},
    **{f"no_{name}": optional(type_) for name, (type_, _) in KINDS.items()},
}
MODEL: Final = {"w": ResourceShape("w", ("id",), FIELDS)}
SCOPE: Final = Scope({"w": Row(resource="w")}, MODEL)

MACROS: Final = (
    "{a}.exists(x, x == {b})", "{a}.all(x, x != {b})", "{a}.exists_one(x, x == {b})", "{a}.filter(x, x == {b})",
    "{a}.map(x, x)", "{a}.map(x, x == {b}, x)", "{a}.flatMap(x, x)", "{a}.sortBy(x, x)", "{a}.sortBy(x, {b})",
    "{a} == {b}", "{a} != {b}", "{a} in {b}", "{a}[{b}]", "{a}['a']", "{a}.a", "{a}.a.b", "{a} ? {b} : {c}",
    "{a} && {b}", "{a} || {b}", "!{a}", "has({a}.a)", "type({a}) == list", "type({a}) != null_type", "[{a}, {b}]",
)  # fmt: skip
"""What is not in the table of functions."""


DETERMINED: Final = [each for each in TABLE if each.made == "of its arguments"]
PATTERNS: Final = st.sampled_from(("'^a'", "'[0-9]+x'", "'(a{1,40}b{1,40}){1,40}c'"))
"""What `matches` takes, a literal: of the last one only short texts are looked at."""


def _given(overload: Overload) -> Type:
    return overload.gives(overload.parameters) if callable(overload.result) else overload.result


@st.composite
def expressions(draw: st.DrawFn, wanted: Type, depth: int = 2) -> str:
    """Of any type, where that is what is wanted."""
    fields = [f"w.{name}" for name, type_ in FIELDS.items() if fits(type_, wanted)]
    chosen = draw(st.integers(0, 2 if depth else 0))
    if isinstance(wanted, Duration) and (not depth or chosen == 0):
        return f"duration({draw(expressions(Text(), depth - 1))})" if depth > 0 else "duration('PT1S')"
    if chosen == 0:
        return draw(st.sampled_from(fields))
    if chosen == 1:
        of = [each for each in DETERMINED if fits(_given(each), wanted)]
        if of:
            overload = draw(st.sampled_from(of))
            arguments = [draw(expressions(each, depth - 1)) for each in overload.parameters]
            return written(overload, arguments if overload.id != "matches" else [arguments[0], draw(PATTERNS)])
    macro = draw(st.sampled_from(MACROS))
    parts = {name: draw(expressions(Anything(), depth - 1)) for name in "abc" if f"{{{name}}}" in macro}
    return f"({macro.format(**parts)})"


@st.composite
def rows(draw: st.DrawFn, text: str) -> dict[str, Any]:
    """A value for each field that is read."""
    row: dict[str, Any] = {"id": 1}
    for name in FIELDS.keys() - {"id"}:
        kind, nullable = (name[3:], True) if name.startswith("no_") else (name, False)
        value = KINDS[kind][1]
        row[name] = draw(st.none() | value if nullable else value) if f"w.{name}" in text else None
    return row


def checked(text: str) -> Typed | None:
    ast = parse(text)
    return None if isinstance(ast, Problem) else check(ast, SCOPE).typed


@pytest.mark.parametrize("array", ["anys", "no_anys", "nested", "objects", "wholes", "words", "any"])
@pytest.mark.parametrize("function", [each for each in DETERMINED if isinstance(each.parameters[0], Array)])
@given(data=st.data())
def test_every_function_of_arrays_looks_at_the_items(function: Overload, array: str, data: st.DataObject) -> None:
    others = [data.draw(st.sampled_from(["'-'", "w.words", "w.anys"])) for _ in function.parameters[1:]]
    has_one_answer(written(function, [f"w.{array}", *others]), data)


@settings(max_examples=examples(1000))
@given(st.data())
def test_no_value_breaks_an_expression(data: st.DataObject) -> None:
    has_one_answer(data.draw(expressions(Anything())), data)


def has_one_answer(text: str, data: st.DataObject) -> None:
    """A value or an error of CEL's, in Python and in SQL the same."""
    typed = checked(text)
    if typed is None:
        event("refused by check")
        return
    row = data.draw(rows(text))
    failed, value = False, None
    try:
        value = compile(typed, MODEL)({"w": row})
    except EvaluationError:
        failed = True
        assert may_fail(typed), text
    if sql_problem(typed, ("w",), model=MODEL) is not None:
        event("asked of the request only")
        return
    event("asked of the database, too")
    assert in_sql(typed, row) == (None if failed else value), (text, value, failed)


def test_a_pattern_that_is_looked_for_in_short_texts_only_may_fail() -> None:
    for pattern, fails in (("'^a'", False), ("'(a{1,40}b{1,40}){1,40}c'", True)):
        typed = checked(f"w.word.matches({pattern})")
        assert typed is not None and may_fail(typed) == fails


def in_sql(typed: Typed, row: dict[str, Any]) -> Any:
    fragment = to_sql(typed, model=MODEL, rows={"w": "w"})
    binds = [binder(bound, MODEL)({}) for bound in fragment.binds]
    columns = {name: to_sqlite(type_, row[name]) for name, type_ in FIELDS.items()}
    connection = apsw.Connection(":memory:")
    names = ", ".join(f'? AS "{name}"' for name in columns)
    query = f'WITH "w" AS (SELECT {names}) SELECT {fragment.text} FROM "w"'
    [[stored]] = connection.execute(query, [*columns.values(), *binds])
    return from_sqlite(typed.type, stored)
