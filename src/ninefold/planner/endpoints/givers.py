"""Where it is stated what gives each field its value in a write, beside the field itself, and which rows there are to
act on."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.operations import Mutation, Operation
from ninefold.checked.places import Places
from ninefold.checked.resources import Resource
from ninefold.plan.places import Place
from ninefold.planner.perspective import Perspective
from ninefold.planner.places import stated, traced


def which_rows(operation: Operation, resource: Resource, perspective: Perspective) -> tuple[Place, ...]:
    """What the endpoint says of them besides its path, the row rule of the caller, and which of them are gone."""
    places = perspective.checked.places
    return (
        *stated(places, "endpoints", operation.key, "row"),
        *stated(places, "endpoints", operation.key, "where"),
        *traced(*perspective.rule(resource.name)),
        *stated(places, "states", resource.name, "gone"),
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
        yield from stated(places, "endpoints", operation.key, "body")
    yield from stated(places, "endpoints", operation.key, "sets", name)
    taken = (*(() if operation.transition is None else (operation.transition,)), *operation.further)
    for transition in taken:
        yield from stated(places, "states", resource.name, "transitions", transition.name, "sets", name)
    making = operation.kind.makes
    if machine is not None and machine.field == name:
        if taken:
            yield from stated(places, "states", resource.name, "transitions", taken[-1].name, "to")
        elif making:
            yield from stated(places, "states", resource.name, "initial")
    field = ("resources", resource.name, "fields", name)
    if making or resource.fields[name].again_on or operation.verb == "replace":
        yield from stated(places, *field, "on create")
    yield from stated(places, *field, "on change")
