"""What may have been meant by a name that is not known: told from the names that are, and from what is needed there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.ast import Invocation
from ninefold.expressions.forms import MACROS, OF_TEMPLATES
from ninefold.expressions.functions import TABLE, Overload
from ninefold.expressions.rows import BEFORE
from ninefold.expressions.scope import Inferred, Scope, describe, fits
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.values import Anything, Object, Row, Text, Type, required

_WORDS_ELSEWHERE: Final = {"True": "true", "False": "false", "None": "null", "NULL": "null", "nil": "null"}

_FUNCTIONS_ELSEWHERE: Final = {
    "len": "size",
    "length": "size",
    "count": "size",
    "any": "exists",
    "some": "exists",
    "every": "all",
    "includes": "contains",
    "lower": "lowerAscii",
    "toLowerCase": "lowerAscii",
    "upper": "upperAscii",
    "toUpperCase": "upperAscii",
    "strip": "trim",
    "str": "string",
    "float": "double",
    "number": "double",
    "integer": "int",
    "unique": "distinct",
}

OF_MEMBERS: Final = {
    "request": (
        "where there is a request, what its endpoint declares can be read: `request.path.NAME`, `request.query.NAME`, "
        "`request.headers.NAME`, and `request.body.NAME` where the body is a shared type",
    ),
    "issued": ("`issued.NAME` is a `secret: token` that the request makes, such as by `on create: token()`",),
}
"""What can be read of something that is known at some places alone."""

_HELP: Final = {
    **OF_MEMBERS,
    BEFORE: (
        "responses, headers and effects of what changes a row, checks of `put` and of resources, and events know it as "
        "it was; other checks, `sets` and `on change` read it so by its own name",
    ),
}

_MOST: Final = 4
"""Values that are told where nothing is near."""


def of_a_name(
    name: str, scope: Scope, own: Mapping[str, Type], needed: Type | None, member: str | None, view: tuple[str, ...]
) -> tuple[str, ...]:
    """`own`: the variables of macros. `needed`: the type of what is to stand there. `member`: what is read of it.
    `view`: what is said where it is a view."""
    if name in _WORDS_ELSEWHERE:
        return (f"write `{_WORDS_ELSEWHERE[name]}`",)
    given = next((each for each, type_ in scope.variables.items() if isinstance(type_, Inferred)), None)
    may_be_text = needed is None or isinstance(needed, Text | Anything)
    text = (f"text stands in quotes: `'{name}'`",) if member is None and may_be_text else ()
    if given is not None:
        text = (*text, f"what the request gives is `{given}`")
    if rows := [row for row, type_ in (*scope.variables.items(), *own.items()) if _has(type_, name, scope)]:
        return (f"the field of a row is read behind its name: `{rows[0]}.{name}`", *text)
    objects = [
        each
        for each, type_ in scope.variables.items()
        if isinstance(type_, Object) and each != BEFORE and name in (type_.members or ())
    ]
    return (
        tuple(f"it is read behind its name: `{each}.{name}`" for each in objects[:1])
        or view
        or _HELP.get(name, ())
        or scope.rows_of(name)
        or did_you_mean(name, (*own, *scope.variables))
        or _function(name, scope)
        or _row_that_has(member, scope, own)
        or (text if may_be_text else values_of(scope, needed))
    )


def of_a_function(ast: Invocation, scope: Scope, needed: Type | None) -> tuple[str, ...]:
    """`needed`: the type of what is to stand there."""
    name, alone = ast.function, ast.target is None and not ast.arguments
    if alone and name in scope.variables:
        return (f"it is a value, and no function: write `{name}`",)
    if name in _FUNCTIONS_ELSEWHERE:
        return (f"did you mean `{_FUNCTIONS_ELSEWHERE[name]}`?",)
    near = did_you_mean(name, (*(one.name for one in TABLE if one.style != "operator"), *MACROS, *OF_TEMPLATES))
    return near or (values_of(scope, needed) if alone else ())


def of_an_object(typed: Typed, needed: Type) -> tuple[str, ...]:
    """Where it stands instead of one of its members."""
    if not (isinstance(typed, Variable) and isinstance(typed.type, Object)):
        return ()
    found = [name for name, type_ in (typed.type.members or {}).items() if _is(type_, needed)]
    return tuple(f"did you mean `{typed.name}.{name}`?" for name in found[:1])


def of_a_body(operand: Typed, name: str, scope: Scope) -> tuple[str, ...]:
    """Of `request.body`, whose members that are fields are read as these."""
    match operand:
        case Select(operand=Variable(name="request"), name="body"):
            rows = [
                row for row, type_ in scope.variables.items() if isinstance(type_, Row) and _has(type_, name, scope)
            ]
            return tuple(f"what the body gives to a field is read as the field: `{row}.{name}`" for row in rows[:1])
        case _:
            return ()


def of_a_member(operand: Type, name: str) -> tuple[str, ...]:
    """Of what has no members: a function of it."""
    names = (name, _FUNCTIONS_ELSEWHERE.get(name))
    found = next(
        (each for each in TABLE if each.style == "method" and _takes(each, operand) and each.name in names), None
    )
    return () if found is None else (f"it is a function: write `.{_call(found, 1)}`",)


def values_of(scope: Scope, needed: Type | None) -> tuple[str, ...]:
    """What can be read there of the type that is needed; else, which that is."""
    if needed is None or isinstance(needed, Anything):
        return ()
    kind, found = describe(needed), list(_of_type(scope, needed))[:_MOST]
    if not found:
        return (f"{kind} is needed here",)
    listed = ", ".join(f"`{each}`" for each in found)
    return (f"of what can be read here, {listed} {'is' if len(found) == 1 else 'are each'} {kind}",)


def _of_type(scope: Scope, needed: Type) -> Iterator[str]:
    for name, type_ in scope.variables.items():
        if name == BEFORE or isinstance(type_, Inferred):
            continue
        if _is(type_, needed):
            yield name
        elif isinstance(type_, Object):
            yield from (f"{name}.{each}" for each, of in (type_.members or {}).items() if _is(of, needed))
    for each in TABLE:
        if not each.parameters and not callable(each.result) and _is(each.result, needed) and scope.serial:
            yield _call(each)


def _is(given: Type, needed: Type) -> bool:
    return not isinstance(given, Anything) and fits(required(given), required(needed))


def _has(type_: Type | Inferred, field: str, scope: Scope) -> bool:
    return isinstance(type_, Row) and field in getattr(scope.model.get(type_.resource), "fields", ())


def _row_that_has(member: str | None, scope: Scope, own: Mapping[str, Type]) -> tuple[str, ...]:
    if member is None:
        return ()
    rows = [row for row, type_ in (*own.items(), *scope.variables.items()) if _has(type_, member, scope)]
    return tuple(f"did you mean `{row}.{member}`?" for row in rows[:1])


def _function(name: str, scope: Scope) -> tuple[str, ...]:
    found = next((each for each in TABLE if each.style == "function" and each.name == name), None)
    if found is None or (found.made == "by counting" and not scope.serial):
        return ()
    return (f"it is a function: write `{_call(found)}`",)


def _takes(function: Overload, type_: Type) -> bool:
    return bool(function.parameters) and _is(type_, function.parameters[0])


def _call(function: Overload, known: int = 0) -> str:
    return f"{function.name}({', '.join('…' for _ in function.parameters[known:])})"
