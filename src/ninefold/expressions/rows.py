"""Rows in typed expressions: rows as their primary keys; `before.R`, the row that an operation acts on as it was; and
the rows, besides that one, on which a value depends.

A row as it was is known before the statement that changes it runs: in that statement, and in all after it, its values
are binds, under the root `before`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import computed_of
from ninefold.expressions.scope import Model, join
from ninefold.expressions.tree import (
    All,
    Call,
    Comprehension,
    Constant,
    MakeArray,
    Select,
    Typed,
    Variable,
    free_variables,
    parts,
    rewrite,
    walk,
)
from ninefold.values import Anything, Array, Boolean, Integer, Null, Number, Object, Row, Text, Type, optional


def is_reference(typed: Typed) -> bool:
    """Whether the value of a row-typed expression is the row's primary key already, as a stored reference is."""
    match typed:
        case Select(through=through):
            return through == "field"
        case Call(function=function):
            return function != "first"
        case _:
            return False


def as_value(typed: Typed, model: Model) -> Typed:
    """A row as its primary key, an array of rows as an array of primary keys, all else as it is.

    A row of several primary key fields, or of a resource that is not in the model, is left a row.
    """
    match typed.type:
        case Row() if isinstance(typed, Call) and typed.function == "first":
            found = as_value(typed.arguments[0], model)
            items = found.type.items if isinstance(found.type, Array) else typed.type
            return typed if isinstance(items, Row) else Call("first", [found], optional(items))
        case Row(resource=resource) if not is_reference(typed):
            shape = model.get(resource)
            if shape is None or shape.identifier_type is None:
                return typed
            return Select(operand=typed, name=shape.primary_key[0], type=shape.identifier_type, through="field")
        case Array(items=Row() as items, nullable=nullable):
            row = Variable(name="_row", type=items)
            identifier = as_value(row, model)
            if identifier is row:
                return typed
            array = Array(items=identifier.type, nullable=nullable)
            return Comprehension(macro="map", range=typed, variable="_row", body=identifier, type=array)
        case _:
            return typed


def same_row(left: Typed, right: Typed, model: Model) -> Typed | None:
    """`left == right` of rows whose primary key is several fields: each of these is equal. None: they are no such
    rows."""
    if not isinstance(left.type, Row) or not isinstance(right.type, Row) or left.type.resource != right.type.resource:
        return None
    shape = model.get(left.type.resource)
    if shape is None or len(shape.primary_key) < 2 or not set(shape.primary_key) <= shape.fields.keys():
        return None
    same: Typed | None = None
    for name in shape.primary_key:
        of_both: list[Typed] = [
            Select(operand=row, name=name, type=shape.fields[name], through="field") for row in (left, right)
        ]
        one = Call(function="==", arguments=of_both, type=Boolean())
        same = one if same is None else Call(function="&&", arguments=[same, one], type=Boolean())
    return same


def identifier_through(operand: Typed, name: str, model: Model) -> Typed | None:
    """`order.customer.id` is what `order.customer` holds: the reference itself, if it cannot be null."""
    if not (isinstance(operand, Select) and operand.through == "field" and isinstance(operand.type, Row)):
        return None
    shape = model.get(operand.type.resource)
    if shape is None or shape.primary_key != (name,) or operand.type.nullable:
        return None
    return Select(operand=operand.operand, name=operand.name, type=shape.fields[name], through="field")


def narrowed(typed: Typed, wanted: Type) -> Typed:
    """A value of any type as one of the type that its place needs: null stays null, another is an error. Of an array
    of such values, each item is."""
    if not _is_looser(typed.type, wanted):
        return typed
    return Call(function="narrow", arguments=[typed], type=optional(wanted))


def _is_looser(given: Type, wanted: Type) -> bool:
    """Whether a value of one type has to be looked at before it is known to be of the other."""
    if isinstance(given, Array) and isinstance(wanted, Array):
        return _is_looser(given.items, wanted.items)
    return isinstance(given, Anything) and not isinstance(wanted, Anything | Null)


def array_of(items: list[Typed], type_: Array) -> Typed:
    """A list literal; of constants, a constant."""
    constants = [item.value for item in items if isinstance(item, Constant)]
    if len(constants) == len(items):
        return Constant(value=list(constants), type=type_)
    return MakeArray(items=items, type=type_)


def constant(value: Any) -> Constant:
    """A value of JSON, of the type that it has by itself."""
    type_: Type
    match value:
        case None:
            type_ = Null(nullable=True)
        case bool():
            type_ = Boolean()
        case int():
            type_ = Integer()
        case float():
            type_ = Number()
        case str():
            type_ = Text()
        case list():
            types = [constant(each).type for each in value]
            items = types[0] if types else Anything()
            for each in types[1:]:
                items = join(items, each) or Anything(nullable=True)
            type_ = Array(items=items)
        case _:
            type_ = Object()
    return Constant(value=value, type=type_)


# ── As it was ────────────────────────────────────────────────────────────────────────────────────────────────────────


BEFORE: Final = "before"


def before(*resources: str, maybe: bool) -> Object:
    """The type of the root. `maybe`: there may have been no row before."""
    return Object(members={name: Row(resource=name, nullable=maybe) for name in resources})


def is_as_it_was(typed: Typed) -> bool:
    """Whether this is `before.R`."""
    match typed:
        case Select(operand=Variable(name=name, type=Object()), type=Row()):
            return name == BEFORE
        case _:
            return False


def fields_as_they_were(typed: Typed, resource: str) -> Iterator[Select]:
    """The fields that an expression reads of the row as it was."""
    for node in walk(typed):
        match node:
            case Select(operand=Select(name=name) as row) if name == resource and is_as_it_was(row):
                yield node
            case _:
                pass


