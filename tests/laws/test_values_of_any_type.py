"""Values of which no type is known beforehand are the same in SQL and in Python: true is no 1, a text no JSON."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.laws.databases import EACH, Table, asked
from tests.laws.test_sql_and_python_agree import ERROR
from tests.laws.worlds import INTEGERS, NUMBERS, TEXTS, typed_of
from tests.slices import examples

from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.scope import Model, ResourceShape, Scope
from ninefold.sql.dialect import Dialect
from ninefold.sql.expressions import sql_problem, to_sql
from ninefold.values import Anything, Array, Boolean, Integer, Number, Object, Row, Text, Type, Value
from ninefold.values.stored import from_sqlite

ANY: Final = Anything(nullable=True)
FIELDS: Final[dict[str, Type]] = {
    "id": Integer(),
    "v": ANY,
    "w": ANY,
    "list": Array(items=ANY),
    "more": Array(items=ANY, nullable=True),
    "o": Object(),
    "made": Object(members={"k": Integer(), "any": ANY}, nullable=True),
    "n": Integer(),
    "m": Integer(nullable=True),
    "x": Number(),
    "t": Text(),
    "u": Text(nullable=True),
    "p": Boolean(),
    "nums": Array(items=Integer()),
    "rates": Array(items=Number()),
    "flags": Array(items=Boolean(nullable=True)),
}
MODEL: Final[Model] = {"r": ResourceShape("r", ("id",), FIELDS)}
ROOTS: Final[dict[str, Type]] = {"r": Row(resource="r"), "given": ANY, "several": Array(items=ANY), "word": Text()}
SCOPE: Final = Scope(ROOTS, MODEL)
NAMES: Final = ("a", "b", "k", "any")

PLAIN: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 1.0, 0.0, -1, 2**53, 2.0**53, 2**53 + 1, 2**63 - 1, 2.0**63, -(2**63), -(2.0**63), 1e300]),
    st.sampled_from(["", "a", "b", "1", "1.0", "true", "null", "[1]", '{"a":1}', '"a"', "k"]),
    INTEGERS,
    NUMBERS,
    TEXTS,
)
VALUES: Final = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, 'a"b', "a.b", "[0]"]), inner),
    max_leaves=5,
)
BY_TYPE: Final[dict[str, st.SearchStrategy[Any]]] = {
    "v": VALUES,
    "w": VALUES,
    "list": st.lists(VALUES, max_size=3),
    "more": st.none() | st.lists(VALUES, max_size=3),
    "o": st.dictionaries(st.sampled_from(NAMES), VALUES),
    "made": st.none() | st.fixed_dictionaries({"k": INTEGERS}, optional={"any": VALUES}),
    "n": INTEGERS,
    "m": st.none() | INTEGERS,
    "x": NUMBERS,
    "t": TEXTS,
    "u": st.none() | TEXTS,
    "p": st.booleans(),
    "nums": st.lists(INTEGERS, max_size=3),
    "rates": st.lists(NUMBERS, max_size=3),
    "flags": st.lists(st.none() | st.booleans(), max_size=3),
}


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row in which values come again, so that some of them are equal."""
    row = {name: draw(strategy) for name, strategy in BY_TYPE.items()}
    for name in ("v", "w"):
        if draw(st.booleans()):
            row[name] = row[draw(st.sampled_from(sorted(BY_TYPE)))]
    if draw(st.booleans()):
        row["list"] = [*row["list"], draw(st.sampled_from([row["v"], row["n"], row["x"], row["t"], row["p"]]))]
    return row


