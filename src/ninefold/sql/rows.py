"""What the parts of an expression become in SQL, where rows are, and their fields: stored, computed, and read through
references.

The rows of a resource are in its table, or, of the resource `event`, in the event log. Of an event are read, beside its
fields, three columns that no contract can name: `$about`, the primary key of the row that it is about as a JSON array;
`$seen`, that row as the event found it; and `$revision`, since what has happened never changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Final, TypeAlias

from ninefold.diagnostics import codes
from ninefold.diagnostics.diagnostic import Code
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import DEEPEST_COMPUTED, computed_of, needs_database
from ninefold.expressions.rows import is_reference
from ninefold.expressions.scope import Log, Model, ResourceShape, describe, stored_as
from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, bind, identifier, join
from ninefold.sql.relations import (
    Binding,
    Bindings,
    FirstRow,
    OneRow,
    ReferredRow,
    Relation,
    Scalar,
    TableRow,
    either,
    exists,
    unless,
)
from ninefold.values import Anything, Array, Boolean, Duration, Null, Object, Row, Text, Timestamp, Type

ABOUT, SEEN = identifier("$about"), identifier("$seen")

LOG = f'(SELECT *, row AS {ABOUT}, seen AS {SEEN} FROM "$event")'
"""The log as it is, with the same two columns."""


def source(resource: str, model: Model, dialect: Dialect) -> Fragment:
    """What stands in FROM for the rows of a resource, before its alias."""
    shape = model.get(resource)
    if shape is None or shape.log is None:
        return Fragment(identifier(resource))
    return _events(shape.log, dialect.about("e.row", max(len(each.primary_key) for each in model.values())))


def _events(log: Log, row: str) -> Fragment:
    kind, payload, events = "e.kind", "e.payload", Fragment('"$event" AS e')
    tests: list[Fragment] = []
    if log.version is not None:
        kind, payload = "coalesce(o.kind, e.kind)", "coalesce(o.payload, e.payload)"
        joined = ' LEFT JOIN "$event in version" AS o ON o.event = e.seq AND o.version = '
        events = events + joined + bind(Constant(log.version, Text()))
        tests.append(Fragment("(o.event IS NULL OR o.kind IS NOT NULL)"))
    if log.kinds is not None:
        tests.append(one_of(kind, log.kinds))
    if log.lasts is not None:
        since = Call("-", [Variable("now", Timestamp()), Constant(log.lasts, Duration())], Timestamp())
        # A time before the calendar's beginning is none, and everything is after it.
        tests.append("e.time >= coalesce(" + bind(since) + ", '')")
    text = (
        f"(SELECT e.seq AS position, e.id AS id, {kind} AS kind, e.time AS time, e.resource AS resource, {row} AS row,"
        f' {payload} AS payload, e.row AS {ABOUT}, e.seen AS {SEEN}, e.id AS "$revision" FROM ' + events
    )
    for index, test in enumerate(tests):
        text = text + (" AND " if index else " WHERE ") + test
    return text + ")"


def one_of(kind: str, kinds: Sequence[str]) -> Fragment:
    """Whether an event is of one of some kinds."""
    if not kinds:
        return Fragment("FALSE")
    return kind + " IN (" + join(", ", [bind(Constant(each, Text())) for each in kinds]) + ")"


Visible: TypeAlias = Callable[[str, str], Fragment | None]
"""The condition under which a row of a resource, known by an alias, may be seen; `None`: always."""


def everything(resource: str, alias: str) -> Fragment | None:
    """The `Visible` that hides nothing."""
    return None


MOST_QUERIES: Final = 24
"""How many queries one expression may hold; SQLite takes ever longer to prepare more, and at some point refuses."""


class NotInSQL(ValueError):
    """`to_sql` was asked for what `sql_problem` refuses."""

    def __init__(self, code: Code, message: str, node: Typed, help: tuple[str, ...] = ()):
        super().__init__(message)
        self.code: Final = code
        self.message: Final = message
        self.node: Final = node
        self.help: Final = help


@dataclass
class Parts(ABC):
    """One expression on its way to SQL: fresh aliases, and the computed fields that it is inside of. `bounded`: it is
    asked whether it can be written at all; what views and row rules put around it later has bounds of its own."""

    model: Model
    dialect: Dialect
    visible: Visible
    taken: frozenset[str]
    whole: Typed
    bounded: bool = False
    _aliases: int = 0
    _inside: list[str] = field(default_factory=list)

    @abstractmethod
    def scalar(self, typed: Typed, scope: Bindings, positive: bool = False) -> Scalar:
        """One value."""

    @abstractmethod
    def relation(self, typed: Typed, scope: Bindings, ordered: bool = True) -> Relation:
        """The values of an array-typed expression. `ordered`: their order matters."""

    @abstractmethod
    def member(self, call: Call, scope: Bindings) -> Scalar:
        """The member of an object, `o[k]`."""

    @contextmanager
    def inside(self, computed: str) -> Iterator[None]:
        """The expression of a computed field: its value is the same whoever reads it, so that it reads all rows."""
        visible, self.visible = self.visible, everything
        self._inside.append(computed)
        try:
            yield
        finally:
            self._inside.pop()
            self.visible = visible

    def fresh(self) -> str:
        """An alias that is not in use, quoted."""
        self._aliases += 1
        while f"t{self._aliases}" in self.taken:
            self._aliases += 1
        if self.bounded and self._aliases > MOST_QUERIES + len(self.taken):
            raise self.refuse(self.whole, f"as SQL, this holds more than {MOST_QUERIES} queries")
        return identifier(f"t{self._aliases}")

    def refuse(self, node: Typed, message: str, *help: str) -> NotInSQL:
        return NotInSQL(codes.NOT_IN_SQL, message, node, help)

    def reads_rows(self, typed: Typed, scope: Bindings) -> bool:
        return needs_database(typed, scope.keys(), self.model)

    def _shape(self, node: Typed, resource: str) -> ResourceShape:
        shape = self.model.get(resource)
        if shape is None:
            raise self.refuse(node, f"the fields of `{resource}` are not known")
        return shape

    def _identifier(self, node: Typed, resource: str) -> tuple[str, Type]:
        """The one primary key field of a resource, and its type."""
        shape = self._shape(node, resource)
        if shape.identifier_type is None:
            raise NotInSQL(codes.NOT_A_VALUE, shape.is_no_value, node)
        return shape.primary_key[0], shape.identifier_type

    def stored(self, type_: Type) -> Type:
        """The type that a value is stored as: of a row, that of its primary key."""
        return stored_as(type_, self.model)

    def table(self, resource: str) -> tuple[Fragment, TableRow, tuple[Fragment, ...]]:
        """A source for FROM, the row in it, and the condition under which it may be seen."""
        alias = self.fresh()
        seen = self.visible(resource, alias[1:-1])
        return (
            source(resource, self.model, self.dialect) + f" AS {alias}",
            TableRow(resource, alias),
            () if seen is None else (seen,),
        )


class Rows(Parts):
    """A row is a table's, under its alias, or one that is referred to and known by its primary key."""

    def _of_binding(self, node: Typed, binding: Binding) -> Scalar:
        """A variable as a value: a row as its primary key."""
        match binding:
            case Scalar():
                return binding
            case ReferredRow():
                return binding.identifier
            case TableRow():
                return self.column(node, binding, self._identifier(node, binding.resource)[0])
            case FirstRow(resource=resource):
                own, type_ = self._identifier(node, resource)
                made = self.column(node, binding, own)
                failures = binding.found.failures
                return Scalar(made.text, type_, True, bool(failures), either(failures) if failures else None)

    def row(self, typed: Typed, scope: Bindings) -> OneRow:
        """The row that a row-typed expression stands for."""
        assert isinstance(typed.type, Row)
        if isinstance(typed, Call) and typed.function == "first" and self.reads_rows(typed, scope):
            found = self.relation(typed.arguments[0], scope)
            if isinstance(found.element, TableRow):
                return FirstRow(typed.type.resource, found)
        if isinstance(typed, Variable) and typed.name in scope:
            binding = scope[typed.name]
            if not isinstance(binding, Scalar):
                return binding
            return ReferredRow(typed.type.resource, binding)
        loaded = not is_reference(typed) and not self.reads_rows(typed, scope)
        if loaded:
            self._identifier(typed, typed.type.resource)
        return ReferredRow(typed.type.resource, self.scalar(typed, scope), loaded)

    def _absent(self, node: Typed, row: OneRow) -> tuple[Fragment, ...]:
        """The conditions under which there is no such row, or none that may be seen: reading it is an error."""
        if isinstance(row, TableRow):
            return ()
        if isinstance(row, FirstRow):
            return (*row.found.failures, "(NOT " + exists(row.found.query("1")) + ")")
        given = row.identifier
        source, target, seen = self.table(row.resource)
        if seen and not row.loaded:
            own, _ = self._identifier(node, row.resource)
            found = Relation(source, target, (f"{target.alias}.{identifier(own)} = " + given.text, *seen))
            return ("(NOT " + exists(found.query("1")) + ")",)
        return ("(" + given.text + " IS NULL)",) if given.fails or given.nullable else ()

    def column(self, node: Typed, row: OneRow, name: str) -> Scalar:
        """A stored field of a row."""
        type_ = self._shape(node, row.resource).fields[name]
        if isinstance(row, TableRow):
            return Scalar(Fragment(f"{row.alias}.{identifier(name)}"), type_, type_.nullable, name == row.unnumbered)
        if isinstance(row, FirstRow):
            assert isinstance(row.found.element, TableRow)
            text = row.column(Fragment(f"{row.found.element.alias}.{identifier(name)}"))
            absent = either(self._absent(node, row)) if type_.nullable else None
            return Scalar(unless(row.found.failures, text), type_, type_.nullable, True, absent)
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
        if text is None:  # a name that no path leads to is looked for among all names
            named: list[Typed] = [operand, Constant(select.name, Text())]
            return self.member(Call("[]", named, select.type), scope)
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

    def _computed(self, select: Select, row: OneRow, positive: bool) -> Scalar:
        """The expression of a computed field in its place, of which an error is no value; a boolean one is true or
        false."""
        name, expression = self._inlined(select)
        with self.inside(select.name):
            made = self.scalar(expression, {name: row}, positive=isinstance(expression.type, Boolean))
        if not isinstance(expression.type, Boolean):
            made = Scalar(made.text, made.type, made.nullable or made.fails)
        elif not positive and (made.fails or made.nullable):
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
