"""Part 7: error bodies, and the order in which conditions count."""

from __future__ import annotations

from ninefold.checked import endpoints as checked_endpoints
from ninefold.checked import service as checked_service
from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows
from ninefold.checked.service import Checked
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed, free_variables
from ninefold.language import errors as stated
from ninefold.language.conditions import STATUSES, precedence
from ninefold.language.declaration import members
from ninefold.plan import responses as planned
from ninefold.plan.problems import DETAIL, ErrorCode, ErrorShape, Problems


def problems(checked: Checked) -> Problems:
    errors = checked.errors
    return Problems(
        statuses=STATUSES,
        precedence=precedence(errors.precedence),
        codes=tuple(
            ErrorCode(
                name=code.name,
                status=code.status,
                said=dict(code.said),
                detail=_of_request(code, DETAIL),
                headers={name: _of_request(code, name) for name in code.computed if name != DETAIL},
                about=code.about,
                called=code.called,
                trace=(code.place,),
                places=_of_a_code(checked, code),
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


def _of_request(code: checked_service.ErrorCode, name: str) -> Typed | None:
    """What a code says where that reads no row; the judge says the rest."""
    value = code.computed.get(name)
    return None if value is None or code.resource in free_variables(value) else value


def _of_a_code(checked: Checked, code: checked_service.ErrorCode) -> dict[str, Place]:
    own = [each.name for each in members(stated.ErrorCode)]
    places = checked.places.by_key(own, "errors", "codes", code.name)
    headers = checked.places.by_key(code.computed, "errors", "codes", code.name, "headers")
    return places | {f"headers {name}": place for name, place in headers.items()}


def _places(checked: Checked) -> dict[str, Place]:
    found = checked.places.by_key(("precedence",), "errors")
    found |= checked.places.by_key(("media type",), "errors", "error shape")
    for condition, code in checked.errors.conditions.items():
        when = ("errors", "codes", code, "for")
        # One condition stands behind the key itself, several in a list.
        for place in checked.places.at(*when, condition) or checked.places.at(*when):
            found[f"for {condition}"] = place
    messages = checked.places.by_key(checked.errors.messages, "errors", "messages")
    return found | {f"messages {rule}": place for rule, place in messages.items()}


def _content(wanted: Content) -> planned.Content:
    """An error reads no row but through its detail, so all of it is expressions."""
    match wanted:
        case Leaf():
            return planned.FromExpression(wanted.expression, null_shown=wanted.null_shown, trace=wanted.trace)
        case Object():
            members = tuple((name, _content(value)) for name, value in wanted.members)
            return planned.ObjectOf(members, trace=wanted.trace)
        case Array():
            return planned.ArrayOf(tuple(_content(item) for item in wanted.items), trace=wanted.trace)
        case Rows() | Each():
            return _content(wanted.item)
        case Choice():
            condition = planned.FromExpression(wanted.condition)
            yes, no = _content(wanted.yes), _content(wanted.no)
            return planned.ChoiceOf(condition, yes, no, null_shown=wanted.null_shown, trace=wanted.trace)
