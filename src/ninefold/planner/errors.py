"""Part 7: error bodies, and the order in which conditions count."""

from __future__ import annotations

from ninefold.checked import endpoints as checked_endpoints
from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows
from ninefold.checked.service import Checked
from ninefold.language.conditions import STATUSES, precedence
from ninefold.plan import responses as planned
from ninefold.plan.places import Place
from ninefold.plan.problems import ErrorCode, ErrorShape, Problems
from ninefold.planner.places import by_key, stated, traced


def problems(checked: Checked) -> Problems:
    errors = checked.errors
    return Problems(
        statuses=STATUSES,
        precedence=precedence(errors.precedence),
        codes=tuple(
            ErrorCode(
                name=code.name,
                status=code.status,
                title=code.title,
                detail=code.detail if code.resource is None else None,
                about=code.about,
                called=code.called,
                trace=traced(code.place),
                places=by_key(checked.places, _OF_A_CODE, "errors", "codes", code.name),
            )
            for code in errors.codes
        ),
        conditions=dict(errors.conditions),
        media_type=errors.media_type,
        content=None if errors.content is None else _content(errors.content),
        messages=dict(errors.messages),
        places=_places(checked),
    )


def error_shape(stated: checked_endpoints.ErrorShape) -> ErrorShape:
    """The shape that an endpoint has alone."""
    if stated.media_type is None or stated.content is None:
        return ErrorShape()
    return ErrorShape(stated.media_type, _content(stated.content))


_OF_A_CODE = ("status", "title", "detail", "about", "when")


def _places(checked: Checked) -> dict[str, Place]:
    found = by_key(checked.places, ("precedence",), "errors")
    found |= by_key(checked.places, ("media type",), "errors", "shape")
    for condition, code in checked.errors.conditions.items():
        when = ("errors", "codes", code, "when")
        # One condition stands behind the key itself, several in a list.
        for place in stated(checked.places, *when, condition) or stated(checked.places, *when):
            found[f"when {condition}"] = place
    messages = by_key(checked.places, checked.errors.messages, "errors", "messages")
    return found | {f"messages {rule}": place for rule, place in messages.items()}


def _content(wanted: Content) -> planned.Content:
    """An error reads no row but through its detail, so all of it is expressions."""
    match wanted:
        case Leaf():
            return planned.FromExpression(wanted.expression, wanted.null_shown, trace=traced(*wanted.trace))
        case Object():
            members = tuple((name, _content(value)) for name, value in wanted.members)
            return planned.ObjectOf(members, trace=traced(*wanted.trace))
        case Array():
            return planned.ArrayOf(tuple(_content(item) for item in wanted.items), trace=traced(*wanted.trace))
        case Rows() | Each():
            return _content(wanted.item)
        case Choice():
            condition = planned.FromExpression(wanted.condition)
            return planned.ChoiceOf(condition, _content(wanted.yes), _content(wanted.no), trace=traced(*wanted.trace))
