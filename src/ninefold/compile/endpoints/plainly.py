"""A new row of which all is known before it is made: its values alone are stored, and nothing is asked that constraints
of the table refuse anyway. SQLite takes half as long for that as for a select of values that returns what it has
stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ninefold.checked.resources import Resource
from ninefold.compile import inputs
from ninefold.compile.contents import Columns
from ninefold.compile.endpoints.rows import pieces
from ninefold.compile.endpoints.writes import Told
from ninefold.compile.requirements import Requirement
from ninefold.expressions.reads import computed_of, needs_database
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable, parts, rewrite
from ninefold.plan.environment import ENTERED_COLUMN, REVISION_COLUMN
from ninefold.plan.statement import Plainly, Statement
from ninefold.sql.fragment import bind, identifier, join
from ninefold.values import Boolean, Integer, Null, Number, Text, Timestamp

_SCALARS: Final = (Text, Integer, Timestamp, Boolean, Null)
"""Of these a value that Python makes is what SQL makes, in the form that is stored. A number may be an integer or one
of two zeros, and JSON have spaces."""


def values_to_store(resource: Resource) -> dict[str, Typed]:
    """What is stored of a new row, by column, where the path gives nothing of it."""
    fields = [field for field in resource.fields.values() if field.stored and not field.serial]
    values = {field.name: inputs.new_value(field.name, field.type) for field in fields}
    values[REVISION_COLUMN] = inputs.REVISION
    if resource.machine is not None:
        values[ENTERED_COLUMN] = inputs.NOW
    return values


def plainly(required: Sequence[Requirement], told: Told, columns: Columns, resource: Resource) -> Plainly | None:
    """None: something else is asked, or returned, than what is known. The path gives nothing of it, and no statement
    makes any."""
    values, perspective = values_to_store(resource), columns.perspective
    unknown = any(field.serial for field in resource.fields.values())
    if unknown or not perspective.dialect.returning_costs or not all(each.constrained for each in required):
        return None
    if told.follows:
        row: list[Typed | None] = [values[key] for key in resource.primary_key]
    elif told.details or resource.invariants:
        return None
    else:
        row = [_as_stored(each, values, resource, perspective.checked.model) for each in columns.expressions]
    known = [each for each in row if each is not None]
    if len(known) < len(row):
        return None
    targets = ", ".join(map(identifier, values))
    text = (
        f"INSERT INTO {identifier(resource.name)} ({targets}) VALUES (" + join(", ", map(bind, values.values())) + ")"
    )
    return Plainly(Statement(pieces(text)), tuple(known) or (Constant(1, Integer()),))


def _as_stored(typed: Typed, values: Mapping[str, Typed], resource: Resource, model: Model) -> Typed | None:
    """What a column of the row returns, of what is stored. None: the database alone says that."""

    def change(node: Typed) -> Typed | None:
        match node:
            case Variable(name=name) if name == REVISION_COLUMN:
                return inputs.REVISION
            case Select(operand=Variable(name=name), through="field") if name == resource.name:
                return values.get(node.name)
            case Select(operand=Variable(name=name), through="computed") if name == resource.name:
                computed = computed_of(node, model)
                if computed is None:
                    return None
                by = rewrite(computed[1], change)
                return Call("is true", [by], Boolean()) if isinstance(node.type, Boolean) else by
            case _:
                return None

    made = rewrite(typed, change)
    if needs_database(made, (resource.name,)):
        return None
    is_stored = made in values.values() and not isinstance(made.type, Number)
    return made if is_stored or _is_scalar(made) else None


def _is_scalar(typed: Typed) -> bool:
    """Whether it is worked out of scalars alone."""
    match typed:
        case Select(operand=Variable()):
            return isinstance(typed.type, _SCALARS)
        case _:
            return isinstance(typed.type, _SCALARS) and all(map(_is_scalar, parts(typed)))
