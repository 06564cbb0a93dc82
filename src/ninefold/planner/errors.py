"""Part 7: error bodies, and the order in which conditions count."""

from __future__ import annotations

from ninefold.checked.endpoints import Array, Content, Leaf, Object, Rows
from ninefold.checked.service import Checked
from ninefold.meanings import BARE_STATUSES, precedence
from ninefold.plan import responses as planned
from ninefold.plan.problems import ErrorCode, Problems
from ninefold.planner.places import traced


def problems(checked: Checked) -> Problems:
    errors = checked.errors
    return Problems(
        statuses=BARE_STATUSES,
        precedence=precedence(errors.precedence),
        codes=tuple(
            ErrorCode(
                name=code.name,
                status=code.status,
                title=code.title,
                detail=code.detail if code.resource is None else None,
                about=code.about,
                trace=traced(code.place),
            )
            for code in errors.codes
        ),
        conditions=dict(errors.conditions),
        media_type=errors.media_type,
        content=None if errors.content is None else _content(errors.content),
        messages=dict(errors.messages),
    )


def _content(wanted: Content) -> planned.Content:
    """An error reads no row but through its detail, so all of it is expressions."""
    match wanted:
        case Leaf():
            return planned.FromExpression(wanted.expression, wanted.null_shown)
        case Object():
            return planned.ObjectOf(tuple((name, _content(value)) for name, value in wanted.members))
        case Array():
            return planned.ArrayOf(tuple(_content(item) for item in wanted.items))
        case Rows():
            return _content(wanted.item)
