"""In the subset that both have, an expression means what the official implementation of CEL says it means."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from cel_expr_python import cel  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.worlds import INTEGERS, TEXTS, typed_of
from tests.slices import examples

from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.scope import Scope
from ninefold.values import Array, Boolean, Integer, Number, Object, Text, Timestamp, Type, timestamp

ROOTS: Final[dict[str, Type]] = {
    "a": Integer(),
    "b": Integer(nullable=True),
    "x": Number(),
    "s": Text(),
    "t": Text(nullable=True),
    "p": Boolean(),
    "q": Boolean(nullable=True),
    "now": Timestamp(),
    "nums": Array(items=Integer(nullable=True)),
    "tags": Array(items=Text()),
    "o": Object(members={"k": Integer(), "w": Text(nullable=True)}),
}
# What may be null is DYN to the official implementation, whose checker is left out: ours has looked at the types.
OFFICIAL: Final = cel.NewEnv(variables={name: cel.Type.TIMESTAMP if name == "now" else cel.Type.DYN for name in ROOTS})
ERROR: Final = object()

TIMES: Final = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


ENVIRONMENTS: Final = st.fixed_dictionaries(
    {
        "a": INTEGERS,
        "b": _maybe(INTEGERS),
        "x": st.floats(-1e6, 1e6).map(lambda value: value + 0.0),
        "s": TEXTS,
        "t": _maybe(TEXTS),
        "p": st.booleans(),
        "q": _maybe(st.booleans()),
        "now": TIMES,
        "nums": st.lists(_maybe(INTEGERS), max_size=3),
        "tags": st.lists(TEXTS, max_size=3),
        "o": st.fixed_dictionaries({"k": INTEGERS, "w": _maybe(TEXTS)}),
    }
)


@st.composite
def integers(draw: st.DrawFn, depth: int, names: tuple[str, ...] = ()) -> str:
    leaves = ["a", "b", "o.k", "0", "1", "-1", "3", "(-9223372036854775808)", *names]
    if depth <= 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(leaves))
    down = depth - 1
    match draw(st.integers(0, 6)):
        case 0 | 1:
            operator = draw(st.sampled_from(["+", "-", "*", "/", "%"]))
            return f"({draw(integers(down, names))} {operator} {draw(integers(down, names))})"
        case 2:
            return f"(-{draw(integers(down, names))})"
        case 3:
            return f"({draw(booleans(down, names))} ? {draw(integers(down, names))} : {draw(integers(down, names))})"
        case 4:
            return draw(st.sampled_from(["size(s)", "size(tags)", "t.size()", "int(x)", "nums[a]", "nums[0]"]))
        case 5:
            parts = [
                "FullYear",
                "Month",
                "Date",
                "DayOfMonth",
                "DayOfWeek",
                "DayOfYear",
                "Hours",
                "Seconds",
                "Milliseconds",
            ]
            return f"now.get{draw(st.sampled_from(parts))}()"
        case _:
            return f"nums.map(v{depth}, {draw(integers(down, (*names, f'v{depth}')))})[{draw(integers(0, names))}]"


@st.composite
def texts(draw: st.DrawFn, depth: int) -> str:
    leaves = ["s", "t", "'a'", "'é'", "o.w", "tags[0]"]
    if depth <= 0 or draw(st.booleans()):
        return draw(st.sampled_from(leaves))
    if draw(st.booleans()):
        return f"({draw(texts(depth - 1))} + {draw(texts(depth - 1))})"
    return f"string({draw(integers(depth - 1))})"


@st.composite
def booleans(draw: st.DrawFn, depth: int, names: tuple[str, ...] = ()) -> str:
    leaves = ["p", "q", "true", "false"]
    if depth <= 0:
        return draw(st.sampled_from(leaves))
    down = depth - 1
    match draw(st.integers(0, 10)):
        case 0:
            return draw(st.sampled_from(leaves))
        case 1 | 2:
            operator = draw(st.sampled_from(["&&", "||", "==", "!="]))
            return f"({draw(booleans(down, names))} {operator} {draw(booleans(down, names))})"
        case 3:
            return f"(!{draw(booleans(down, names))})"  # in brackets: `!!null` is null to the official parser
        case 4 | 5:
            operator = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
            return f"({draw(integers(down, names))} {operator} {draw(integers(down, names))})"
        case 6:
            operator = draw(st.sampled_from(["==", "!=", "<", ">="]))
            return f"({draw(texts(down))} {operator} {draw(texts(down))})"
        case 7:
            method = draw(st.sampled_from(["contains", "startsWith", "endsWith"]))
            return f"{draw(texts(down))}.{method}({draw(texts(down))})"
        case 8:
            macro, variable = draw(st.sampled_from(["exists", "all", "exists_one"])), f"w{depth}"
            return f"nums.{macro}({variable}, {draw(booleans(down, (*names, variable)))})"
        case 9:
            return (
                f"({draw(st.sampled_from(['a in nums', 'b in nums', 's in tags', 't in tags', 's in o', 'x < 0.5']))})"
            )
        case _:
            either = draw(st.sampled_from([integers(down, names), texts(down), booleans(down, names)]))
            return f"({draw(either)} {draw(st.sampled_from(['==', '!=']))} null)"


EXPRESSIONS: Final = st.one_of(booleans(3), integers(3), texts(3))


def by_ninefold(text: str, env: dict[str, Any]) -> Any:
    stamp = timestamp(env["now"].isoformat())
    try:
        return compile(typed_of(text, Scope(ROOTS)))({**env, "now": stamp})
    except EvaluationError:
        return ERROR


def by_cel(text: str, env: dict[str, Any]) -> Any:
    found = OFFICIAL.compile(text, disable_check=True).eval(data=env)
    return ERROR if found.type() == cel.Type.ERROR else found.plain_value()


@settings(max_examples=examples(400), deadline=None)
@given(EXPRESSIONS, ENVIRONMENTS)
def test_python_and_the_official_implementation_agree(text: str, env: dict[str, Any]) -> None:
    found, expected = by_ninefold(text, env), by_cel(text, env)
    assert type(found) is type(expected) and found == expected, (text, found, expected)
