"""What gives the fields of a row their values in a write: where that is stated, and what the statement itself makes.

Most of what is given on create or on change is made before the statement runs (`ninefold.plan.writes.Assign`). What
reads other rows (`line.product.price`), or what the statement makes of another field, becomes a part of the statement:
the row as it would be is a derived table, and each value that is made of it stands in a further one around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ninefold.checked.operations import Mutation, Operation
from ninefold.checked.resources import Resource
from ninefold.checked.service import Places
from ninefold.compile import inputs
from ninefold.compile.perspective import Perspective
from ninefold.compile.which_rows import WANTED
from ninefold.diagnostics.place import Place
from ninefold.expressions.reads import fields_read
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Constant, Typed, free_variables
from ninefold.plan.environment import EACH, POSITION, WAS
from ninefold.plan.writes import Assign
from ninefold.sql.fragment import Fragment, bind, column, identifier, join


def which_rows(operation: Operation, resource: Resource, perspective: Perspective) -> tuple[Place, ...]:
    """What the endpoint says of them besides its path, the row rule of the caller, and which of them are gone."""
    places = perspective.checked.places
    return (
        *places.at("endpoints", operation.key, "row"),
        *places.at("endpoints", operation.key, "where"),
        *perspective.rule(resource.name),
        *places.at("states", resource.name, "gone"),
    )


def givers(operation: Mutation, resource: Resource, perspective: Perspective) -> dict[str, tuple[Place, ...]]:
    """By field: the body that gives it, `sets`, the state that a row begins or comes to be in, `on create` and `on
    change`."""
    found = {name: giver(name, operation, resource, perspective.checked.places) for name in resource.fields}
    return {name: places for name, places in found.items() if places}


def giver(name: str, operation: Mutation, resource: Resource, places: Places) -> tuple[Place, ...]:
    """The same of one field."""
    return tuple(_of(name, operation, resource, places))


def _of(name: str, operation: Mutation, resource: Resource, places: Places) -> Iterator[Place]:
    machine = resource.machine
    if any(leaf.field == name for leaf in operation.takes.body or ()):
        yield from places.at("endpoints", operation.key, "body")
    yield from places.at("endpoints", operation.key, "sets", name)
    taken = (*(() if operation.transition is None else (operation.transition,)), *operation.further)
    for transition in taken:
        yield from places.at("states", resource.name, "transitions", transition.name, "sets", name)
    making = operation.kind.makes
    if machine is not None and machine.field == name:
        if taken:
            yield from places.at("states", resource.name, "transitions", taken[-1].name, "to")
        elif making:
            yield from places.at("states", resource.name, "initial")
    field = ("resources", resource.name, "fields", name)
    if operation.kind.is_whole:
        yield from places.at(*field, "on create")
    yield from places.at(*field, "on change")


def is_made(assign: Assign) -> bool:
    """Whether the contract gives the field a value, where the body does not."""
    if isinstance(assign.otherwise, Constant) and assign.otherwise.value is None:
        return False
    return assign.in_statement or assign.otherwise is not None


def with_made(
    row: Fragment,
    columns: Sequence[str],
    made: Mapping[str, Typed],
    given: Collection[str],
    resource: Resource,
    perspective: Perspective,
    again: Mapping[str, Sequence[str]] | None = None,
) -> Fragment:
    """A select of the row as it would be, with what is made of it. `row` is a select of its `columns` without: each is
    called as its field, and a field of `given` has what the body gives. `again`: what is made only where one of these
    changes. Beside each value that is made stands whether that failed (`failing`). Of several new rows, each made of an
    item, what is read of that is in the row of `$wanted` with its position."""
    name = identifier(resource.name)
    columns = [*columns]
    of_items = POSITION in columns and any(EACH in free_variables(typed) for typed in made.values())
    item = f" JOIN {WANTED} ON {WANTED}.{identifier(POSITION)} = " + column(resource.name, POSITION) if of_items else ""
    watched = dict.fromkeys(field for fields in (again or {}).values() for field in fields)
    watched |= dict.fromkeys(field for typed in made.values() for field in sorted(fields_read(typed, WAS, {})))
    old = [column(resource.name, each) + f" AS {identifier(each)}" for each in watched]
    beside = ", (SELECT " + join(", ", old) + f") AS {identifier(WAS)}" if old else Fragment("")
    for level in _levels(made, resource.name, perspective.checked.model):
        cells = []
        for each in columns:
            cell = column(resource.name, each)
            if each in level:
                value = perspective.value(made[each], both(resource))
                if again is not None and each in again:
                    value = _if_changed(again[each], value, cell, resource, perspective)
                cell = if_given(each, cell, value) if each in given else value
            cells.append(cell + f" AS {identifier(each)}")
        for each in sorted(level):
            cells.append(
                _fails(each, made[each], given, again, resource, perspective) + f" AS {identifier(failing(each))}"
            )
        row = "SELECT " + join(", ", cells) + " FROM (" + row + f") AS {name}" + item + beside
        columns += [failing(each) for each in sorted(level)]
    return row


def failing(field: str) -> str:
    """The column that says whether a value could not be made."""
    return f"{field} fails"


def _fails(
    field: str,
    typed: Typed,
    given: Collection[str],
    again: Mapping[str, Sequence[str]] | None,
    resource: Resource,
    perspective: Perspective,
) -> Fragment:
    rows = both(resource)
    fails = perspective.failing(typed, rows)
    if fails is None:
        fails = "((" + perspective.value(typed, rows) + ") IS NULL)"
    if again is not None and field in again:
        fails = _if_changed(again[field], fails, Fragment("FALSE"), resource, perspective)
    return if_given(field, Fragment("FALSE"), fails) if field in given else fails


def both(resource: Resource) -> dict[str, str]:
    """The row as it becomes, and as it was."""
    return {resource.name: resource.name, WAS: WAS}


def _if_changed(
    fields: Sequence[str], then: Fragment, otherwise: Fragment, resource: Resource, perspective: Perspective
) -> Fragment:
    """One value where the write changes one of the fields, and another where it does not."""
    changes = perspective.holds(resource.changes(fields), both(resource))
    return "CASE WHEN " + changes + " THEN " + then + " ELSE " + otherwise + " END"


def if_any(conditions: Sequence[Typed], then: Fragment, otherwise: Fragment) -> Fragment:
    """One value where one of these is so of the request, and another where none is."""
    return "CASE WHEN " + join(" OR ", list(map(bind, conditions))) + " THEN " + then + " ELSE " + otherwise + " END"


def if_given(field: str, then: Fragment, otherwise: Fragment) -> Fragment:
    """One value where the body gives the field, and another where it does not."""
    return if_any([inputs.is_given(field)], then, otherwise)


def _levels(made: Mapping[str, Typed], resource: str, model: Model) -> list[set[str]]:
    """Each value after those that it is made of. What is made of itself in the end finds no value there."""
    waits = {name: fields_read(typed, resource, model) & made.keys() for name, typed in made.items()}
    levels = []
    while waits:
        level = {name for name, reads in waits.items() if not reads & waits.keys()} or set(waits)
        levels.append(level)
        waits = {name: reads for name, reads in waits.items() if name not in level}
    return levels
