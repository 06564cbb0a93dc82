"""Typed trees as the binds of statements. Of a request there are more of them than of anything else that is evaluated,
and most are a member of a root."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.expressions.reads import NO_MODEL
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Constant, Select, Typed, Variable
from ninefold.values import SQLiteValue, sqlite_writer

_OF_SEVERAL: Final = (dict, list)


def binder(typed: Typed, model: Model = NO_MODEL) -> Callable[[Env], SQLiteValue]:
    """The value of a statement's bind, in the form that SQLite stores. An error is null, as it is in SQL.

    What the types promise to be there is not there of a request that is refused: the judge is asked of such, too."""
    evaluate, write = compile(typed, model), sqlite_writer(typed.type)
    match typed:
        case Constant() | Variable():
            return evaluate if write is None else lambda env: write(evaluate(env))  # type: ignore[return-value]
        case Select(operand=Variable(name=root), name=name, through="member" | "field") if write is None and not model:
            if root != "caller":
                return _member(root, name)

    def bound(env: Env) -> SQLiteValue:
        try:
            value = evaluate(env)
        except EvaluationError:
            return None
        if write is None:
            # Of callers of whom not all is shown, nothing promises what a member is: a row is no value of a column.
            return None if isinstance(value, _OF_SEVERAL) else value
        return write(value)

    return bound


def _member(root: str, name: str) -> Callable[[Env], SQLiteValue]:
    """The same of a member of a root, in one call."""

    def bound(env: Env) -> SQLiteValue:
        row = env.get(root)
        value = row.get(name) if isinstance(row, dict) else None
        return None if isinstance(value, _OF_SEVERAL) else value

    return bound
