"""Typed trees as Python: every expression becomes closures once, before any request.

An environment maps the roots (`order`, `caller`, `now` …) to values; a row that was loaded is a `dict`. What
has no value is `None`; what CEL calls an error is an `EvaluationError`. `&&`, `||`, `?:`, `exists` and `all`
absorb errors as CEL does: `false && error` is false, whichever side is which.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

import msgspec

from ninefold.expressions.choices import CEL_NAMES, by_its_value, choices
from ninefold.expressions.functions import Overload, resolve
from ninefold.expressions.macros import comprehension
from ninefold.expressions.operations import (
    Env,
    Evaluate,
    EvaluationError,
    Sources,
    TooMuch,
    counted,
    escaped,
    needed,
    no_value,
    pattern,
    truth,
)
from ninefold.expressions.reads import NO_MODEL, computed_of, is_identifier, needs_database
from ninefold.expressions.scope import Model, cel_name
from ninefold.expressions.tree import All, Call, Comprehension, Constant, MakeArray, MakeObject, Select, Typed, Variable
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Invalid,
    Object,
    Row,
    Type,
    Value,
    json_reader,
    required,
)

SOURCES: Final = "$sources"
"""The root under which an environment may hold other `Sources` than the system's. It is no name of CEL."""

ROWS: Final = "$rows"
"""The root under which an environment may hold all rows of resources, by their names, for `all(R)`."""

_SYSTEM: Final = Sources()
_NOTHING: Final[Evaluate] = lambda env: None  # noqa: E731

__all__ = ["ROWS", "SOURCES", "Env", "EvaluationError", "Sources", "TooMuch", "compile", "equal", "holds"]


def compile(typed: Typed, model: Model = NO_MODEL) -> Callable[[Env], Value]:
    """A function from an environment to the value of an expression; it raises `EvaluationError`.

    With a model, computed fields of loaded rows are computed where that needs no database; otherwise they are
    read from the row, as other fields are.
    """
    return _compile(typed, model)


def holds(typed: Typed, model: Model = NO_MODEL) -> Callable[[Env], bool]:
    """Whether a condition is true: neither false, nor null, nor an error."""
    evaluate = _compile(typed, model)

    def hold(env: Env) -> bool:
        try:
            return evaluate(env) is True
        except EvaluationError:
            return False

    return hold


def equal(left: Any, right: Any) -> bool:
    """CEL's `==` for values of any type: a boolean is no number, and members have no order."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | dict):
        return bool(left == right) and _without_numbers(left) == _without_numbers(right)
    return bool(left == right)


def _without_numbers(value: Any) -> bytes:
    """What is left of a value without its numbers. Of two that are equal for Python it is the same, unless one has a
    number where the other has a boolean. To look at each item would take ten times as long."""
    return msgspec.json.encode(value, order="sorted").translate(None, b"0123456789+-.e")


def _compile(typed: Typed, model: Model) -> Evaluate:
    match typed:
        case Constant(value=list() as items):
            return lambda env: list(items)
        case Constant(value=value):
            return lambda env: value
        case Variable(name=name):
            return lambda env: env.get(name)
        case Select():
            return _select(typed, model)
        case All(resource=resource):
            return lambda env: _rows(env, resource)
        case Call():
            return _call(typed, model)
        case Comprehension():
            return comprehension(typed, lambda part: _compile(part, model))
        case MakeArray(items=items):
            made = [_compile(item, model) for item in items]
            return lambda env: [item(env) for item in made]
        case MakeObject(members=members, nulls=nulls):
            return _object([(name, _compile(member, model)) for name, member in members], nulls)


def _rows(env: Env, resource: str) -> Any:
    try:
        return env[ROWS][resource]
    except KeyError:
        raise EvaluationError(f"the rows of {resource} are not loaded") from None


def _object(members: list[tuple[str, Evaluate]], nulls: Collection[str]) -> Evaluate:
    """A member without a value is left out, unless it is one of these."""
    made = [
        (name, _unless_it_fails(each, _NOTHING) if name in nulls else each, name in nulls) for name, each in members
    ]

    def make(env: Env) -> dict[str, Any]:
        return {name: value for name, member, kept in made if (value := member(env)) is not None or kept}

    return make


def _select(select: Select, model: Model) -> Evaluate:
    operand, name = _compile(select.operand, model), select.name
    if isinstance(select.operand, Variable) and select.operand.name == "caller":
        return _of_caller(name)
    if select.through == "computed":
        computed = computed_of(select, model)
        if computed is not None and not needs_database(computed[1], (), model):
            return _computed(operand, *computed, model)
    itself = is_identifier(select, model) if model else _is_behind_reference(select)
    # Most are members of a root, which takes no call of its own.
    root = select.operand.name if isinstance(select.operand, Variable) else None

    def read(env: Env) -> Any:
        value = operand(env) if root is None else env.get(root)
        if isinstance(value, dict):
            return value.get(name)
        if value is not None and itself:
            return value  # a row that is known by its primary key only
        raise EvaluationError(f"there is nothing of which to read {name}")

    return read


def _is_behind_reference(select: Select) -> bool:
    """Whether what is read without the database is the primary key of the row that a reference names: all else of that
    row is the database's to read (`needs_database`)."""
    row = select.operand
    return isinstance(row, Select) and row.through == "field" and isinstance(row.type, Row)


