"""Macros in Python: what is asked of each item, and how much they look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ninefold.expressions.operations import (
    INSIDE,
    LOOPS,
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
    range_, names, counts = made(typed.range), typed.variables, is_counted(typed.range)
    noted = LOOPS.get()
    if counts and noted is not None and not INSIDE.get():
        noted.append(typed)
    before = INSIDE.set(INSIDE.get() or counts)
    try:
        body = counted(made(typed.body), typed.body)
        condition = None if typed.condition is None else made(typed.condition)
    finally:
        INSIDE.reset(before)

    def each(env: Env, evaluate: Evaluate) -> Iterator[tuple[Any, Any]]:
        """The value of an expression for one item after another."""
        items = needed(range_(env))
        inner, left = begun(env) if counts else (dict(env), _UNCOUNTED)
        for item in _bound(items, names, inner):
            if counts:
                spend(left, 1)
            yield item, evaluate(inner)

    match typed.macro:
        case "exists":
            return _quantifier(range_, body, names, True, counts)
        case "all":
            return _quantifier(range_, body, names, False, counts)
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
        case "transformMap":
            return _transformed(each, body, condition, names[0])
        case "flatMap":
            return lambda env: [value for _, values in each(env, body) for value in needed(values)]


_UNCOUNTED: Final[list[int]] = []


def _bound(items: Any, names: tuple[str, ...], inner: dict[str, Any]) -> Iterator[Any]:
    """One item after another, with the macro's variables bound to it and, if there are two, to where it is. The members
    of an object come in the order of their names."""
    if len(names) == 1:
        for inner[names[0]] in items:
            yield inner[names[0]]
    else:
        pairs = sorted(items.items()) if isinstance(items, dict) else enumerate(items)
        for inner[names[0]], inner[names[1]] in pairs:
            yield inner[names[1]]


def _transformed(
    each: Callable[[Env, Evaluate], Iterator[tuple[Any, Any]]], body: Evaluate, condition: Evaluate | None, name: str
) -> Evaluate:
    """An object with other members of the same names; one without a value is left out."""

    def member(env: Env) -> Any:
        return (env[name], body(env)) if condition is None or truth(condition(env)) else None

    def make(env: Env) -> dict[str, Any]:
        found = (pair for _, pair in each(env, member) if pair is not None)
        return {key: value for key, value in found if value is not None}

    return make


def _sorted(keyed: list[tuple[Any, Any]]) -> list[Any]:
    return [item for item, key in sorted(keyed, key=lambda pair: (pair[1] is None, pair[1]))]


def _quantifier(range_: Evaluate, body: Evaluate, names: tuple[str, ...], decisive: bool, counts: bool) -> Evaluate:
    """`exists` is decided by one true, `all` by one false; only if nothing decides does an error count."""

    def decide(env: Env) -> bool:
        items = needed(range_(env))
        inner, left = begun(env) if counts else (dict(env), _UNCOUNTED)
        error: EvaluationError | None = None
        for _ in _bound(items, names, inner):
            if counts:
                spend(left, 1)
            try:
                if truth(body(inner)) is decisive:
                    return decisive
            except EvaluationError as raised:
                error = raised
        if error is not None:
            raise error
        return not decisive

    return decide
