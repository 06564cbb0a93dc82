"""How much an expression looks at: macros within macros go through what a client writes again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

from ninefold.expressions.tree import Constant, Typed
from ninefold.values import Anything, Array, Object, Row, Text

MOST_ITEMS: Final = 40_000
"""Items of values that the macros of one expression look at. What a function is given for an item counts by its items,
members, or 16 characters each. Rows are not counted."""

INSIDE: Final = ContextVar("inside a macro", default=False)
"""Whether what is being compiled is evaluated for an item of a value."""

_LEFT: Final = "$left"
"""The root under which the items of a macro have what is left of them, in a list of one number."""


class TooMuch(Exception):
    """An expression would look at more items than it may. It is no error that `||` absorbs: nobody knows what the
    expression is worth."""


def is_counted(range_: Typed) -> bool:
    """Whether the items of a macro's range are counted: those of values are."""
    return not (isinstance(range_.type, Array) and isinstance(range_.type.items, Row))


def begun(env: Mapping[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """The environment of a macro's items, and what is left of them: the outermost macro begins to count."""
    inner = dict(env)
    return inner, inner.setdefault(_LEFT, [MOST_ITEMS])


def spend(left: list[int], items: int) -> None:
    """Raises TooMuch where that many are not left."""
    left[0] -= items
    if left[0] < 0:
        raise TooMuch(f"more than {MOST_ITEMS} items")


def counted(evaluate: Callable[[Mapping[str, Any]], Any], typed: Typed) -> Callable[[Mapping[str, Any]], Any]:
    """An expression that counts by its size, where it is evaluated for each item of a macro."""
    if not INSIDE.get() or isinstance(typed, Constant) or not isinstance(typed.type, Text | Array | Object | Anything):
        return evaluate

    def count(env: Mapping[str, Any]) -> Any:
        value = evaluate(env)
        if isinstance(value, str):
            spend(env[_LEFT], len(value) // 16)
        elif isinstance(value, list | dict):
            spend(env[_LEFT], len(value))
        return value

    return count
