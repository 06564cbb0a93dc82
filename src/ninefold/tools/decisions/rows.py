"""Expressions over a row as it was, before anything was decided."""

from __future__ import annotations

from typing import Final

from ninefold.expressions.ast import Problem
from ninefold.expressions.check import check
from ninefold.expressions.parse import parse
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Typed
from ninefold.values import Integer, Number, Object, Type

OLD: Final = "old"
"""What expressions call the row."""

IN_NUMBERS: Final = {
    (Integer, Number): "has({0}) && int(double({0})) == {0} ? double({0}) : null",
    (Number, Integer): "has({0}) && double(int({0})) == {0} ? int({0}) : null",
}
"""A number of the one type as the same of the other, by what both are; none where there is not the same."""


def typed(old: Object, text: str, expected: Type) -> Typed | None:
    """An expression that nobody wrote."""
    ast = parse(text)
    assert not isinstance(ast, Problem)
    return check(ast, Scope({OLD: old}), expected).typed
