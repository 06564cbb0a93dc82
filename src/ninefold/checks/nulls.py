"""Where `null` is shown in a template: a member says `null`, or `nullable(e)`, or the schema of its field admits it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Final

import msgspec

from ninefold.checked.contents import Array as ArrayOf
from ninefold.checked.contents import Content, Leaf, Rows
from ninefold.checked.contents import Object as ObjectOf
from ninefold.checked.resources import Resource
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.ast import (
    MAKING_ARRAYS,
    Ast,
    Conditional,
    Invocation,
    ListLiteral,
    Literal,
    MapLiteral,
    variables_of,
)
from ninefold.expressions.reads import may_fail
from ninefold.expressions.scope import join
from ninefold.expressions.tree import Call, Comprehension, Constant, MakeArray, MakeObject, Select, Typed
from ninefold.values import Anything, Array, Object, Row, Type, optional

MAKING: Final = (*MAKING_ARRAYS, "transformMap")


def marked(ast: Ast) -> Ast | None:
    """What stands in `nullable(…)`; None: it is something else."""
    match ast:
        case Invocation(function=function, target=None, arguments=(inner,)) if function == "nullable":
            return inner
        case _:
            return None


def says_null(ast: Ast) -> bool:
    """Whether a member of a template says that null is shown."""
    return marked(ast) is not None or (isinstance(ast, Literal) and ast.value is None)


def makes_of_each(ast: Invocation) -> bool:
    """Whether a call is a macro that makes something of each item, by its last argument."""
    return ast.function in MAKING and bool(variables_of(ast))


def unmarked(ast: Ast) -> Ast:
    """An expression that makes objects of values, without the `nullable` of their members."""
    match ast:
        case MapLiteral(entries=entries):
            return replace(ast, entries=tuple((name, unmarked(marked(value) or value)) for name, value in entries))
        case ListLiteral(items=items):
            return replace(ast, items=tuple(map(unmarked, items)))
        case Invocation(arguments=(*others, body)) if makes_of_each(ast):
            return replace(ast, arguments=(*others, unmarked(body)))
        case Conditional(yes=yes, no=no):
            return replace(ast, yes=unmarked(yes), no=unmarked(no))
        case _:
            return ast


def with_nulls(typed: Typed, ast: Ast) -> Typed:
    """What such an expression shows: also the members that say null where they have no value."""
    match typed, ast:
        case MakeObject(members=members), MapLiteral(entries=entries):
            written = [marked(value) or value for _, value in entries]
            made = [(name, with_nulls(value, each)) for (name, value), each in zip(members, written, strict=True)]
            nulls = [name for (name, _), (_, value) in zip(members, entries, strict=True) if says_null(value)]
            types = {name: optional(value.type) if name in nulls else value.type for name, value in made}
            return MakeObject(made, Object(members=types), tuple(nulls))
        case MakeArray(items=items), ListLiteral(items=written_items):
            several = [with_nulls(item, each) for item, each in zip(items, written_items, strict=True)]
            return msgspec.structs.replace(typed, items=several, type=Array(items=_of_all(several)))
        case Comprehension(macro=macro), Invocation(arguments=(*_, body)) if makes_of_each(ast):
            shown = with_nulls(typed.body, body)
            types = {"map": Array(items=shown.type), "flatMap": shown.type}
            return msgspec.structs.replace(typed, body=shown, type=types.get(macro, typed.type))
        case Call(function="?:", arguments=[asked, one, other]), Conditional(yes=yes, no=no):
            one, other = with_nulls(one, yes), with_nulls(other, no)
            return msgspec.structs.replace(typed, arguments=[asked, one, other], type=_of_all([one, other]))
        case _:
            return typed


def _of_all(several: list[Typed]) -> Type:
    """The type that each of them is of."""
    return reduce(lambda type_, each: join(type_, each) or Anything(nullable=True), (each.type for each in several))


def is_always_there(content: Content) -> bool:
    """Whether a content has a value whatever the request and the rows are."""
    match content:
        case Leaf(expression=expression):
            return not expression.type.nullable and not may_fail(expression)
        case ObjectOf(present=present):
            return present is None
        case _:
            return isinstance(content, ArrayOf | Rows)


def is_null(found: Typed) -> bool:
    return isinstance(found, Constant) and found.value is None


def null_shown(found: Typed, resources: Mapping[str, Resource]) -> bool:
    """Whether null is shown where there is no value, though no `nullable` says so: the schema admits it, that of a
    field, or the template says `null`; anything else has no schema."""
    match found:
        case Select(operand=operand, name=name) if isinstance(operand.type, Row):
            field = resources[operand.type.resource].fields.get(name)
            return field is not None and field.null_shown
        case _:
            return is_null(found)
