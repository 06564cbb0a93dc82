"""Typed trees as SQL, exact in every value: what is null, what is an error, what is too large.

In SQL a null value and an error are both NULL. Of a type that is not nullable, NULL is an error, and SQL's
three-valued AND, OR and NOT treat it as CEL treats errors. Where a value may be both, a `Scalar` carries the
condition under which it is an error. `positive` says that only truth counts (a WHERE, and what stands in it
under AND, OR and `exists`): there NULL and false are the same, and shorter forms, which indexes serve, will do.

The largest parts that read no row are binds: one `?` each, evaluated before the statement runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ninefold.diagnostics import codes
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.expressions.ast import Problem
from ninefold.expressions.reads import NO_MODEL, is_pure, may_fail
from ninefold.expressions.rows import as_value
from ninefold.expressions.scope import Model
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
    parts,
)
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, bind, identifier, join
from ninefold.sql.operators import Operators
from ninefold.sql.relations import (
    Binding,
    Bindings,
    FirstRow,
    Item,
    ReferredRow,
    Relation,
    Scalar,
    TableRow,
    unless,
)
from ninefold.sql.rows import NotInSQL, Visible, everything
from ninefold.sql.sqlite import SQLITE
from ninefold.values import Anything, Array, Boolean, Digest, Object, Row, Type

__all__ = [
    "LONGEST",
    "Item",
    "Items",
    "NotInSQL",
    "Visible",
    "everything",
    "failure_of",
    "items_of",
    "sql_problem",
    "to_sql",
]

LONGEST: Final = 60_000
"""Characters of one expression in SQL."""


def to_sql(
    typed: Typed,
    *,
    model: Model,
    rows: Mapping[str, str | Item] | None = None,
    dialect: Dialect = SQLITE,
    visible: Visible = everything,
    condition: bool = False,
    bounded: bool = False,
    unnumbered: tuple[str, str] | None = None,
) -> Fragment:
    """The value of an expression as SQL.

    `rows` leads from row variables to the aliases of their tables, and from those of `items_of` to what they stand
    for. A table is called as its resource, a column as its field. `condition`: only truth counts, as in WHERE. Raises
    `NotInSQL` for what `sql_problem` refuses, which alone asks whether it is `bounded`. `unnumbered`:
    a row variable and its field that is none yet, since the row is still to be made: reading it is an error.

    What is stored of a secret may be compared (a credential is found by it), and is never the value itself.
    """
    if _holds_secret(typed.type):
        raise NotInSQL(codes.SECRET, "what is stored of a secret is not readable", typed)
    writer, scope = _begun(typed, model, rows or {}, dialect, visible, bounded)
    if unnumbered is not None and isinstance(row := scope[unnumbered[0]], TableRow):
        scope[unnumbered[0]] = replace(row, unnumbered=unnumbered[1])
    return writer.scalar(typed, scope, condition).text


def failure_of(typed: Typed, model: Model, rows: Mapping[str, str | Item], dialect: Dialect) -> Fragment | None:
    """The condition (true or false) under which an expression is an error, where it may be null, too. None: it is an
    error where it is NULL, if it can be one at all."""
    writer, scope = _begun(typed, model, rows, dialect, everything)
    made = writer.scalar(typed, scope)
    return made.failure or (Fragment(dialect.false) if made.nullable and not made.fails else None)


@dataclass(frozen=True, slots=True)
class Items:
    """The items of an array, each a row of a query. `item` is what the variable that stands for one of them is bound
    to: the alias of the table whose row it is, or the value."""

    item: str | Item
    relation: Relation
    alias: str

    def gathered(self, cells: Sequence[Fragment], types: Sequence[Type], dialect: Dialect) -> Fragment:
        """All of them as one value of the type `ROWS`, in their order: for each item the array of its cells."""
        order = tuple(key.ordering for key in self.relation.ordered_as(self.alias))
        named = [*(cell + f" AS c{index}" for index, cell in enumerate(cells)), *self.relation.order_columns]
        given = [Fragment(f"{self.alias}.c{index}") for index in range(len(cells))]
        # By way of a derived table: an aggregate of an outer row's column alone would belong to the outer query.
        query = self.relation.query(join(", ", named or [Fragment("1")]))
        text = "(SELECT " + dialect.gather_rows(given, types, order) + " FROM (" + query + f") AS {self.alias})"
        return unless(self.relation.failures, text)


def items_of(
    typed: Typed,
    *,
    model: Model,
    rows: Mapping[str, str | Item] | None = None,
    dialect: Dialect = SQLITE,
    visible: Visible = everything,
    bounded: bool = False,
) -> Items:
    """The items of an array as rows, of which further expressions may be asked: `rows` as in `to_sql`. Rows that are
    not visible are not among them. Raises `NotInSQL`."""
    writer, scope = _begun(typed, model, rows or {}, dialect, visible, bounded)
    return writer.items(typed, scope)


def _begun(
    typed: Typed,
    model: Model,
    rows: Mapping[str, str | Item],
    dialect: Dialect,
    visible: Visible,
    bounded: bool = False,
) -> tuple[_Writer, dict[str, Binding]]:
    taken = frozenset(each.alias if isinstance(each, Item) else each for each in rows.values())
    scope: dict[str, Binding] = {}
    for name, each in rows.items():
        if isinstance(each, Item):
            scope[name] = Scalar(Fragment(f"{identifier(each.alias)}.v"), each.type, each.type.nullable)
        else:
            scope[name] = TableRow(_resource_of(typed, name) or name, identifier(each))
    return _Writer(model, dialect, visible, taken, typed, bounded), scope


def sql_problem(
    typed: Typed,
    rows: Mapping[str, str | Item] | tuple[str, ...] | frozenset[str] = (),
    *,
    model: Model = NO_MODEL,
    places: Mapping[int, tuple[int, int]] | None = None,
    several: bool = False,
) -> Problem | None:
    """Why an expression cannot be part of a statement; `None` if it can. With the `places` of its check, the
    problem stands where its cause is written, otherwise at the start. `several`: of an array, what is wanted are its
    items."""
    bound = rows if isinstance(rows, Mapping) else {name: name for name in rows}
    try:
        if several:
            items_of(typed, model=model, rows=bound, bounded=True)
        else:
            to_sql(typed, model=model, rows=bound, bounded=True)
    except NotInSQL as refused:
        start, end = (places or {}).get(id(refused.node)) or (places or {}).get(id(typed)) or (0, 0)
        return Problem(refused.code, refused.message, start, end, refused.help)
    return None


def _holds_secret(type_: Type) -> bool:
    match type_:
        case Array(items=items):
            return _holds_secret(items)
        case Object(members=members):
            return any(map(_holds_secret, members.values()))
        case _:
            return isinstance(type_, Digest)


def _resource_of(typed: Typed, name: str) -> str | None:
    """The resource of which a row variable is a row."""
    if isinstance(typed, Variable) and typed.name == name and isinstance(typed.type, Row):
        return typed.type.resource
    return next((found for part in parts(typed) if (found := _resource_of(part, name))), None)


class _Writer(Operators):
    """A whole expression."""

    def scalar(self, typed: Typed, scope: Bindings, positive: bool = False) -> Scalar:
        """One value. `positive` is for conditions, of which only truth counts."""
        made = self._scalar(typed, scope, positive) if self.reads_rows(typed, scope) else self._bound(typed)
        if self.bounded and len(made.text.text) > LONGEST:
            raise self.refuse(typed, f"as SQL, this is longer than {LONGEST:,} characters")
        return made

    def _bound(self, typed: Typed) -> Scalar:
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
            case Select(through="back") | All() | Comprehension(macro="filter" | "map" | "flatMap" | "sortBy"):
                return self._gathered(typed, self.relation(typed, scope))
            case Select():
                return self._select(typed, scope, positive)
            case Comprehension(macro="transformMap"):
                return self._transformed(typed, scope)
            case Call(function="distinct" | "sort" | "reverse" | "names of" | "+", type=Array()) | MakeArray():
                return self._gathered(typed, self.relation(typed, scope))
            case Call():
                return self._call(typed, scope, positive)
            case Comprehension():
                return self._quantifier(typed, scope, positive)
            case MakeObject():
                raise self.refuse(
                    typed,
                    "an object cannot be made of rows in the database",
                    "what a response shows can be an object; what is compared, counted or computed cannot",
                )
            case Constant():
                return self._bound(typed)

    def items(self, typed: Typed, scope: Bindings) -> Items:
        """The items of an array-typed expression, each under an alias of its own."""
        relation = self._settled(self.relation(typed, scope))
        element = relation.element
        match element:
            case TableRow(alias=alias):
                return Items(_unquoted(alias), relation, self.fresh())
            case Scalar():
                value = element
            case ReferredRow():
                value = element.identifier
            case FirstRow():
                raise AssertionError("one row is no item")
        assert isinstance(typed.type, Array)
        if isinstance(typed.type.items, Anything):
            raise self.refuse(typed, "of which type the items are, is not stated")
        alias = self.fresh()
        columns = (value.text + " AS v", *relation.order_columns)
        source = "(" + relation.query(join(", ", columns)) + f") AS {alias}"
        found = replace(relation, source=source, where=(), order=relation.ordered_as(alias), derived=True)
        if not isinstance(typed.type.items, Row):
            return Items(Item(_unquoted(alias), typed.type.items), found, self.fresh())
        # Rows that are known by their primary keys: those of them that are there.
        own, _ = self._identifier(typed, typed.type.items.resource)
        table, row, seen = self.table(typed.type.items.resource)
        same = Fragment(f"{row.alias}.{identifier(own)} = {alias}.v")
        joined = replace(found, source=join(", ", (source, table)), element=row, where=(same, *seen))
        return Items(_unquoted(row.alias), joined, self.fresh())


def _unquoted(alias: str) -> str:
    return alias[1:-1]
