"""The values that a field can have, where they are few: the states of a row, and those that a schema lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from ninefold.checked.resources import Field, Resource
from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.normal import Normal
from ninefold.language.json_schema import listed_values
from ninefold.values import Boolean, Integer

Domain: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Domains:
    """Of what an expression reads. `values`: all that it can have, `None` where it may have none; None: they are not
    known, or not few. `is_there`: it always has a value. `is_whole`: what it has is a whole number, or nothing."""

    values: Callable[[Normal], Domain | None]
    is_there: Callable[[Normal], bool]
    is_whole: Callable[[Normal], bool]


def _is_there(path: Normal) -> bool:
    """Whatever is read: a constant, and the value that a request gives to a filter."""
    return path == _GIVEN or (path[0] == "literal" and path[1] != "NoneType")


_GIVEN: Final = ("name", "value")


_WHOLE: Final = (("literal", "int"), ("call", "size"))
"""What forms of whole numbers begin with: a function is called."""


def _is_whole(path: Normal) -> bool:
    """Whatever is read: how many there are, and what is made of whole numbers."""
    if path[:1] in (("+",), ("-",), ("*",)):
        return all(map(_is_whole, path[1:]))
    return path[:2] in _WHOLE


NOTHING_KNOWN: Final = Domains(lambda _: None, _is_there, _is_whole)


def of_both(old: Domains, new: Domains) -> Domains:
    """The values of either contract: a row of one may be asked of in the other."""

    def known(path: Normal) -> Domain | None:
        before, after = old.values(path), new.values(path)
        return None if before is None or after is None else tuple(dict.fromkeys((*before, *after)))

    return Domains(
        known,
        lambda path: old.is_there(path) and new.is_there(path),
        lambda path: old.is_whole(path) and new.is_whole(path),
    )


def domains_of(resources: Mapping[str, Resource]) -> Domains:
    """Of the rows of a contract, and of what they refer to."""

    def led_to(path: Normal) -> tuple[Resource, bool] | None:
        """The resource whose row a path is, and whether it may lead to none."""
        match path:
            case ("name", str(name)) if name in resources:
                return resources[name], False
            case ("member", ("name", "caller"), str(name)) if name in resources:
                return resources[name], True
        found = read(path)
        if found is None or found[1].references is None:
            return None
        return resources[found[1].references], found[2]

    def read(path: Normal) -> tuple[Resource, Field, bool] | None:
        """The field of a row that a path is, and whether it may have no value."""
        match path:
            case ("member", before, str(name)) if (row := led_to(before)) is not None and name in row[0].fields:
                field = row[0].fields[name]
                return row[0], field, row[1] or field.type.nullable
        return None

    def known(path: Normal) -> Domain | None:
        found = read(path)
        values = None if found is None else _values(found[0], found[1])
        return values if values is None or found is None or not found[2] else (*values, None)

    def is_there(path: Normal) -> bool:
        found = read(path)
        return _is_there(path) or (found is not None and not found[2])

    def is_whole(path: Normal) -> bool:
        if path[:1] in (("+",), ("-",), ("*",)):
            return all(map(is_whole, path[1:]))
        found = read(path)
        return _is_whole(path) if found is None else isinstance(found[1].type, Integer)

    return Domains(known, is_there, is_whole)


def _values(resource: Resource, field: Field) -> Domain | None:
    if resource.machine is not None and resource.is_state(field.name):
        return resource.machine.states
    if isinstance(field.type, Boolean):
        return True, False
    listed = listed_values(field.schema)
    if listed is not None and all(isinstance(each, str | int | float | None) for each in listed):
        return tuple(each for each in listed if each is not None)
    return None
