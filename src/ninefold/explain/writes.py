"""What an endpoint asks of a row and does to it: guards and transitions, the values that the service gives, what has
to be unique and to be there, what falls with a deletion, and the events of it all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ninefold.contract.endpoints import Endpoint, PathName
from ninefold.contract.fact import is_stated, value_of
from ninefold.contract.known_by import known_by
from ninefold.contract.resources import Field, Resource
from ninefold.contract.states import Transition
from ninefold.contract.survey import actions, is_transition
from ninefold.diagnostics.source import Span
from ninefold.explain import events, resources, states
from ninefold.explain.explanation import Item
from ninefold.explain.grounds import Grounds
from ninefold.explain.requests import given
from ninefold.expressions.ast import Invocation, every
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.language.verbs import kind_of


def verbs(endpoint: Endpoint) -> frozenset[str]:
    """What it does, a transition by the one word `transition`."""
    return frozenset("transition" if is_transition(action) else action.verb for action in actions(endpoint))


def makes(endpoint: Endpoint) -> bool:
    """Whether it makes a row of the contract's own."""
    return any(kind_of(action.verb).makes for action in actions(endpoint))


def changes(endpoint: Endpoint) -> bool:
    """Whether it changes one by what the request gives."""
    return any(kind_of(action.verb).changes and not is_transition(action) for action in actions(endpoint))


def is_whole(endpoint: Endpoint) -> bool:
    """Whether what is not given is made as on create."""
    return any(kind_of(action.verb).is_whole for action in actions(endpoint))


def gives_values(endpoint: Endpoint) -> bool:
    """Whether it makes or changes one."""
    return any(kind_of(action.verb).gives_values for action in actions(endpoint))


def transitions(g: Grounds, endpoint: Endpoint) -> list[Transition]:
    taken = (g.survey.transition(action) for action in actions(endpoint) if is_transition(action))
    return [each for each in taken if each is not None]


