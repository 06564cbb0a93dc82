"""Functions and macros: which meaning of a name is meant, and what it asks of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.diagnostics import codes
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.ast import (
    VARIABLES,
    Ast,
    Index,
    Invocation,
    Literal,
    Member,
    Name,
    counts_items,
    variables_of,
)
from ninefold.expressions.check_parts import Parts
from ninefold.expressions.choices import choices, meant, one_of
from ninefold.expressions.forms import OF_TEMPLATES
from ninefold.expressions.functions import Overload, overloads
from ninefold.expressions.meant import of_a_function
from ninefold.expressions.operations import LONGEST_RANDOM, pattern
from ninefold.expressions.rows import narrowed
from ninefold.expressions.scope import AFTER_IT, BEFORE_IT, COUNT, PAGE_AT, describe, fits, member_type
from ninefold.expressions.tree import All, Call, Comprehension, Constant, Macro, Select, Typed, Variable
from ninefold.values import (
    Anything,
    Array,
    Boolean,
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
    required,
    timestamp,
)

_SPELT: Final[Mapping[str, Macro]] = {"existsOne": "exists_one", "transformList": "map"}
"""Macros that are others by another name."""
_MAKING: Final = ("map", "flatMap", "sortBy", "transformMap")
"""Of which the last argument is a value, and no condition."""

_SCALARS: Final = (Boolean, Integer, Number, Text, Timestamp, Duration)


class Functions(Parts):
    """`f(a)`, `a.f(b)`, `a.exists(x, …)`."""

    def _invocation(self, ast: Invocation, hint: Type | None) -> Typed | None:
        name, target, arguments = ast.function, ast.target, ast.arguments
        if target is not None and name in VARIABLES:
            return self._comprehension(ast, target)
        if name == "at" and isinstance(target, Name) and target.name == "page":
            return self._page_at(ast, target)
        if (counted := self._page_size(ast)) is not None:
            return counted
        if target is None and name == "has":
            return self._has(ast)
        if target is None and name == "all":
            return self._all(ast)
        if target is None and name in OF_TEMPLATES:
            self._of_template(ast)
            return None
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
            self._unknown_function(ast, hint)
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

    def _page_at(self, ast: Invocation, page: Name) -> Typed | None:
        """`page.at(x)`: what asks for the page at x, and for all else that this request asks for."""
        told = self.typed(page)
        if told is None:
            return None
        if not (isinstance(told.type, Object) and {BEFORE_IT, AFTER_IT} <= told.type.members.keys()):
            self._problem(codes.NO_SUCH_FUNCTION, "no parameter of this list says at which page it begins", ast, (
                "pages that are reached by one name it: `at: cursor`",))  # fmt: skip
            return None
        at = self.typed(ast.arguments[0]) if len(ast.arguments) == 1 else None
        if len(ast.arguments) != 1 or (at is not None and not isinstance(at.type, Text | Integer)):
            message = "`page.at` takes what asks for a page, such as `page.next`"
            self._problem(codes.WRONG_ARGUMENTS, message, ast, ("write `page.at(page.next)`",))
            return None
        if at is None:
            return None
        around: list[Typed] = [Select(operand=told, name=each, type=Text()) for each in (BEFORE_IT, AFTER_IT)]
        return Call(function=PAGE_AT, arguments=[around[0], at, around[1]], type=Text())

    def _page_size(self, ast: Invocation) -> Typed | None:
        """`page.items.size()`: how many rows the page has."""
        told = self.scope.variables.get("page") if counts_items(ast) else None
        if not isinstance(told, Object) or COUNT not in told.members:
            return None
        return Select(operand=Variable("page", told), name=COUNT, type=Integer())

    def _unknown_function(self, ast: Invocation, needed: Type | None) -> None:
        name = ast.function
        if (ast.target is not None or ast.arguments) and (
            view := self._view(name, applied=ast.target or ast.arguments[0])
        ) is not None:
            place = Name(name, ast.name_start, ast.name_end)
            self._problem(codes.NO_SUCH_FUNCTION, view[0], place, view[1], "a view")
            return
        if name == "type" and ast.target is None:
            self._no_type_test(ast)
            return
        help = of_a_function(ast, self.scope, needed)
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
        if len(made) == 1:
            made = [self._as_told(made[0])]
        types = tuple(one.type for one in made)
        found = meant(ast.function, types)
        if choices(ast.function, types):
            return Call(function=ast.function, arguments=made, type=one_of([each.gives(types) for each in found]))
        if len(found) != 1:
            self._wrong_arguments(ast, suited, types, bool(found))
            return None
        if not self._acceptable(ast, found[0], made, asts):
            return None
        return self._call(found[0], made, asts)

    def _parameter(self, suited: list[Overload], typed: list[Typed | None], index: int) -> Type | None:
        """The one type that the overloads which the other arguments leave over ask of an argument."""
        wanted = {
            type(one.parameters[index]): one.parameters[index]
            for one in suited
            if len(one.parameters) == len(typed)
            and all(made is None or fits(made.type, of) for made, of in zip(typed, one.parameters, strict=True))
        }
        return next(iter(wanted.values())) if len(wanted) == 1 else None

    def _wrong_arguments(self, ast: Invocation, suited: list[Overload], types: tuple[Type, ...], several: bool) -> None:
        """`several`: they may be what more than one meaning takes."""
        given = " and ".join(map(describe, types)) if types else "nothing"
        takes = " or ".join(dict.fromkeys(" and ".join(map(describe, one.parameters)) or "nothing" for one in suited))
        help: tuple[str, ...] = ()
        if several:
            help = ("say it of each item: `.map(x, int(x))`, or `.map(x, double(x))`",)
        elif any(isinstance(type_, Anything) for type_ in types):
            help = ("`duration(x)` makes a duration of a string",)
        said = f"`{ast.function}` takes {takes}, and is given {given}" + (", which may be either" if several else "")
        self._problem(codes.WRONG_ARGUMENTS, said, ast, help, f"given {given}")

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
                if not isinstance(items, (*_SCALARS, Null)) or not isinstance(array, Array):
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
                ("of an array: `a.all(x, predicate)`",),
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

    def _of_template(self, ast: Invocation) -> None:
        """Where it may stand no expression begins: it is around one."""
        if len(ast.arguments) != 1:
            message = f"`{ast.function}` takes what is shown"
            self._problem(codes.WRONG_ARGUMENTS, message, ast, (f"write `{ast.function}(…)`",))
            return
        message = f"`{ast.function}` stands around all that a member of what is shown is, or an item"
        help = (
            f"of a choice: `{ast.function}(c ? a : b)`",
            "elsewhere it would say nothing: what has no value is null in an expression, and a header without one is "
            "left out",
        )
        self._problem(codes.WRONG_ARGUMENTS, message, ast, help)

    def _comprehension(self, ast: Invocation, target: Ast) -> Typed | None:
        variables = variables_of(ast)
        if VARIABLES[ast.function].get(len(ast.arguments)) != len(variables):
            self._no_variable(ast)
            return None
        range_ = self._range(ast, target, variables)
        if any(each.name in self.scope.variables or each.name in self._locals for each in variables):
            taken = next(each for each in variables if each.name in self.scope.variables or each.name in self._locals)
            self._problem(codes.NAME_TAKEN, f"`{taken.name}` is already the name of something else here", taken)
            return None
        if len({each.name for each in variables}) < len(variables):
            self._problem(codes.NAME_TAKEN, "both variables have one name", variables[-1])
            return None
        if range_ is None:
            return None
        if isinstance(range_.type, Object):
            types: tuple[Type, Type] = (Text(), member_type(range_.type))
        else:
            assert isinstance(range_.type, Array)
            types = (Integer(), range_.type.items)
        bound = {each.name: type_ for each, type_ in zip(reversed(variables), reversed(types), strict=False)}
        self._locals.update(bound)
        try:
            return self._over(ast, range_, variables)
        finally:
            for name in bound:
                del self._locals[name]

    def _no_variable(self, ast: Invocation) -> None:
        name = ast.function
        one = 1 in VARIABLES[name].values()
        takes = "a variable and an expression over it" if one else "two variables and an expression over them"
        example = f"for example `.{name}({'x' if one else 'k, x'}, …)`"
        self._problem(codes.WRONG_ARGUMENTS, f"`{name}` takes {takes}", ast, (example,))

    def _range(self, ast: Invocation, target: Ast, variables: tuple[Name, ...]) -> Typed | None:
        """What a macro goes over: an array, or, with two variables, an object; with one, the names of its members."""
        macro, range_ = ast.function, self.typed(target)
        if range_ is not None and isinstance(range_.type, Anything):
            wanted: Type = Object() if macro == "transformMap" else Array(items=Anything(nullable=True))
            range_ = self._placed(narrowed(range_, wanted), target)
        if range_ is None:
            return None
        if isinstance(range_.type, Object) and len(variables) == 1:
            return self._placed(Call(function="names of", arguments=[range_], type=Array(items=Text())), target)
        if isinstance(range_.type, Object) or (isinstance(range_.type, Array) and macro != "transformMap"):
            return range_
        what = "an object" if macro == "transformMap" else "an array"
        given = describe(range_.type)
        message = f"`{macro}` is asked of {what}, and this is {given}"
        self._problem(codes.WRONG_ARGUMENTS, message, target, label=f"this is {given}")
        return None

    def _over(self, ast: Invocation, range_: Typed, variables: tuple[Name, ...]) -> Typed | None:
        """A macro, with its variables in scope."""
        who, macro = f"`{ast.function}`", _SPELT.get(ast.function) or ast.function
        *conditions, last = ast.arguments[len(variables) :]
        condition = self._condition(conditions[0], who) if conditions else None
        if conditions and condition is None:
            return None
        body = self.typed(last) if macro in _MAKING else self._condition(last, who)
        if body is not None and macro == "transformMap":
            body = self._value(body, last)
        if body is None:
            return None
        made: Type = Boolean()
        if macro == "filter":
            made = required(range_.type)
        elif macro == "transformMap":
            made = Object(others=None if isinstance(body.type, Anything) else required(body.type))
        elif macro == "sortBy":
            made = required(range_.type)
            if not isinstance(body.type, _SCALARS):
                self._problem(
                    codes.WRONG_ARGUMENTS,
                    f"{who} orders by a plain value, and this is {describe(body.type)}",
                    last,
                    label=f"this is {describe(body.type)}",
                )
                return None
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
        return Comprehension(
            macro=macro,  # type: ignore[arg-type]  # `VARIABLES` and `_SPELT` have the names of the Literal
            range=range_,
            variable=variables[-1].name,
            body=body,
            type=made,
            condition=condition,
            place=variables[0].name if len(variables) == 2 else None,
        )