def _of_caller(name: str) -> Evaluate:
    """A condition that reads `caller.x` does not hold for a caller without x."""

    def read(env: Env) -> Any:
        caller = env.get("caller")
        value = None if caller is None else caller.get(name)
        if value is None:
            raise EvaluationError(f"the caller has no {name}")
        return value

    return read


def _computed(operand: Evaluate, row: str, expression: Typed, model: Model) -> Evaluate:
    """A computed field in place. A boolean one is true or false; of another an error is no value."""
    if isinstance(expression.type, Boolean):
        evaluate: Evaluate = holds(expression, model)
    else:
        evaluate = _unless_it_fails(_compile(expression, model), lambda env: None)

    def read(env: Env) -> Any:
        value = operand(env)
        if not isinstance(value, dict):
            raise EvaluationError(f"the {row} is not loaded")
        return evaluate({**env, row: value})

    return read


# ── Calls ─────────────────────────────────────────────────────────────────────────────────────────────────


def _call(call: Call, model: Model) -> Evaluate:
    arguments = [counted(_compile(argument, model), argument) for argument in call.arguments]
    match call.function, arguments:
        case "&&", [left, right]:
            return _and(left, right)
        case "||", [left, right]:
            return _or(left, right)
        case "!", [operand]:
            return lambda env: not truth(operand(env))
        case "?:", [_, yes, no] if call.arguments[0] == Call("fails", [call.arguments[2]], call.arguments[0].type):
            return _unless_it_fails(no, yes)
        case "?:", [condition, yes, no]:
            return lambda env: yes(env) if truth(condition(env)) else no(env)
        case "==", [left, right]:
            if _is_plain(call.arguments):
                return lambda env: bool(left(env) == right(env))
            return lambda env: equal(left(env), right(env))
        case "!=", [left, right]:
            if _is_plain(call.arguments):
                return lambda env: bool(left(env) != right(env))
            return lambda env: not equal(left(env), right(env))
        case "in", [left, right]:
            return _in(left, right, _is_plain(call.arguments[:1]) and _of_plain(call.arguments[1]))
        case "[]", [left, right]:
            return _index(left, right)
        case "is true", _:
            return holds(call.arguments[0], model)
        case "has", _:
            return _has(call.arguments[0], model)
        case "narrow", [operand]:
            return _narrow(operand, call)
        case "fails", [operand]:
            return _fails(operand)
        case "names of", [operand]:
            return lambda env: sorted(needed(operand(env)))
        case "page.at", [before, at, after]:
            return lambda env: needed(before(env)) + escaped(str(needed(at(env)))) + needed(after(env))
        case "is of type", [operand, named]:
            return _is_of_type(operand, named, call.arguments[0].type)
        case "matches", [text, _] if isinstance(literal := call.arguments[1], Constant):
            look = pattern(str(literal.value))  # it is ready before anybody asks
            return lambda env: look(str(needed(text(env))))
    types = tuple(argument.type for argument in call.arguments)
    if chosen := choices(call.function, types):
        return by_its_value(chosen, *arguments)
    overload = resolve(call.function, types)
    if overload is None:
        raise ValueError(f"no function {call.function} for these types: the tree was not made by `check`")
    return _function(overload, arguments)


