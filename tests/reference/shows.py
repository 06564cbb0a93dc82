"""What a response shows: templates, rows and views, as JSON values (meanings "views and templates" and "no value")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tests.reference.chosen import NOTHING, Chosen
from tests.reference.expressions import Fails, Reading, Reference, at_hand
from tests.reference.rows import Row

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows
from ninefold.values import Duration

LEFT_OUT: Final = object()


def shown(content: Content, reading: Reading, rows: Sequence[Row] = (), chosen: Chosen = NOTHING) -> Any:
    """A content as JSON; `LEFT_OUT` where there is no value and no null is shown for it. `chosen`: what the request
    chose of it."""
    match content:
        case Leaf(expression=expression, null_shown=null_shown):
            value = plain(reading.value_or_none(expression))
            assert not isinstance(expression.type, Duration)
            return LEFT_OUT if value is None and not null_shown else value
        case Object():
            if content.present is not None and not _is_there(content, reading):
                return _nothing(content)
            members = {name: shown(member, reading, rows, chosen) for name, member in _members(content, chosen)}
            return {name: value for name, value in members.items() if value is not LEFT_OUT}
        case Array(items=items):
            values = [shown(item, reading, rows, chosen) for item in items]
            return [value for value in values if value is not LEFT_OUT]
        case Choice(condition=condition, yes=yes, no=no):
            chosen_one = shown(yes if reading.value_or_none(condition) is True else no, reading, rows, chosen)
            return _nothing(content) if chosen_one is None or chosen_one is LEFT_OUT else chosen_one
        case Each(range=range_, variable=variable, item=item):
            items = reading.value_or_none(range_)
            if items is None:
                return _nothing(content)
            values = [shown(item, reading.also(**{variable: each}), (), chosen) for each in items]
            return [value for value in values if value is not LEFT_OUT]
        case Rows(item=item):
            return [shown(item, reading.also(**{row.resource.name: at_hand(row)}), (), chosen) for row in rows]


def _nothing(content: Content) -> Any:
    """What is shown of a content without a value."""
    return None if content.null_shown else LEFT_OUT


def _members(content: Object, chosen: Chosen) -> list[tuple[str, Content]]:
    """The members of an object as a request chooses them."""
    asked = {name: each for name, each in content.expanded if name in chosen.expanded}
    kept = [
        (name, asked.pop(name, member))
        for name, member in content.members
        if not (name in content.optional and name in chosen.left_out)
    ]
    return kept + list(asked.items())


def _is_there(content: Object, reading: Reading) -> bool:
    assert content.present is not None
    try:
        row = reading.value(content.present)
    except Fails:
        return False
    return isinstance(row, Reference) and reading.there(row)


def plain(value: Any) -> Any:
    """A row as a value is its identifier."""
    if isinstance(value, Reference):
        return value.key
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value
