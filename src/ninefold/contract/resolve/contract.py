"""A document to a contract: each part by its own module, then the names between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeVar

from ninefold.contract.resolve.names import judge
from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import INCLUDED_CYCLE, SAME_NAME, TOO_MANY, UNDECLARED
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome, in_order
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.expressions import ast
from ninefold.language.authentication import Authentication
from ninefold.language.endpoints import endpoints
from ninefold.language.errors import Errors
from ninefold.language.events import Events
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Gap, Name, Proposal, Shown, StatedNone
from ninefold.language.limits import Limits
from ninefold.language.purpose import purpose
from ninefold.language.reading import Reading, quoted
from ninefold.language.records import part_of
from ninefold.language.resources import Field, Resource, Resources, View
from ninefold.language.states import states
from ninefold.language.table import keys_under
from ninefold.language.terms import terms, unread_terms
from ninefold.language.versioning import Versioning
from ninefold.syntax.nodes import Document, Node
from ninefold.syntax.parser import MOST_DIAGNOSTICS


def resolve(document: Document, accept_proposals: bool = False) -> Outcome[Contract]:
    """The typed facts of a document, and what is wrong with them. Always yields a contract: what cannot be read is a
    gap in it. With `accept_proposals`, what is proposed is in force, and marked so."""
    r = Reading(document, accept_proposals, keys_under)
    terms(r, document.part("resources"))  # first: every part reads them
    contract = Contract(
        document=document,
        purpose=purpose(r, document.part("purpose")),
        resources=taken_over(r, part_of(r, Resources, document.part("resources"))),
        states=states(r, document.part("states")),
        endpoints=endpoints(r, document.part("endpoints")),
        authentication=part_of(r, Authentication, document.part("authentication")),
        events=part_of(r, Events, document.part("events")),
        errors=part_of(r, Errors, document.part("errors")),
        limits=part_of(r, Limits, document.part("limits")),
        versioning=part_of(r, Versioning, document.part("versioning")),
        slips=r.slips,
    )
    judge(r, contract)
    unread_terms(r, contract)
    return Outcome(contract, listed(in_order(r.diagnostics)))


def listed(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """As many as a reader can do something about."""
    if len(diagnostics) <= MOST_DIAGNOSTICS:
        return diagnostics
    message = f"the document has {len(diagnostics) - MOST_DIAGNOSTICS} more problems"
    label = Label(diagnostics[MOST_DIAGNOSTICS].span, "not listed from here")
    return (*diagnostics[:MOST_DIAGNOSTICS], Diagnostic(TOO_MANY, message, (label,)))


# `includes`: what a resource takes over of others, as if it were written there.
#
# Fields come with what `required`, `unique` and `invariants` say of them, and with the views. In their expressions, the
# other resource's name means the resource that took them over. A resource that is only there to be included, without an
# primary key and without records, is none itself.

T = TypeVar("T")

DEEPEST: Final = 16
"""How many resources include each other in a row."""

MOST: Final = 20_000
"""Fields, invariants and views that are taken over in a whole contract."""


def taken_over(r: Reading, part: Resources) -> Resources:
    """Part 2 with everything in place. Says what is included and not there, in a circle, or given twice."""
    match part.resources:
        case Shown(resources, span, proposed):
            return replace(part, resources=Shown(_all(r, resources), span, proposed))
        case Proposal(Shown(resources, span, proposed), at):
            return replace(part, resources=Proposal(Shown(_all(r, resources), span, proposed), at))
        case _:
            return part


def _all(r: Reading, resources: tuple[Resource, ...]) -> tuple[Resource, ...]:
    if not any(each.includes for each in resources):
        return resources
    written = {each.name: each for each in resources}
    left = MOST
    found: dict[str, Resource] = {}
    included: set[str] = set()

    def whole(resource: Resource, above: tuple[Name, ...]) -> Resource:
        nonlocal left
        if resource.name in found:
            return found[resource.name]
        result = resource
        for name in reversed(_names(resource.includes) if len(above) <= DEEPEST and left >= 0 else ()):
            circle = next((i for i, each in enumerate(above) if each.text == name.text), None)
            if name.text == resource.name or circle is not None:
                r.say(INCLUDED_CYCLE, f"`{name.text}` includes itself", Label(name.span, "leads back to it"))
            elif name.text not in written:
                help = r.did_you_mean(name.text, written)
                r.say(
                    UNDECLARED,
                    f"{quoted(name.text)} is not a resource",
                    Label(name.span, "not declared"),
                    help=help,
                    of=name.text,
                )
            else:
                included.add(name.text)
                other = whole(written[name.text], (*above, Name(resource.name, name.span)))
                left -= _size(other)
                if left < 0 or len(above) >= DEEPEST:
                    what = f"more than {DEEPEST} deep" if left >= 0 else f"to more than {MOST:,} fields in all"
                    r.say(INCLUDED_CYCLE, f"what is included adds up {what}", Label(name.span, "not taken over"))
                else:
                    result = _with(r, result, other, name.span)
        if isinstance(resource.includes, Gap | Proposal):
            # What else the resource has is not known.
            result = replace(result, fields=Gap(resource.includes.span))
        found[resource.name] = result
        return result

    everything = [whole(each, ()) for each in resources]
    return tuple(each for each in everything if each.name not in included or each.primary_key or each.records)


def _size(resource: Resource) -> int:
    facts = (resource.fields, resource.required, resource.unique, resource.check, resource.views)
    return 1 + sum(len(each.value) for each in facts if isinstance(each, Shown))


def _names(fact: Fact[tuple[Name, ...]] | None) -> tuple[Name, ...]:
    return fact.value if isinstance(fact, Shown) else ()


def _with(r: Reading, resource: Resource, other: Resource, at: Span) -> Resource:
    """The resource with what it takes over of the other, which `at` names, before its own."""

    def own(value: T) -> T:
        return _renamed(value, other.name, resource.name)

    return replace(
        resource,
        fields=_joined(r, resource, own(other.fields), resource.fields, at, lambda field: field.name),
        required=_joined(r, resource, other.required, resource.required, at, None),
        unique=_joined(r, resource, other.unique, resource.unique, at, None),
        check=_joined(r, resource, own(other.check), resource.check, at, None),
        views=_joined(r, resource, own(other.views), resource.views, at, lambda view: view.name),
    )


def _joined(
    r: Reading,
    resource: Resource,
    first: Fact[tuple[Any, ...]] | None,
    second: Fact[tuple[Any, ...]] | None,
    at: Span,
    name: Callable[[Field | View], str] | None,
) -> Fact[tuple[Any, ...]] | None:
    """What the other has, and then what the resource has; a gap where one of them is."""
    match first, second:
        case None | StatedNone(), _:
            return second
        case _, None | StatedNone():
            return first
        case Shown(before), Shown(after, span, proposed):
            taken = {name(each): each for each in before} if name is not None else {}
            for each in after:
                if name is not None and (other := taken.get(name(each))) is not None:
                    labels = Label(each.span, "again"), Label(other.span, "first here"), Label(at, "taken over here")
                    r.say(SAME_NAME, f"`{resource.name}` has `{name(each)}` already", *labels)
            # What comes along two ways is one thing.
            kept = tuple(
                each for each in after if (name(each) not in taken if name is not None else each not in before)
            )
            return Shown((*before, *kept), span, proposed)
        case (Gap() | Proposal()) as gap, _:
            return gap
        case _, gap:
            return gap


def _renamed(value: T, old: str, new: str) -> T:
    """A part of a contract in whose expressions one resource's name stands for another's."""
    renamed: Any = value
    if isinstance(value, Expression):
        renamed = replace(value, ast=_name_replaced(value.ast, old, new))
    elif isinstance(value, tuple):
        renamed = tuple(_renamed(each, old, new) for each in value)
    elif is_dataclass(value) and not isinstance(value, type | Span | Node):
        changed = {each.name: _renamed(getattr(value, each.name), old, new) for each in fields(value)}
        renamed = type(value)(**changed)
    return renamed  # type: ignore[no-any-return]


def _name_replaced(tree: ast.Ast, old: str, new: str) -> ast.Ast:
    match tree:
        case ast.Name() if tree.name == old:
            return replace(tree, name=new)
        case ast.Invocation(function="all", target=None):
            return tree  # all rows of the other are still the other's
        case ast.Member(operand=ast.Name(name="before"), name=name) if name == old:
            return replace(tree, name=new)
        case _:
            return ast.with_parts(tree, lambda part: _name_replaced(part, old, new))
