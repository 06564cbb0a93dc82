"""Terms with parameters: bound to what they are given, whatever stands in them and around them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.worlds import INTEGERS
from tests.slices import examples

from ninefold.expressions.ast import Ast, Problem
from ninefold.expressions.check import check
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.parse import parse
from ninefold.expressions.scope import Scope
from ninefold.expressions.terms import Meaning, spelled_out
from ninefold.values import Array, Integer

NUMBERS = Array(items=Integer())
SCOPE = Scope({"n": Integer(), "ns": NUMBERS})


def parsed(text: str) -> Ast:
    tree = parse(text)
    assert not isinstance(tree, Problem), tree
    return tree


def means(text: str, **terms: tuple[str, str]) -> Ast | Problem:
    """The expression with terms spelled out, each of which may read those before it."""
    known: dict[str, Meaning] = {}
    for name, (parameters, body) in terms.items():
        tree = spelled_out(parsed(body), known)
        assert not isinstance(tree, Problem), tree
        known[name] = Meaning(tuple(parameters.split()), tree)
    return spelled_out(parsed(text), known)


def value(tree: Ast | Problem, **env: Any) -> Any:
    assert not isinstance(tree, Problem), tree
    checked = check(tree, Scope({name: NUMBERS if isinstance(v, list) else Integer() for name, v in env.items()}))
    assert checked.typed is not None, checked.problems
    return compile(checked.typed)(env)


def test_a_parameter_is_what_it_is_given() -> None:
    tree = means("over(n + 1, ns)", over=("least from", "from.filter(x, x > least).size()"))
    assert value(tree, n=1, ns=[1, 2, 3, 4]) == 2


def test_an_argument_is_one_value_whatever_stands_beside_it() -> None:
    assert value(means("twice(n + 1)", twice=("x", "2 * x")), n=1) == 4


def test_no_variable_of_a_macro_captures_an_argument() -> None:
    tree = means("ns.map(x, among(x))", among=("y", "ns.filter(x, x < y).size()"))
    assert value(tree, n=0, ns=[1, 2, 3]) == [0, 1, 2]
    tree = means("ns.map(x, among(among(x)))", among=("y", "ns.filter(x, x < y).size()"))
    assert value(tree, n=0, ns=[1, 2, 3]) == [0, 0, 1]


def test_no_variable_of_a_macro_captures_an_argument_of_an_argument() -> None:
    tree = means(
        "ns.map(x, outer(x))",
        inner=("y", "ns.filter(x, x < y).size()"),
        outer=("z", "ns.filter(x, x < z && inner(x) < inner(z)).size()"),
    )
    assert value(tree, n=0, ns=[1, 2, 3]) == [0, 1, 2]


def test_a_term_with_a_macro_stands_in_a_macro_with_a_variable_of_the_same_name() -> None:
    assert value(means("ns.exists(x, most == x)", most=("", "ns.filter(x, x > 2).size()")), ns=[1, 3, 4]) is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("over(1)", "the term `over` takes 2 values, and is given 1"),
        ("over", "the term `over` takes 2 values, and is given none"),
        ("one()", "the term `one` takes one value, and is given none"),
        ("none()", "`none` is a term without parameters"),
        ("ns.map(one, 1)", "`one` is already the name of a term"),
        ("double(random(3))", "`x` of `double` is read more than once, and this is new each time"),
        ("each(uuid())", "`x` of `each` is read more than once, and this is new each time"),
    ],
)
def test_what_cannot_be_spelled_out_is_told(text: str, message: str) -> None:
    found = means(
        text,
        over=("least from", "from.filter(x, x > least).size()"),
        one=("x", "x"),
        none=("", "1"),
        double=("x", "x + x"),
        each=("x", "ns.map(y, x)"),
    )
    assert isinstance(found, Problem) and found.message == message


def test_what_is_read_once_may_be_new_each_time() -> None:
    assert not isinstance(means("one(random(3))", one=("x", "x + '-'")), Problem)


def test_terms_of_terms_of_terms_are_not_spelled_out_without_end() -> None:
    known = {"t0": Meaning(("x",), parsed("x + x"))}
    for number in range(1, 11):
        tree = spelled_out(parsed(f"t{number - 1}(t{number - 1}(x))"), known)
        if isinstance(tree, Problem):
            assert tree.code.id == "NF0402"
            return
        known[f"t{number}"] = Meaning(("x",), tree)
    raise AssertionError("2 to the power of 1024 parts")


VARIABLES = ("x", "y", "z")


@st.composite
def bodies(draw: st.DrawFn, names: tuple[str, ...], depth: int = 3) -> str:
    """Integers made of names, and of macros whose variables have names that stand elsewhere, too."""
    kind = draw(st.integers(0, 3)) if depth else 0
    if kind == 0:
        return draw(st.sampled_from((*names, "1", "n")))
    if kind == 1:
        return f"({draw(bodies(names, depth - 1))} + {draw(bodies(names, depth - 1))})"
    variable = draw(st.sampled_from([each for each in VARIABLES if each not in names] or ["w"]))
    if variable in names:
        return "n"
    inner = draw(bodies((*names, variable), depth - 1))
    if kind == 2:
        return f"ns.filter({variable}, {inner} > 1).size()"
    return f"ns.map({variable}, {inner}).sum()"


@settings(max_examples=examples(300), deadline=None)
@given(bodies(("p",)), st.data(), INTEGERS, st.lists(INTEGERS, max_size=3))
def test_a_term_is_worth_what_it_is_with_its_parameters_bound(body: str, data: st.DataObject, n: int, ns: Any) -> None:
    """Where a macro stands around the call, its variable may have the name of one in the term."""
    around = data.draw(st.sampled_from(VARIABLES))
    argument = data.draw(bodies((around,)))
    called = spelled_out(parsed(f"ns.map({around}, term({argument}))"), {"term": Meaning(("p",), parsed(body))})
    assert not isinstance(called, Problem)
    typed = check(called, SCOPE).typed
    given, meant = check(parsed(argument), _with(around)).typed, check(parsed(body), _with("p")).typed
    assert typed is not None and given is not None and meant is not None
    env = {"n": n, "ns": ns}
    try:
        expected: Any = [compile(meant)({**env, "p": compile(given)({**env, around: each})}) for each in ns]
    except EvaluationError:
        return
    assert compile(typed)(env) == expected, (body, argument)


def _with(name: str) -> Scope:
    return Scope({**SCOPE.variables, name: Integer()})
