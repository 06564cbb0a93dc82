"""Tree to typed tree: every name resolved, every operator given its one meaning, every problem found.

Names, members and literals are judged here; operators, functions and macros in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Final, TypeAlias

from ninefold.diagnostics import codes
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.suggest import did_you_mean, there_are
from ninefold.expressions.ast import (
    DEEPEST,
    Ast,
    Binary,
    Conditional,
    Const,
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
from ninefold.expressions.check_functions import Functions
from ninefold.expressions.check_operators import Operators
from ninefold.expressions.meant import OF_MEMBERS, of_a_body, of_a_member, of_a_name, of_an_object
from ninefold.expressions.reads import extent, needs_database
from ninefold.expressions.rows import array_of, constant, identifier_through, is_as_it_was, narrowed
from ninefold.expressions.scope import INFERRED, Scope, describe, fits, join, member_type
from ninefold.expressions.tree import Call, Constant, MakeObject, Select, Typed, Variable
from ninefold.values import (
    Anything,
    Array,
    Digest,
    Integer,
    Invalid,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    json_reader,
    optional,
    required,
)

Places: TypeAlias = Mapping[int, tuple[int, int]]
"""Where a node of a typed tree is written, by the node's `id`; for as long as the tree is kept."""

MOST_NODES: Final = 10_000
"""Parts of an expression, with the computed fields that it reads in their places."""

_PARTS_OF_TIMES: Final = {
    "year": "getFullYear()", "month": "getMonth() + 1", "day": "getDate()", "hour": "getHours()", "hours": "getHours()",
    "minute": "getMinutes()", "minutes": "getMinutes()", "second": "getSeconds()", "seconds": "getSeconds()",
}  # fmt: skip
"""What CEL has for the parts of a date-time, which others read like fields."""


@dataclass(frozen=True, slots=True)
class Checking:
    """`typed` is there if there are no problems. `inferred` holds the types given to inferred variables."""

    typed: Typed | None
    problems: tuple[Problem, ...] = ()
    inferred: Mapping[str, Type] = field(default_factory=dict)
    places: Places = field(default_factory=dict)


def check(ast: Ast, scope: Scope, expected: Type | None = None) -> Checking:
    """Type an expression. With an expected type, a row becomes its primary key, and a value of any type is
    looked at when it is there; without one, the result may be a row (`profile(article.author)`)."""
    checker = _Checker(scope)
    typed = checker.whole(ast, expected)
    if checker.problems:
        return Checking(None, tuple(checker.problems), checker.inferred, checker.places)
    return Checking(typed, (), checker.inferred, checker.places)


