"""What the contract gives a field is held to the field before it is written, and who answers for it."""

from __future__ import annotations

from typing import Any

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.plan.problems import Condition, Location
from ninefold.plan.statement import Statement
from ninefold.values import Type

CANNOT_BE_MADE = "stored"
"""The rule that is broken where nothing can be stored of what a request gives (meaning "errors")."""


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the request gives what a value is made of. `given`: only where its body gives this field. `subject`:
    that with which the request is `invalid` there."""

    location: Location
    given: str | None = None
    subject: str | None = None


class Held(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value that the contract gives `field` of `resource`: where it cannot be made, or is not as `schema` says (None:
    what can be made is), it is refused: as `invalid` at its one origin in the request, or at the whole body, else as an
    invariant of the row. `reads`: the fields of the row that it is made of; where one of these is refused, it says
    nothing."""

    resource: str
    field: str
    type: Type
    schema: dict[str, Any] | None = None
    origins: tuple[Origin, ...] = ()
    reads: tuple[str, ...] = ()
    trace: tuple[Place, ...] = ()


class HeldColumns(msgspec.Struct, frozen=True, omit_defaults=True):
    """One that a statement makes: the columns that say whether it cannot be made, and what it is."""

    held: Held
    fails: int
    value: int | None = None


def refusals(held: Held) -> tuple[Condition, ...]:
    """The conditions with which it may be refused."""
    found = [
        Condition("invalid", each.subject, None, each.location, CANNOT_BE_MADE, held.trace) for each in held.origins
    ]
    if len({each.location for each in held.origins}) > 1:
        found.append(Condition("invalid", held.resource or None, trace=held.trace))
    if all(each.given is not None for each in held.origins):
        found.append(Condition("check", held.resource or None, trace=held.trace))
    return tuple(found)


class Upheld(msgspec.Struct, frozen=True, omit_defaults=True):
    """An invariant of other rows that a write may break. `failing`, after the write, gives a row if there is one that
    it now fails of: the details of the codes in `details`. `before` the write one row is asked for: the keys, in arrays
    by the names of its columns, by which the rows that have to be asked are known; they are the root `$affected`."""

    condition: Condition
    failing: Statement
    details: tuple[str, ...] = ()
    before: Statement | None = None
