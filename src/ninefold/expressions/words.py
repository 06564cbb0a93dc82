"""A typed expression as a contract would write it (CEL)."""

from __future__ import annotations

from typing import assert_never

import msgspec

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
)

_OPERATORS = ("||", "&&", "==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%")


def words(typed: Typed) -> str:
    """An expression in one line. Operators inside operators stand in parentheses, whether CEL needs them or not."""
    match typed:
        case Constant(value=value):
            return msgspec.json.encode(value).decode()
        case Variable(name=name):
            return name
        case Select(operand=operand, name=name):
            return f"{_inner(operand)}.{name}"
        case All(resource=resource):
            return f"all({resource})"
        case Call(function="?:", arguments=[condition, yes, no]):
            return f"{_inner(condition)} ? {_inner(yes)} : {_inner(no)}"
        case Call(function="[]", arguments=[operand, index]):
            return f"{_inner(operand)}[{words(index)}]"
        case Call(function=function, arguments=[left, right]) if function in _OPERATORS:
            return f"{_inner(left)} {function} {_inner(right)}"
        case Call(function="!" | "-" as function, arguments=[operand]):
            return f"{function}{_inner(operand)}"
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(map(words, arguments))})"
        case Comprehension(macro=macro, range=range_, variable=variable, body=body, condition=condition):
            inside = [variable, *([words(condition)] if condition is not None else []), words(body)]
            return f"{_inner(range_)}.{macro}({', '.join(inside)})"
        case MakeArray(items=items):
            return f"[{', '.join(map(words, items))}]"
        case MakeObject(members=members):
            return "{" + ", ".join(f"{name}: {words(value)}" for name, value in members) + "}"
        case _:
            assert_never(typed)


def _inner(typed: Typed) -> str:
    text = words(typed)
    return f"({text})" if isinstance(typed, Call) and (typed.function in _OPERATORS or typed.function == "?:") else text


def with_inner_quotes(text: str) -> str:
    """A text as an expression in YAML: `Not found` becomes `"'Not found'"`."""
    return f"\"'{text}'\"" if "'" not in text else f"'\"{text.replace(chr(39), chr(39) * 2)}\"'"