class _Checker(Operators, Functions):
    """A whole expression."""

    def whole(self, ast: Ast, expected: Type | None) -> Typed | None:
        if isinstance(ast, Invocation) and ast.function == "serial" and self.scope.serial and not ast.arguments:
            typed: Typed | None = self._placed(Call(function="serial", arguments=[], type=Integer()), ast)
        elif isinstance(ast, Const) and not isinstance(expected, Anything | None):
            return self._constant(ast, expected)
        else:
            if isinstance(ast, Literal) and type(ast.value) is int and isinstance(expected, Number):
                ast = replace(ast, value=float(ast.value))  # a plain number has the type of its place
            typed = self.typed(ast, expected)
        if typed is None:
            return None
        size = extent(typed, self.scope.model)
        if size.height > 2 * DEEPEST or size.nodes > MOST_NODES:
            self._problem(codes.TOO_LARGE, "with the computed fields that it reads, the expression is too large", ast)
            return None
        if expected is not None:
            if not fits(typed.type, expected):
                self._problem(
                    codes.WRONG_TYPE,
                    f"the expression is {describe(typed.type)}, and {describe(expected)} is needed here",
                    ast,
                    of_an_object(typed, expected) or self._conversion(ast, typed, expected),
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

    def _typed(self, ast: Ast, hint: Type | None) -> Typed | None:
        match ast:
            case Literal(value=value) | Const(value=value):
                return constant(value)
            case Name():
                return self._name(ast, hint)
            case Member():
                return self._member(ast)
            case Index():
                return self._index(ast)
            case Invocation():
                return self._invocation(ast, hint)
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

    def _constant(self, ast: Const, expected: Type) -> Typed | None:
        """A constant of JSON, as a value of the type of its place."""
        shape = self.scope.model.get(expected.resource) if isinstance(expected, Row) else None
        wanted = required((shape.identifier_type if shape is not None else None) or expected)
        if ast.value is None and expected.nullable:
            return self._placed(constant(None), ast)
        try:
            read = json_reader(wanted)(ast.value)
        except Invalid as invalid:
            given = constant(ast.value).type
            message = f"the constant is {describe(given)}, and {describe(wanted)} is needed here: {invalid.message}"
            self._problem(codes.WRONG_TYPE, message, ast, label=f"this is {describe(given)}")
            return None
        return self._placed(Constant(value=read, type=wanted), ast)  # type: ignore[arg-type]

    def _is_known(self, ast: Name) -> bool:
        return ast.name in self._locals or ast.name in self.scope.variables

    def _name(self, ast: Name, hint: Type | None) -> Typed | None:
        known = self._locals.get(ast.name) or self.scope.variables.get(ast.name)
        if known is None:
            self._unknown_name(ast, hint)
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
                ("say of which type it is: `{type: string, where: …}`",)
                if isinstance(hint, Anything)
                else ("compare it with a field, or say its `type` beside `where`",),
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

    def _unknown_name(self, ast: Name, needed: Type | None, member: str | None = None) -> None:
        if ast.start - 1 in self._hyphens:
            # It is the end of a name that was told whole: `request.headers.X-Agent`.
            self._hyphens.add(ast.end)
            return
        view = None if ast.name in self.scope.model else self._view(ast.name)
        help = of_a_name(ast.name, self.scope, self._locals, needed, member, () if view is None else view[1][:1])
        self._problem(codes.NO_SUCH_NAME, f"`{ast.name}` is not a name that can be read here", ast, help, "not known")

    def _member(self, ast: Member) -> Typed | None:
        if isinstance(ast.operand, Name) and not self._is_known(ast.operand):
            self._unknown_name(ast.operand, None, ast.name)
            return None
        operand = self.typed(ast.operand)
        if operand is None:
            return None
        name = Name(ast.name, ast.name_start, ast.name_end)
        return self._select(operand, ast.name, name, ast.operand)

    def _select(self, operand: Typed, name: str, at: Ast, operand_ast: Ast) -> Typed | None:
        match operand.type:
            case Row(resource=resource):
                return self._field(operand, resource, name, at, operand_ast)
            case Object(members=members, others=None) if members and name not in members:
                what = f"`{operand_ast.name}`" if isinstance(operand_ast, Name) else "the object"
                hyphened = _in_brackets(name, members)
                if hyphened:
                    self._hyphens.add(at.end)
                self._problem(
                    codes.NO_SUCH_FIELD,
                    f"{what} has no member `{name}`",
                    at,
                    hyphened
                    or of_a_body(operand, name, self.scope)
                    or did_you_mean(name, members)
                    or (OF_MEMBERS.get(operand.name, ()) if isinstance(operand, Variable) else ())
                    or there_are([each for each in members if not each.startswith("$")]),
                    "not a member",
                )
                return None
            case Object(members=members, others=others):
                member = members.get(name) or optional(Anything() if others is None else others)
                if isinstance(member, Digest):
                    self._problem(codes.SECRET, f"`{name}` is a secret", at, label="cannot be read")
                    return None
                return Select(operand=operand, name=name, type=member)
            case Anything():
                return Select(operand=operand, name=name, type=Anything(nullable=True))
            case Array():
                help: tuple[str, ...] = (f"to read it of each item: `.map(x, x.{name})`",)
            case Timestamp() if name.casefold() in _PARTS_OF_TIMES:
                help = (f"write `{_PARTS_OF_TIMES[name.casefold()]}`",)
            case _:
                help = of_a_member(operand.type, name)
        self._problem(codes.NO_SUCH_FIELD, f"{describe(operand.type)} has no field `{name}`", at, help, "not a field")
        return None

    def _field(self, operand: Typed, resource: str, name: str, at: Ast, operand_ast: Ast) -> Typed | None:
        shape = self.scope.model.get(resource)
        if shape is None:
            return Select(operand=operand, name=name, type=Anything(nullable=True))
        if name in shape.inverse and is_as_it_was(operand):
            message = f"the rows that referred back to `{resource}` before are not known"
            help = (f"a computed field has what is made of them: `before.{resource}.NAME`",)
            self._problem(codes.BACK_OF_BEFORE, message, at, help, "refers back")
            return None
        if name in shape.inverse:
            rows = Array(items=Row(resource=shape.inverse[name][0]))
            return Select(operand=operand, name=name, type=rows, through="back")
        if name not in shape.fields and (view := self._view(name, resource, operand_ast)) is not None:
            self._problem(codes.NO_SUCH_FIELD, view[0], at, view[1], "a view")
            return None
        if name not in shape.fields:
            self._problem(
                codes.NO_SUCH_FIELD,
                f"resource `{resource}` has no field `{name}`",
                at,
                did_you_mean(name, [each for each in (*shape.fields, *shape.inverse) if each.isidentifier()]),
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
        operand, index = self._as_told(operand), self._as_told(index)
        match operand.type:
            case Array(items=items) if fits(index.type, Integer()):
                return Call(function="[]", arguments=[operand, narrowed(index, Integer())], type=items)
            case Anything() if isinstance(index.type, Integer):
                array = narrowed(operand, Array(items=Anything(nullable=True)))
                return Call(function="[]", arguments=[array, index], type=Anything(nullable=True))
            case Anything() if isinstance(index.type, Anything):
                return Call(function="[]", arguments=[operand, index], type=Anything(nullable=True))
            case Object() | Anything() as object_ if fits(index.type, Text()):
                member = member_type(object_) if isinstance(object_, Object) else Anything()
                return Call(function="[]", arguments=[operand, narrowed(index, Text())], type=optional(member))
        self._problem(
            codes.WRONG_OPERANDS,
            f"`[]` does not take {describe(operand.type)} and {describe(index.type)}",
            ast,
            ("an array is read by position: `a[0]`",) if isinstance(operand.type, Array) else (),
        )
        return None

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


def _in_brackets(name: str, members: Collection[str]) -> tuple[str, ...]:
    """The help where `X-Agent` was read as a difference."""
    found = next((each for each in members if each.startswith(f"{name}-")), None)
    return () if found is None else (f"a name with a hyphen stands in brackets: `['{found}']`",)
