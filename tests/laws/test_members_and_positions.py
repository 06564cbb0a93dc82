"""Members of objects by names that are worked out, and macros that know where an item is, are the same in SQL and in
Python."""

from __future__ import annotations

from typing import Any, Final

import apsw
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.laws.test_values_of_any_type import VALUES
from tests.laws.worlds import INTEGERS, TEXTS, typed_of
from tests.slices import examples

from ninefold.expressions.binds import binder
from ninefold.expressions.evaluate import ROWS, EvaluationError, compile
from ninefold.expressions.scope import Model, ResourceShape, Scope
from ninefold.sql.expressions import sql_problem, to_sql
from ninefold.values import Anything, Array, Boolean, Integer, Object, Row, Text, Type
from ninefold.values.of_schemas import from_schema
from ninefold.values.stored import from_sqlite, to_sqlite

NAMES: Final = ("a", "b", "k", "a-b", 'a"b', "é")
FIELDS: Final[dict[str, Type]] = {
    "id": Integer(),
    "n": Integer(),
    "t": Text(),
    "u": Text(nullable=True),
    "nums": Array(items=Integer()),
    "tags": Object(others=Text()),
    "counts": Object(members={"k": Integer()}, others=Integer(nullable=True)),
    "flags": Object(others=Boolean(), nullable=True),
    "lists": Object(others=Array(items=Integer())),
    "free": Object(),
}
ROOTS: Final[dict[str, Type]] = {
    "r": Row(resource="r"), "word": Text(), "asked": Object(others=Text()), "any": Anything(nullable=True),
}  # fmt: skip
MODEL: Final[Model] = {"r": ResourceShape("r", ("id",), FIELDS)}
SCOPE: Final = Scope(ROOTS, MODEL)


def of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(NAMES), values, max_size=3)


A_ROW: Final = st.fixed_dictionaries(
    {
        "n": INTEGERS,
        "t": st.sampled_from(NAMES),
        "u": st.none() | st.sampled_from(NAMES),
        "nums": st.lists(st.integers(0, 3), max_size=3),
        "tags": of(st.sampled_from(["", "a", "b", "é"])),
        "counts": of(st.none() | st.integers(-1, 3)).map(lambda found: {**found, "k": found.get("k") or 0}),
        "flags": st.none() | of(st.booleans()),
        "lists": of(st.lists(st.integers(0, 2), max_size=2)),
        "free": of(VALUES),
    }
)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2, texts: tuple[str, ...] = (), whole: tuple[str, ...] = ()) -> str:
    name = draw(st.sampled_from(("r.t", "r.u", "word", "'a-b'", "'k'", *texts, *texts)))
    text = draw(
        st.sampled_from((f"r.tags[{name}]", f"asked[{name}]", "r.tags.a", "r.tags['a-b']", "word", "r.t", *texts))
    )
    number = draw(st.sampled_from((f"r.counts[{name}]", "r.counts.k", "r.n", "1", *whole, *whole)))
    same = draw(st.sampled_from(["==", "!="]))
    match draw(st.integers(0, 14 if depth else 7)):
        case 0 | 1:
            return f"({text} {same} {draw(st.sampled_from([text, name, 'null', 'any']))})"
        case 2:
            return f"({number} {draw(st.sampled_from(['<', '>=', '==']))} {draw(st.sampled_from(['1', number]))})"
        case 3:
            return f"r.flags[{name}]"
        case 4:
            free = draw(st.sampled_from(["r.free", "any"]))
            return f"({free}[{name}] {same} {draw(st.sampled_from([text, number]))})"
        case 5:
            return f"({number} in r.lists[{name}])"
        case 6:
            named = draw(st.sampled_from(["int", "string", "list", "map", "null_type"]))
            return f"(type({draw(st.sampled_from(['r.free', 'any']))}[{name}]) == {named})"
        case 7:
            return f"({name} in r.tags)"
        case 8:
            return f"!{draw(conditions(depth - 1, texts, whole))}"
        case 9:
            inner = conditions(depth - 1, texts, whole)
            return f"({draw(inner)} {draw(st.sampled_from(['&&', '||']))} {draw(inner)})"
    macro, k, v = draw(st.sampled_from(["exists", "all", "existsOne"])), f"k{depth}", f"v{depth}"
    match draw(st.integers(0, 6)):
        case 0 | 1:
            range_ = draw(st.sampled_from(["r.tags", "asked"]))
            body = draw(conditions(depth - 1, (*texts, k, v), whole))
        case 2:
            range_, body = "r.counts", draw(conditions(depth - 1, (*texts, k), (*whole, v)))
        case 3:
            range_ = draw(st.sampled_from(["r.nums", "r.nums.filter(x, x > 0)", "r.nums.reverse()", "[3, r.n]"]))
            body = draw(conditions(depth - 1, texts, (*whole, k, v)))
        case 4:
            range_ = draw(st.sampled_from(["all(r)", "all(r).filter(x, x.n > 0)", "all(r).sortBy(x, x.t)"]))
            body = draw(conditions(depth - 1, (*texts, f"{v}.t"), (*whole, k, f"{v}.n")))
        case 5:
            made = draw(st.sampled_from([f"'x' + {v}", f"{v} == '' ? null : {v}", f"r.tags[{v}]", f"r.t + {k}"]))
            chosen = draw(st.sampled_from(["", f"{k} != 'a', "]))
            return f"(r.tags.transformMap({k}, {v}, {chosen}{made}) == {draw(st.sampled_from(['asked', 'r.tags']))})"
        case _:
            listed = draw(st.sampled_from([f"r.tags.transformList({k}, {v}, {k} + {v})", f"r.tags.map({k}, {k})"]))
            return f"({name} in {listed})"
    return f"{range_}.{macro}({k}, {v}, {body})"


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(conditions(), st.lists(A_ROW, min_size=1, max_size=3), TEXTS, of(st.sampled_from(["", "a", "b"])), VALUES)
def test_sql_and_python_agree(
    text: str, several: list[dict[str, Any]], word: str, asked: dict[str, str], free: Any
) -> None:
    try:
        typed = typed_of(text, SCOPE, Boolean(nullable=True))
    except AssertionError:
        event("no condition")
        return
    problem = sql_problem(typed, ("r",), model=MODEL)
    if problem is not None:
        event(f"not in SQL: {problem.message}")
        return
    rows = [{"id": number, **row} for number, row in enumerate(several)]
    env: dict[str, Any] = {"word": word, "asked": asked, "any": free, ROWS: {"r": rows}}
    event("compared")
    for condition in (False, True):
        for row, found in zip(rows, in_sql(text, rows, env, condition), strict=True):
            try:
                expected = compile(typed, MODEL)({**env, "r": row})
            except EvaluationError:
                expected = None
            if condition:
                assert (found == 1) is (expected is True), (text, row, env, expected)
            else:
                assert from_sqlite(Boolean(nullable=True), found) == expected, (text, row, env, expected)


