"""Conditions: `&&`, `||`, `?:`, and `type(x) == string`, by which more is known of a value of any type."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ninefold.diagnostics import codes
from ninefold.expressions.ast import Ast, Binary, Conditional, Invocation, Name
from ninefold.expressions.check_parts import TYPE_NAMES, Parts
from ninefold.expressions.choices import told_by
from ninefold.expressions.scope import describe, join
from ninefold.expressions.tree import Call, Constant, Typed
from ninefold.values import Boolean, Text, Type


class Conditions(Parts):
    """What decides, and what is asked of a type."""

    def _logic(self, operator: str, asts: tuple[Ast, ...]) -> Typed | None:
        """What one side says of a value of any type is known on the other, where that one decides."""
        made: list[Typed] = []
        for ast in asts:
            with self._knowing(made, operator == "&&"):
                operand = self._condition(ast, f"`{operator}`")
            if operand is not None:
                made.append(operand)
        return Call(function=operator, arguments=made, type=Boolean()) if len(made) == len(asts) else None

    @contextmanager
    def _knowing(self, conditions: list[Typed], hold: bool) -> Iterator[None]:
        """What is typed meanwhile counts only where these conditions hold, or where they do not."""
        before = len(self._told)
        self._told.extend(each for condition in conditions for each in told_by(condition, hold))
        try:
            yield
        finally:
            del self._told[before:]

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

    def _conditional(self, ast: Conditional, hint: Type | None) -> Typed | None:
        condition = self._condition(ast.condition, "`?:`")
        known = [] if condition is None else [condition]
        with self._knowing(known, True):
            yes = self.typed(ast.yes, hint)
        with self._knowing(known, False):
            no = self.typed(ast.no, hint or (None if yes is None else yes.type))
        if condition is None or yes is None or no is None:
            return None
        type_ = join(yes.type, no.type)
        if type_ is None:
            self._problem(
                codes.WRONG_OPERANDS,
                f"one side of `?:` is {describe(yes.type)}, the other {describe(no.type)}",
                ast.no,
                self._conversion(ast.no, no, yes.type),
                f"this is {describe(no.type)}",
            )
            return None
        first, second = self._value(yes, ast.yes), self._value(no, ast.no)
        if first is None or second is None:
            return None
        return Call(function="?:", arguments=[condition, first, second], type=type_)
