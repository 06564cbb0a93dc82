"""Macros in Python: what is asked of each item, and how much they look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ninefold.expressions.operations import (
    INSIDE,
    Env,
    Evaluate,
    EvaluationError,
    begun,
    counted,
    is_counted,
    needed,
    spend,
    truth,
)
from ninefold.expressions.tree import Comprehension, Typed


def comprehension(typed: Comprehension, made: Callable[[Typed], Evaluate]) -> Evaluate:
    """A macro as a closure; `made` gives those of its parts."""
    range_, variable, counts = made(typed.range), typed.variable, is_counted(typed.range)
    before = INSIDE.set(INSIDE.get() or counts)
    try:
        body = counted(made(typed.body), typed.body)
        condition = None if typed.condition is None else made(typed.condition)
    finally:
        INSIDE.reset(before)

    def each(env: Env, evaluate: Evaluate) -> Any:
        """The value of an expression for one item after another."""
        items = needed(range_(env))
        inner, left = begun(env) if counts else (dict(env), _UNCOUNTED)
        for item in items:
            if counts:
                spend(left, 1)
            inner[variable] = item
            yield item, evaluate(inner)

    match typed.macro:
        case "exists":
            return _quantifier(range_, body, variable, True, counts)
        case "all":
            return _quantifier(range_, body, variable, False, counts)
        case "exists_one":
            return lambda env: sum(truth(value) for _, value in each(env, body)) == 1
        case "filter":
            return lambda env: [item for item, value in each(env, body) if truth(value)]
        case "map" if condition is not None:
            chosen: Evaluate = lambda env: (body(env),) if truth(condition(env)) else ()  # noqa: E731
            return lambda env: [value for _, values in each(env, chosen) for value in values]
        case "map":
            return lambda env: [value for _, value in each(env, body)]
        case "sortBy":
            return lambda env: _sorted(list(each(env, body)))
        case "flatMap":
            return lambda env: [value for _, values in each(env, body) for value in needed(values)]


_UNCOUNTED: Final[list[int]] = []


def _sorted(keyed: list[tuple[Any, Any]]) -> list[Any]:
    return [item for item, key in sorted(keyed, key=lambda pair: (pair[1] is None, pair[1]))]


def _quantifier(range_: Evaluate, body: Evaluate, variable: str, decisive: bool, counts: bool) -> Evaluate:
    """`exists` is decided by one true, `all` by one false; only if nothing decides does an error count."""

    def decide(env: Env) -> bool:
        items = needed(range_(env))
        inner, left = begun(env) if counts else (dict(env), _UNCOUNTED)
        error: EvaluationError | None = None
        for item in items:
            if counts:
                spend(left, 1)
            inner[variable] = item
            try:
                if truth(body(inner)) is decisive:
                    return decisive
            except EvaluationError as raised:
                error = raised
        if error is not None:
            raise error
        return not decisive

    return decide
