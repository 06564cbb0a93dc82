"""`ensure` and `remove` as they are stated: the fields by which a row is known, and those that are compared."""

from __future__ import annotations

from collections.abc import Set

from ninefold.contract.survey import Survey
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Invocation, Name, every
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import value_of
from ninefold.language.resources import Field
from ninefold.language.routes import PathName


def known_by(survey: Survey, endpoint: Endpoint, resource: str) -> tuple[str, ...]:
    """The first of the identifier, the unique fields and the lists of them whose values are all at hand, one that the
    path names a field of before the others. `()`: none is."""
    own = survey.graph.resources.get(resource)
    if own is None:
        return ()
    fields = survey.graph.fields.get(resource, {})
    in_path = named_in_path(endpoint, resource)
    at_hand = in_path | _given(survey, endpoint, resource) | {n for n, each in fields.items() if _is_the_same(each)}
    groups = [tuple(each.text for each in value_of(own.identifier) or ())]
    groups += [(name,) for name, each in fields.items() if value_of(each.unique)]
    groups += [tuple(each.text for each in group) for group in value_of(own.unique) or ()]
    whole = [group for group in groups if group and at_hand.issuperset(group)]
    return min(whole, key=lambda group: in_path.isdisjoint(group), default=())


def compared(survey: Survey, endpoint: Endpoint, resource: str) -> Set[str]:
    """The fields whose values a row that is there may have otherwise than `ensure` gives them."""
    fields = survey.graph.fields.get(resource, {})
    secret = {name for name, each in fields.items() if value_of(each.secret) is not None}
    known = {*known_by(survey, endpoint, resource), *named_in_path(endpoint, resource)}
    return _given(survey, endpoint, resource) - known - secret


def named_in_path(endpoint: Endpoint, resource: str) -> set[str]:
    """The fields of the row itself that names in the path give, or go through."""
    names = [each.names for each in endpoint.segments if isinstance(each, PathName)]
    return {each[1] if each[0] == resource and len(each) > 1 else each[0] for each in names}


def stored_of_path(endpoint: Endpoint, resource: str) -> tuple[tuple[str, Span], ...]:
    """The fields of the row itself that names in the path give, and where: their values would be stored."""
    found = []
    for each in endpoint.segments:
        if isinstance(each, PathName):
            names = each.names[1:] if each.names[0] == resource and len(each.names) > 1 else each.names
            if len(names) == 1:
                found.append((names[0], each.span))
    return tuple(found)


def _given(survey: Survey, endpoint: Endpoint, resource: str) -> set[str]:
    body = {name for owner, name in survey.body_fields(endpoint) if owner == resource}
    return body | {each.name for each in value_of(endpoint.sets) or () if not _is_new_each_time(each.value.ast)}


def _is_the_same(field: Field) -> bool:
    """Whether what the contract makes on create is the same each time that the same caller asks for the same."""
    made = value_of(field.on_create)
    return made is not None and not _is_new_each_time(made.ast)


def _is_new_each_time(made: Ast) -> bool:
    return any(
        (isinstance(node, Invocation) and node.function in NEW_EACH_TIME)
        or (isinstance(node, Name) and node.name == "now")
        for node in every(made)
    )
