"""Operators: both sides of one type, and null where a value may be absent."""

from __future__ import annotations

from typing import Final

from ninefold.expressions.ast import Ast, Binary, Held, Invocation, Name, Unary
from ninefold.expressions.check_conditions import Conditions
from ninefold.expressions.choices import meant
from ninefold.expressions.rows import as_value, narrowed, same_row
from ninefold.expressions.scope import join, stored_as
from ninefold.expressions.tree import Call, Typed
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Duration,
    Object,
    Row,
    Text,
    Type,
)

_ANY_ARRAY: Final = Array(items=Anything(nullable=True))


class Operators(Conditions):
    """`!`, `&&`, `==`, `in`, `?:`, and those of the table of functions."""

    def _unary(self, ast: Unary, hint: Type | None) -> Typed | None:
        if ast.operator == "!":
            return self._logic("!", (ast.operand,))
        return self._operator(ast, "-", (ast.operand,), hint)

    def _pair(self, left: Ast, right: Ast) -> tuple[Typed | None, Typed | None]:
        """Two operands of one type; the one that is known gives a type to the one that is not."""
        if self._is_open(left):
            second = self.typed(right)
            return self.typed(left, None if second is None else second.type) if second is not None else None, second
        first = self.typed(left)
        if first is None and self._is_open(right):
            return None, None
        return first, self.typed(right, None if first is None else first.type)

    def _equality(self, ast: Binary) -> Typed | None:
        if any(
            isinstance(side, Invocation) and side.function == "type" and side.target is None
            for side in (ast.left, ast.right)
        ):
            return self._type_test(ast)
        left, right = self._pair(ast.left, ast.right)
        if left is None or right is None:
            return None
        same = same_row(left, right, self.scope.model)
        if same is not None:
            return same if ast.operator == "==" else Call(function="!", arguments=[same], type=Boolean())
        named = self._names(ast.left, left.type, right.type) or self._names(ast.right, right.type, left.type)
        named |= isinstance(ast, Held) and join(stored_as(left.type, self.scope.model), right.type) is not None
        if (join(left.type, right.type) is None and not named) or _is_never(left.type, right.type):
            self._mismatch(ast, ast.operator, (ast.left, ast.right), (left, right))
            return None
        first = self._value(self._compared(left, right.type), ast.left)
        second = self._value(self._compared(right, left.type), ast.right)
        if first is None or second is None:
            return None
        return Call(function=ast.operator, arguments=[first, second], type=Boolean())

    def _compared(self, typed: Typed, other: Type) -> Typed:
        """A value of any type as one of that which it is compared with: an array or an object of whatever it holds."""
        match other:
            case Array() if isinstance(typed.type, Anything):
                return narrowed(typed, _ANY_ARRAY)
            case Object() if isinstance(typed.type, Anything):
                return narrowed(typed, Object())
            case _:
                return self._narrowed(typed, other)

    def _names(self, ast: Ast, type_: Type, row: Type) -> bool:
        """Whether this is an inferred variable that holds the primary key of such a row, of this type, or several:
        `film.director == value`, `film.director in value`."""
        if not isinstance(row, Row) or not isinstance(ast, Name) or ast.name not in self.inferred:
            return False
        shape = self.scope.model.get(row.resource)
        return (
            ast.name not in self._locals
            and shape is not None
            and shape.identifier_type is not None
            and join(type_, shape.identifier_type) is not None
        )

    def _membership(self, ast: Binary) -> Typed | None:
        if isinstance(ast.left, Invocation) and ast.left.function == "type" and ast.left.target is None:
            self._no_type_test(ast.left)
            return None
        if self._is_open(ast.right):
            sought = self.typed(ast.left)
            items = None if sought is None else as_value(sought, self.scope.model).type
            right = None if items is None else self.typed(ast.right, Array(items=items))
        else:
            right = self.typed(ast.right)
        if right is None:
            return None
        wanted: Type = Text()
        if isinstance(right.type, Array | Anything):
            wanted = right.type.items if isinstance(right.type, Array) else Anything(nullable=True)
        left = self.typed(ast.left, wanted)
        if left is None:
            return None
        if isinstance(right.type, Anything) and not isinstance(left.type, Text | Anything):
            right = narrowed(right, _ANY_ARRAY)  # only a text can be the name of a member
        suits = isinstance(right.type, Array | Object | Anything) and (
            (join(left.type, wanted) is not None and not _is_never(left.type, wanted))
            or self._names(ast.left, left.type, wanted)
            or self._names(ast.right, wanted, left.type)
        )
        if not suits:
            help: tuple[str, ...] = ()
            if isinstance(right.type, Text):
                help = ("a part of a text is found by `text.contains(part)`",)
            self._mismatch(ast, "in", (ast.left, ast.right), (left, right), help)
            return None
        value = self._value(self._compared(left, wanted), ast.left)
        container = self._value(right, ast.right)
        if value is None or container is None:
            return None
        return Call(function="in", arguments=[value, container], type=Boolean())

    def _operator(self, ast: Ast, operator: str, asts: tuple[Ast, ...], hint: Type | None) -> Typed | None:
        if len(asts) == 2:
            if all(map(self._is_open, asts)):
                operands = [self.typed(operand, hint) for operand in asts]
            else:
                operands = list(self._pair(*asts))
        else:
            operands = [self.typed(asts[0], hint)]
        made = [operand for operand in operands if operand is not None]
        if len(made) < len(asts):
            return None
        types = tuple(operand.type for operand in made)
        found = meant(operator, types)
        if len(found) != 1 or all(isinstance(type_, Anything) for type_ in types):
            self._mismatch(ast, operator, asts, tuple(made))
            return None
        return self._call(found[0], made, asts)


def _is_never(left: Type, right: Type) -> bool:
    """Whether one is a value of JSON, and the other of a type that none is of."""
    return {type(left), type(right)} == {Anything, Duration}
