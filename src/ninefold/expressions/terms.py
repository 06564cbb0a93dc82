"""Names that stand for expressions, with parameters or without: what they mean is put where they are used.

A parameter is bound to its argument: what a term means is put in place as a tree, and a variable of a macro in it that
has the name of something that an argument reads, or that a macro around it has taken, is given another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.diagnostics.codes import NAME_TAKEN, NEW_EACH_TIME_BOUND, TOO_LARGE, WRONG_ARGUMENTS
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.expressions.ast import (
    DEEPEST,
    Ast,
    Invocation,
    Member,
    Name,
    Problem,
    every,
    height,
    parts,
    variables_of,
    with_parts,
)
from ninefold.expressions.functions import NEW_EACH_TIME

MOST_NODES: Final = 10_000
"""Parts of an expression in which every name is spelled out."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a term stands for, with other terms spelled out. Of one without parameters there are none."""

    parameters: tuple[str, ...]
    ast: Ast

    def written(self, name: str) -> str:
        return f"{name}({', '.join(self.parameters)})" if self.parameters else name


def terms_read(ast: Ast, among: Mapping[str, object]) -> dict[str, Name]:
    """The terms among those that an expression reads or calls, each with the place where it first does."""
    found: dict[str, Name] = {}
    for node in every(ast):
        if isinstance(node, Name) and node.name in among:
            found.setdefault(node.name, node)
        elif isinstance(node, Invocation) and node.target is None and node.function in among:
            found.setdefault(node.function, Name(node.function, node.name_start, node.name_end))
    return found


def spelled_out(ast: Ast, meant: Mapping[str, Meaning]) -> Ast | Problem:
    """The expression with what is `meant` in place of each such name or call. What is put there carries the place of
    the name, and arguments their own. A problem where the whole would be too large or too deep, where a variable has
    such a name, or where a term is not given what it takes."""
    if not terms_read(ast, meant):
        return ast
    try:
        whole = _Spelling(meant).out(ast, frozenset())
    except _Wrong as wrong:
        return wrong.problem
    if sum(1 for _ in every(whole)) > MOST_NODES:
        return _too_large(ast)
    if height(whole) > DEEPEST:
        message = (
            f"with its terms spelled out, the parts of the expression stand more than {DEEPEST} deep in each other"
        )
        return Problem(TOO_LARGE, message, ast.start, ast.end)
    return whole


def _too_large(ast: Ast) -> Problem:
    message = f"with its terms spelled out, the expression has more than {MOST_NODES:,} parts"
    return Problem(TOO_LARGE, message, ast.start, ast.end)


