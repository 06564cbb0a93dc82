"""Typed trees as SQL, exact in every value: what is null, what is an error, what is too large.

In SQL a null value and an error are both NULL. Of a type that is not nullable, NULL is an error, and SQL's
three-valued AND, OR and NOT treat it as CEL treats errors. Where a value may be both, a `Scalar` carries the
condition under which it is an error. `positive` says that only truth counts (a WHERE, and what stands in it
under AND, OR and `exists`): there NULL and false are the same, and shorter forms, which indexes serve, will do.

The largest parts that read no row are binds: one `?` each, evaluated before the statement runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ninefold.diagnostics.diagnostic import Code
from ninefold.expressions import codes
from ninefold.expressions.ast import Problem
from ninefold.expressions.functions import resolve
from ninefold.expressions.lower import as_value, is_reference
from ninefold.expressions.reads import (
    NO_MODEL,
    computed_of,
    is_pure,
    may_fail,
    needs_database,
    parts,
)
from ninefold.expressions.scope import Model, ResourceShape, describe
from ninefold.expressions.tree import (
    All,
    Call,
    Comprehension,
    Constant,
    MakeArray,
    MakeObject,
    Select,
    Typed,
    Variable,
)
from ninefold.sql.dialect import SQLITE, Dialect
from ninefold.sql.fragment import Fragment, bind, identifier, join
from ninefold.values import Anything, Array, Boolean, Digest, Integer, Object, Row, Text, Timestamp, Type

Visible: TypeAlias = Callable[[str, str], Fragment | None]
"""The condition under which a row of a resource, known by an alias, may be seen; `None`: always."""

LONGEST: Final = 60_000
"""Characters of one expression in SQL."""

DEEPEST_COMPUTED: Final = 8
"""How many computed fields may stand in each other's expressions."""


class NotInSQL(ValueError):
    """`to_sql` was asked for what `sql_problem` refuses."""

    def __init__(self, code: Code, message: str, node: Typed, help: tuple[str, ...] = ()):
        super().__init__(message)
        self.code: Final = code
        self.message: Final = message
        self.node: Final = node
        self.help: Final = help


def everything(resource: str, alias: str) -> Fragment | None:
    """The `Visible` that hides nothing."""
    return None


def to_sql(
    typed: Typed,
    *,
    model: Model,
    rows: Mapping[str, str] | None = None,
    dialect: Dialect = SQLITE,
    visible: Visible = everything,
    condition: bool = False,
) -> Fragment:
    """The value of an expression as SQL.

    `rows` leads from row variables to the aliases of their tables. A table is called as its resource, a column
    as its field. `condition`: only truth counts, as in WHERE. Raises `NotInSQL` for what `sql_problem` refuses.
    """
    writer = _Writer(model, dialect, visible, frozenset((rows or {}).values()), typed)
    scope: dict[str, Binding] = {}
    for name, alias in (rows or {}).items():
        scope[name] = TableRow(_resource_of(typed, name) or name, identifier(alias))
    return writer.scalar(typed, scope, condition).text


def sql_problem(
    typed: Typed,
    rows: Mapping[str, str] | tuple[str, ...] | frozenset[str] = (),
    *,
    model: Model = NO_MODEL,
    dialect: Dialect = SQLITE,
    places: Mapping[int, tuple[int, int]] | None = None,
) -> Problem | None:
    """Why an expression cannot be part of a statement; `None` if it can. With the `places` of its check, the
    problem stands where its cause is written, otherwise at the start."""
    try:
        to_sql(typed, model=model, rows={name: name for name in rows}, dialect=dialect)
    except NotInSQL as refused:
        start, end = (places or {}).get(id(refused.node)) or (places or {}).get(id(typed)) or (0, 0)
        return Problem(refused.code, refused.message, start, end, refused.help)
    return None


def _resource_of(typed: Typed, name: str) -> str | None:
    """The resource of which a row variable is a row."""
    if isinstance(typed, Variable) and typed.name == name and isinstance(typed.type, Row):
        return typed.type.resource
    return next((found for part in parts(typed) if (found := _resource_of(part, name))), None)


