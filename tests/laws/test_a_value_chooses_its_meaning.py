"""Of a function of several meanings, a value of any type chooses its own: in Python, in SQL, and as the official
implementation of CEL has it. Where nothing can choose, the check says so; never is it silently an error."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import pytest
from cel_expr_python import cel  # type: ignore[import-untyped]
from tests.laws.databases import EACH
from tests.laws.test_python_and_cel_agree import ERROR
from tests.laws.test_values_of_any_type import BY_TYPE, MODEL, SCOPE, in_sql
from tests.laws.worlds import typed_of
from tests.laws.worlds import written as as_text

from ninefold.expressions.ast import Problem
from ninefold.expressions.check import check
from ninefold.expressions.choices import TYPES, choices
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.functions import TABLE, Overload
from ninefold.expressions.parse import parse
from ninefold.expressions.scope import Scope
from ninefold.sql.dialect import Dialect
from ninefold.sql.expressions import sql_problem
from ninefold.values import Anything, Array, Boolean, Duration, Integer, Number, Object, Text, Timestamp, Type, Value
from ninefold.values.stored import from_sqlite

ANY: Final = Anything(nullable=True)
SEVERAL: Final = [each for each in TABLE if sum(one.name == each.name and one.style == each.style for one in TABLE) > 1]
CHOOSING: Final = {
    (each.name, each.style) for each in SEVERAL if choices(each.name, (ANY,)) and each.style != "operator"
}
VALUES: Final[list[Value]] = [
    True, False, 0, 5, -7, 2**63 - 1, 5.0, 5.5, -0.5, 1e21, 9.3e18, "", "abc", "5", "-0", "007", "5.5", "1e3", "true",
    "é\U0001f600", "9223372036854775808", "[1]", "2026-01-31T09:30:00Z", "90s", [], [1, "a", None], {},
    {"a": 1, "b": None}, None,
]  # fmt: skip
STAMP: Final = "2026-01-31T09:30:00.000000Z"
OF_TYPE: Final[dict[type[Type], list[Any]]] = {
    Boolean: [True, False], Integer: [7, -2], Number: [1.5, -2.0], Text: ["abc", "5"], Timestamp: [STAMP],
    Duration: [90_000_000], Object: [{"a": 1}],
}  # fmt: skip


def test_these_are_the_functions_whose_argument_chooses() -> None:
    assert {name for name, _ in CHOOSING} == {"size", "string", "int", "double", "bool", "timestamp"}


@pytest.mark.parametrize(("name", "style"), sorted(CHOOSING))
def test_where_a_value_chooses_all_meanings_give_one_type(name: str, style: str) -> None:
    """Else what it gives has no type that is known before the value, and what a database gives is not read."""
    given = {each.id: each.gives(each.parameters) for each in choices(name, (ANY,)).values()}
    assert len(set(given.values())) == 1, (
        f"a value of any type chooses what the {style} `{name}` means, and the meanings give several types: {given};"
        " give each type a name of its own"
    )


def by_python(text: str, value: Value) -> Any:
    row = {"id": 1, "v": value}
    try:
        return compile(typed_of(text, SCOPE), MODEL)({"r": row})
    except EvaluationError:
        return ERROR


def by_cel(text: str, value: Value) -> Any:
    environment = cel.NewEnv(variables={"r": cel.Type.DYN})
    found = environment.compile(text, disable_check=True).eval(data={"r": {"v": value}})
    if found.type() == cel.Type.ERROR:
        return ERROR
    plain = found.plain_value()
    return plain.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if found.type() == cel.Type.TIMESTAMP else plain


def written(name: str, style: str) -> str:
    return f"r.v.{name}()" if style == "method" else f"{name}(r.v)"


ALL: Final = [(*each, value) for each, value in product(sorted(CHOOSING), VALUES)]
OURS: Final = {("int", "True"), ("int", "False"), ("int", "'-0'"), ("int", "'007'"), ("double", "'007'")}
"""Texts are read as JSON writes numbers, and there is no integer of a boolean."""


@pytest.mark.parametrize(("name", "style", "value"), ALL, ids=repr)
def test_python_chooses_as_the_official_implementation_does(name: str, style: str, value: Value) -> None:
    text = written(name, style)
    found, expected = by_python(text, value), by_cel(text, value)
    if (name, repr(value)) not in OURS:
        assert type(found) is type(expected) and found == expected, (text, value, found, expected)


def row_of(value: Value) -> dict[str, Any]:
    plain = {"id": 1, "list": [], "n": 1, "x": 1.0, "t": "", "p": True, "nums": [], "rates": [], "flags": [], "o": {}}
    return {**dict.fromkeys(BY_TYPE), **plain, "v": value}


@EACH
@pytest.mark.parametrize(("name", "style"), sorted(CHOOSING))
def test_each_database_chooses_as_python_does_or_says_that_it_cannot(dialect: Dialect, name: str, style: str) -> None:
    texts = [written(name, style)]
    refused = sql_problem(typed_of(texts[0], SCOPE), ("r",), model=MODEL)
    if refused is not None:
        assert refused.message.startswith("of a value that may be ") and "`type(x) == int" in refused.help[0]
        texts = [f"type(r.v) == int ? {texts[0]} : null"]
    asked = "string" if name in ("size", "bool") else "int"
    texts.append(f"type(r.v) == {asked} && {written(name, style)} == {written(name, style)}")
    env: dict[str, Any] = {"given": None, "several": [], "word": ""}
    for text, value in product(texts, VALUES):
        typed, expected = typed_of(text, SCOPE), by_python(text, value)
        found = from_sqlite(typed.type, in_sql(dialect, text, row_of(value), env, False))
        expected = None if expected is ERROR else expected
        assert type(found) is type(expected) and found == expected, (text, value, found, expected)


def samples(type_: Type) -> list[Any]:
    if isinstance(type_, Array):
        return [OF_TYPE[Integer if isinstance(type_.items, Anything) else type(type_.items)], []]
    return OF_TYPE[type(type_)]


def given(overload: Overload, roots: dict[str, Type], values: dict[str, Any]) -> Any:
    """What an expression gives; None: the check refuses it."""
    names = list(roots)
    ast = parse(as_text(overload, names))
    assert not isinstance(ast, Problem)
    checked = check(ast, Scope(roots))
    if checked.typed is None:
        assert checked.problems
        return None
    try:
        return compile(checked.typed)(values)
    except EvaluationError:
        return ERROR


OVERLOADED: Final = [each for each in SEVERAL if each.pure]


@pytest.mark.parametrize("overload", OVERLOADED, ids=lambda each: f"{each.style} {each.id}")
def test_a_value_of_any_type_gives_what_one_of_the_type_gives_or_is_refused(overload: Overload) -> None:
    names = "abc"[: len(overload.parameters)]
    for combination in product(*(samples(each) for each in overload.parameters)):
        values = dict(zip(names, combination, strict=True))
        known = dict(zip(names, overload.parameters, strict=True))
        expected = given(overload, known, values)
        for loose in product((False, True), repeat=len(names)):
            roots = {name: ANY if one else known[name] for name, one in zip(names, loose, strict=True)}
            is_text = any(one and isinstance(known[name], Timestamp) for name, one in zip(names, loose, strict=True))
            if any(one and isinstance(known[name], Duration) for name, one in zip(names, loose, strict=True)):
                continue  # no value of JSON is one
            if is_text and "string" in choices(overload.name, tuple(roots.values())):
                continue  # in JSON it is a text
            found = given(overload, roots, values)
            assert found is None or (type(found) is type(expected) and found == expected), (roots, values, found)


def test_the_types_of_json_are_those_that_cel_names() -> None:
    assert list(TYPES) == ["bool", "int", "double", "string", "list", "map"]
