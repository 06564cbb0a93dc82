"""Ways to be wrong: what a tired programmer would write in the place of what stands in a module.

Each operator looks at one node of a syntax tree and gives what may stand there instead; nothing here knows what the
module is for. Annotations and docstrings are no program, and are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

Operator: TypeAlias = Callable[[ast.AST], Iterator[ast.AST]]

_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def compared_otherwise(node: ast.AST) -> Iterator[ast.AST]:
    """`==` for `!=`, `<` for `<=`, `in` for `not in`, `is` for `is not`, and the other way round."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        yield ast.Compare(node.left, [_COMPARED[type(node.ops[0])](), *node.ops[1:]], node.comparators)


def joined_otherwise(node: ast.AST) -> Iterator[ast.AST]:
    """`and` for `or`, and the other way round."""
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def an_operand_forgotten(node: ast.AST) -> Iterator[ast.AST]:
    """One of what `and` or `or` join is missing."""
    if isinstance(node, ast.BoolOp):
        for index in range(len(node.values)):
            rest = node.values[:index] + node.values[index + 1 :]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def a_negation_forgotten(node: ast.AST) -> Iterator[ast.AST]:
    """`x` for `not x`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand


def a_condition_turned(node: ast.AST) -> Iterator[ast.AST]:
    """`if not x` for `if x`, as a statement and as an expression."""
    if isinstance(node, ast.If):
        yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)


def a_guard_forgotten(node: ast.AST) -> Iterator[ast.AST]:
    """An `if` without `else` whose body is never reached."""
    if isinstance(node, ast.If) and not node.orelse:
        yield ast.If(ast.Constant(False), node.body, [])


def a_filter_forgotten(node: ast.AST) -> Iterator[ast.AST]:
    """A comprehension that takes all there is."""
    if isinstance(node, ast.comprehension) and node.ifs:
        yield ast.comprehension(node.target, node.iter, [], node.is_async)


def a_constant_changed(node: ast.AST) -> Iterator[ast.AST]:
    """`True` for `False` and the other way round, and an integer that is one more."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)


def an_item_forgotten(node: ast.AST) -> Iterator[ast.AST]:
    """One item fewer of a tuple, list or set that is written out."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 1 and _is_read(node):
        for index in range(len(node.elts)):
            rest = node.elts[:index] + node.elts[index + 1 :]
            yield ast.Set(rest) if isinstance(node, ast.Set) else type(node)(rest, ast.Load())


def a_step_forgotten(node: ast.AST) -> Iterator[ast.AST]:
    """A call or a `yield` whose value nobody takes, and which does not happen."""
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        # What yields nothing is still a generator.
        yield ast.If(ast.Constant(False), [node], [])


def _is_read(node: ast.Tuple | ast.List | ast.Set) -> bool:
    return isinstance(node, ast.Set) or isinstance(node.ctx, ast.Load)


OPERATORS: Final[tuple[Operator, ...]] = (
    compared_otherwise,
    joined_otherwise,
    an_operand_forgotten,
    a_negation_forgotten,
    a_condition_turned,
    a_guard_forgotten,
    a_filter_forgotten,
    a_constant_changed,
    an_item_forgotten,
    a_step_forgotten,
)


@dataclass(frozen=True)
class Defect:
    """A defect of a module: which node of its tree (in the order of `ast.walk`), which operator, and which of what the
    operator gives."""

    module: str
    node: int
    operator: str
    which: int


def defects(module: str, tree: ast.Module) -> Iterator[Defect]:
    """Every defect that the operators know, of a module."""
    idle = _no_program(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in idle:
            for operator in OPERATORS:
                for which, _ in enumerate(operator(node)):
                    yield Defect(module, number, operator.__name__, which)


def told(tree: ast.Module, defect: Defect) -> str:
    """Where a defect is, what stands there, and what it becomes, on one line."""
    found, other = _found(tree, defect)
    line = next((each.lineno for each in ast.walk(found) if hasattr(each, "lineno")), 0)
    return f"{defect.module}:{line}: {defect.operator.replace('_', ' ')}: {_text(found)}  =>  {_text(other)}"


def planted(tree: ast.Module, defect: Defect) -> ast.Module:
    """The module with the defect in it."""
    found, other = _found(tree, defect)
    if not isinstance(other, ast.comprehension):
        ast.copy_location(other, found)

    class Planting(ast.NodeTransformer):
        done = False

        def visit(self, node: ast.AST) -> ast.AST:
            # What stands there instead may hold the node itself.
            if node is found and not self.done:
                self.done = True
                return other
            return self.generic_visit(node)

    Planting().visit(tree)
    return ast.fix_missing_locations(tree)


def _found(tree: ast.Module, defect: Defect) -> tuple[ast.AST, ast.AST]:
    found = next(node for number, node in enumerate(ast.walk(tree)) if number == defect.node)
    (operator,) = (each for each in OPERATORS if each.__name__ == defect.operator)
    return found, list(operator(found))[defect.which]


def _no_program(tree: ast.Module) -> set[int]:
    """Annotations, the arguments of types, and what stands at the top of a module but is not run."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.AnnAssign | ast.arg):
            parts.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts.append(node.returns)
        elif isinstance(node, ast.Subscript):
            parts.append(node.slice if isinstance(node.slice, ast.Tuple) else None)
        elif isinstance(node, ast.Assign) and "__all__" in ast.unparse(node.targets[0]):
            parts.append(node.value)
        for part in parts:
            found |= {id(each) for each in ast.walk(part)} if part is not None else set()
    return found


def _text(node: ast.AST) -> str:
    first, _, more = ast.unparse(node).strip().partition("\n")
    return first[:80] + (" …" if more or len(first) > 80 else "")
