"""Which fields a body gives, and where in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ninefold.contract.survey import Survey, actions
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Member, Name
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Items, Leaf, Members, Template
from ninefold.language.fact import value_of

SHARED_TYPES = "#/types/"
"""What a reference to a shared type begins with."""


@dataclass(frozen=True)
class Given:
    """A field that a body gives: at `pointer`, the names of members from the root. `beside`: a shared type names it,
    and where it is no field, it is a member that expressions read."""

    pointer: tuple[str, ...]
    resource: str
    field: str
    span: Span
    beside: bool = False


def acted_on(endpoint: Endpoint) -> str | None:
    """The resource that an endpoint acts on."""
    return next((name for action in actions(endpoint) if (name := action.resource) is not None), None)


def given(survey: Survey, endpoint: Endpoint) -> tuple[Given, ...]:
    """The fields that the body names, as far as they are fields."""
    stated, own = value_of(endpoint.body), acted_on(endpoint)
    if stated is None or (own is None and stated.reference is None):
        return ()
    own = own or ""
    if stated.reference is not None:
        name = stated.reference.text.removeprefix(SHARED_TYPES)
        shared = survey.contract.shared_types.by_name.get(name)
        members = () if shared is None else value_of(shared.fields) or ()
        found = (Given((each.text,), own, each.text, stated.reference.span, True) for each, _ in members)
        return tuple(_as_called(survey, found))
    return () if stated.template is None else tuple(_as_called(survey, _given(stated.template, own, ())))


def _as_called(survey: Survey, found: Iterable[Given]) -> Iterator[Given]:
    """Under the names that callers of an older version know; what they do not know is not among them."""
    for each in found:
        field = survey.graph.fields.get(each.resource, {}).get(each.field)
        if field is None or field.seen is None:
            yield each
        elif field.called is not None:
            is_its_name = each.pointer[-1:] == (each.field,)
            yield replace(each, pointer=(*each.pointer[:-1], field.called)) if is_its_name else each


def _given(template: Template, own: str, pointer: tuple[str, ...]) -> Iterator[Given]:
    match template:
        case Members(members):
            for member in members:
                yield from _given(member.value, own, (*pointer, member.name))
        case Items(items):
            for item in items:
                if isinstance(item, Leaf) and isinstance(item.expression.ast, Name):
                    name = item.expression.ast.name
                    yield Given((*pointer, name), own, name, item.expression.span)
                else:
                    yield from _given(item, own, pointer)
        case Leaf(expression):
            match expression.ast:
                case Name(name=name):
                    yield Given(pointer, own, name, expression.span)
                case Member(operand=Name(name=root), name=name):
                    yield Given(pointer, root, name, expression.span)
                case _:
                    pass
