"""Which events may concern a caller at all: told by a value that the row of the event and the caller have in common.

A row rule such as `note.owner == caller.person` lets a caller see an event only if it holds of the row as the event
found it. What follows from a rule is a choice of equalities, of a field of the row with what is known of the caller by
itself; and of conditions of the caller alone, which hold of every row or of none. Where nothing of that kind follows,
each event may concern everyone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ninefold.checked.lists import field_compared, plainly
from ninefold.checked.resources import Resource
from ninefold.compile import inputs
from ninefold.compile.perspective import Perspective
from ninefold.expressions.reads import computed_of, is_pure
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Call, Constant, Select, Typed, free_variables, walk
from ninefold.plan.events import Concerns
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.sql.fragment import PLACEHOLDER, TRUE, Fragment, bind, join
from ninefold.sql.rows import LOG, SEEN
from ninefold.values import Anything, Boolean

_TRUE = Constant(True, Boolean())

_STAYS = frozenset(("caller", "request", "operator"))
"""Roots that are the same as long as a caller and its request are."""

Follows: TypeAlias = tuple[tuple[str | None, Typed], ...]
"""What follows from a rule, one or another: a field of the row equals a value; None: the value is true."""


def concerns(perspective: Perspective) -> Concerns | None:
    """Which events may concern callers of this kind. None: each may."""
    checked = perspective.checked
    adds = [value for each in checked.schemes if each.name == perspective.who for _, value in each.adds]
    if not all(_lasts(value, checked.model) for value in adds):
        return None
    found = list[tuple[Fragment, Typed]]()
    for name in dict.fromkeys(cause.resource for kind in checked.events.kinds for cause in kind.causes):
        rules = checked.row_rules.get(name, {})
        if perspective.who not in rules:
            continue
        rule, resource = rules[perspective.who], checked.resources[name]
        follows = ((None, _TRUE),) if rule is None else _follows(rule, resource, checked.model)
        if follows is None:
            return None
        for field, value in follows:
            known = _known(value, perspective)
            if known is None:
                return None
            of_event = _of_event(resource, field, perspective)
            if (of_event, known) not in found:
                found.append((of_event, known))
    return Concerns(_statement([column for column, _ in found]), tuple(caller for _, caller in found))


def _follows(rule: Typed, resource: Resource, model: Model) -> Follows | None:
    """What follows from a rule; None: nothing that a value tells."""
    match plainly(rule, resource):
        case Call(function="||", arguments=arguments):
            found = [_follows(each, resource, model) for each in arguments]
            return None if None in found else tuple(each for some in found if some is not None for each in some)
        case Call(function="&&", arguments=arguments):
            found = [_follows(each, resource, model) for each in arguments]
            known = [each for each in found if each is not None]
            # Any of them will do; what says something of the row concerns fewer.
            return min(known, key=lambda each: any(field is None for field, _ in each), default=None)
        case Constant(value=False):
            return ()
        case typed if _stays(typed, model):
            return ((None, typed),)
        case Call(function="==", arguments=[left, right]):
            # Where both may have no value, having none is being equal.
            if left.type.nullable and right.type.nullable:
                return None
            for one, other in ((left, right), (right, left)):
                field = field_compared(one, resource)
                if field is not None and _stays(other, model):
                    return ((field, other),)
    return None


def _stays(typed: Typed, model: Model) -> bool:
    """Whether an expression has one value for a caller, as long as nothing that is known of it changes."""
    return free_variables(typed) <= _STAYS and _lasts(typed, model)


def _lasts(typed: Typed, model: Model) -> bool:
    """Whether time alone does not change a value, and asking again does not."""
    if "now" in free_variables(typed) or not is_pure(typed):
        return False
    computed = (computed_of(each, model) for each in walk(typed) if isinstance(each, Select))
    return all(_lasts(each[1], model) for each in computed if each is not None)


def _known(typed: Typed, perspective: Perspective) -> Typed | None:
    """A value as it is bound in a statement; None: the database has to be asked for it."""
    made = perspective.value(typed, {})
    return made.binds[0] if made.text == PLACEHOLDER else None


def _of_event(resource: Resource, field: str | None, perspective: Perspective) -> Fragment:
    value = TRUE
    if field is not None:
        type_ = perspective.stored(resource.fields[field].type)
        value = perspective.dialect.member_of(Fragment(f"event.{SEEN}"), field, type_)
    return f"CASE event.resource WHEN '{resource.name}' THEN " + value + " END"


def _statement(columns: Sequence[Fragment]) -> Statement:
    text = (
        "SELECT "
        + join(", ", (Fragment("event.seq"), *columns))
        + f" FROM {LOG} AS event WHERE event.seq > "
        + bind(inputs.LOG_POSITION)
        + " AND event.seq <= "
        + bind(inputs.LOG_LAST)
    )
    names = ("position", *(f"c{number}" for number in range(len(columns))))
    return Statement((Piece(text.text, text.binds),), tuple(ResultColumn(name, Anything()) for name in names))
