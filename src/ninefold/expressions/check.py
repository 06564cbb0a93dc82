"""Tree to typed tree: every name resolved, every operator given its one meaning, every problem found.

`None` for a part means that its problem is already told, so that one cause gives one problem. A `hint` is the
type that a part's surroundings ask of it: it gives a type to `value` and to `[]`, and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ninefold.diagnostics.diagnostic import Code
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions import codes
from ninefold.expressions.ast import (
    Ast,
    Binary,
    Conditional,
    Index,
    Invocation,
    ListLiteral,
    Literal,
    MapLiteral,
    Member,
    Name,
    Problem,
    Unary,
)
from ninefold.expressions.functions import LONGEST_RANDOM, MACROS, TABLE, Overload, overloads, pattern, resolve
from ninefold.expressions.lower import array_of, as_value, identifier_through, is_reference, narrowed
from ninefold.expressions.parse import DEEPEST
from ninefold.expressions.reads import height, needs_database
from ninefold.expressions.scope import INFERRED, Scope, describe, fits, join
from ninefold.expressions.tree import (
    All,
    Call,
    Comprehension,
    Constant,
    MakeObject,
    Select,
    Typed,
    Variable,
)
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Digest,
    Duration,
    Integer,
    Invalid,
    Null,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    duration,
    optional,
    required,
    timestamp,
)

Places: TypeAlias = Mapping[int, tuple[int, int]]
"""Where a node of a typed tree is written, by the node's `id`; for as long as the tree is kept."""