def rows_read(typed: Typed) -> set[str]:
    """The roots that an expression reads, and of rows as they were the resources."""
    were = {node.name for node in walk(typed) if isinstance(node, Select) and is_as_it_was(node)}
    return free_variables(typed) | were


def reads_before(typed: Typed) -> bool:
    return any(map(is_as_it_was, walk(typed)))


def loaded(typed: Typed) -> Typed:
    """The expression with computed fields of the row as it was read like stored ones: they were worked out then."""

    def change(node: Typed) -> Typed | None:
        match node:
            case Select(operand=row, name=name, through="computed") if is_as_it_was(row):
                return Select(row, name, node.type, "member")
            case _:
                return None

    return rewrite(typed, change)


def unwritten(typed: Typed) -> Typed:
    """The expression over a row that is as it was: it is not written, or not yet."""

    def change(node: Typed) -> Typed | None:
        match node:
            case Call(function="has", arguments=[operand]) if is_as_it_was(operand):
                return Constant(True, Boolean())
            case Select(name=name) if is_as_it_was(node):
                return Variable(name, Row(resource=name))
            case _:
                return None

    return rewrite(typed, change)


def computed_before(typed: Typed, resource: str, called: str) -> Typed:
    """The expression with what is computed of a row, under the name by which it is `called`, as it was computed of it
    before: of one that is deleted, what else there is may be gone with it."""
    was = Select(Variable(BEFORE, before(resource, maybe=False)), resource, Row(resource=resource))

    def change(node: Typed) -> Typed | None:
        match node:
            case Select(operand=Variable(name=name), name=field, through="computed") if name == called:
                return Select(was, field, node.type, "computed")
            case _:
                return None

    return rewrite(typed, change)


# ── Which rows a value depends on ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Step:
    """From a row of `resource` on: through its reference `name`, or to the rows that refer back to it by their
    field `name`. `to` is their resource."""

    kind: Literal["field", "back"]
    resource: str
    name: str
    to: str


Way: TypeAlias = tuple[Step, ...] | None
"""From the row to others; None: all rows of their resource, whichever row it is."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """The expression reads these fields of the rows of `resource` that `way` leads to. Where it ends in a step `back`,
    or is None, it depends on which rows these are, too."""

    resource: str
    way: Way
    fields: frozenset[str]

    @property
    def of_which_rows(self) -> bool:
        return self.way is None or (bool(self.way) and self.way[-1].kind == "back")


def dependencies(typed: Typed, resource: str, model: Model) -> tuple[Dependency, ...]:
    """Those of an expression over a row of `resource`, which goes by its resource's name. The row itself is among them,
    with the way `()`, as far as it is read."""
    reading = _Reading(model)
    reading.rows(typed, {resource: frozenset({(resource, ())})})
    return tuple(Dependency(of, way, frozenset(fields)) for (of, way), fields in reading.read.items())


_Rows: TypeAlias = frozenset[tuple[str, Way]]
_NONE: _Rows = frozenset()

MOST_STEPS = 12
"""Steps of a way that is followed; what is further away is any row."""


class _Reading:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.read: dict[tuple[str, Way], set[str]] = {}
        self._inside: list[tuple[str, str]] = []

    def rows(self, typed: Typed, scope: Mapping[str, _Rows]) -> _Rows:
        """Notes what an expression reads, and gives the rows that its value is, or holds."""
        match typed:
            case Variable(name=name):
                return scope.get(name, _NONE)
            case All(resource=resource):
                self._note(resource, None)
                return frozenset({(resource, None)})
            case Select(operand=operand) if isinstance(operand.type, Row):
                found = self.rows(operand, scope)
                return frozenset().union(*(self._of_row(typed, resource, way) for resource, way in found))
            case Comprehension(range=range_, body=body, condition=condition):
                items = self.rows(range_, scope)
                inner = {**scope, **dict.fromkeys(typed.variables, _NONE), typed.variable: items}
                if condition is not None:
                    self.rows(condition, inner)
                made = self.rows(body, inner)
                return items if typed.macro in ("filter", "sortBy") else made if typed.macro in _MAPS else _NONE
            case Call(function=function, arguments=arguments):
                several = [self.rows(each, scope) for each in arguments]
                if function in ("?:", "+"):
                    return frozenset().union(*several[-2:])
                return several[0] if function in _KEEPING and several else _NONE
            case MakeArray(items=members):
                return frozenset().union(*(self.rows(each, scope) for each in members))
            case _:
                for part in parts(typed):
                    self.rows(part, scope)
                return _NONE

    def _of_row(self, select: Select, resource: str, way: Way) -> _Rows:
        """A field of a row, or the rows that refer back to it."""
        match select.through:
            case "back":
                child, referring = self.model[resource].inverse[select.name]
                further = self._further(way, Step("back", resource, referring, child))
                self._note(child, further, referring)
                return frozenset({(child, further)})
            case "computed":
                computed = computed_of(select, self.model)
                if computed is None or (resource, select.name) in self._inside:
                    return _NONE
                self._inside.append((resource, select.name))
                found = self.rows(computed[1], {computed[0]: frozenset({(resource, way)})})
                self._inside.pop()
                return found
            case _:
                self._note(resource, way, select.name)
                if not isinstance(select.type, Row):
                    return _NONE
                target = select.type.resource
                return frozenset({(target, self._further(way, Step("field", resource, select.name, target)))})

    def _further(self, way: Way, step: Step) -> Way:
        return None if way is None or len(way) >= MOST_STEPS else (*way, step)

    def _note(self, resource: str, way: Way, *fields: str) -> None:
        self.read.setdefault((resource, way), set()).update(fields)


_MAPS = ("map", "flatMap")
_KEEPING = ("distinct", "sort", "reverse", "first", "[]", "narrow")
