"""The values that a field can have, where they are few: the states of a row, and those that a schema lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ninefold.checked.resources import Field, Resource
from ninefold.diff.normal import Normal
from ninefold.values import Boolean

Domain: TypeAlias = tuple[Any, ...]
Domains: TypeAlias = Callable[[Normal], Domain | None]
"""From what an expression reads to all values that it can have, `None` where it may have none. None: they are not
known, or not few."""


def nothing_known(path: Normal) -> None:
    """Of nothing it is known which values it has."""


def of_both(old: Domains, new: Domains) -> Domains:
    """The values of either contract: a row of one may be asked of in the other."""

    def known(path: Normal) -> Domain | None:
        before, after = old(path), new(path)
        return None if before is None or after is None else tuple(dict.fromkeys((*before, *after)))

    return known


def domains_of(resources: Mapping[str, Resource]) -> Domains:
    """Of the rows of a contract, and of what they refer to."""

    def led_to(path: Normal) -> tuple[Resource, bool] | None:
        """The resource whose row a path is, and whether it may lead to none."""
        match path:
            case ("name", str(name)) if name in resources:
                return resources[name], False
            case ("member", ("name", "caller"), str(name)) if name in resources:
                return resources[name], True
            case ("member", before, str(name)):
                row = led_to(before)
                field = None if row is None else row[0].fields.get(name)
                if row is not None and field is not None and field.references is not None:
                    return resources[field.references], row[1] or field.type.nullable
        return None

    def known(path: Normal) -> Domain | None:
        match path:
            case ("member", before, str(name)):
                row = led_to(before)
                field = None if row is None else row[0].fields.get(name)
                values = None if row is None or field is None else _values(row[0], field)
                if row is None or field is None or values is None:
                    return None
                return (*values, None) if row[1] or field.type.nullable else values
        return None

    return known


def _values(resource: Resource, field: Field) -> Domain | None:
    if resource.machine is not None and resource.machine.field == field.name:
        return resource.machine.states
    if isinstance(field.type, Boolean):
        return True, False
    schema = field.schema
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(listed, list) and all(isinstance(each, str | int | float | None) for each in listed):
        return tuple(each for each in listed if each is not None)
    return None