# ── What the parts of an expression become ────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Scalar:
    """SQL for one value. `nullable`: NULL may be its value. `fails`: NULL may be an error. `failure`: where
    it may be both, the condition (true or false, never NULL) under which it is an error."""

    text: Fragment
    type: Type
    nullable: bool = False
    fails: bool = False
    failure: Fragment | None = None

    @property
    def is_broken(self) -> Fragment:
        """The condition under which the value is an error; asked only if `fails`."""
        return self.failure if self.failure is not None else "(" + self.text + " IS NULL)"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table in FROM, by its (quoted) alias."""

    resource: str
    alias: str


@dataclass(frozen=True, slots=True)
class ReferredRow:
    """A row known by its identifier."""

    resource: str
    identifier: Scalar


Binding: TypeAlias = Scalar | TableRow | ReferredRow
Bindings: TypeAlias = Mapping[str, Binding]


@dataclass(frozen=True, slots=True)
class Relation:
    """Several values: rows of `source` for which `where` holds, each giving an `element`, in an order.

    `failures` are conditions outside of it, under any of which the whole is an error. `derived`: the source is
    a query of its own, which cannot read what stands beside it in FROM.
    """

    source: Fragment
    element: Binding
    where: tuple[Fragment, ...] = ()
    order: tuple[Fragment, ...] = ()
    failures: tuple[Fragment, ...] = ()
    derived: bool = False

    def query(self, columns: Fragment | str, *more: Fragment) -> Fragment:
        """`SELECT columns FROM …`, with further conditions."""
        conditions = (*self.where, *more)
        where = " WHERE " + join(" AND ", conditions) if conditions else Fragment("")
        return "SELECT " + (Fragment("") + columns) + " FROM " + self.source + where


def _exists(query: Fragment) -> Fragment:
    return "EXISTS (" + query + ")"


def _either(conditions: tuple[Fragment, ...]) -> Fragment:
    return conditions[0] if len(conditions) == 1 else "(" + join(" OR ", conditions) + ")"


def _unless(failures: tuple[Fragment, ...], text: Fragment) -> Fragment:
    """NULL under any of the failures, else the text."""
    return "CASE WHEN NOT " + _either(failures) + " THEN " + text + " END" if failures else text


@dataclass
class _Writer:
    """One expression on its way to SQL: fresh aliases, and how deep it is in computed fields."""

    model: Model
    dialect: Dialect
    visible: Visible
    taken: frozenset[str]
    whole: Typed
    _aliases: int = 0
    _inside: list[str] = field(default_factory=list)

    def fresh(self) -> str:
        """An alias that is not in use, quoted."""
        self._aliases += 1
        while f"t{self._aliases}" in self.taken:
            self._aliases += 1
        return identifier(f"t{self._aliases}")

    def refuse(self, node: Typed, message: str, *help: str) -> NotInSQL:
        return NotInSQL(codes.NOT_IN_SQL, message, node, help)

    def reads_rows(self, typed: Typed, scope: Bindings) -> bool:
        return needs_database(typed, scope.keys(), self.model)

    # ── Scalars ───────────────────────────────────────────────────────────────────────────────────────────

    def scalar(self, typed: Typed, scope: Bindings, positive: bool = False) -> Scalar:
        """One value. `positive` is for conditions, of which only truth counts."""
        made = self._scalar(typed, scope, positive) if self.reads_rows(typed, scope) else self._bound(typed, scope)
        if len(made.text.text) > LONGEST:
            raise self.refuse(typed, f"as SQL, this is longer than {LONGEST:,} characters")
        return made

    def _bound(self, typed: Typed, scope: Bindings) -> Scalar:
        if isinstance(typed, Constant) and typed.value is None:
            return Scalar(Fragment("NULL"), typed.type, nullable=True)
        if typed is not self.whole and not is_pure(typed):
            raise self.refuse(typed, "a random value cannot be part of what the database computes")
        typed = as_value(typed, self.model)
        fails, nullable = may_fail(typed), typed.type.nullable
        failure = None
        if fails and nullable:
            failure = bind(Call(function="fails", arguments=[typed], type=Boolean()))
        return Scalar(bind(typed), typed.type, nullable, fails, failure)

    def _scalar(self, typed: Typed, scope: Bindings, positive: bool) -> Scalar:
        match typed:
            case Variable(name=name):
                return self._of_binding(typed, scope[name])
            case Select(through="back") | All() | Comprehension(macro="filter" | "map" | "flatMap"):
                return self._gathered(typed, self.relation(typed, scope))
            case Select():
                return self._select(typed, scope, positive)
            case Call(function="distinct" | "sort") | MakeArray():
                return self._gathered(typed, self.relation(typed, scope))
            case Call():
                return self._call(typed, scope, positive)
            case Comprehension():
                return self._quantifier(typed, scope, positive)
            case MakeObject():
                raise self.refuse(typed, "an object cannot be made of rows in the database")
            case Constant():
                return self._bound(typed, scope)

    def _of_binding(self, node: Typed, binding: Binding) -> Scalar:
        """A variable as a value: a row as its identifier."""
        match binding:
            case Scalar():
                return binding
            case ReferredRow():
                return binding.identifier
            case TableRow():
                return self.column(node, binding, self._identifier(node, binding.resource)[0])

    def _shape(self, node: Typed, resource: str) -> ResourceShape:
        shape = self.model.get(resource)
        if shape is None or not shape.identifier:
            raise self.refuse(node, f"the identifier of `{resource}` is not known")
        return shape

    def _identifier(self, node: Typed, resource: str) -> tuple[str, Type]:
        """The one identifier field of a resource, and its type."""
        shape = self._shape(node, resource)
        if shape.identifier_type is None:
            raise NotInSQL(codes.NOT_A_VALUE, f"a row of `{resource}` is no value: it has several identifiers", node)
        return shape.identifier[0], shape.identifier_type

    # ── Rows and their fields ─────────────────────────────────────────────────────────────────────────────

    def row(self, typed: Typed, scope: Bindings) -> TableRow | ReferredRow:
        """The row that a row-typed expression stands for."""
        assert isinstance(typed.type, Row)
        if isinstance(typed, Variable) and typed.name in scope:
            binding = scope[typed.name]
            if not isinstance(binding, Scalar):
                return binding
            return ReferredRow(typed.type.resource, binding)
        if not is_reference(typed) and not self.reads_rows(typed, scope):
            self._identifier(typed, typed.type.resource)
        return ReferredRow(typed.type.resource, self.scalar(typed, scope))

    def table(self, resource: str) -> tuple[Fragment, TableRow, tuple[Fragment, ...]]:
        """A source for FROM, the row in it, and the condition under which it may be seen."""
        alias = self.fresh()
        seen = self.visible(resource, alias[1:-1])
        return (
            Fragment(f"{identifier(resource)} AS {alias}"),
            TableRow(resource, alias),
            () if seen is None else (seen,),
        )

    def column(self, node: Typed, row: TableRow | ReferredRow, name: str) -> Scalar:
        """A stored field of a row."""
        type_ = self._shape(node, row.resource).fields[name]
        if isinstance(type_, Digest):
            raise NotInSQL(codes.SECRET, f"`{row.resource}.{name}` is a secret", node)
        if isinstance(row, TableRow):
            return Scalar(Fragment(f"{row.alias}.{identifier(name)}"), type_, type_.nullable)
        own, _ = self._identifier(node, row.resource)
        given = row.identifier
        unsure = given.fails or given.nullable
        if name == own:
            return Scalar(given.text, type_, fails=unsure)
        source, target, seen = self.table(row.resource)
        found = Relation(source, target, (f"{target.alias}.{identifier(own)} = " + given.text, *seen))
        text = "(" + found.query(f"{target.alias}.{identifier(name)}") + ")"
        fails = unsure or bool(seen)
        failure = "(NOT " + _exists(found.query("1")) + ")" if fails and type_.nullable else None
        return Scalar(text, type_, type_.nullable, fails, failure)

    def _select(self, select: Select, scope: Bindings, positive: bool) -> Scalar:
        operand = select.operand
        if isinstance(operand.type, Row):
            row = self.row(operand, scope)
            if select.through == "computed":
                return self._computed(select, row, positive)
            return self.column(select, row, select.name)
        if isinstance(select.type, Anything):
            raise self.refuse(select, f"of which type `{select.name}` is, is not stated")
        object_ = self.scalar(operand, scope)
        text = self.dialect.member(object_.text, select.name, select.type)
        if text is None:
            raise self.refuse(select, f"the database finds no member of the name `{select.name}`")
        fails, nullable = object_.fails or object_.nullable, select.type.nullable
        failure = "(" + object_.text + " IS NULL)" if fails and nullable else None
        return Scalar(text, select.type, nullable, fails, failure)

    def _computed(self, select: Select, row: TableRow | ReferredRow, positive: bool) -> Scalar:
        """The expression of a computed field in its place; a boolean one is true or false."""
        name, expression = self._inlined(select)
        self._inside.append(select.name)
        try:
            if not isinstance(expression.type, Boolean):
                return self.scalar(expression, {name: row})
            made = self.scalar(expression, {name: row}, positive=True)
            if positive or not (made.fails or made.nullable):
                return Scalar(made.text, made.type, fails=made.fails)
            return Scalar(self.dialect.is_true(made.text), made.type)
        finally:
            self._inside.pop()

    def _inlined(self, select: Select) -> tuple[str, Typed]:
        computed = computed_of(select, self.model)
        if computed is None:
            raise self.refuse(select, f"how `{select.name}` is computed is not known")
        if len(self._inside) >= DEEPEST_COMPUTED:
            raise self.refuse(select, f"computed fields stand in each other at most {DEEPEST_COMPUTED} deep")
        return computed

    # ── Operators and functions ───────────────────────────────────────────────────────────────────────────

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
            case "has", [operand]:
                return self._has(call, self.scalar(operand, scope))
            case "narrow", [operand]:
                raise self.refuse(operand, "of which type this is, is not stated")
            case ("size" | "sum") as function, [array] if isinstance(array.type, Array):
                return self._measured(call, function, array, scope)
        return self._function(call, scope)

    def _function(self, call: Call, scope: Bindings) -> Scalar:
        """A plain function of its arguments' values."""
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

    def _conditional(
        self, call: Call, scope: Bindings, positive: bool, condition: Typed, yes: Typed, no: Typed
    ) -> Scalar:
        asked = self.scalar(condition, scope)
        first, second = self.scalar(yes, scope, positive), self.scalar(no, scope, positive)
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
        for node, side in ((left, a), (right, b)):
            self._comparable(node, side.type)
        symbol = " = " if operator == "==" else " <> "
        if not (a.nullable or b.nullable):
            return Scalar("(" + a.text + symbol + b.text + ")", call.type, fails=a.fails or b.fails)
        if positive and operator == "==" and not (a.nullable and b.nullable):
            return Scalar("(" + a.text + " = " + b.text + ")", call.type, fails=True)
        same = self.dialect.same(a.text, b.text)
        failures = tuple(side.is_broken for side in (a, b) if side.fails)
        text = _unless(failures, same if operator == "==" else "(NOT " + same + ")")
        return Scalar(text, call.type, fails=bool(failures))

    def _comparable(self, node: Typed, type_: Type) -> None:
        """Arrays are compared as their JSON text, which is one and the same only where the items' texts are."""
        match type_:
            case Object() | Anything():
                raise self.refuse(node, f"the database does not compare {describe(type_)} with another")
            case Array(items=items) if not isinstance(items, Boolean | Integer | Text | Timestamp) and not (
                isinstance(node, Constant) and node.value == []
            ):
                raise self.refuse(node, f"the database does not compare {describe(type_)} with another")

    def _membership(self, call: Call, left: Typed, right: Typed, scope: Bindings, positive: bool) -> Scalar:
        if not isinstance(right.type, Array):
            raise self.refuse(right, "the database does not look for the names of members")
        value = self.scalar(left, scope)
        self._comparable(left, value.type)
        plain = self._listed(right, scope)
        if plain is not None and (positive or not value.nullable):
            return Scalar("(" + value.text + " IN (" + join(", ", plain) + "))", call.type, fails=value.fails)
        items = self._settled(self.relation(right, scope))
        item = self._of_binding(right, items.element)
        self._comparable(right, item.type)
        nullsafe = value.nullable or item.nullable
        if nullsafe:
            same = self.dialect.same(item.text, value.text)
        else:
            same = "(" + item.text + " = " + value.text + ")"
        failures = items.failures
        if value.fails and (nullsafe or not positive):
            failures = (*failures, value.is_broken)
        text = _unless(failures, _exists(items.query("1", same)))
        return Scalar(text, call.type, fails=value.fails or bool(failures))

    def _listed(self, array: Typed, scope: Bindings) -> list[Fragment] | None:
        """The items of a list literal, if none of them may be null or an error."""
        match array:
            case Constant(value=list() as values, type=Array(items=items)) if values and None not in values:
                if isinstance(items, Array | Object | Anything):
                    return None
                # The type of each item is the array's: a list of constants has one.
                return [bind(Constant(value=value, type=items)) for value in values]
            case MakeArray(items=members) if members:
                made = [self.scalar(member, scope) for member in members]
                return None if any(one.fails or one.nullable for one in made) else [one.text for one in made]
            case _:
                return None

    def _has(self, call: Call, operand: Scalar) -> Scalar:
        present = "(" + operand.text + " IS NOT NULL)"
        if not operand.fails:
            return Scalar(present, call.type)
        return Scalar(_unless((operand.is_broken,), present), call.type, fails=True)

    def _item(self, call: Call, array: Typed, index: Typed, scope: Bindings) -> Scalar:
        if not isinstance(array.type, Array) or isinstance(array.type.items, Anything):
            raise self.refuse(call, "of which type the item is, is not stated")
        if not (isinstance(array, Select) and array.through != "back") and self.reads_rows(array, scope):
            raise self.refuse(call, "the database reads items by position from a stored array only")
        stored, position, alias = self.scalar(array, scope), self.scalar(index, scope), self.fresh()
        items = self.dialect.items(stored.text, alias)
        found = Relation(items, stored, ("(" + self.dialect.position(alias) + " = " + position.text + ")",))
        text = "(" + found.query(self.dialect.item(alias, call.type)) + ")"
        nullable = call.type.nullable
        failure = "(NOT " + _exists(found.query("1")) + ")" if nullable else None
        return Scalar(text, call.type, nullable, True, failure)

    # ── Macros and arrays ─────────────────────────────────────────────────────────────────────────────────

    def _measured(self, call: Call, function: str, array: Typed, scope: Bindings) -> Scalar:
        """`size` and `sum` of an array."""
        if function == "sum":
            if not isinstance(call.type, Integer):
                raise self.refuse(
                    call,
                    "the sum of numbers depends on how they are added, and the database adds in another way",
                    "an amount is exact as an integer of the smallest unit, such as cents",
                )
            summed = self.relation(array, scope)
            item = self._of_binding(array, summed.element)
            alias = self.fresh()
            source = "(" + summed.query(item.text + " AS v") + f") AS {alias}"
            text = "(" + self.dialect.total(f"{alias}.v", source) + ")"
            return Scalar(_unless(summed.failures, text), call.type, fails=True)
        if isinstance(array, Select) and array.through in ("field", "member"):
            stored = self.scalar(array, scope)
            return Scalar(self.dialect.length(stored.text), call.type, fails=stored.fails or stored.nullable)
        counted = self._settled(self.relation(array, scope))
        text = "(" + counted.query("count(*)") + ")"
        return Scalar(_unless(counted.failures, text), call.type, fails=bool(counted.failures))

    def _quantifier(self, typed: Comprehension, scope: Bindings, positive: bool) -> Scalar:
        """`exists`, `all` and `exists_one`."""
        items = self._settled(self.relation(typed.range, scope, ordered=False))
        inner = {**scope, typed.variable: self._bindable(typed.range, items.element)}
        body = self.scalar(typed.body, inner, positive and typed.macro == "exists")
        unsure = body.fails or body.nullable
        if typed.macro == "exists" and (positive or not unsure):
            text = _exists(items.query("1", body.text))
        elif typed.macro == "all" and (positive or not unsure):
            refuted = "(NOT " + (self.dialect.is_true(body.text) if unsure else body.text) + ")"
            text = "(NOT " + _exists(items.query("1", refuted)) + ")"
        else:
            text = self._counted(typed.macro, items, body)
        return Scalar(_unless(items.failures, text), typed.type, fails=unsure or bool(items.failures))

    def _counted(self, macro: str, items: Relation, body: Scalar) -> Fragment:
        """A quantifier by counting what is true, what is false, and what is neither."""
        alias, one, zero = self.fresh(), self.dialect.true, self.dialect.false
        source = "(" + items.query(body.text + " AS b") + f") AS {alias}"
        trues = f"count(CASE WHEN {alias}.b THEN 1 END)"
        unknown = f"count(*) > count({alias}.b)"
        match macro:
            case "exists":
                verdict = f"CASE WHEN {trues} > 0 THEN {one} WHEN {unknown} THEN NULL ELSE {zero} END"
            case "all":
                refuted = f"count({alias}.b) > {trues}"
                verdict = f"CASE WHEN {refuted} THEN {zero} WHEN {unknown} THEN NULL ELSE {one} END"
            case _:
                verdict = f"CASE WHEN {unknown} THEN NULL ELSE {trues} = 1 END"
        return f"(SELECT {verdict} FROM " + source + ")"

    def _bindable(self, node: Typed, element: Binding) -> Binding:
        """What a variable is bound to: a row that is known by its identifier is still a row."""
        if isinstance(element, Scalar) and isinstance(node.type, Array) and isinstance(node.type.items, Row):
            return ReferredRow(node.type.items.resource, element)
        return element

    def _gathered(self, typed: Typed, items: Relation) -> Scalar:
        """Several values as one array."""
        items = self._settled(items)
        item = self._of_binding(typed, items.element)
        if isinstance(item.type, Anything):
            raise self.refuse(typed, "of which type the items are, is not stated")
        text = "(" + items.query(self.dialect.gather(item.text, item.type, items.order)) + ")"
        return Scalar(_unless(items.failures, text), typed.type, fails=bool(items.failures))

    def _settled(self, items: Relation) -> Relation:
        """The same, with elements that do not fail: that one does makes the whole an error."""
        element = items.element
        if not (isinstance(element, Scalar) and element.fails):
            return items
        failure = _exists(items.query("1", element.is_broken))
        sound = replace(element, fails=False, failure=None)
        return replace(items, element=sound, failures=(*items.failures, failure))

    def relation(self, typed: Typed, scope: Bindings, ordered: bool = True) -> Relation:
        """The values of an array-typed expression. `ordered`: their order matters."""
        if not self.reads_rows(typed, scope):
            return self._items(typed, self.scalar(typed, scope))
        match typed:
            case All(resource=resource):
                source, row, seen = self.table(resource)
                return Relation(source, row, seen, self._row_order(typed, row))
            case Select(through="back"):
                return self._referring(typed, scope)
            case Select(through="computed", operand=operand) if isinstance(operand.type, Row):
                name, expression = self._inlined(typed)
                self._inside.append(typed.name)
                try:
                    return self.relation(expression, {name: self.row(operand, scope)}, ordered)
                finally:
                    self._inside.pop()
            case Comprehension(macro="filter"):
                items = self._settled(self.relation(typed.range, scope, ordered))
                inner = {**scope, typed.variable: self._bindable(typed.range, items.element)}
                return self._filtered(items, typed.body, inner)
            case Comprehension(macro="map"):
                return self._mapped(typed, scope, ordered)
            case Comprehension(macro="flatMap"):
                return self._flattened(typed, scope, ordered)
            case Call(function="distinct", arguments=[array]):
                return self._distinct(array, self._settled(self.relation(array, scope, ordered)), ordered)
            case Call(function="sort", arguments=[array]):
                items = self._settled(self.relation(array, scope, ordered=False))
                item = self._of_binding(array, items.element)
                nulls = ("(" + item.text + " IS NULL)",) if item.nullable else ()
                return replace(items, order=(*nulls, item.text))
            case MakeArray(items=members):
                return self._written(typed, members, scope)
            case Call(function="+"):
                raise self.refuse(typed, "the database does not join arrays with `+`")
            case _:
                return self._items(typed, self.scalar(typed, scope))

    def _items(self, typed: Typed, stored: Scalar) -> Relation:
        """The items of an array that is one value."""
        assert isinstance(typed.type, Array)
        alias, type_ = self.fresh(), typed.type.items
        item = Scalar(self.dialect.item(alias, type_), type_, type_.nullable)
        failures = ("(" + stored.text + " IS NULL)",) if stored.fails or stored.nullable else ()
        return Relation(
            self.dialect.items(stored.text, alias), item, order=(self.dialect.position(alias),), failures=failures
        )

    def _row_order(self, node: Typed, row: TableRow) -> tuple[Fragment, ...]:
        """Rows are in the order of their identifiers."""
        names = self._shape(node, row.resource).identifier
        return tuple(Fragment(f"{row.alias}.{identifier(name)}") for name in names)

    def _referring(self, select: Select, scope: Bindings) -> Relation:
        """The rows that refer back to a row."""
        target = self.row(select.operand, scope)
        shape = self._shape(select, target.resource)
        resource, referring = shape.back[select.name]
        own = self._of_binding(select, target)
        source, row, seen = self.table(resource)
        where = f"{row.alias}.{identifier(referring)} = " + own.text
        failures = ("(" + own.text + " IS NULL)",) if own.fails or own.nullable else ()
        return Relation(source, row, (where, *seen), self._row_order(select, row), failures)

    def _filtered(self, items: Relation, condition: Typed, inner: Bindings) -> Relation:
        """Those items of which a condition is true; that it is an error of one makes the whole an error."""
        asked = self.scalar(condition, inner)
        if not (asked.fails or asked.nullable):
            return replace(items, where=(*items.where, asked.text))
        failure = _exists(items.query("1", "(" + asked.text + " IS NULL)"))
        return replace(items, where=(*items.where, asked.text), failures=(*items.failures, failure))

    def _mapped(self, typed: Comprehension, scope: Bindings, ordered: bool) -> Relation:
        items = self._settled(self.relation(typed.range, scope, ordered))
        inner = {**scope, typed.variable: self._bindable(typed.range, items.element)}
        if typed.condition is not None:
            items = self._filtered(items, typed.condition, inner)
        if isinstance(typed.body.type, Row):
            row = self.row(typed.body, inner)
            return replace(items, element=row if isinstance(row, TableRow) else row.identifier)
        return replace(items, element=self.scalar(typed.body, inner))

    def _flattened(self, typed: Comprehension, scope: Bindings, ordered: bool) -> Relation:
        outer = self._settled(self.relation(typed.range, scope, ordered))
        bindings = {**scope, typed.variable: self._bindable(typed.range, outer.element)}
        inner = self._settled(self.relation(typed.body, bindings, ordered))
        if inner.derived:
            raise self.refuse(typed.body, "the database does not join arrays that are themselves made by a query")
        failures = tuple(_exists(outer.query("1", failure)) for failure in inner.failures)
        return Relation(
            join(", ", (outer.source, inner.source)),
            inner.element,
            (*outer.where, *inner.where),
            (*outer.order, *inner.order),
            (*outer.failures, *failures),
            outer.derived,
        )

    def _distinct(self, array: Typed, items: Relation, ordered: bool) -> Relation:
        item, alias = self._of_binding(array, items.element), self.fresh()
        if not ordered:
            source = "(" + items.query("DISTINCT " + item.text + " AS v") + f") AS {alias}"
        else:
            numbered = "row_number() OVER (ORDER BY " + join(", ", items.order) + ") AS n"
            rows = "(" + items.query(item.text + " AS v, " + numbered) + f") AS {alias}"
            source = f"(SELECT {alias}.v AS v, min({alias}.n) AS n FROM " + rows + f" GROUP BY {alias}.v) AS {alias}"
        value = replace(item, text=Fragment(f"{alias}.v"))
        return Relation(source, value, (), (Fragment(f"{alias}.n"),) if ordered else (), items.failures, derived=True)

    def _written(self, typed: MakeArray, members: list[Typed], scope: Bindings) -> Relation:
        """A list literal, as rows."""
        made, alias = [self.scalar(member, scope) for member in members], self.fresh()
        queries = ("SELECT " + one.text + f" AS v, {index} AS n" for index, one in enumerate(made))
        assert isinstance(typed.type, Array)
        failures = tuple(one.is_broken for one in made if one.fails)
        item = Scalar(Fragment(f"{alias}.v"), typed.type.items, any(one.nullable for one in made))
        source = "(" + join(" UNION ALL ", queries) + f") AS {alias}"
        return Relation(source, item, (), (Fragment(f"{alias}.n"),), failures, derived=True)
