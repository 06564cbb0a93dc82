"""The row as it was: what is read of it before the statement that changes it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeVar

from ninefold.checked.contents import Content, all_expressions, expressions_of, with_expressions
from ninefold.checked.operations import Delete, Mutation, Remove
from ninefold.checked.resources import Effect, Resource
from ninefold.compile.perspective import Perspective
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.rows import computed_before, fields_as_they_were, reads_before, unwritten
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.plan.environment import THIS
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.sql.fragment import Fragment, all_of, identifier, join
from ninefold.values import Row

T = TypeVar("T", Delete, Remove)


def as_it_was(
    operation: Mutation, resource: Resource, found: Sequence[Fragment], perspective: Perspective
) -> Statement | None:
    """What the response, invariants, events and effects of a change read of the row as it was, and its primary key;
    None: they read nothing. `found`: which row it is."""
    return _read(
        [*all_expressions(operation.response), *_asked(operation, resource, perspective)], resource, found, perspective
    )


def before_deletion(
    operation: Delete | Remove, resource: Resource, found: Sequence[Fragment], perspective: Perspective
) -> Statement | None:
    """The same of what the response and the effects of a deletion read."""
    effects = [typed for each in effects_of(operation, resource) for typed in each.expressions]
    return _read([*all_expressions(operation.response), *effects], resource, found, perspective)


def _read(
    told: Sequence[Typed], resource: Resource, found: Sequence[Fragment], perspective: Perspective
) -> Statement | None:
    reading = [typed for typed in told if reads_before(typed)]
    if not reading:
        return None
    row, rows = Variable(resource.name, Row(resource=resource.name)), {resource.name: resource.name}
    cells: dict[str, tuple[Fragment, ResultColumn]] = {}

    def add(select: Select) -> None:
        cells[select.name] = (perspective.value(select, rows), ResultColumn(select.name, select.type))

    for key in resource.primary_key:
        add(Select(row, key, resource.fields[key].type, "field"))
    for typed in reading:
        for each in fields_as_they_were(typed, resource.name):
            # What an older version shows of a row is none of its fields here, and is known to expressions alone.
            add(Select(row, each.name, each.type, each.through))
    name = identifier(resource.name)
    listed = join(", ", [value for value, _ in cells.values()] or [Fragment("1")])
    text = "SELECT " + listed + f" FROM {name} AS {name} WHERE " + all_of(found)
    return Statement((Piece(text.text, text.binds),), tuple(result for _, result in cells.values()))


def _asked(operation: Mutation, resource: Resource, perspective: Perspective) -> Iterator[Typed]:
    """What the contract reads by its own authority."""
    yield from (each.that for each in resource.invariants)
    told = {each.code for each in resource.invariants}
    yield from (
        said for code in perspective.checked.errors.codes if code.name in told for said in code.computed.values()
    )
    transitions = () if resource.machine is None else resource.machine.transitions.values()
    for effect in (*operation.effects, *operation.also, *(each for taken in transitions for each in taken.also)):
        yield from effect.expressions
    for kind in perspective.checked.caused.get(resource.name, ()):
        for cause in (*kind.causes, *(each for older in kind.older for each in older.causes)):
            if cause.resource == resource.name:
                yield from expressions_of(cause.payload)
                if cause.when is not None:
                    yield cause.when


def still(content: Content) -> Content:
    """What a content shows of a row that is as it was: of one that is to be deleted."""
    return with_expressions(content, unwritten)


def as_deleted(operation: T, resource: Resource) -> T:
    """An endpoint that deletes a row, whose response shows what is computed of the row as it was computed before."""
    change = partial(computed_before, resource=resource.name, called=resource.name)
    response = operation.response
    headers = tuple((name, replace(leaf, expression=change(leaf.expression))) for name, leaf in response.headers)
    content = None if response.content is None else with_expressions(response.content, change)
    return replace(operation, response=replace(response, content=content, headers=headers))


def effects_of(operation: Mutation, resource: Resource) -> tuple[Effect, ...]:
    """What else an operation does. Where it deletes the row, what is computed of that is what was computed before."""
    if not isinstance(operation, Delete | Remove):
        return operation.effects
    change = partial(computed_before, resource=resource.name, called=THIS)
    return tuple(each.with_expressions(change) for each in operation.effects)