ANYTHING: Final = (
    "r.v",
    "r.w",
    "r.o.a",
    "r.made.any",
    "r.v.a",
    "r.v.a.b",
    "r.list[0]",
    "given",
    "given.a",
    "several[1]",
)
ARRAYS: Final = (
    "r.list",
    "r.more",
    "several",
    "r.nums",
    "r.rates",
    "r.flags",
    "[r.v, r.n]",
    "[r.t, r.n, r.p]",
    "[1, 'a']",
    "r.list.map(e, e.a)",
    "r.list.filter(e, e != 1)",
)
KNOWN: Final = ("r.n", "r.m", "r.x", "r.t", "r.u", "r.p", "word", "1", "1.0", "'a'", "'1'", "true", "null", "[1]", "[]")
OBJECTS: Final = ("r.o", "r.made", "{'a': 1}")


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2, each: tuple[str, ...] = ()) -> str:
    """Conditions of values of any type."""
    anything = draw(st.sampled_from((*ANYTHING, *each, *each)))
    array = draw(st.sampled_from(ARRAYS))
    other = draw(st.sampled_from((*ANYTHING, *each, *ARRAYS, *OBJECTS, *KNOWN)))
    same = draw(st.sampled_from(["==", "!="]))
    match draw(st.integers(0, 13 if depth else 9)):
        case 0 | 1 | 2:
            return f"({anything} {same} {other})" if draw(st.booleans()) else f"({other} {same} {anything})"
        case 3:
            operator, known = draw(st.sampled_from(["<", "<=", ">", ">="])), draw(st.sampled_from(KNOWN[:-3]))
            return f"({anything} {operator} {known})"
        case 4:
            return f"({anything} in {array})"
        case 5:
            return f"({draw(st.sampled_from(KNOWN[:-2]))} in {draw(st.sampled_from(['r.list', 'r.more', 'several']))})"
        case 6:
            return f"({draw(st.sampled_from([anything, 'r.t', 'r.u', 'r.n', 'word', repr('a')]))} in {anything})"
        case 7:
            return f"({draw(st.sampled_from(['r.t', 'r.u', 'r.v', repr('a')]))} in {draw(st.sampled_from(OBJECTS))})"
        case 8:
            named = draw(st.sampled_from(["bool", "int", "double", "string", "list", "map", "null_type"]))
            return f"(type({anything}) {same} {named})"
        case 9:
            asked, part = draw(st.sampled_from(["contains", "startsWith"])), draw(st.sampled_from(["r.t", "'a'"]))
            return f"{anything}.{asked}({part})"
        case 10:
            return f"!{draw(conditions(depth - 1, each))}"
        case 11:
            operator = draw(st.sampled_from(["&&", "||"]))
            return f"({draw(conditions(depth - 1, each))} {operator} {draw(conditions(depth - 1, each))})"
        case 12:
            no = draw(st.sampled_from(["r.n", "r.t", "r.p", "r.w"]))
            chosen = f"({draw(conditions(depth - 1, each))} ? {anything} : {no})"
            return f"({chosen} {same} {other})"
        case _:
            macro, name = draw(st.sampled_from(["exists", "all", "exists_one"])), f"i{depth}"
            inner = draw(conditions(depth - 1, (name, f"{name}.a")))
            return f"{draw(st.sampled_from([*ARRAYS[:3], *ARRAYS[-2:], 'r.v', 'r.o.a']))}.{macro}({name}, {inner})"


def typed_if_any(text: str) -> Any:
    try:
        return typed_of(text, SCOPE)
    except AssertionError:
        return None


@EACH
@settings(
    max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(conditions(), rows(), VALUES, st.lists(VALUES, max_size=3), TEXTS)
def test_what_is_compared_is_the_same(
    dialect: Dialect, text: str, row: dict[str, Value], free: Value, several: list[Value], word: str
) -> None:
    typed = typed_if_any(text)
    if typed is None:
        event("no condition")
        return
    env = {"given": free, "several": several, "word": word}
    expected: Any
    try:
        expected = compile(typed, MODEL)({**env, "r": {"id": 1, **row}})
    except EvaluationError:
        expected = ERROR
    problem = sql_problem(typed, ("r",), model=MODEL)
    if problem is not None:
        event(f"not in SQL: {problem.message}")
        return
    event("compared")
    found = in_sql(dialect, text, row, env, condition=False)
    assert from_sqlite(typed.type, found) == (None if expected is ERROR else expected), (text, row, env, expected)
    assert (in_sql(dialect, text, row, env, condition=True) == 1) is (expected is True), (text, row, env, expected)


def in_sql(dialect: Dialect, text: str, row: dict[str, Value], env: dict[str, Any], condition: bool) -> Any:
    """The value as a database has it, of the one row as it is stored."""
    fragment = to_sql(typed_of(text, SCOPE), model=MODEL, rows={"r": "r"}, dialect=dialect, condition=condition)
    return asked(dialect, [Table("r", FIELDS, [{"id": 1, **row}])], fragment, env, MODEL, "FROM r")[0]
