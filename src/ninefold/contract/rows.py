"""The rows that names and expressions mean, and expressions in which fields have other names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TypeAlias

from ninefold.contract.reach import SAME_ITEMS
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.expressions import ast
from ninefold.expressions.ast import Ast
from ninefold.language.expressions import Expression
from ninefold.language.fact import text_of, value_of

Rows: TypeAlias = Mapping[str, str]
"""Names of rows, each with its resource; `page.items` has that of a list."""

PAGE = "page.items"

KEEPING_ITEMS = ("filter", "sortBy", *SAME_ITEMS)
"""What an array is asked that gives items of its own."""


@dataclass(frozen=True)
class Graph:
    """Where the fields of resources lead, and the back-references to them."""

    fields: Mapping[str, Mapping[str, str | None]]
    inverse: Mapping[tuple[str, str], str]

    @cached_property
    def rows(self) -> Rows:
        """The names of resources, each of which means a row of its own."""
        return {name: name for name in self.fields}

    def row(self, node: Ast, rows: Rows) -> str | None:
        """The resource of the row that an expression is, or of the rows that it is a list of."""
        match node:
            case ast.Name(name):
                return rows.get(name)
            case ast.Member(operand=ast.Name(name="caller" | "before"), name=name):
                return name if name in self.fields else None
            case ast.Member(operand=ast.Name(name="page"), name="items"):
                return rows.get(PAGE)
            case ast.Member(operand=operand, name=name):
                row = self.row(operand, rows)
                return None if row is None else self.inverse.get((row, name)) or self.fields.get(row, {}).get(name)
            case ast.Invocation(function="all", target=None, arguments=(ast.Name(name),)):
                return name if name in self.fields else None
            case ast.Invocation(function=function, arguments=(*_, made)) if function in ast.MAKING_ARRAYS:
                return self.row(made, self.within(node, rows))
            case ast.Invocation(function=function, target=target) if target is not None and function in KEEPING_ITEMS:
                return self.row(target, rows)
            case ast.Conditional(yes=one, no=other) | ast.Binary(operator="+", left=one, right=other):
                return self.row(one, rows) or self.row(other, rows)
            case ast.ListLiteral(items=items):
                return next((found for each in items if (found := self.row(each, rows)) is not None), None)
            case _:
                return None

    def items(self, node: Ast, rows: Rows) -> str | None:
        """The same, where it is a list of them."""
        match node:
            case ast.Name() | ast.Invocation(function="first"):
                return None
            case ast.Member(operand=ast.Name(name="page"), name="items"):
                return rows.get(PAGE)
            case ast.Member(operand=operand, name=name):
                return self.inverse.get((self.row(operand, rows) or "", name))
            case _:
                return self.row(node, rows)

    def within(self, called: ast.Invocation, rows: Rows) -> Rows:
        """What names mean in what is asked of each item of a list."""
        variables = [each.name for each in ast.variables_of(called)]
        if called.target is None or not variables:
            return rows
        item = self.row(called.target, rows)
        others = {each: row for each, row in rows.items() if each not in variables}
        return others if item is None else {**others, variables[-1]: item}


def graph_of(contract: Contract) -> Graph:
    resources = value_of(contract.resources.resources) or ()
    fields: dict[str, dict[str, str | None]] = {each.name: {} for each in resources}
    inverse: dict[tuple[str, str], str] = {}
    for each in resources:
        for own in value_of(each.fields) or ():
            target, known_as = text_of(own.references), text_of(own.inverse)
            fields[each.name][own.name] = target
            if target is not None and known_as is not None:
                inverse[target, known_as] = each.name
    return Graph(fields, inverse)


@dataclass(frozen=True, slots=True)
class ReadAs:
    """`instead`: what is read in the place of a field."""

    graph: Graph
    instead: Mapping[tuple[str, str], str]

    def expression(self, expression: Expression, rows: Rows) -> Expression:
        return replace(expression, ast=self.ast(expression.ast, rows))

    def ast(self, node: Ast, rows: Rows) -> Ast:
        within = self.graph.within(node, rows) if isinstance(node, ast.Invocation) else rows
        target = node.target if isinstance(node, ast.Invocation) else None
        changed = ast.with_parts(node, lambda each: self.ast(each, rows if each is target else within))
        if isinstance(node, ast.Member) and isinstance(changed, ast.Member):
            row = self.graph.row(node.operand, rows)
            return replace(changed, name=self.instead.get((row or "", node.name), node.name))
        return changed
