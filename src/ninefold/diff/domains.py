"""The values that a field can have, where they are few: the states of a row, and those that a schema lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from ninefold.checked.resources import Field, Resource
from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.edges import EDGES, is_number
from ninefold.diff.normal import Normal
from ninefold.diff.schemas import merged
from ninefold.language.json_schema import listed_values
from ninefold.values import Boolean, Integer

Domain: TypeAlias = tuple[Any, ...]


Edges: TypeAlias = Mapping[str, float]
"""The keywords of JSON Schema that say where numbers end, with what they say."""


def holds(edges: Edges, number: float) -> bool:
    """Whether a number is within."""
    for closed, open, sign in EDGES:
        if closed in edges and sign * number < sign * edges[closed]:
            return False
        if open in edges and sign * number <= sign * edges[open]:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Domains:
    """Of what an expression reads. `values`: all that it can have, `None` where it may have none; None: they are not
    known, or not few. `is_there`: it always has a value. `is_whole`: what it has is a whole number, or nothing.
    `within`: a number that it has is within one of these; none: whichever it is."""

    values: Callable[[Normal], Domain | None]
    is_there: Callable[[Normal], bool]
    is_whole: Callable[[Normal], bool]
    within: Callable[[Normal], tuple[Edges, ...]]


def _is_there(path: Normal) -> bool:
    """Whatever is read: a constant, and the value that a request gives to a filter."""
    return path == _GIVEN or (path[0] == "literal" and path[1] != "NoneType")


_GIVEN: Final = ("name", "value")


_LITERAL, _COUNTED = ("literal", "int"), ("call", "size")
_WHOLE: Final = (_LITERAL, _COUNTED)
"""What forms of whole numbers begin with: a function is called."""


def _is_whole(path: Normal) -> bool:
    """Whatever is read: how many there are, and what is made of whole numbers."""
    if path[:1] in (("+",), ("-",), ("*",)):
        return all(map(_is_whole, path[1:]))
    return path[:2] in _WHOLE


NOTHING_KNOWN: Final = Domains(lambda _: None, _is_there, _is_whole, lambda _: ())


def of_both(old: Domains, new: Domains) -> Domains:
    """The values of either contract: a row of one may be asked of in the other."""

    def known(path: Normal) -> Domain | None:
        before, after = old.values(path), new.values(path)
        return None if before is None or after is None else tuple(dict.fromkeys((*before, *after)))

    def within(path: Normal) -> tuple[Edges, ...]:
        before, after = old.within(path), new.within(path)
        return (*before, *after) if before and after else ()

    return Domains(
        known,
        lambda path: old.is_there(path) and new.is_there(path),
        lambda path: old.is_whole(path) and new.is_whole(path),
        within,
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

    def within(path: Normal) -> tuple[Edges, ...]:
        if path[:2] == _COUNTED:
            counted = read(path[2] or next(iter(path[3:]), ()))
            return () if counted is None else _edges(counted[1], _COUNTING)
        found = read(path)
        return () if found is None else _edges(found[1], _NUMBERS)

    return Domains(known, is_there, is_whole, within)


_NUMBERS: Final = tuple((name, name) for *pair, _ in EDGES for name in pair)
_COUNTING: Final = (("minLength", "minimum"), ("minItems", "minimum"), ("minProperties", "minimum"),
                    ("maxLength", "maximum"), ("maxItems", "maximum"), ("maxProperties", "maximum"))  # fmt: skip
"""Keywords of what is counted, with those of how many there are."""


def _edges(field: Field, of: Iterable[tuple[str, str]]) -> tuple[Edges, ...]:
    """None: nothing holds what is computed to its schema."""
    if field.computed is not None:
        return ()
    said = merged(field.schema)
    found = {edge: said[name] for name, edge in of if isinstance(said, dict) and is_number(said.get(name))}
    return (found,) if found else ()


def _values(resource: Resource, field: Field) -> Domain | None:
    if resource.machine is not None and resource.is_state(field.name):
        return resource.machine.states
    if isinstance(field.type, Boolean):
        return True, False
    listed = listed_values(field.schema)
    if listed is not None and all(isinstance(each, str | int | float | None) for each in listed):
        return tuple(each for each in listed if each is not None)
    return None