_COMPREHENSIONS: Final = frozenset(("exists", "exists_one", "all", "filter", "map", "flatMap"))
_SCALARS: Final = (Boolean, Integer, Number, Text, Timestamp, Duration)
_ELSEWHERE: Final = {
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
_WORDS_ELSEWHERE: Final = {"True": "true", "False": "false", "None": "null", "NULL": "null", "nil": "null"}


@dataclass(frozen=True, slots=True)
class Checking:
    """`typed` is there if there are no problems. `inferred` holds the types given to inferred variables."""

    typed: Typed | None
    problems: tuple[Problem, ...] = ()
    inferred: Mapping[str, Type] = field(default_factory=dict)
    places: Places = field(default_factory=dict)


def check(ast: Ast, scope: Scope, expected: Type | None = None) -> Checking:
    """Type an expression. With an expected type, a row becomes its identifier, and a value of any type is
    looked at when it is there; without one, the result may be a row (`profile(article.author)`)."""
    checker = _Checker(scope)
    typed = checker.whole(ast, expected)
    if checker.problems:
        return Checking(None, tuple(checker.problems), checker.inferred, checker.places)
    return Checking(typed, (), checker.inferred, checker.places)


class _Checker:
    """The state of one check: problems found, types inferred, and the variables of enclosing macros."""

    def __init__(self, scope: Scope):
        self.scope: Final = scope
        self.problems: Final[list[Problem]] = []
        self.inferred: Final[dict[str, Type]] = {}
        self.places: Final[dict[int, tuple[int, int]]] = {}
        self._locals: Final[dict[str, Type]] = {}

    def _problem(self, code: Code, message: str, ast: Ast, help: Iterable[str] = (), label: str = "") -> None:
        self.problems.append(Problem(code, message, ast.start, ast.end, tuple(help), label))

    # ── The whole ─────────────────────────────────────────────────────────────────────────────────────────

    def whole(self, ast: Ast, expected: Type | None) -> Typed | None:
        if isinstance(ast, Invocation) and ast.function == "serial" and self.scope.serial and not ast.arguments:
            typed: Typed | None = self._placed(Call(function="serial", arguments=[], type=Integer()), ast)
        else:
            typed = self.typed(ast, expected)
        if typed is None:
            return None
        if height(typed, self.scope.model) > 2 * DEEPEST:
            self._problem(codes.TOO_LARGE, "with the computed fields that it reads, the expression is too deep", ast)
            return None
        if expected is not None:
            if not fits(typed.type, expected):
                self._problem(
                    codes.WRONG_TYPE,
                    f"the expression is {describe(typed.type)}, and {describe(expected)} is needed here",
                    ast,
                    self._conversion(ast, typed.type, expected),
                    f"this is {describe(typed.type)}",
                )
                return None
            typed = self._value(self._narrowed(typed, expected), ast)
        if typed is not None and self.scope.request_only and needs_database(typed, (), self.scope.model):
            self._problem(codes.NEEDS_DATABASE, "this reads rows before the database is asked", ast)
            return None
        return typed

    def typed(self, ast: Ast, hint: Type | None = None) -> Typed | None:
        made = self._typed(ast, hint)
        return None if made is None else self._placed(made, ast)

    def _placed(self, typed: Typed, ast: Ast) -> Typed:
        self.places.setdefault(id(typed), (ast.start, ast.end))
        return typed

    def _typed(self, ast: Ast, hint: Type | None) -> Typed | None:
        match ast:
            case Literal():
                return self._literal(ast)
            case Name():
                return self._name(ast, hint)
            case Member():
                return self._member(ast)
            case Index():
                return self._index(ast)
            case Invocation():
                return self._invocation(ast)
            case ListLiteral():
                return self._list(ast, hint)
            case MapLiteral():
                return self._map(ast)
            case Unary():
                return self._unary(ast, hint)
            case Binary(operator="&&" | "||"):
                return self._logic(ast.operator, (ast.left, ast.right))
            case Binary(operator="==" | "!="):
                return self._equality(ast)
            case Binary(operator="in"):
                return self._membership(ast)
            case Binary():
                return self._operator(ast, ast.operator, (ast.left, ast.right), hint)
            case Conditional():
                return self._conditional(ast, hint)

    # ── Names and members ─────────────────────────────────────────────────────────────────────────────────

    def _literal(self, ast: Literal) -> Typed:
        kind: Type
        match ast.value:
            case None:
                kind = Null(nullable=True)
            case bool():
                kind = Boolean()
            case int():
                kind = Integer()
            case float():
                kind = Number()
            case str():
                kind = Text()
        return Constant(value=ast.value, type=kind)

    def _name(self, ast: Name, hint: Type | None) -> Typed | None:
        known = self._locals.get(ast.name) or self.scope.variables.get(ast.name)
        if known is None:
            self._unknown_name(ast)
            return None
        if known is not INFERRED:
            return Variable(name=ast.name, type=known)
        given = self._inferrable(hint)
        settled = self.inferred.get(ast.name)
        if settled is None and given is None:
            self._problem(
                codes.NO_ONE_TYPE,
                f"the type of `{ast.name}` cannot be told from this expression",
                ast,
                (f"compare it with a field, or convert it: `int({ast.name})`",) if hint is None else (),
            )
            return None
        if settled is not None and given is not None and not fits(settled, given):
            self._problem(
                codes.NO_ONE_TYPE,
                f"`{ast.name}` is used as {describe(settled)} and as {describe(given)}",
                ast,
                label=f"{describe(given)} here",
            )
            return None
        type_ = settled or given
        assert type_ is not None
        self.inferred[ast.name] = type_
        return Variable(name=ast.name, type=type_)

    def _inferrable(self, hint: Type | None) -> Type | None:
        """The type that a hint gives to an inferred variable: a row's is that of its identifier."""
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

    def _unknown_name(self, ast: Name) -> None:
        if ast.name in _WORDS_ELSEWHERE:
            help: tuple[str, ...] = (f"write `{_WORDS_ELSEWHERE[ast.name]}`",)
        else:
            help = did_you_mean(ast.name, (*self._locals, *self.scope.variables))
            if not help:
                help = (f"text stands in quotes: `'{ast.name}'`",)
        self._problem(codes.NO_SUCH_NAME, f"`{ast.name}` is not a name that can be read here", ast, help, "not known")

    def _member(self, ast: Member) -> Typed | None:
        operand = self.typed(ast.operand)
        if operand is None:
            return None
        name = Name(ast.name, ast.name_start, ast.end)
        return self._select(operand, ast.name, name, ast.operand)

    def _select(self, operand: Typed, name: str, at: Ast, operand_ast: Ast) -> Typed | None:
        match operand.type:
            case Row(resource=resource):
                return self._field(operand, resource, name, at)
            case Object(members=members) if members and name not in members:
                what = f"`{operand_ast.name}`" if isinstance(operand_ast, Name) else "the object"
                self._problem(
                    codes.NO_SUCH_FIELD,
                    f"{what} has no member `{name}`",
                    at,
                    did_you_mean(name, members),
                    "not a member",
                )
                return None
            case Object(members=members):
                member = members.get(name, Anything(nullable=True))
                if isinstance(member, Digest):
                    self._problem(codes.SECRET, f"`{name}` is a secret", at, label="cannot be read")
                    return None
                return Select(operand=operand, name=name, type=member)
            case Anything():
                return Select(operand=operand, name=name, type=Anything(nullable=True))
            case Array():
                help: tuple[str, ...] = (f"to read it of each item: `.map(x, x.{name})`",)
            case _:
                help = ()
        self._problem(codes.NO_SUCH_FIELD, f"{describe(operand.type)} has no field `{name}`", at, help, "not a field")
        return None

    def _field(self, operand: Typed, resource: str, name: str, at: Ast) -> Typed | None:
        shape = self.scope.model.get(resource)
        if shape is None:
            return Select(operand=operand, name=name, type=Anything(nullable=True))
        if name in shape.back:
            rows = Array(items=Row(resource=shape.back[name][0]))
            return Select(operand=operand, name=name, type=rows, through="back")
        if name not in shape.fields:
            self._problem(
                codes.NO_SUCH_FIELD,
                f"resource `{resource}` has no field `{name}`",
                at,
                did_you_mean(name, (*shape.fields, *shape.back)),
                "not a field",
            )
            return None
        type_ = shape.fields[name]
        if isinstance(type_, Digest):
            self._problem(codes.SECRET, f"`{resource}.{name}` is a secret", at, label="cannot be read")
            return None
        if name in shape.computed or name in shape.computed_fields:
            return Select(operand=operand, name=name, type=type_, through="computed")
        return identifier_through(operand, name, self.scope.model) or Select(
            operand=operand, name=name, type=type_, through="field"
        )

    def _index(self, ast: Index) -> Typed | None:
        operand, index = self.typed(ast.operand), self.typed(ast.index)
        if operand is None or index is None:
            return None
        if isinstance(index, Constant) and isinstance(index.value, str) and not isinstance(operand.type, Array):
            return self._select(operand, index.value, ast.index, ast.operand)
        match operand.type:
            case Array(items=items) if fits(index.type, Integer()):
                return Call(function="[]", arguments=[operand, narrowed(index, Integer())], type=items)
            case Object() | Anything() if fits(index.type, Text()):
                return Call(function="[]", arguments=[operand, narrowed(index, Text())], type=Anything(nullable=True))
        self._problem(
            codes.WRONG_OPERANDS,
            f"`[]` does not take {describe(operand.type)} and {describe(index.type)}",
            ast,
            ("an array is read by position: `a[0]`",) if isinstance(operand.type, Array) else (),
        )
        return None

    # ── Literals of several parts ─────────────────────────────────────────────────────────────────────────

    def _list(self, ast: ListLiteral, hint: Type | None) -> Typed | None:
        wanted = hint.items if isinstance(hint, Array) else None
        items = [self._value(self.typed(item, wanted), item) for item in ast.items]
        made = [item for item in items if item is not None]
        if len(made) < len(items):
            return None
        type_: Type | None = None
        for item in made:
            type_ = item.type if type_ is None else (join(type_, item.type) or Anything(nullable=True))
        if type_ is None:
            type_ = wanted or Anything()
        return array_of(made, Array(items=type_))

    def _map(self, ast: MapLiteral) -> Typed | None:
        members: list[tuple[str, Typed]] = []
        good = True
        for key, value in ast.entries:
            typed = self._value(self.typed(value), value)
            if not (isinstance(key, Literal) and isinstance(key.value, str)):
                help = (f"write `'{key.name}'`",) if isinstance(key, Name) else ()
                self._problem(codes.WRONG_OPERANDS, "the name of a member is a text in quotes", key, help)
                good = False
            elif key.value in dict(members):
                self._problem(codes.NAME_TAKEN, f"the member `{key.value}` is given twice", key)
                good = False
            elif typed is not None:
                members.append((key.value, typed))
            good = good and typed is not None
        if not good:
            return None
        return MakeObject(members=members, type=Object(members={name: member.type for name, member in members}))

    def _value(self, typed: Typed | None, ast: Ast) -> Typed | None:
        """A row as its identifier; a problem if that is several fields."""
        if typed is None:
            return None
        value = as_value(typed, self.scope.model)
        of = value.type.items if isinstance(value.type, Array) else value.type
        if value is typed and isinstance(of, Row) and not (isinstance(typed.type, Row) and is_reference(typed)):
            shape = self.scope.model.get(of.resource)
            if shape is not None:
                self._problem(
                    codes.NOT_A_VALUE,
                    f"a row of `{of.resource}` is no value: its identifier is {_listed(shape.identifier)}",
                    ast,
                    ("compare the fields one by one",),
                )
                return None
        return self._placed(value, ast)

    def _narrowed(self, typed: Typed, wanted: Type) -> Typed:
        """A value of any type as one of another; one that is compared with rows, as an identifier."""
        if isinstance(wanted, Array | Object):
            return typed
        return narrowed(typed, (self._inferrable(wanted) or wanted) if isinstance(wanted, Row) else wanted)

    # ── Operators ─────────────────────────────────────────────────────────────────────────────────────────

    def _unary(self, ast: Unary, hint: Type | None) -> Typed | None:
        if ast.operator == "!":
            return self._logic("!", (ast.operand,))
        return self._operator(ast, "-", (ast.operand,), hint)

    def _logic(self, operator: str, asts: tuple[Ast, ...]) -> Typed | None:
        operands = [self._condition(operand, f"`{operator}`") for operand in asts]
        made = [operand for operand in operands if operand is not None]
        return Call(function=operator, arguments=made, type=Boolean()) if len(made) == len(asts) else None

    def _condition(self, ast: Ast, who: str) -> Typed | None:
        typed = self.typed(ast, Boolean())
        if typed is None:
            return None
        if not fits(typed.type, Boolean()):
            self._problem(
                codes.WRONG_OPERANDS,
                f"{who} asks a condition, and this is {describe(typed.type)}",
                ast,
                label=f"this is {describe(typed.type)}",
            )
            return None
        return self._placed(narrowed(typed, Boolean()), ast)

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
        left, right = self._pair(ast.left, ast.right)
        if left is None or right is None:
            return None
        if join(left.type, right.type) is None:
            self._mismatch(ast, ast.operator, (ast.left, ast.right), (left, right))
            return None
        first = self._value(self._narrowed(left, right.type), ast.left)
        second = self._value(self._narrowed(right, left.type), ast.right)
        if first is None or second is None:
            return None
        return Call(function=ast.operator, arguments=[first, second], type=Boolean())

    def _membership(self, ast: Binary) -> Typed | None:
        right = self.typed(ast.right)
        if right is None:
            return None
        if isinstance(right.type, Anything):
            right = narrowed(right, Array(items=Anything(nullable=True)))
        items = right.type.items if isinstance(right.type, Array) else Text()
        left = self.typed(ast.left, items)
        if left is None:
            return None
        suits = isinstance(right.type, Array | Object) and join(left.type, items) is not None
        if not suits:
            help: tuple[str, ...] = ()
            if isinstance(right.type, Text):
                help = ("a part of a text is found by `text.contains(part)`",)
            self._mismatch(ast, "in", (ast.left, ast.right), (left, right), help)
            return None
        value = self._value(self._narrowed(left, items), ast.left)
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
            help = self._conversion(asts[1], types[1], types[0]) or self._conversion(asts[0], types[0], types[1])
        if not help and any(isinstance(type_, Anything) for type_ in types):
            help = ("say of which type it is: `int(x)`, `double(x)`, `string(x)`, `bool(x)`",)
        self._problem(
            codes.WRONG_OPERANDS,
            f"`{operator}` does not take {' and '.join(map(describe, types))}",
            ast,
            help,
            " and ".join(map(describe, types)),
        )

    def _conversion(self, ast: Ast, given: Type, wanted: Type) -> tuple[str, ...]:
        """How a part of one type would be written as another, if there is a way."""
        literal = ast.value if isinstance(ast, Literal) else None
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
            case Text(), Integer():
                return ("`int(x)` makes an integer of a string",)
            case Array(), Boolean():
                return ("`size(x) > 0` asks whether there are any",)
            case _, Row(resource=resource):
                shape = self.scope.model.get(resource)
                if shape is not None and len(shape.identifier) == 1 and not isinstance(given, Row):
                    return (f"compare the identifier: `.{shape.identifier[0]}`",)
        return ()

    # ── Functions ─────────────────────────────────────────────────────────────────────────────────────────

    def _invocation(self, ast: Invocation) -> Typed | None:
        name, target, arguments = ast.function, ast.target, ast.arguments
        if target is not None and name in _COMPREHENSIONS:
            return self._comprehension(ast, target)
        if target is None and name == "has":
            return self._has(ast)
        if target is None and name == "all":
            return self._all(ast)
        if target is None and name in ("timestamp", "duration") and len(arguments) == 1:
            literal = arguments[0]
            if isinstance(literal, Literal) and isinstance(literal.value, str):
                return self._time(name, literal)
        if name == "serial" and target is None:
            place = "stands alone" if self.scope.serial else "belongs to `on create`"
            self._problem(codes.SERIAL, f"`serial()` {place}", ast)
            return None
        found = overloads(name)
        if not found or any(one.style == "operator" for one in found):
            self._unknown_function(ast)
            return None
        style = "function" if target is None else "method"
        suited = [one for one in found if one.style == style]
        asts = arguments if target is None else (target, *arguments)
        if not suited:
            rest = ", ".join("…" for _ in asts[1:])
            right = f"{name}({', '.join('…' for _ in asts)})" if target is not None else f"….{name}({rest})"
            self._problem(
                codes.WRONG_ARGUMENTS,
                f"`{name}` stands {'before its arguments' if target is not None else 'after a dot'}",
                Name(name, ast.name_start, ast.name_end),
                (f"write `{right}`",),
            )
            return None
        return self._apply(ast, suited, asts)

    def _unknown_function(self, ast: Invocation) -> None:
        name = ast.function
        if name in _ELSEWHERE:
            help: tuple[str, ...] = (f"did you mean `{_ELSEWHERE[name]}`?",)
        else:
            help = did_you_mean(name, (*(one.name for one in TABLE if one.style != "operator"), *MACROS))
        self._problem(
            codes.NO_SUCH_FUNCTION,
            f"there is no function `{name}`",
            Name(name, ast.name_start, ast.name_end),
            help,
            "not a function",
        )

    def _apply(self, ast: Invocation, suited: list[Overload], asts: tuple[Ast, ...]) -> Typed | None:
        typed: list[Typed | None] = [None if self._is_open(one) else self.typed(one) for one in asts]
        if any(made is None and not self._is_open(one) for made, one in zip(typed, asts, strict=True)):
            return None
        for index, one in enumerate(asts):
            if typed[index] is None:
                typed[index] = self.typed(one, self._parameter(suited, typed, index))
        made = [one for one in typed if one is not None]
        if len(made) < len(asts):
            return None
        types = tuple(one.type for one in made)
        found = resolve(ast.function, types)
        if found is None:
            self._wrong_arguments(ast, suited, types)
            return None
        if not self._acceptable(ast, found, made, asts):
            return None
        return self._call(found, made, asts)

    def _parameter(self, suited: list[Overload], typed: list[Typed | None], index: int) -> Type | None:
        """The one type that the overloads which the other arguments leave over ask of an argument."""
        wanted = {
            type(one.parameters[index]): one.parameters[index]
            for one in suited
            if len(one.parameters) == len(typed)
            and all(made is None or fits(made.type, of) for made, of in zip(typed, one.parameters, strict=True))
        }
        return next(iter(wanted.values())) if len(wanted) == 1 else None

    def _wrong_arguments(self, ast: Invocation, suited: list[Overload], types: tuple[Type, ...]) -> None:
        given = " and ".join(map(describe, types)) if types else "nothing"
        takes = " or ".join(dict.fromkeys(" and ".join(map(describe, one.parameters)) or "nothing" for one in suited))
        self._problem(
            codes.WRONG_ARGUMENTS, f"`{ast.function}` takes {takes}, and is given {given}", ast, label=f"given {given}"
        )

    def _acceptable(self, ast: Invocation, found: Overload, made: list[Typed], asts: tuple[Ast, ...]) -> bool:
        """What a function asks of its arguments beyond their types."""
        last = made[-1] if made else None
        match found.id:
            case "matches":
                if not (isinstance(last, Constant) and isinstance(last.value, str)):
                    self._problem(codes.WRONG_ARGUMENTS, "the pattern of `matches` is a literal", asts[-1])
                    return False
                try:
                    pattern(last.value)
                except Invalid as invalid:
                    self._problem(codes.BAD_LITERAL, f"`{last.value}` is {invalid.message}", asts[-1])
                    return False
            case "random":
                if isinstance(last, Constant) and isinstance(last.value, int) and not 1 <= last.value <= LONGEST_RANDOM:
                    self._problem(
                        codes.BAD_LITERAL, f"`random(n)` makes between 1 and {LONGEST_RANDOM} characters", asts[-1]
                    )
                    return False
            case "distinct" | "sort":
                array = made[0].type
                items = array.items if isinstance(array, Array) else array
                if isinstance(array, Array) and not isinstance(items, (*_SCALARS, Null)):
                    help = ("choose a field first: `.map(x, x.field)`",) if isinstance(items, Row | Object) else ()
                    self._problem(
                        codes.WRONG_ARGUMENTS,
                        f"`{ast.function}` takes an array of plain values, and is given {describe(array)}",
                        ast,
                        help,
                    )
                    return False
        return True

    def _time(self, name: str, literal: Literal) -> Typed | None:
        written = str(literal.value)
        try:
            if name == "timestamp":
                return Constant(value=timestamp(written), type=Timestamp())
            return Constant(value=duration(written), type=Duration())
        except Invalid as invalid:
            example = "2026-01-31T09:30:00Z" if name == "timestamp" else "PT30M"
            self._problem(
                codes.BAD_LITERAL, f"`{written}` is {invalid.message}", literal, (f"for example `{name}('{example}')`",)
            )
            return None

    def _all(self, ast: Invocation) -> Typed | None:
        resource = ast.arguments[0] if len(ast.arguments) == 1 else None
        if not isinstance(resource, Name):
            self._problem(
                codes.WRONG_ARGUMENTS,
                "`all(R)` takes the name of a resource",
                ast,
                ("of an array: `a.all(x, condition)`",),
            )
            return None
        if resource.name not in self.scope.model:
            self._problem(
                codes.NO_SUCH_NAME,
                f"`{resource.name}` is not a resource",
                resource,
                did_you_mean(resource.name, self.scope.model),
                "not a resource",
            )
            return None
        return All(resource=resource.name, type=Array(items=Row(resource=resource.name)))

    def _has(self, ast: Invocation) -> Typed | None:
        argument = ast.arguments[0] if len(ast.arguments) == 1 else None
        if not isinstance(argument, Member | Index):
            self._problem(
                codes.WRONG_ARGUMENTS, "`has` takes one field or member", ast, ("for example `has(order.note)`",)
            )
            return None
        typed = self.typed(argument)
        if typed is None:
            return None
        if not isinstance(typed, Select) or typed.through == "back":
            self._problem(codes.WRONG_ARGUMENTS, "`has` takes one field or member", argument)
            return None
        return Call(function="has", arguments=[typed], type=Boolean())

    def _comprehension(self, ast: Invocation, target: Ast) -> Typed | None:
        macro, arguments = ast.function, ast.arguments
        counts = (2, 3) if macro == "map" else (2,)
        if len(arguments) not in counts or not isinstance(arguments[0], Name):
            self._problem(
                codes.WRONG_ARGUMENTS,
                f"`{macro}` takes a variable and an expression over it",
                ast,
                (f"for example `.{macro}(x, …)`",),
            )
            return None
        variable = arguments[0]
        range_ = self.typed(target)
        if range_ is not None and isinstance(range_.type, Anything):
            range_ = self._placed(narrowed(range_, Array(items=Anything(nullable=True))), target)
        if range_ is not None and not isinstance(range_.type, Array):
            self._problem(
                codes.WRONG_ARGUMENTS,
                f"`{macro}` is asked of an array, and this is {describe(range_.type)}",
                target,
                label=f"this is {describe(range_.type)}",
            )
            range_ = None
        if variable.name in self.scope.variables or variable.name in self._locals:
            self._problem(codes.NAME_TAKEN, f"`{variable.name}` is already the name of something else here", variable)
            return None
        if range_ is None:
            return None
        assert isinstance(range_.type, Array)
        self._locals[variable.name] = range_.type.items
        try:
            return self._over(ast, macro, range_, range_.type, variable.name)
        finally:
            del self._locals[variable.name]

    def _over(self, ast: Invocation, macro: str, range_: Typed, array: Array, variable: str) -> Typed | None:
        """A macro, with its variable in scope."""
        arguments, who = ast.arguments, f"`{ast.function}`"
        condition = self._condition(arguments[1], who) if len(arguments) == 3 else None
        if len(arguments) == 3 and condition is None:
            return None
        last = arguments[-1]
        body = self.typed(last) if macro in ("map", "flatMap") else self._condition(last, who)
        if body is None:
            return None
        made: Type = Boolean()
        if macro == "filter":
            made = required(array)
        elif macro == "map":
            made = Array(items=body.type)
        elif macro == "flatMap":
            body = narrowed(body, Array(items=Anything(nullable=True)))
            if not isinstance(body.type, Array):
                self._problem(
                    codes.WRONG_ARGUMENTS,
                    f"`flatMap` joins arrays, and this is {describe(body.type)}",
                    last,
                    ("`map` takes what is not an array",),
                )
                return None
            made = Array(items=body.type.items)
        # `macro` is one of the names of the Literal: `_COMPREHENSIONS` holds the same.
        return Comprehension(
            macro=macro,  # type: ignore[arg-type]
            range=range_,
            variable=variable,
            body=body,
            type=made,
            condition=condition,
        )


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names) if names else "not shown"


__all__ = ["Checking", "Places", "check", "optional"]
