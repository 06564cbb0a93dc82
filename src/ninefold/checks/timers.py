"""Part 3: what the service does by itself. No request causes it, so nothing of it may read one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.checked.contents import expressions_of
from ninefold.checked.events import Events
from ninefold.checked.resources import Effect, Resource
from ninefold.checks.codes import TIMER_WITHOUT_REQUEST
from ninefold.checks.due import OF_REQUESTS, roots
from ninefold.checks.findings import Findings
from ninefold.contract import effects as stated_effects
from ninefold.contract.service import Contract
from ninefold.contract.states import Transition
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Typed
from ninefold.language import resources as stated
from ninefold.language.fact import Fact, Shown, value_of


def check_timers(
    contract: Contract, resources: Mapping[str, Resource], events: Events, model: Model, findings: Findings
) -> None:
    declared = {each.name: each for each in value_of(contract.resources.resources) or ()}
    for each in value_of(contract.states.machines) or ():
        machine, resource = value_of(each.machine), resources.get(each.resource.text)
        if machine is None or resource is None:
            continue
        for transition in value_of(machine.transitions) or ():
            if isinstance(transition.after, Shown):
                reached = [*_reached(transition, resource, declared[resource.name])]
                reached += _behind(transition, resource, contract, resources, declared)
                reached += _told(transition, resource, events, contract)
                for root, span in dict.fromkeys(_reading(reached, model)):
                    findings.say(
                        TIMER_WITHOUT_REQUEST,
                        f"the transition `{transition.name}` of `{resource.name}` reads `{root}`, and is taken "
                        "without a request",
                        Label(span, f"reads `{root}`"),
                        Label(transition.after.span, "taken by the service itself"),
                    )


def _reading(reached: list[tuple[Typed, Span]], model: Model) -> Iterator[tuple[str, Span]]:
    for typed, span in reached:
        for root in sorted(roots(typed, model) & OF_REQUESTS):
            yield root, span


def _reached(transition: Transition, resource: Resource, declared: stated.Resource) -> Iterator[tuple[Typed, Span]]:
    """Each expression that is evaluated when the service takes a transition, and where it stands."""
    checked = None if resource.machine is None else resource.machine.transitions.get(transition.name)
    if checked is None:
        return
    if checked.guard is not None and isinstance(transition.when, Shown):
        yield checked.guard.when, transition.when.span
    sets = dict(checked.sets)
    for each in value_of(transition.sets) or ():
        if each.name in sets:
            yield sets[each.name], each.value.span
    for field in value_of(declared.fields) or ():
        made = resource.fields[field.name].on_change
        if made is not None and field.name not in sets and isinstance(field.on_change, Shown):
            yield made, field.on_change.span
    yield from _of_effects(transition.then, checked.then)
    invariants = value_of(declared.invariants) or ()
    if len(invariants) == len(resource.invariants):
        for stated_one, invariant in zip(invariants, resource.invariants, strict=True):
            yield invariant.when, stated_one.when.span


def _behind(
    transition: Transition,
    resource: Resource,
    contract: Contract,
    resources: Mapping[str, Resource],
    declared: Mapping[str, stated.Resource],
) -> Iterator[tuple[Typed, Span]]:
    """What is evaluated for the rows that change with it. The effects of transitions never lead back."""
    checked = None if resource.machine is None else resource.machine.transitions.get(transition.name)
    written = {
        (each.resource.text, own.name): own
        for each in value_of(contract.states.machines) or ()
        if (machine := value_of(each.machine)) is not None
        for own in value_of(machine.transitions) or ()
    }
    for effect in () if checked is None else checked.then:
        other = resources[effect.resource]
        taken = written.get((effect.resource, effect.verb))
        if taken is not None:
            yield from _reached(taken, other, declared[other.name])
            yield from _behind(taken, other, contract, resources, declared)
        elif effect.verb != "delete":
            for field in value_of(declared[other.name].fields) or ():
                own_field = other.fields[field.name]
                made, fact = own_field.on_change, field.on_change
                if effect.verb == "create" and own_field.on_create is not None:
                    made, fact = own_field.on_create, field.on_create
                if made is not None and isinstance(fact, Shown) and field.name not in dict(effect.sets):
                    yield made, fact.span


def _of_effects(
    stated_ones: Fact[tuple[stated_effects.Effect, ...]] | None, effects: tuple[Effect, ...]
) -> Iterator[tuple[Typed, Span]]:
    stated_all = value_of(stated_ones)
    for written, effect in zip(stated_all or (), effects, strict=False):
        for typed, given in ((effect.row, written.row), (effect.where, written.where), (effect.each, written.each)):
            if typed is not None and given is not None:
                yield typed, given.span
        values = dict(effect.sets)
        for each in written.sets:
            if each.name in values:
                yield values[each.name], each.value.span


def _told(
    transition: Transition, resource: Resource, events: Events, contract: Contract
) -> Iterator[tuple[Typed, Span]]:
    """The payloads of the events that arise upon a transition, and the conditions under which they do."""
    stated_kinds = {each.name: each for each in value_of(contract.events.kinds) or ()}
    for kind in events.kinds:
        payload, when = stated_kinds[kind.name].payload, stated_kinds[kind.name].when
        for cause in kind.causes:
            if (cause.verb, cause.resource) != (transition.name, resource.name):
                continue
            if isinstance(payload, Shown):
                yield from ((each, payload.span) for each in expressions_of(cause.payload))
            if isinstance(when, Shown) and cause.when is not None:
                yield cause.when, when.span