class _Wrong(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem: Final = problem


class _Spelling:
    """One expression. `made` counts the parts that are put in place, so that terms of terms cost no more than the
    largest expression does."""

    def __init__(self, meant: Mapping[str, Meaning]) -> None:
        self.meant = meant
        self.made = 0

    def out(self, ast: Ast, around: frozenset[str]) -> Ast:
        """`around` are the variables of the macros that it stands in."""
        match ast:
            case Name(name=name) if name in self.meant:
                return self.used(name, (), ast, around)
            case Invocation(function=name, target=None, arguments=arguments) if name in self.meant:
                place = Name(name, ast.name_start, ast.name_end)
                meaning = self.meant[name]
                if not meaning.parameters:
                    what = f"`{name}` is a term without parameters"
                    raise _Wrong(Problem(WRONG_ARGUMENTS, what, place.start, place.end, (f"write `{name}`",)))
                given = tuple(self.out(each, around) for each in arguments)
                return self.used(name, given, replace(place, start=ast.start, end=ast.end), around)
        variables = variables_of(ast)
        for variable in variables:
            if variable.name in self.meant:
                message = f"`{variable.name}` is already the name of a term"
                raise _Wrong(Problem(NAME_TAKEN, message, variable.start, variable.end))
        inner = around | {each.name for each in variables}
        return with_parts(ast, lambda part: part if part in variables else self.out(part, inner))

    def used(self, name: str, given: tuple[Ast, ...], at: Name, around: frozenset[str]) -> Ast:
        """What a term means, its parameters bound to what is given."""
        meaning = self.meant[name]
        if len(given) != len(meaning.parameters):
            several = "one value" if len(meaning.parameters) == 1 else f"{len(meaning.parameters)} values"
            message = f"the term `{name}` takes {several}, and is given {len(given) or 'none'}"
            help = (f"it is written `{meaning.written(name)}`",)
            raise _Wrong(Problem(WRONG_ARGUMENTS, message, at.start, at.end, help))
        bound = dict(zip(meaning.parameters, given, strict=True))
        sizes = {parameter: sum(1 for _ in every(each)) for parameter, each in bound.items()}
        self.made += sum(sizes.get(node.name, 1) if isinstance(node, Name) else 1 for node in every(meaning.ast))
        if self.made > 2 * MOST_NODES:
            raise _Wrong(_too_large(at))
        for parameter, each in bound.items():
            new = next((node for node in every(each) if is_new_each_time(node)), None)
            if new is not None and _times(meaning.ast, parameter) > 1:
                message = f"`{parameter}` of `{name}` is read more than once, and this is new each time"
                raise _Wrong(Problem(NEW_EACH_TIME_BOUND, message, new.start, new.end))
        read = frozenset(node.name for each in given for node in every(each) if isinstance(node, Name))
        return _bound(meaning.ast, bound, around | read, at)


def is_new_each_time(node: Ast) -> bool:
    """Whether it calls a function of which each call gives another value."""
    return isinstance(node, Invocation) and node.target is None and node.function in NEW_EACH_TIME


def is_another_each_time(ast: Ast) -> bool:
    """Whether what an expression gives is new each time: it reads the time, or calls such a function."""
    return any((isinstance(node, Name) and node.name == "now") or is_new_each_time(node) for node in every(ast))


def _times(ast: Ast, parameter: str) -> int:
    """How often a parameter is read, at least: what a macro does for each item counts as twice."""
    if isinstance(ast, Name):
        return int(ast.name == parameter)
    variables = variables_of(ast)
    if variables and isinstance(ast, Invocation) and ast.target is not None:
        return _times(ast.target, parameter) + 2 * sum(_times(each, parameter) for each in ast.arguments)
    return sum(_times(part, parameter) for part in parts(ast))


def _bound(ast: Ast, given: Mapping[str, Ast], taken: frozenset[str], at: Name) -> Ast:
    """What a term means, all of it at one place, with what is given in place of each such name, and with variables
    that have no name of those that are taken."""
    if isinstance(ast, Name) and ast.name in given:
        return given[ast.name]
    variables = variables_of(ast)
    if variables:
        renamed = {each.name: _other(each.name, taken) for each in variables if each.name in taken}
        taken = taken | {renamed.get(each.name, each.name) for each in variables}
        if renamed:
            names: dict[str, Ast] = {old: Name(new, at.start, at.end) for old, new in renamed.items()}
            assert isinstance(ast, Invocation) and ast.target is not None
            target = _bound(ast.target, given, taken, at)
            inner = {**given, **names}
            arguments = tuple(_bound(each, inner, taken, at) for each in ast.arguments)
            return replace(ast, target=target, arguments=arguments, name_start=at.start, start=at.start, end=at.end)
    whole_resource = isinstance(ast, Invocation) and ast.function == "all" and ast.target is None
    bound = {} if whole_resource else given
    moved = with_parts(ast, lambda part: _bound(part, bound, taken, at))
    if isinstance(moved, Member | Invocation):
        return replace(moved, name_start=at.start, start=at.start, end=at.end)
    return replace(moved, start=at.start, end=at.end)


def _other(name: str, taken: frozenset[str]) -> str:
    """A name that nobody can write, and that is not taken."""
    while name in taken:
        name += "'"
    return name
