"""What stands around each bind of a plan, for a database that does not ask a value for its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ninefold.expressions.scope import Model, stored_as
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import Piece, Statement
from ninefold.sql.fragment import PLACEHOLDER
from ninefold.values import Type


def with_bound(plan: ServicePlan, bound: Callable[[Type], str], model: Model) -> ServicePlan:
    """The plan with each `?` of its statements as `bound` says it, by the type that is bound there."""

    def said(piece: Piece) -> Piece:
        texts = piece.text.split(PLACEHOLDER)
        places = (bound(stored_as(each.type, model)) for each in piece.binds)
        text = texts[0] + "".join(place + rest for place, rest in zip(places, texts[1:], strict=True))
        return msgspec.structs.replace(piece, text=text)

    made: ServicePlan = _within(plan, said)
    return made


def _within(part: Any, said: Callable[[Piece], Piece]) -> Any:
    match part:
        case Statement():
            return msgspec.structs.replace(part, pieces=tuple(map(said, part.pieces)))
        case msgspec.Struct():
            found = {name: getattr(part, name) for name in part.__struct_fields__}
            changed = {name: made for name, each in found.items() if (made := _within(each, said)) is not each}
            return msgspec.structs.replace(part, **changed) if changed else part
        case tuple():
            inside = tuple(_within(each, said) for each in part)
            return part if all(new is old for new, old in zip(inside, part, strict=True)) else inside
        case dict():
            members = {name: _within(each, said) for name, each in part.items()}
            return part if all(new is part[name] for name, new in members.items()) else members
        case _:
            return part
