"""What a deletion takes with it, and what refuses it: `on delete`, through as many levels as there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.checked.resources import Field, Resource
from ninefold.compile.perspective import Perspective
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
        refers = (
            _to_the_row(alias, field, resource) if alone else _to_falling(alias, field, resource, cascades, perspective)
        )
        holds = f"NOT EXISTS (SELECT 1 FROM {identifier(other.name)} AS {identifier(alias)} WHERE " + refers + ")"
        said = perspective.checked.places.at("resources", other.name, "fields", field.name, "on delete")
        condition = Condition("conflict", subject=resource.name, trace=(field.place, *said))
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


def _to_falling(
    alias: str, field: Field, resource: Resource, cascades: tuple[tuple[Resource, Field], ...], perspective: Perspective
) -> Fragment:
    """A reference to the row, or to one that falls with it: these are known by their resource and primary key. A row
    known by several fields falls too, and nothing can refer to it. Keys of other types stand in columns of their own,
    where the database wants one type in each."""
    known = {each.name: each for each in (resource, *(other for other, _ in cascades)) if len(each.primary_key) == 1}
    none = {
        name: perspective.dialect.null(perspective.stored(each.fields[each.primary_key[0]].type)).text
        for name, each in known.items()
    }
    types = list(dict.fromkeys(none.values()))
    keys = {name: f"key{types.index(type_)}" for name, type_ in none.items()}

    def fallen(of: str, row: str) -> Fragment:
        key = column(row, known[of].primary_key[0])
        return f"{_text(of)}, " + join(", ", [key if each == none[of] else Fragment(each) for each in types])

    steps = []
    for other, reference in cascades:
        target = reference.references or ""
        if other.name in known:
            row = f"falling {other.name}.{reference.name}"
            source = Fragment(f"{identifier(other.name)} AS {identifier(row)}")
            of = (
                f'"$falls".resource = {_text(target)} AND '
                + column(row, reference.name)
                + f' = "$falls".{keys[target]}'
            )
            steps.append((fallen(other.name, row), source, of))
    columns = ", ".join(dict.fromkeys(keys.values()))
    first = "SELECT " + fallen(resource.name, resource.name)
    falls = first + " UNION " + perspective.dialect.steps('"$falls"', steps)
    to = field.references or ""
    chosen = f' SELECT {keys[to]} FROM "$falls" WHERE resource = {_text(to)})'
    return column(alias, field.name) + f' IN (WITH RECURSIVE "$falls" (resource, {columns}) AS (' + falls + ")" + chosen


def _text(name: str) -> str:
    """The name of a resource as an SQL literal: it is an identifier of CEL."""
    return f"'{name}'"
