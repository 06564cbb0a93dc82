"""What a body gives where nothing is wrong with it and each of its members is a field or is asked for by its name: most
bodies. Of all others it is found out member by member what they give, and what is wrong (`decode.py`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import call
from typing import Any, TypeAlias

from msgspec import Struct

from ninefold.expressions.evaluate import EvaluationError
from ninefold.runtime.cache import Cache
from ninefold.runtime.messages.fields import Field
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.messages.schemas import Schemas
from ninefold.values import Invalid, Value
from ninefold.values.json_numbers import has_decimals


class Given(Struct, frozen=True):
    """What a body gives: the values that are valid, by field; what is no field, by name (`request.body.NAME`); and what
    is wrong, if anything is."""

    values: dict[str, Value]
    others: dict[str, Value]
    wrong: Failure | None


_Read: TypeAlias = tuple[str, str, Callable[[Any], Value]]
"""A member, what its value is called, and what reads it."""

_WAYS = 256
"""Which members there are, a client chooses: of so many choices it is kept what reads them."""


class Plain:
    """Reads bodies. `fields` and `others`: what is read of a member as a field, or by its own name. `known`: the
    members that there may be; None: the schema says so."""

    __slots__ = ("_fields", "_is_valid", "_known", "_members", "_others", "_ways")

    def __init__(
        self, fields: Sequence[_Read], others: Sequence[_Read], known: frozenset[str] | None, schemas: Schemas
    ) -> None:
        self._fields = fields
        self._others = others
        self._members = tuple(dict.fromkeys(member for member, _, _ in (*fields, *others)))
        self._known = known
        self._is_valid = schemas.is_valid
        self._ways: Cache[tuple[str, ...], Callable[[dict[str, Any]], Given]] = Cache(_WAYS)

    def given(self, document: Any) -> Given | None:
        """None: it is to be looked at more closely, and nothing has become of it."""
        if type(document) is not dict or not (self._known is None or self._known.issuperset(document)):
            return None
        if has_decimals(document.values()) or not self._is_valid(document):
            return None  # of decimals it is asked whether what is kept of them is valid as well
        there = tuple(filter(document.__contains__, self._members))
        try:
            return (self._ways.get(there) or self._way(there))(document)
        except (Invalid, EvaluationError):
            return None

    def _way(self, there: tuple[str, ...]) -> Callable[[dict[str, Any]], Given]:
        """What reads a document with these members, in the order of the contract."""
        fields, others = _reading(self._fields, there), _reading(self._others, there)
        way = (
            (lambda document: Given(fields(document), others(document), None))
            if any(member in there for member, _, _ in self._others)
            else lambda document: Given(fields(document), {}, None)
        )
        self._ways.keep(there, way)
        return way


def _reading(read: Sequence[_Read], there: Collection[str]) -> Callable[[dict[str, Any]], dict[str, Value]]:
    taken = [each for each in read if each[0] in there]
    members, names, reads = [each[0] for each in taken], [each[1] for each in taken], [each[2] for each in taken]
    return lambda document: dict(zip(names, map(call, reads, map(document.__getitem__, members)), strict=True))


def plain(
    fields: Sequence[Field],
    members: Mapping[str, Callable[[object], Value]],
    known: Mapping[str, Any] | None,
    schemas: Schemas,
) -> Plain | None:
    """None: a field is not a member of its own, is what it was already or becomes another before it is looked at, or an
    object around fields has members that are not known."""
    if any(len(each.pointer) != 1 or each.fixed or each.normal is not None for each in fields):
        return None
    if known is not None and any(each is not None for each in known.values()):
        return None
    return Plain(
        tuple((each.pointer[0], each.name, _kept(each)) for each in fields),
        tuple((name, name, read) for name, read in members.items()),
        None if known is None else frozenset(known),
        schemas,
    )


def _kept(field: Field) -> Callable[[Any], Value]:
    return field.read if field.stored is None else lambda value: field.kept(field.read(value))