def guards(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """What has to hold of the row as it is, and, after the write, as it has become."""
    items = [states.transition(g, each) for each in transitions(g, endpoint)]
    if value_of(endpoint.guards) is None:
        items += g.fact("guards", endpoint.guards)
    for guard in value_of(endpoint.guards) or ():
        facts = [g.item(f"`{guard.when.text}`", guard.when.span)]
        facts += [g.item(f"else `{guard.otherwise.text}`", guard.otherwise.span)] if guard.otherwise else []
        items.append(g.together("guard", guard.span, facts, (9, 10)))
    own = g.resource(g.acted_on(endpoint))
    if own is not None and gives_values(endpoint):
        words = "holds of the row as it has become"
        items += [resources.invariant(g, each, words, (9, 10)) for each in value_of(own.invariants) or ()]
    return items


def values(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """What the service itself gives to fields."""
    own = g.resource(g.acted_on(endpoint))
    items = [
        g.item(f"`{each.name}` is set to `{each.value.text}`", each.span)
        for fact in (endpoint.sets, *(each.sets for each in transitions(g, endpoint)))
        for each in value_of(fact) or ()
    ]
    if value_of(endpoint.sets) is None:
        items += g.fact("sets", endpoint.sets)
    if value_of(endpoint.then) is None:
        items += g.fact("then", endpoint.then)
    items += [states.effect(g, each) for each in value_of(endpoint.then) or ()]
    if own is None:
        return items
    if makes(endpoint):
        items += _made(g, endpoint, own)
    elif gives_values(endpoint):
        items += _changed(g, endpoint, own)
    machine = g.survey.machine(own.name)
    field = value_of(machine.field) if machine is not None else None
    if machine is not None and field is not None:
        if makes(endpoint):
            items += g.fact(f"`{field.text}` begins as", machine.initial, lambda name: f"`{name.text}`", (4,))
        for each in transitions(g, endpoint):
            items += g.fact(f"`{field.text}` becomes", each.to, lambda name: f"`{name.text}`", (4,))
    return items


def _made(g: Grounds, endpoint: Endpoint, own: Resource) -> Iterator[Item]:
    named = {each.field for each in given(g, endpoint)}
    paths = from_path(endpoint)
    for name, field in g.fields(own.name).items():
        if name in paths:
            yield g.item(f"`{name}` is the row that the path names", endpoint.span, meanings=(6,))
        elif field.on_create is not None or field.on_change is not None:
            where = " where the body does not give it" if name in named else ""
            facts = g.expression(f"`{name}` is made{where}", field.on_create or field.on_change, (4,))
            yield from facts


def _changed(g: Grounds, endpoint: Endpoint, own: Resource) -> Iterator[Item]:
    named = {each.field for each in given(g, endpoint)}
    for name, field in g.fields(own.name).items():
        where = " where the body does not give it" if name in named else ""
        yield from g.expression(f"`{name}` is made{where}", field.on_change, (4,))
        again = value_of(field.again_on) or ()
        if {each.text for each in again} & named:
            yield from g.names(f"`{name}` is made again when one of these is given", field.again_on)


def from_path(endpoint: Endpoint) -> frozenset[str]:
    """The references of a new row that the path sets."""
    return frozenset(each.names[0] for each in endpoint.segments if isinstance(each, PathName) and len(each.names) > 1)


@dataclass(frozen=True)
class Key:
    """Fields that together no two rows have alike. `subject` is what a conflict is narrowed to."""

    subject: str
    fields: tuple[str, ...]
    span: Span


def keys(g: Grounds, endpoint: Endpoint) -> Iterator[Key]:
    """The keys that a write of this endpoint may bring to collide. A value made at random never does."""
    own = g.resource(g.acted_on(endpoint))
    if own is None or not gives_values(endpoint):
        return
    fields = g.fields(own.name)
    named = {each.field for each in given(g, endpoint)}
    groups: dict[tuple[str, ...], Span] = {}
    if makes(endpoint) and (identifier := value_of(own.identifier)):
        groups[tuple(each.text for each in identifier)] = identifier[0].span
    for field in fields.values():
        if is_stated(field.unique) and field.unique is not None:
            groups.setdefault((field.name,), field.unique.span)
    for group in value_of(own.unique) or ():
        groups.setdefault(tuple(each.text for each in group), group[0].span)
    if "ensure" in verbs(endpoint):
        groups.pop(known_by(g.survey, endpoint, own.name), None)
    for group_of, span in groups.items():
        members = [fields[name] for name in group_of if name in fields]
        touched = makes(endpoint) or any(each.name in named or each.again_on is not None for each in members)
        if touched and members and not any(each.name not in named and _at_random(each) for each in members):
            first = next((each.name for each in members if each.name in named), members[0].name)
            yield Key(f"{own.name}.{first}" if len(group_of) == 1 else own.name, group_of, span)


def _at_random(field: Field) -> bool:
    made = value_of(field.on_create)
    return made is not None and any(
        isinstance(node, Invocation) and node.function in NEW_EACH_TIME for node in every(made.ast)
    )


@dataclass(frozen=True)
class Reference:
    """A reference that a write of this endpoint stores. `given`: the client gives it."""

    subject: str
    target: str
    given: bool
    span: Span


def references(g: Grounds, endpoint: Endpoint) -> Iterator[Reference]:
    """The references whose rows have to be there."""
    own = g.resource(g.acted_on(endpoint))
    if own is None or not gives_values(endpoint):
        return
    named = {each.field for each in given(g, endpoint)}
    for name, field in g.fields(own.name).items():
        target = value_of(field.refers_to)
        if target is not None and (name in named or (makes(endpoint) and name not in from_path(endpoint))):
            yield Reference(f"{own.name}.{name}", target.text, name in named, field.span)


@dataclass(frozen=True)
class Referring:
    """A field that refers to rows that this endpoint deletes, and what becomes of it."""

    subject: str
    target: str
    word: str
    span: Span


def referring(g: Grounds, endpoint: Endpoint) -> Iterator[Referring]:
    found = ((target, *each) for target in g.survey.deleted_by(endpoint) for each in g.survey.referring.get(target, ()))
    for target, resource, field in sorted(found, key=lambda each: each[-1].span):
        word = value_of(field.on_delete)
        span = field.on_delete.span if field.on_delete is not None else field.span
        yield Referring(f"{resource}.{field.name}", target, word.text if word is not None else "", span)


FALLS = {
    "refuse": "no row that `{subject}` refers to can be deleted",
    "cascade": "what refers to a deleted `{target}` by `{subject}` is deleted with it",
    "clear": "`{subject}` has no value once the `{target}` that it refers to is deleted",
    "": "what deleting a `{target}` does to `{subject}` is not shown",
}


def bonds(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """What has to be unique, which rows have to be there, and what falls with a deletion."""
    items = [
        g.item(f"no two rows have the same {' and '.join(f'`{name}`' for name in key.fields)}", key.span, meanings=(3,))
        for key in keys(g, endpoint)
    ]
    for reference in references(g, endpoint):
        words = f"`{reference.subject}` refers to a `{reference.target}` that is there"
        items.append(
            g.item(words + ", and that the caller sees", reference.span, meanings=(16,))
            if reference.given
            else g.item(words, reference.span)
        )
    items += [
        g.item(FALLS[each.word].format(subject=each.subject, target=each.target), each.span, meanings=(24,))
        for each in referring(g, endpoint)
    ]
    return items


def written_events(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """The events of what this endpoint does."""
    does = {(action.verb, action.subject) for action in actions(endpoint)}
    kinds = [
        events.kind(g, each)
        for each in value_of(g.contract.events.kinds) or ()
        if any((action.verb, action.subject) in does for action in value_of(each.upon) or ())
    ]
    if kinds and g.contract.events.delivery is not None:
        kinds += events.delivery(g)
    return kinds or ([] if value_of(g.contract.events.kinds) is not None else g.fact("events", g.contract.events.kinds))