def in_sql(text: str, rows: list[dict[str, Any]], env: dict[str, Any], condition: bool) -> list[Any]:
    connection = apsw.Connection(":memory:")
    columns = ", ".join(f'"{name}" {"INTEGER" if type_ == Integer() else "TEXT"}' for name, type_ in FIELDS.items())
    connection.execute(f"CREATE TABLE r ({columns}) STRICT")
    stored = [[to_sqlite(type_, row[name]) for name, type_ in FIELDS.items()] for row in rows]
    connection.executemany(f"INSERT INTO r VALUES ({', '.join('?' for _ in FIELDS)})", stored)
    typed = typed_of(text, SCOPE, Boolean(nullable=True))
    fragment = to_sql(typed, model=MODEL, rows={"r": "r"}, condition=condition)
    binds = [binder(bound, MODEL)(env) for bound in fragment.binds]
    return [found for (found,) in connection.execute(f'SELECT {fragment.text} FROM r ORDER BY "id"', binds)]


@pytest.mark.parametrize(
    "text",
    [
        "asked.all(k, v, r.tags[k] == v)",
        "r.tags.exists(k, v, k == word && v != '')",
        "all(r).existsOne(i, x, i == 0 && x == r)",
        "r.nums.transformList(i, x, i > 0, i * x).sum() == 3",
        "r.nums.first() == 1",
        "(r.nums + [r.n]).size() > 2",
        "type(r.free[word]) == list",
        "r.tags.transformMap(k, v, v + k) == asked",
    ],
)
def test_the_database_has_them(text: str) -> None:
    assert sql_problem(typed_of(text, SCOPE), ("r",), model=MODEL) is None


@pytest.mark.parametrize(
    ("schema", "others"),
    [
        ({"type": "object", "additionalProperties": {"type": "string"}}, Text()),
        ({"type": "object", "additionalProperties": {"type": ["integer", "null"]}}, Integer(nullable=True)),
        ({"type": "object", "additionalProperties": {}}, None),
        ({"type": "object", "additionalProperties": False}, None),
        ({"type": "object", "additionalProperties": {"type": "string"}, "patternProperties": {"^x": {}}}, None),
    ],
)
def test_what_a_schema_says_of_members_without_names(schema: object, others: Type | None) -> None:
    assert from_schema(schema) == Object(others=others)
