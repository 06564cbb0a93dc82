"""Names that stand for expressions, and the expressions put in their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ninefold.expressions.ast import Ast, Invocation, Member, Name, Problem, every, height, with_parts
from ninefold.expressions.codes import NAME_TAKEN, TOO_LARGE
from ninefold.expressions.functions import MACROS
from ninefold.expressions.parse import DEEPEST

MOST_NODES: Final = 10_000
"""Parts of an expression in which every name is spelled out."""

_WITH_A_VARIABLE: Final = frozenset(MACROS) - {"has"}


def spelled_out(ast: Ast, meant: Mapping[str, Ast]) -> Ast | Problem:
    """The expression with what is `meant` in place of each such name. What is put there carries the place of the
    name. A problem where the whole would be too large or too deep, or where a variable has such a name."""
    used = names_of(ast, meant)
    if not used:
        return ast
    for node in every(ast):
        if isinstance(node, Invocation) and node.function in _WITH_A_VARIABLE and node.target is not None:
            variable = node.arguments[0] if node.arguments else None
            if isinstance(variable, Name) and variable.name in meant:
                message = f"`{variable.name}` is already the name of a term"
                return Problem(NAME_TAKEN, message, variable.start, variable.end)
    sizes = {node.name: sum(1 for _ in every(meant[node.name])) for node in used}
    if sum(sizes[node.name] for node in used) > MOST_NODES:
        message = f"with its terms spelled out, the expression has more than {MOST_NODES:,} parts"
        return Problem(TOO_LARGE, message, ast.start, ast.end)
    whole = _replaced(ast, meant)
    if height(whole) > DEEPEST:
        message = (
            f"with its terms spelled out, the parts of the expression stand more than {DEEPEST} deep in each other"
        )
        return Problem(TOO_LARGE, message, ast.start, ast.end)
    return whole


def names_of(ast: Ast, among: Mapping[str, object]) -> list[Name]:
    """The bare names of an expression that are among those."""
    return [node for node in every(ast) if isinstance(node, Name) and node.name in among]


def _replaced(ast: Ast, meant: Mapping[str, Ast]) -> Ast:
    if isinstance(ast, Name):
        return _at(meant[ast.name], ast.start, ast.end) if ast.name in meant else ast
    return with_parts(ast, lambda part: _replaced(part, meant))


def _at(ast: Ast, start: int, end: int) -> Ast:
    """The same expression, all of it at one place."""
    moved = with_parts(ast, lambda part: _at(part, start, end))
    if isinstance(moved, Member | Invocation):
        return replace(moved, name_start=start, start=start, end=end)
    return replace(moved, start=start, end=end)