def _is_plain(arguments: list[Typed]) -> bool:
    """Whether Python's `==` is CEL's: for all types whose values do not hold others."""
    return not any(isinstance(argument.type, Array | Object | Anything) for argument in arguments)


def _of_plain(array: Typed) -> bool:
    return isinstance(array.type, Array) and not isinstance(array.type.items, Array | Object | Anything)


def _function(overload: Overload, arguments: list[Evaluate]) -> Evaluate:
    """A plain function of its arguments' values, none of which may be null."""
    apply = overload.python
    if not overload.pure and not arguments:
        return lambda env: apply(env.get(SOURCES, _SYSTEM))
    if not overload.pure:
        return lambda env: apply(env.get(SOURCES, _SYSTEM), *(needed(argument(env)) for argument in arguments))
    match arguments:
        case [one]:

            def unary(env: Env) -> Any:
                value = one(env)
                if value is None:
                    raise no_value()
                return apply(value)

            return unary
        case [one, two]:

            def binary(env: Env) -> Any:
                left, right = one(env), two(env)
                if left is None or right is None:
                    raise no_value()
                return apply(left, right)

            return binary
        case _:
            return lambda env: apply(*(needed(argument(env)) for argument in arguments))


def _and(left: Evaluate, right: Evaluate) -> Evaluate:
    def both(env: Env) -> bool:
        try:
            if not truth(left(env)):
                return False
        except EvaluationError:
            if not truth(right(env)):
                return False
            raise
        return truth(right(env))

    return both


def _or(left: Evaluate, right: Evaluate) -> Evaluate:
    def either(env: Env) -> bool:
        try:
            if truth(left(env)):
                return True
        except EvaluationError:
            if truth(right(env)):
                return True
            raise
        return truth(right(env))

    return either


def _in(left: Evaluate, right: Evaluate, plain: bool) -> Evaluate:
    def contained(env: Env) -> bool:
        value, container = left(env), needed(right(env))
        if plain:
            return value in container
        if isinstance(container, dict) and (value is None or isinstance(value, str)):
            return value in container
        if isinstance(container, list):
            return any(equal(value, item) for item in container)
        raise EvaluationError("neither an array nor an object with members of that name")

    return contained


def _index(left: Evaluate, right: Evaluate) -> Evaluate:
    def at(env: Env) -> Any:
        container, index = needed(left(env)), needed(right(env))
        if isinstance(container, list) and type(index) is int and 0 <= index < len(container):
            return container[index]
        if isinstance(container, dict) and isinstance(index, str):
            return container.get(index)
        raise EvaluationError(f"there is no item {index}")

    return at


def _has(argument: Typed, model: Model) -> Evaluate:
    if isinstance(argument, Select) and argument.operand == Variable("caller", argument.operand.type):
        name = argument.name
        return lambda env: (env.get("caller") or {}).get(name) is not None
    evaluate = _compile(argument, model)
    return lambda env: evaluate(env) is not None


def _narrow(operand: Evaluate, call: Call) -> Evaluate:
    wanted = required(call.type)
    read = json_reader(wanted) if not isinstance(wanted, Row) else None

    def narrow(env: Env) -> Any:
        value = operand(env)
        if value is None or read is None:
            return value
        try:
            return read(value)
        except Invalid as invalid:
            raise EvaluationError(invalid.message) from None

    return narrow


def _is_of_type(operand: Evaluate, named: Evaluate, type_: Type) -> Evaluate:
    known = cel_name(type_)

    def test(env: Env) -> bool:
        value, name = operand(env), named(env)
        if value is None:
            return bool(name == "null_type")
        found = CEL_NAMES.get(type(value)) if isinstance(type_, Anything) else known
        return bool(name == found)

    return test


def _unless_it_fails(operand: Evaluate, otherwise: Evaluate) -> Evaluate:
    def tried(env: Env) -> Any:
        try:
            return operand(env)
        except EvaluationError:
            return otherwise(env)

    return tried


def _fails(operand: Evaluate) -> Evaluate:
    def fails(env: Env) -> bool:
        try:
            operand(env)
        except EvaluationError:
            return True
        return False

    return fails
