"""Expressions of a plan, written out."""

from __future__ import annotations

import pytest

from ninefold.expressions.tree import (
    All,
    Call,
    Comprehension,
    Constant,
    MakeArray,
    MakeObject,
    Select,
    Typed,
    Variable,
    words,
)
from ninefold.values import Array, Boolean, Integer, Object, Row, Text

N = Integer()
ORDER = Variable("order", Row(resource="order"))
TOTAL = Select(ORDER, "total", N, "field")
ONE = Constant(1, N)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        (TOTAL, "order.total"),
        (Constant('a "b"', Text()), '"a \\"b\\""'),
        (Constant(None, Text()), "null"),
        (Call(">", [TOTAL, ONE], Boolean()), "order.total > 1"),
        (Call("*", [Call("+", [TOTAL, ONE], N), ONE], N), "(order.total + 1) * 1"),
        (Call("!", [Call("==", [TOTAL, ONE], Boolean())], Boolean()), "!(order.total == 1)"),
        (Call("?:", [Constant(True, Boolean()), TOTAL, ONE], N), "true ? order.total : 1"),
        (Call("size", [TOTAL], N), "size(order.total)"),
        (All("order", Array(items=ORDER.type)), "all(order)"),
        (
            Comprehension("exists", All("order", Array(items=ORDER.type)), "o", Constant(True, Boolean()), Boolean()),
            "all(order).exists(o, true)",
        ),
        (MakeArray([ONE, TOTAL], Array(items=N)), "[1, order.total]"),
        (MakeObject([("a", ONE)], Object()), "{a: 1}"),
    ],
)
def test_an_expression(typed: Typed, text: str) -> None:
    assert words(typed) == text
