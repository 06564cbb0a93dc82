"""What every part of a check shares.

`None` for a typed part means that its problem is already told, so that one cause gives one problem. A `hint` is
the type that a part's surroundings ask of it: it gives a type to `value` and to `[]`, and changes nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

from ninefold.diagnostics import codes
from ninefold.diagnostics.diagnostic import Code
from ninefold.expressions.ast import Ast, Invocation, Literal, Name, Problem
from ninefold.expressions.choices import TYPES, as_told
from ninefold.expressions.functions import Overload
from ninefold.expressions.rows import as_value, is_reference, narrowed
from ninefold.expressions.scope import INFERRED, Scope, describe, fits
from ninefold.expressions.tree import Call, Select, Typed
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Digest,
    Duration,
    Integer,
    Null,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    required,
)

TYPE_NAMES: Final = (*TYPES, "null_type")
"""CEL's names of the types of JSON, which `type(x)` is compared with."""


class Parts(ABC):
    """The state of one check: problems found, types inferred, and the variables of enclosing macros."""

    @abstractmethod
    def typed(self, ast: Ast, hint: Type | None = None) -> Typed | None:
        """A part of the expression with its type."""

    def __init__(self, scope: Scope):
        self.scope: Final = scope
        self.problems: Final[list[Problem]] = []
        self.inferred: Final[dict[str, Type]] = {}
        self.places: Final[dict[int, tuple[int, int]]] = {}
        self._locals: Final[dict[str, Type]] = {}
        self._kept: Final[list[Typed]] = []
        self._told: Final[list[tuple[Typed, Type]]] = []
        """Values of any type of which conditions around this place have asked the type."""
        self._hyphens: Final[set[int]] = set()
        """Where a hyphen stands that is part of a name, and was read as a minus."""

    def _problem(self, code: Code, message: str, ast: Ast, help: Iterable[str] = (), label: str = "") -> None:
        self.problems.append(Problem(code, message, ast.start, ast.end, tuple(help), label))

    def _view(self, name: str, of: str | None = None, applied: Ast | None = None) -> tuple[str, tuple[str, ...]] | None:
        """What to say of a name that is a view, of one resource or any, where an expression reads it. `applied`: what
        it is applied to."""
        model = self.scope.model
        among = [each for each in model.values() if of is None or each.name == of]
        owner = next((each.name for each in among if name in each.views), None)
        if owner is None and (of is not None or name not in model):
            return None
        what = f"`{name}(…)` shows rows of `{name}`" if owner is None else f"`{name}` is a view of `{owner}`"
        to = applied.name if isinstance(applied, Name) else "…"
        shown = f"a response, a view or a payload shows it, as a whole or as a member: `{name}({to})`"
        return f"{what}, and no value", (shown, "a value is read of the row itself")

    def _placed(self, typed: Typed, ast: Ast) -> Typed:
        # Kept, so that no later node has the `id` of one that is gone.
        self._kept.append(typed)
        self.places.setdefault(id(typed), (ast.start, ast.end))
        return typed

    def _inferrable(self, hint: Type | None) -> Type | None:
        """The type that a hint gives to an inferred variable: a row's is that of its primary key, by itself and in an
        array of rows."""
        if isinstance(hint, Array) and isinstance(hint.items, Row):
            items = self._inferrable(hint.items)
            return None if items is None else Array(items=items)
        if isinstance(hint, Row):
            shape = self.scope.model.get(hint.resource)
            hint = None if shape is None else shape.identifier_type
        if hint is None or isinstance(hint, Anything | Null | Duration | Digest):
            return None
        return required(hint)

    def _is_open(self, ast: Ast) -> bool:
        """Whether this is a variable whose type is still to be inferred."""
        return (
            isinstance(ast, Name)
            and ast.name not in self._locals
            and self.scope.variables.get(ast.name) is INFERRED
            and ast.name not in self.inferred
        )

    def _value(self, typed: Typed | None, ast: Ast) -> Typed | None:
        """A row as its primary key; a problem if that is several fields."""
        if typed is None:
            return None
        value = as_value(typed, self.scope.model)
        of = value.type.items if isinstance(value.type, Array) else value.type
        if value is typed and isinstance(of, Row) and not (isinstance(typed.type, Row) and is_reference(typed)):
            shape = self.scope.model.get(of.resource)
            if shape is not None:
                need_not = "which row is meant need not be said"
                help = "compare the fields one by one" if shape.primary_key else need_not
                self._problem(codes.NOT_A_VALUE, shape.is_no_value, ast, (help,))
                return None
        return self._placed(value, ast)

    def _narrowed(self, typed: Typed, wanted: Type) -> Typed:
        """A value of any type as one of another; one that is compared with rows, as a primary key."""
        if isinstance(wanted, Array | Object):
            return typed
        return narrowed(typed, (self._inferrable(wanted) or wanted) if isinstance(wanted, Row) else wanted)

    def _as_told(self, typed: Typed) -> Typed:
        """A value of any type as one of the type that conditions around this place have found."""
        told = as_told(typed, self._told) if isinstance(typed.type, Anything) else None
        return typed if told is None else narrowed(typed, told)

    def _condition(self, ast: Ast, who: str) -> Typed | None:
        typed = self.typed(ast, Boolean())
        if typed is None:
            return None
        if not fits(typed.type, Boolean()):
            self._problem(
                codes.WRONG_OPERANDS,
                f"{who} asks a predicate, and this is {describe(typed.type)}",
                ast,
                label=f"this is {describe(typed.type)}",
            )
            return None
        return self._placed(narrowed(typed, Boolean()), ast)

    def _call(self, overload: Overload, arguments: list[Typed], asts: tuple[Ast, ...]) -> Typed:
        given = [
            self._placed(narrowed(argument, wanted), ast)
            for argument, wanted, ast in zip(arguments, overload.parameters, asts, strict=True)
        ]
        return Call(
            function=overload.name,
            arguments=given,
            type=overload.gives(tuple(argument.type for argument in given)),
        )

    def _mismatch(
        self, ast: Ast, operator: str, asts: tuple[Ast, ...], operands: tuple[Typed, ...], help: tuple[str, ...] = ()
    ) -> None:
        types = [operand.type for operand in operands]
        if len(types) == 2 and not help:
            one, other = operands
            help = self._left_out(other, one.type) or self._left_out(one, other.type)
            help = help or (self._row_beside(types) if operator in ("==", "!=") else ())
            help = help or self._conversion(asts[1], other, one.type) or self._conversion(asts[0], one, other.type)
        if not help and operator in ("*", "/") and any(isinstance(type_, Duration) for type_ in types):
            help = ("durations are added, and not multiplied: `timestamp(int(x) + n * 60)` is n minutes after x",)
        if not help and any(isinstance(type_, Anything) for type_ in types):
            help = ("say of which type it is: `int(x)`, `double(x)`, `string(x)`, `bool(x)`",)
            if any(isinstance(type_, Timestamp | Duration) for type_ in types):
                help = ("say of which type it is: `timestamp(x)`, `duration(x)`",)
        self._problem(
            codes.WRONG_OPERANDS,
            f"`{operator}` does not take {' and '.join(map(describe, types))}",
            ast,
            help,
            " and ".join(map(describe, types)),
        )

    def _no_type_test(self, ast: Invocation) -> None:
        self._problem(
            codes.NO_SUCH_FUNCTION,
            "`type(x)` is no value: it is compared with one of CEL's types by name",
            Name(ast.function, ast.name_start, ast.name_end),
            ("write `type(x) == list`, or `!=`; the types are " + ", ".join(f"`{name}`" for name in TYPE_NAMES),),
            "not compared with a type",
        )

    def _left_out(self, part: Typed, wanted: Type) -> tuple[str, ...]:
        """Where the primary key of a row is given, and the row itself is wanted."""
        of = part.operand.type if isinstance(part, Select) else None
        if not isinstance(part, Select) or not isinstance(wanted, Row) or not isinstance(of, Row):
            return ()
        shape = self.scope.model.get(wanted.resource)
        if of.resource != wanted.resource or shape is None or shape.primary_key != (part.name,):
            return ()
        return (f"a row itself stands here: leave out `.{part.name}`",)

    def _conversion(self, ast: Ast, part: Typed, wanted: Type) -> tuple[str, ...]:
        """How a part of one type would be written as another, if there is a way."""
        given, literal = part.type, ast.value if isinstance(ast, Literal) else None
        match given, wanted:
            case Integer(), Number():
                return (
                    (f"write `{literal}.0`",) if literal is not None else ("`double(x)` makes a number of an integer",)
                )
            case Number(), Integer():
                return ("`int(x)` makes an integer of a number", "`double(x)` makes a number of an integer")
            case Text(), Timestamp() if isinstance(literal, str):
                return (f"write `timestamp('{literal}')`",)
            case Text(), Timestamp():
                return ("`timestamp(x)` makes a date-time of a string",)
            case Text(), Duration() if isinstance(literal, str):
                return (f"write `duration('{literal}')`",)
            case ((Integer() | Number() | Boolean() | Timestamp() | Duration()), Text()):
                return ("`string(x)` makes a string of it",)
            case Text(), Digest() if isinstance(part, Call) and part.function == "token":
                return ("`on create: token()` makes it, and `on change: {FIELD: token()}` anew where FIELD changes",)
            case Text(), Integer() if literal is None:
                return ("`int(x)` makes an integer of a string",)
            case Array(), Boolean():
                return ("`size(x) > 0` asks whether there are any",)
            case Boolean(), Row(resource=resource):
                return (f"a row itself stands here, such as `caller.{resource}`, and no predicate that holds of it",)
            case _, Row(resource=resource):
                if left_out := self._left_out(part, wanted):
                    return left_out
                shape = self.scope.model.get(resource)
                if shape is not None and shape.identifier_type is not None and fits(given, shape.identifier_type):
                    found = f"all({resource}).filter(x, x.{shape.primary_key[0]} == …).first()"
                    return (f"a row itself stands here: `{found}` is the one of a primary key",)
        return ()

    def _row_beside(self, types: list[Type]) -> tuple[str, ...]:
        """How a row is compared with something else that may say which row is meant."""
        resources = [each.resource for each in types if isinstance(each, Row)]
        shape = self.scope.model.get(resources[0]) if len(resources) == 1 else None
        if shape is None or len(shape.primary_key) != 1:
            return ()
        return (f"compare the rows themselves, or the primary key on both sides: `.{shape.primary_key[0]}`",)
