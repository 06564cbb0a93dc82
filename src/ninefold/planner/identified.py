"""A row by its identifier, as a path would name it: for operations that no endpoint asks for."""

from __future__ import annotations

from collections.abc import Mapping

from ninefold.checked.contents import Response
from ninefold.checked.operations import PathName, Update
from ninefold.checked.resources import Resource, Transition
from ninefold.checked.service import Checked
from ninefold.expressions.tree import Select, Variable
from ninefold.language.verbs import TRANSITION
from ninefold.values import Row, Type, required


def by_identifier(resource: Resource, checked: Checked) -> tuple[PathName, ...]:
    """The path whose names are the identifier's fields."""
    row = Variable(resource.name, Row(resource=resource.name))
    return tuple(
        PathName(
            text=name,
            type=_type_of_key(resource.fields[name].type, checked.resources),
            resource=resource.name,
            field=name,
            through=(),
            found=Select(row, name, resource.fields[name].type, "field"),
        )
        for name in resource.identifier
    )


def taking(transition: Transition, resource: Resource, checked: Checked) -> Update:
    """A transition of the row that its identifier names."""
    return Update(
        key=f"{transition.name} {resource.name}",
        segments=by_identifier(resource, checked),
        place=transition.place,
        kind=TRANSITION,
        resource=resource.name,
        response=Response(204, None, (), transition.place),
        transition=transition,
    )


def _type_of_key(type_: Type, resources: Mapping[str, Resource]) -> Type:
    """A reference is compared by its target's identifier."""
    while isinstance(type_, Row):
        type_ = resources[type_.resource].key.type
    return required(type_)
