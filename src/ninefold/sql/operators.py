"""Operators and functions in SQL: exact about null, errors and overflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.diagnostics.frozen import replace
from ninefold.expressions.choices import TYPES, choices
from ninefold.expressions.functions import Overload, resolve
from ninefold.expressions.scope import cel_name, describe
from ninefold.expressions.tree import Call, Constant, MakeArray, Select, Typed, is_apart
from ninefold.sql.arrays import Arrays
from ninefold.sql.dialect import once
from ninefold.sql.fragment import Fragment, bind, join
from ninefold.sql.relations import Bindings, Relation, Scalar, either, exists, unless
from ninefold.sql.sqlite import SQLITE
from ninefold.values import Anything, Array, Boolean, Integer, Object, Text, Timestamp, Type

_BY_RELATIONS: Final = frozenset(("size_array", "sum_integer", "distinct", "sort", "reverse", "first", "add_array"))
"""What is made of queries rather than of a function of the dialect."""

_STATE_TYPE: Final = "a schema says it: `type: …`, and for the members of an object `properties`"


class Operators(Arrays):
    """Calls, other than those that make arrays."""

    def _call(self, call: Call, scope: Bindings, positive: bool) -> Scalar:
        match call.function, call.arguments:
            case ("&&" | "||") as operator, arguments:
                parts = [self.scalar(argument, scope, positive) for argument in arguments]
                text = "(" + join(" AND " if operator == "&&" else " OR ", (part.text for part in parts)) + ")"
                return Scalar(text, call.type, fails=any(part.fails or part.nullable for part in parts))
            case "!", [operand]:
                one = self.scalar(operand, scope)
                return Scalar("(NOT " + one.text + ")", call.type, fails=one.fails or one.nullable)
            case "?:", [condition, yes, no]:
                return self._conditional(call, scope, positive, condition, yes, no)
            case ("==" | "!=") as operator, [left, right]:
                return self._equality(call, operator, left, right, scope, positive)
            case "in", [left, right]:
                return self._membership(call, left, right, scope, positive)
            case "[]", [array, index]:
                return self._item(call, array, index, scope)
            case "is true", [operand]:
                return Scalar(self.dialect.is_true(self.scalar(operand, scope, positive=True).text), call.type)
            case "has", [operand]:
                return self._has(call, self.scalar(operand, scope))
            case "is of type", [operand, Constant(value=str() as name)]:
                return self._is_of_type(call, self.scalar(operand, scope), name)
            case "narrow", [operand]:
                return self._narrow(call, operand, scope)
            case ("size" | "sum") as function, [array] if isinstance(array.type, Array):
                return self._measured(call, function, array, scope)
            case "first", [array]:
                return self._first(call, array, scope)
        return self._function(call, scope)

    def _function(self, call: Call, scope: Bindings) -> Scalar:
        """A plain function of its arguments' values."""
        if chosen := choices(call.function, tuple(argument.type for argument in call.arguments)):
            return self._by_its_value(call, chosen, self.scalar(call.arguments[0], scope))
        if self._overflows(call):
            made = self._arithmetic(call, scope)
            return replace(made, text=self.dialect.whole(made.text))
        return self._applied(call, [self.scalar(argument, scope) for argument in call.arguments])

    def _arithmetic(self, typed: Typed, scope: Bindings) -> Scalar:
        """Integer arithmetic, however deep, whose overflow is still to be looked for: once, for all of it."""
        if isinstance(typed, Call) and self._overflows(typed) and self.reads_rows(typed, scope):
            return self._applied(typed, [self._arithmetic(argument, scope) for argument in typed.arguments])
        return self.scalar(typed, scope)

    def _overflows(self, call: Call) -> bool:
        overload = resolve(call.function, tuple(argument.type for argument in call.arguments))
        return overload is not None and overload.id in self.dialect.overflowing

    def _applied(self, call: Call, arguments: list[Scalar]) -> Scalar:
        overload = resolve(call.function, tuple(argument.type for argument in call.arguments))
        text = None
        if overload is not None:
            text = self.dialect.function(overload.id, tuple(argument.text for argument in arguments))
        if overload is None or text is None:
            raise self.refuse(
                call,
                f"`{call.function}` is for values of the request: the database does not have it",
                "docs/expressions.md says which functions the database has",
            )
        unsure = overload.fails or any(argument.fails or argument.nullable for argument in arguments)
        return Scalar(text, call.type, fails=unsure)

    def _by_its_value(self, call: Call, chosen: Mapping[str, Overload], value: Scalar) -> Scalar:
        """The meaning that a value of any type chooses; one of a type of which there is none is an error."""
        dialect = self.dialect

        def build(of: tuple[Fragment, ...]) -> Fragment:
            made = Fragment("CASE")
            for name, overload in chosen.items():
                plain = dialect.of_json(of[0], TYPES[name])
                text = None if plain is None else dialect.function(overload.id, (plain,))
                if plain is not None and isinstance(TYPES[name], Array):
                    text = dialect.length(plain)
                if text is None:
                    raise self.refuse(
                        call,
                        f"of a value that may be {describe(TYPES[name])} the database has no `{call.function}`",
                        f"ask of which type it is: `type(x) == int && … {call.function}(x) …`",
                    )
                made = made + " WHEN " + dialect.json_is(of[0], name) + " THEN " + text
            return made + " END"

        return Scalar(once((value.text,), build, dialect.nameless), call.type, fails=True)

    def _conditional(
        self, call: Call, scope: Bindings, positive: bool, condition: Typed, yes: Typed, no: Typed
    ) -> Scalar:
        asked = self.scalar(condition, scope)
        first, second = self.scalar(yes, scope, positive), self.scalar(no, scope, positive)
        if isinstance(call.type, Anything):
            first, second = self.json(yes, first), self.json(no, second)
        fails = asked.fails or asked.nullable or first.fails or second.fails
        nullable = first.nullable or second.nullable
        failure = None
        if fails and nullable:
            sides = (side.is_broken if side.fails else Fragment(self.dialect.false) for side in (first, second))
            failure = "coalesce(" + self.dialect.choose(asked.text, *sides) + f", {self.dialect.true})"
        return Scalar(self.dialect.choose(asked.text, first.text, second.text), call.type, nullable, fails, failure)

    def _equality(
        self, call: Call, operator: str, left: Typed, right: Typed, scope: Bindings, positive: bool
    ) -> Scalar:
        a, b = self.scalar(left, scope), self.scalar(right, scope)
        if _is_json(a.type) or _is_json(b.type):
            same = self.dialect.same_json(self.json(left, a).text, self.json(right, b).text)
            failures = tuple(side.is_broken for side in (a, b) if side.fails)
            text = unless(failures, same if operator == "==" else "(NOT " + same + ")")
            return Scalar(text, call.type, fails=bool(failures))
        symbol = " = " if operator == "==" else " <> "
        if not (a.nullable or b.nullable):
            return Scalar("(" + a.text + symbol + b.text + ")", call.type, fails=a.fails or b.fails)
        if positive and operator == "==" and not (a.nullable and b.nullable):
            return Scalar("(" + a.text + " = " + b.text + ")", call.type, fails=True)
        same = self.dialect.same(a.text, b.text)
        failures = tuple(side.is_broken for side in (a, b) if side.fails)
        text = unless(failures, same if operator == "==" else "(NOT " + same + ")")
        return Scalar(text, call.type, fails=bool(failures))

    def _narrow(self, call: Call, operand: Typed, scope: Bindings) -> Scalar:
        """A value of any type as one of the type that its place needs; another is an error."""
        value = self.scalar(operand, scope)
        made = self.dialect.of_json(value.text, call.type) if isinstance(value.type, Anything) else None
        if made is None:
            raise self.refuse(operand, f"the database cannot tell whether this is {describe(call.type)}", _STATE_TYPE)
        failure = "(" + value.text + " IS NOT NULL AND " + made + " IS NULL)"
        if value.fails:
            failure = either((value.is_broken, failure))
        return Scalar(made, call.type, True, True, failure)

    def _membership(self, call: Call, left: Typed, right: Typed, scope: Bindings, positive: bool) -> Scalar:
        value = self.scalar(left, scope)
        if not isinstance(right.type, Array):
            return self._named(call, left, value, self.scalar(right, scope))
        plain = self._listed(right, scope)
        if plain is not None and not _is_json(value.type) and (positive or not value.nullable):
            text = "(" + value.text + " IN (" + join(", ", plain) + "))"
            return Scalar(text, call.type, fails=value.fails or value.nullable)
        items = self._settled(self.relation(right, scope))
        item = self._of_binding(right, items.element)
        nullsafe = value.nullable or item.nullable
        is_json = _is_json(item.type) or _is_json(value.type)
        exact = not (is_json or item.nullable or item.fails or items.failures) and (positive or not value.nullable)
        if exact and is_apart(right, scope):
            # It is made once, whatever rows there are, and an index can serve it.
            text = "(" + value.text + " IN (" + items.query(item.text) + "))"
            return Scalar(text, call.type, fails=value.fails or value.nullable)
        if is_json:
            nullsafe = True
            same = self.dialect.same_json(self.json(right, item).text, self.json(left, value).text)
        elif nullsafe:
            same = self.dialect.same(item.text, value.text)
        else:
            same = "(" + item.text + " = " + value.text + ")"
        failures = items.failures
        if value.fails and (nullsafe or not positive):
            failures = (*failures, value.is_broken)
        text = unless(failures, exists(items.query("1", same)))
        return Scalar(text, call.type, fails=value.fails or bool(failures))

    def _named(self, call: Call, left: Typed, value: Scalar, container: Scalar) -> Scalar:
        """`in` of an object, or of what may be one: an item of an array, or the name of a member."""
        if isinstance(value.type, Anything):
            raise self.refuse(left, "of which type this is, is not stated", _STATE_TYPE)
        alias = self.fresh()
        found = Relation(self.dialect.items(container.text, alias), container)
        named = self.dialect.named(alias, value.text, value.type)
        failures = (value.is_broken,) if value.fails else ()
        is_object = self.dialect.json_is(container.text, "map")
        is_array = self.dialect.json_is(container.text, "list")
        text = "(" + is_object + " AND " + exists(found.query("1", named)) + ")"
        either_kind = is_object
        if isinstance(container.type, Anything):
            item = self.dialect.item(alias, container.type)
            same = self.dialect.same_json(item, self.json(left, value).text)
            text = "(" + text + " OR " + is_array + " AND " + exists(found.query("1", same)) + ")"
            either_kind = "(" + is_object + " OR " + is_array + ")"
        if container.fails:
            failures = (*failures, container.is_broken)
        return Scalar(unless((*failures, "(NOT " + either_kind + ")"), text), call.type, fails=True)

    def _listed(self, array: Typed, scope: Bindings) -> list[Fragment] | None:
        """The items of a list literal, if none of them may be null or an error."""
        match array:
            case Constant(value=list() as values, type=Array(items=items)) if values and None not in values:
                if isinstance(items, Array | Object | Anything):
                    return None
                # The type of each item is the array's: a list of constants has one.
                return [bind(Constant(value=value, type=items)) for value in values]
            case MakeArray(items=members, type=Array(items=items)) if members and not _is_json(items):
                made = [self.scalar(member, scope) for member in members]
                return None if any(one.fails or one.nullable for one in made) else [one.text for one in made]
            case _:
                return None

    def _has(self, call: Call, operand: Scalar) -> Scalar:
        present = "(" + operand.text + " IS NOT NULL)"
        if not operand.fails:
            return Scalar(present, call.type)
        return Scalar(unless((operand.is_broken,), present), call.type, fails=True)

    def _is_of_type(self, call: Call, value: Scalar, name: str) -> Scalar:
        if isinstance(value.type, Anything):
            text = self.dialect.json_is(value.text, name)
        else:
            known = cel_name(value.type) == name
            is_null = "(" + value.text + " IS NULL)"
            text = (
                is_null if name == "null_type" else "(NOT " + is_null + ")" if known else Fragment(self.dialect.false)
            )
        failures = (value.is_broken,) if value.fails else ()
        return Scalar(unless(failures, text), call.type, fails=bool(failures))

    def _item(self, call: Call, array: Typed, index: Typed, scope: Bindings) -> Scalar:
        if not isinstance(array.type, Array):
            return self.member(call, scope)
        if not (isinstance(array, Select) and array.through != "back") and self.reads_rows(array, scope):
            raise self.refuse(call, "the database reads items by position from a stored array only")
        stored, position, alias = self.scalar(array, scope), self.scalar(index, scope), self.fresh()
        items = self.dialect.items(stored.text, alias)
        found = Relation(items, stored, ("(" + self.dialect.position(alias) + " = " + position.text + ")",))
        text = "(" + found.query(self.dialect.item(alias, self.stored(call.type))) + ")"
        nullable = call.type.nullable
        failure = "(NOT " + exists(found.query("1")) + ")" if nullable else None
        return Scalar(text, call.type, nullable, True, failure)

    def member(self, call: Call, scope: Bindings) -> Scalar:
        """The member of an object whose name is worked out; no value where it has none of that name."""
        object_, name = call.arguments
        if isinstance(name.type, Anything):
            raise self.refuse(name, "of which type this is, is not stated", _STATE_TYPE)
        container, named, alias = self.scalar(object_, scope), self.scalar(name, scope), self.fresh()
        found = Relation(
            self.dialect.items(container.text, alias),
            container,
            (self.dialect.named(alias, named.text, named.type),),
        )
        text = "(" + found.query(self.dialect.item(alias, self.stored(call.type))) + ")"
        failures = tuple("(" + each.text + " IS NULL)" for each in (container, named) if each.fails or each.nullable)
        if isinstance(object_.type, Anything):
            is_object = self.dialect.json_is(container.text, "map")
            text = "CASE WHEN " + is_object + " THEN " + text + " END"
            failures = ("(NOT " + is_object + ")", *failures)
        return Scalar(text, call.type, True, bool(failures), either(failures) if failures else None)


def _is_json(type_: Type) -> bool:
    """Whether values are compared as JSON: arrays only where one text stands for one value are compared as texts."""
    match type_:
        case Object() | Anything():
            return True
        case Array(items=items):
            return not isinstance(items, Boolean | Integer | Text | Timestamp)
        case _:
            return False


def is_in_sql(overload: Overload) -> bool:
    """Whether a database has a function of the table."""
    arguments = tuple(Fragment("?") for _ in overload.parameters)
    return overload.id in _BY_RELATIONS or SQLITE.function(overload.id, arguments) is not None
