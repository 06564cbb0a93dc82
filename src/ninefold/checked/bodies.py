"""Bodies: what they have, with plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.plan.routes import Rule
from ninefold.values import Type


@dataclass(frozen=True)
class BodyMember:
    """A member of a shared type that is the body; of what is no field, `request.body.NAME` is the value."""

    name: str
    type: Type
    schema: Mapping[str, Any]
    required: bool
    place: Place
    rules: tuple[Rule, ...] = ()
    at_times: bool = False
    """Whether it is a member of some bodies alone, those of which `WholeBody` says so."""
    turn: int = 0
    """It ascends in the order in which the contract writes what the body has, as that of leaves and constants does."""


@dataclass(frozen=True)
class WholeBody:
    """What the type that is a body asks of the object as a whole. `others`: what members are that have no name of their
    own; None: there are none."""

    schema: Mapping[str, Any]
    others: Type | None
    place: Place
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class BodyLeaf:
    """The value at `pointer` (member names from the root) is the field's. `beside`: what the type that is the body says
    of it, beside its field."""

    pointer: tuple[str, ...]
    field: str
    beside: BodyMember | None = None
    turn: int = 0


@dataclass(frozen=True)
class BodyConstant:
    """A member of the body that is this and nothing else, and is there wherever the object around it is."""

    pointer: tuple[str, ...]
    value: object
    place: Place
    turn: int = 0
