"""Small rewritings of typed trees: rows as their identifiers, values of unknown type as values of a known one."""

from __future__ import annotations

from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Call, Comprehension, Constant, MakeArray, Select, Typed, Variable
from ninefold.values import Anything, Array, Boolean, Null, Row, Type, optional


def is_reference(typed: Typed) -> bool:
    """Whether the value of a row-typed expression is the row's identifier already, as a stored reference is."""
    return (isinstance(typed, Select) and typed.through == "field") or isinstance(typed, Call)


def as_value(typed: Typed, model: Model) -> Typed:
    """A row as its identifier, an array of rows as an array of identifiers, all else as it is.

    A row of several identifier fields, or of a resource that is not in the model, is left a row.
    """
    match typed.type:
        case Row(resource=resource) if not is_reference(typed):
            shape = model.get(resource)
            if shape is None or shape.identifier_type is None:
                return typed
            return Select(operand=typed, name=shape.identifier[0], type=shape.identifier_type, through="field")
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
    """`left == right` of rows whose identifier is several fields: each of these is equal. None: they are no such
    rows."""
    if not isinstance(left.type, Row) or not isinstance(right.type, Row) or left.type.resource != right.type.resource:
        return None
    shape = model.get(left.type.resource)
    if shape is None or len(shape.identifier) < 2 or not set(shape.identifier) <= shape.fields.keys():
        return None
    same: Typed | None = None
    for name in shape.identifier:
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
    if shape is None or shape.identifier != (name,) or operand.type.nullable:
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
