"""What a body gives where nothing is wrong with it and each of its members is a field or is asked for by its name: most
bodies. Of all others it is found out member by member what they give, and what is wrong (`decode.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import EvaluationError
from ninefold.runtime.messages.fields import Field
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.messages.schemas import Schemas
from ninefold.values import Invalid, Value


@dataclass(frozen=True, slots=True)
class Given:
    """What a body gives: the values that are valid, by field; what is no field, by name (`request.body.NAME`); and what
    is wrong, if anything is."""

    values: dict[str, Value]
    others: dict[str, Value]
    wrong: Failure | None


@dataclass(frozen=True, slots=True)
class Plain:
    """`fields`: each with the name of its member. `known`: the members that there may be; None: the schema says so."""

    fields: Sequence[tuple[str, Field, Callable[[object], Value]]]
    members: Sequence[tuple[str, Callable[[object], Value]]]
    known: frozenset[str] | None
    schemas: Schemas

    def given(self, document: Any) -> Given | None:
        """None: it is to be looked at more closely, and nothing has become of it."""
        if type(document) is not dict or not (self.known is None or self.known.issuperset(document)):
            return None
        if not self.schemas.is_valid(document):
            return None
        values: dict[str, Value] = {}
        try:
            for name, field, read in self.fields:
                if name in document:
                    value = read(document[name])
                    values[field.name] = value if field.stored is None else field.kept(value)
            others = {name: read(document[name]) for name, read in self.members if name in document}
        except (Invalid, EvaluationError):
            return None
        return Given(values, others, None)


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
        tuple((each.pointer[0], each, each.read) for each in fields),
        tuple(members.items()),
        None if known is None else frozenset(known),
        schemas,
    )
