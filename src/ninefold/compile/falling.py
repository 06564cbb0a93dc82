"""What a deletion takes with it, and what refuses it: `on delete`, through as many levels as there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.checked.resources import Field, Resource
from ninefold.compile.perspective import Perspective
from ninefold.compile.places import stated, traced
from ninefold.compile.requirements import Requirement, Scope
from ninefold.plan.problems import Condition
from ninefold.sql.fragment import Fragment, column, identifier, join


def not_referred_to(resource: Resource, perspective: Perspective) -> list[Requirement]:
    """Nothing refers to the row that is deleted, nor to any that falls with it, where the contract says `on delete:
    restrict`."""
    referring = perspective.checked.referring
    cascades = tuple(_cascades(resource, referring))
    falling = {resource.name, *(other.name for other, _ in cascades)}
    refusing = [each for target in falling for each in referring.get(target, ()) if each[1].on_delete == "restrict"]
    found = []
    for other, field in sorted(refusing, key=lambda each: each[1].place):
        # Where only the row itself can be of that resource, there is no need to follow what falls.
        alone = field.references == resource.name and all(each is not resource for each, _ in cascades)
        alias = f"referring {other.name}.{field.name}"
        refers = _to_the_row(alias, field, resource) if alone else _to_falling(alias, field, resource, cascades)
        holds = f"NOT EXISTS (SELECT 1 FROM {identifier(other.name)} AS {identifier(alias)} WHERE " + refers + ")"
        said = stated(perspective.checked.places, "resources", other.name, "fields", field.name, "on delete")
        condition = Condition("conflict", subject=resource.name, trace=(*traced(field.place), *said))
        found.append(Requirement(condition, holds, Scope.ROW))
    return found


def _cascades(
    resource: Resource, referring: Mapping[str, tuple[tuple[Resource, Field], ...]]
) -> Iterator[tuple[Resource, Field]]:
    """The references by which rows fall when one of `resource` does, each once."""
    reached, ahead = {resource.name}, [resource.name]
    while ahead:
        target = ahead.pop()
        for other, field in referring.get(target, ()):
            if field.on_delete == "cascade":
                yield other, field
                if other.name not in reached:
                    reached.add(other.name)
                    ahead.append(other.name)


def _to_the_row(alias: str, field: Field, resource: Resource) -> Fragment:
    return column(alias, field.name) + " = " + column(resource.name, resource.primary_key[0])


def _to_falling(alias: str, field: Field, resource: Resource, cascades: tuple[tuple[Resource, Field], ...]) -> Fragment:
    """A reference to the row, or to one that falls with it: these are known by their resource and primary key. A row
    known by several fields falls too, and nothing can refer to it."""
    terms = [f"SELECT {_text(resource.name)}, " + column(resource.name, resource.primary_key[0])]
    for other, reference in cascades:
        if len(other.primary_key) == 1:
            row = f"falling {other.name}.{reference.name}"
            terms.append(
                f"SELECT {_text(other.name)}, "
                + column(row, other.primary_key[0])
                + f' FROM "$falls" JOIN {identifier(other.name)} AS {identifier(row)} ON "$falls".resource = '
                + f"{_text(reference.references or '')} AND "
                + column(row, reference.name)
                + ' = "$falls".id'
            )
    falls = 'WITH RECURSIVE "$falls" (resource, id) AS (' + join(" UNION ", terms) + ")"
    return (
        column(alias, field.name)
        + " IN ("
        + falls
        + f' SELECT id FROM "$falls" WHERE resource = {_text(field.references or "")})'
    )


def _text(name: str) -> str:
    """The name of a resource as an SQL literal: it is an identifier of CEL."""
    return f"'{name}'"
