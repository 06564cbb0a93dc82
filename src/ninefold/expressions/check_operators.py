"""Operators: both sides of one type, and null where a value may be absent."""

from __future__ import annotations

from typing import Final

from ninefold.expressions import codes
from ninefold.expressions.ast import (
    Ast,
    Binary,
    Conditional,
    Invocation,
    Name,
    Unary,
)
from ninefold.expressions.check_parts import TYPE_NAMES, Parts
from ninefold.expressions.functions import resolve
from ninefold.expressions.lower import as_value, narrowed, same_row
from ninefold.expressions.scope import describe, join
from ninefold.expressions.tree import (
    Call,
    Constant,
    Typed,
)
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Object,
    Row,
    Text,
    Type,
)

_ANY_ARRAY: Final = Array(items=Anything(nullable=True))


class Operators(Parts):
    """`!`, `&&`, `==`, `in`, `?:`, and those of the table of functions."""

    def _unary(self, ast: Unary, hint: Type | None) -> Typed | None:
        if ast.operator == "!":
            return self._logic("!", (ast.operand,))
        return self._operator(ast, "-", (ast.operand,), hint)

    def _logic(self, operator: str, asts: tuple[Ast, ...]) -> Typed | None:
        operands = [self._condition(operand, f"`{operator}`") for operand in asts]
        made = [operand for operand in operands if operand is not None]
        return Call(function=operator, arguments=made, type=Boolean()) if len(made) == len(asts) else None

    def _pair(self, left: Ast, right: Ast) -> tuple[Typed | None, Typed | None]:
        """Two operands of one type; the one that is known gives a type to the one that is not."""
        if self._is_open(left):
            second = self.typed(right)
            return self.typed(left, None if second is None else second.type) if second is not None else None, second
        first = self.typed(left)
        if first is None and self._is_open(right):
            return None, None
        return first, self.typed(right, None if first is None else first.type)

    def _type_test(self, ast: Binary) -> Typed | None:
        """`type(x) == list`: what a value is, by CEL's name."""
        for tested, named in ((ast.left, ast.right), (ast.right, ast.left)):
            if isinstance(tested, Invocation) and tested.function == "type" and tested.target is None:
                if len(tested.arguments) != 1 or not isinstance(named, Name) or named.name not in TYPE_NAMES:
                    self._no_type_test(tested)
                    return None
                value = self._value(self.typed(tested.arguments[0]), tested.arguments[0])
                if value is None:
                    return None
                name = Constant(value=named.name, type=Text())
                same = Call(function="is of type", arguments=[value, name], type=Boolean())
                return same if ast.operator == "==" else Call(function="!", arguments=[same], type=Boolean())
        return None

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
        named = self._names(ast.left, left, right.type) or self._names(ast.right, right, left.type)
        if join(left.type, right.type) is None and not named:
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

    def _names(self, ast: Ast, value: Typed, row: Type) -> bool:
        """Whether this is an inferred variable that holds the identifier of such a row: `film.director == value`."""
        if not isinstance(row, Row) or not isinstance(ast, Name) or ast.name not in self.inferred:
            return False
        shape = self.scope.model.get(row.resource)
        return (
            ast.name not in self._locals
            and shape is not None
            and shape.identifier_type is not None
            and join(value.type, shape.identifier_type) is not None
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
            join(left.type, wanted) is not None or self._names(ast.left, left, wanted)
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

    def _conditional(self, ast: Conditional, hint: Type | None) -> Typed | None:
        condition = self._condition(ast.condition, "`?:`")
        yes = self.typed(ast.yes, hint)
        no = self.typed(ast.no, hint or (None if yes is None else yes.type))
        if condition is None or yes is None or no is None:
            return None
        type_ = join(yes.type, no.type)
        if type_ is None:
            self._problem(
                codes.WRONG_OPERANDS,
                f"one side of `?:` is {describe(yes.type)}, the other {describe(no.type)}",
                ast.no,
                self._conversion(ast.no, no.type, yes.type),
                f"this is {describe(no.type)}",
            )
            return None
        first, second = self._value(yes, ast.yes), self._value(no, ast.no)
        if first is None or second is None:
            return None
        return Call(function="?:", arguments=[condition, first, second], type=type_)

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
        found = resolve(operator, types)
        if found is None or all(isinstance(type_, Anything) for type_ in types):
            self._mismatch(ast, operator, asts, tuple(made))
            return None
        return self._call(found, made, asts)
