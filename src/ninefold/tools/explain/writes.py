"""What an endpoint asks of a row and does to it: guards and transitions, the values that the service gives, what has
to be unique and to be there, what falls with a deletion, and the events of it all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ninefold.contract.survey import actions
from ninefold.contract.writes import (
    changed_rows,
    from_path,
    given,
    gives_values,
    keys,
    makes,
    references,
    referring,
    stored_of_path,
)
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import changes_in_words
from ninefold.language.fact import Shown, value_of
from ninefold.language.resources import Resource
from ninefold.language.states import Transition
from ninefold.language.verbs import arises
from ninefold.tools.explain import resources, states
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import told


def transitions(g: Grounds, endpoint: Endpoint) -> list[Transition]:
    taken = (g.survey.transition(action) for action in actions(endpoint) if action.is_transition)
    return [each for each in taken if each is not None]


def guards(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """What has to hold of the row as it is, and, after the write, as it has become."""
    items = [states.transition(g, each) for each in transitions(g, endpoint)]
    items += states.checks(g, endpoint.check)
    own = g.resource(g.acted_on(endpoint))
    if own is not None and gives_values(endpoint):
        words = "holds of the row as it has become"
        items += [
            resources.invariant(g, each, words, ("truth", "before and after")) for each in value_of(own.check) or ()
        ]
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
    if value_of(endpoint.also) is None:
        items += g.fact("also", endpoint.also)
    items += [states.effect(g, each) for each in value_of(endpoint.also) or ()]
    if own is None:
        return items
    if makes(endpoint):
        items += _made(g, endpoint, own)
    elif gives_values(endpoint):
        items += _changed(g, endpoint, own)
    machine = g.survey.contract.machine(own.name)
    field = own.state
    if machine is not None and field is not None:
        if makes(endpoint):
            items += g.fact(
                f"`{field.text}` begins as", machine.initial, lambda name: f"`{name.text}`", ("who gives a value",)
            )
        for each in transitions(g, endpoint):
            items += g.fact(f"`{field.text}` becomes", each.to, lambda name: f"`{name.text}`", ("who gives a value",))
    return items


def _made(g: Grounds, endpoint: Endpoint, own: Resource) -> Iterator[Item]:
    named = {each.field for each in given(g.survey, endpoint)}
    paths = from_path(g.survey, endpoint, own.name)
    of_path = {name for name, _ in stored_of_path(g.survey, endpoint, own.name)}
    for name, field in g.fields(own.name).items():
        if name in paths:
            yield g.item(f"`{name}` is the row that the path names", endpoint.span, meanings=("paths",))
        elif name in of_path:
            yield g.item(f"`{name}` is what the path says", endpoint.span, meanings=("paths",))
        elif (made := field.at_creation) is not None:
            where = " where the body does not give it" if name in named else ""
            fact = Shown(made, made.span)
            yield from g.expression(f"`{name}` is made{where}", fact, ("who gives a value",))
        else:
            made_or_open = g.fact(f"`{name}` is made", field.on_create) or g.fact(f"`{name}` is made", field.on_change)
            yield from made_or_open


def _changed(g: Grounds, endpoint: Endpoint, own: Resource) -> Iterator[Item]:
    named = {each.field for each in given(g.survey, endpoint)}
    for name, field in g.fields(own.name).items():
        where = " where the body does not give it" if name in named else ""
        yield from g.fact(f"`{name}` is made{where}", field.on_change, changes_in_words, ("who gives a value",))


FALLS = {
    "restrict": "no row that `{subject}` refers to can be deleted",
    "cascade": "what refers to a deleted `{target}` by `{subject}` is deleted with it",
    "set null": "`{subject}` has no value once the `{target}` that it refers to is deleted",
    "": "what deleting a `{target}` does to `{subject}` is not shown",
}


def bonds(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """What has to be unique, which rows have to be there, and what falls with a deletion."""
    written = tuple(changed_rows(g.survey, endpoint))
    items = [
        g.item(
            f"no two rows have the same {' and '.join(f'`{name}`' for name in key.fields)}",
            key.span,
            meanings=("values",),
        )
        for key in dict.fromkeys(key for each in written for key in keys(g.survey, each))
    ]
    for reference in dict.fromkeys(reference for each in written for reference in references(g.survey, each)):
        words = f"`{reference.resource}.{reference.field}` refers to a `{reference.target}` that is there"
        items.append(
            g.item(words + ", and that the caller sees", reference.span, meanings=("references",))
            if reference.given
            else g.item(words, reference.span)
        )
    items += [
        g.item(FALLS[each.word].format(subject=each.subject, target=each.target), each.span, meanings=("cascades",))
        for each in referring(g.survey, g.survey.deleted_by(endpoint))
    ]
    return items


def written_events(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """The events of what this endpoint does."""
    does = {(verb, action.subject) for action in actions(endpoint) for verb in arises(action.verb)}
    events, kinds = g.contract.events, g.contract.events.kinds
    if not isinstance(kinds, Shown):
        return g.fact("events", kinds)
    caused = tuple(
        each
        for each in kinds.value
        if any((action.verb, action.subject) in does for action in value_of(each.upon) or ())
    )
    return told(g, replace(events, kinds=replace(kinds, value=caused)), "kinds", "delivery") if caused else []
