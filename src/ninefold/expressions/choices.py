"""Which meaning of a name is meant where its argument is of any type: that of the value, once it is there.

Of a function of one argument, an argument of any type stays as it is, and its value chooses. What has two arguments is
chosen by the other one, and a value of any type is taken for what the meaning asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ninefold.expressions.functions import Overload, overloads
from ninefold.expressions.operations import Env, Evaluate, EvaluationError, needed
from ninefold.expressions.scope import fits
from ninefold.expressions.tree import Call, Constant, Typed
from ninefold.values import Anything, Array, Boolean, Integer, Number, Object, Text, Type

TYPES: Final[Mapping[str, Type]] = {
    "bool": Boolean(), "int": Integer(), "double": Number(), "string": Text(),
    "list": Array(items=Anything(nullable=True)), "map": Object(),
}  # fmt: skip
"""What a value of JSON is, by CEL's names of its types."""

CEL_NAMES: Final = {bool: "bool", int: "int", float: "double", str: "string", list: "list", dict: "map"}
"""The same names, by the types of such values in Python."""


def choices(name: str, arguments: tuple[Type, ...]) -> Mapping[str, Overload]:
    """The meanings of which the value chooses, by CEL's name of its type; a value of another type is an error. Empty
    where the types of the arguments say which is meant."""
    if len(arguments) != 1 or not isinstance(arguments[0], Anything):
        return {}
    found: dict[str, Overload] = {}
    for kind, type_ in TYPES.items():
        suited = [each for each in overloads(name) if len(each.parameters) == 1 and fits(type_, each.parameters[0])]
        if suited:
            found[kind] = suited[0]
    return found if len({each.id for each in found.values()}) > 1 else {}


def meant(name: str, arguments: tuple[Type, ...]) -> tuple[Overload, ...]:
    """All meanings that a name may have for arguments of these types: several where a value is to choose, or where
    nothing says which it is."""
    chosen = choices(name, arguments)
    suited = {
        each.id: each
        for each in (chosen.values() if chosen else overloads(name))
        if len(each.parameters) == len(arguments) and all(map(fits, arguments, each.parameters))
    }
    return tuple(suited.values())


def one_of(types: Iterable[Type]) -> Type:
    """The type of what is of one of these."""
    first, *others = types
    return first if all(each == first for each in others) else Anything(nullable=True)


def told_by(condition: Typed, holds: bool = True) -> Iterator[tuple[Typed, Type]]:
    """What is known of values of any type where a condition holds, or where it does not: `type(x) == string`."""
    match condition:
        case Call(function="is of type", arguments=[value, Constant(value=str() as name)]) if holds and name in TYPES:
            yield value, TYPES[name]
        case Call(function="!", arguments=[operand]):
            yield from told_by(operand, not holds)
        case Call(function="&&" | "||" as operator, arguments=both) if holds == (operator == "&&"):
            for each in both:
                yield from told_by(each, holds)


def as_told(value: Typed, told: Iterable[tuple[Typed, Type]]) -> Type | None:
    """Of which type a value of any type is, as far as it has been asked."""
    return next((type_ for asked, type_ in told if asked == value), None)


def by_its_value(chosen: Mapping[str, Overload], argument: Evaluate) -> Evaluate:
    """The meaning that a value of any type chooses."""
    meanings = {kind: chosen[name].python for kind, name in CEL_NAMES.items() if name in chosen}

    def choose(env: Env) -> Any:
        value = needed(argument(env))
        meaning = meanings.get(type(value))
        if meaning is None:
            raise EvaluationError("of a type that it does not take")
        return meaning(value)

    return choose
