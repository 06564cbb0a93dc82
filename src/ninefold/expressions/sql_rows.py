"""Rows and their fields in SQL: stored, computed, and read through references."""

from __future__ import annotations

from ninefold.expressions.lower import is_reference
from ninefold.expressions.reads import (
    DEEPEST_COMPUTED,
    computed_of,
)
from ninefold.expressions.scope import describe
from ninefold.expressions.sql_parts import (
    Binding,
    Bindings,
    Parts,
    ReferredRow,
    Relation,
    Scalar,
    TableRow,
    either,
    exists,
    unless,
)
from ninefold.expressions.tree import (
    Select,
    Typed,
    Variable,
)
from ninefold.sql.fragment import Fragment, identifier
from ninefold.values import Anything, Array, Boolean, Null, Object, Row, Type


class Rows(Parts):
    """A row is a table's, under its alias, or one that is referred to and known by its identifier."""

    def _of_binding(self, node: Typed, binding: Binding) -> Scalar:
        """A variable as a value: a row as its identifier."""
        match binding:
            case Scalar():
                return binding
            case ReferredRow():
                return binding.identifier
            case TableRow():
                return self.column(node, binding, self._identifier(node, binding.resource)[0])

    def row(self, typed: Typed, scope: Bindings) -> TableRow | ReferredRow:
        """The row that a row-typed expression stands for."""
        assert isinstance(typed.type, Row)
        if isinstance(typed, Variable) and typed.name in scope:
            binding = scope[typed.name]
            if not isinstance(binding, Scalar):
                return binding
            return ReferredRow(typed.type.resource, binding)
        loaded = not is_reference(typed) and not self.reads_rows(typed, scope)
        if loaded:
            self._identifier(typed, typed.type.resource)
        return ReferredRow(typed.type.resource, self.scalar(typed, scope), loaded)

    def _absent(self, node: Typed, row: TableRow | ReferredRow) -> tuple[Fragment, ...]:
        """The conditions under which there is no such row, or none that may be seen: reading it is an error."""
        if isinstance(row, TableRow):
            return ()
        given = row.identifier
        source, target, seen = self.table(row.resource)
        if seen and not row.loaded:
            own, _ = self._identifier(node, row.resource)
            found = Relation(source, target, (f"{target.alias}.{identifier(own)} = " + given.text, *seen))
            return ("(NOT " + exists(found.query("1")) + ")",)
        return ("(" + given.text + " IS NULL)",) if given.fails or given.nullable else ()

    def column(self, node: Typed, row: TableRow | ReferredRow, name: str) -> Scalar:
        """A stored field of a row."""
        type_ = self._shape(node, row.resource).fields[name]
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
        failure = "(NOT " + exists(found.query("1")) + ")" if fails and type_.nullable else None
        return Scalar(text, type_, type_.nullable, fails, failure)

    def _select(self, select: Select, scope: Bindings, positive: bool) -> Scalar:
        operand = select.operand
        if isinstance(operand.type, Row):
            row = self.row(operand, scope)
            if select.through == "computed":
                return self._computed(select, row, positive)
            return self.column(select, row, select.name)
        object_ = self.scalar(operand, scope)
        text = self.dialect.member(object_.text, select.name, select.type)
        if text is None:
            raise self.refuse(select, f"the database finds no member of the name `{select.name}`")
        fails, nullable = object_.fails or object_.nullable, select.type.nullable
        failure = "(" + object_.text + " IS NULL)" if fails and nullable else None
        if isinstance(object_.type, Anything):
            fails, failure = True, "(NOT " + self.dialect.json_is(object_.text, "map") + ")"
            failure = either((object_.is_broken, failure)) if object_.fails else failure
        return Scalar(text, select.type, nullable, fails, failure)

    def json(self, node: Typed, value: Scalar) -> Scalar:
        """A value as JSON, the form of those of any type."""
        if isinstance(value.type, Anything | Array | Object | Null):
            return value
        type_: Type = value.type
        if isinstance(type_, Row):
            type_ = self._identifier(node, type_.resource)[1]
        text = self.dialect.as_json(value.text, type_)
        if text is None:
            raise self.refuse(node, f"{describe(type_)} is no JSON value")
        return Scalar(text, Anything(nullable=value.nullable), value.nullable, value.fails, value.failure)

    def _computed(self, select: Select, row: TableRow | ReferredRow, positive: bool) -> Scalar:
        """The expression of a computed field in its place; a boolean one is true or false."""
        name, expression = self._inlined(select)
        with self.inside(select.name):
            made = self.scalar(expression, {name: row}, positive=isinstance(expression.type, Boolean))
        if isinstance(expression.type, Boolean) and not positive and (made.fails or made.nullable):
            made = Scalar(self.dialect.is_true(made.text), made.type)
        absent = self._absent(select, row)
        if not absent:
            return made
        broken = (*absent, made.is_broken) if made.fails else absent
        failure = either(broken) if made.nullable else None
        return Scalar(unless(absent, made.text), made.type, made.nullable, True, failure)

    def _inlined(self, select: Select) -> tuple[str, Typed]:
        computed = computed_of(select, self.model)
        if computed is None:
            raise self.refuse(select, f"how `{select.name}` is computed is not known")
        if len(self._inside) >= DEEPEST_COMPUTED:
            raise self.refuse(select, f"computed fields stand in each other at most {DEEPEST_COMPUTED} deep")
        return computed
