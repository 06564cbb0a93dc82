"""Part 3: state machines, and what is odd about them; and what the service does by itself: no request causes it, so
nothing of it may read one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ninefold.checked.contents import expressions_of
from ninefold.checked.endpoints import Events
from ninefold.checked.resources import Guard, Machine, Resource, Transition
from ninefold.checks.assignments import OF_REQUESTS, check_made_with, roots, time_of_row
from ninefold.checks.constants import check_given
from ninefold.checks.effects import are_open, effects_of_transitions, stated_effects
from ninefold.checks.findings import Findings, condition, typed
from ninefold.checks.model import Vocabulary
from ninefold.contract.questions.question import STATES
from ninefold.diagnostics.codes import TIMER_WITHOUT_REQUEST, UNREACHABLE_STATE, UNUSED_TRANSITION
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Typed
from ninefold.language import states as stated
from ninefold.language.declaration import said
from ninefold.language.expressions import Assignment, Expression
from ninefold.language.fact import Fact, Gap, Name, Proposal, Shown, StatedNone, is_open, text_of, value_of
from ninefold.language.question import OpenQuestion
from ninefold.language.states import INITIAL, MACHINE
from ninefold.language.verbs import TRANSITION, kind_of
from ninefold.values import Duration, Object, Timestamp, optional


def check_states(
    resources: Mapping[str, Resource],
    open_questions: tuple[OpenQuestion, ...],
    vocabulary: Vocabulary,
    findings: Findings,
) -> dict[str, Resource]:
    """The resources with their machines, where these are complete enough to take transitions."""
    found = _creation_told(resources, open_questions, findings)
    for each in value_of(findings.contract.states.machines) or ():
        machine = value_of(each.machine)
        declared, resource = findings.survey.graph.resources.get(each.resource.text), found.get(each.resource.text)
        # The log, and who is told of it, are resources that nobody declares.
        if machine is None or declared is None or resource is None:
            continue
        field = declared.state
        initial, states = text_of(machine.initial), value_of(machine.states)
        transitions = {
            transition.name: checked
            for transition in value_of(machine.transitions) or ()
            if (checked := _transition(transition, machine, resource, vocabulary, findings)) is not None
        }
        if field is not None and states is not None:
            names = tuple(state.text for state in states)
            gone = tuple(state.text for state in value_of(machine.gone) or ())
            made = Machine(field.text, initial, names, transitions, gone)
            found[resource.name] = replace(resource, machine=made)
            if initial is None and not resource.creation_stopped:
                stopped = (f"the initial state of `{resource.name}` is `none`",)
                found[resource.name] = replace(resource, machine=made, creation_stopped=stopped)
    return effects_of_transitions(found, vocabulary, findings)


def _creation_told(
    resources: Mapping[str, Resource], open_questions: tuple[OpenQuestion, ...], findings: Findings
) -> dict[str, Resource]:
    """The resources, each with the open questions of this part without whose answers nobody knows the state of a new
    row."""
    stopped: dict[str, list[str]] = {name: [] for name in resources}
    for question in open_questions:
        if question.question is STATES:
            concerned: Iterable[str] = stopped
        elif question.question in (MACHINE, INITIAL) and question.subject in stopped:
            concerned = (question.subject,)
        else:
            continue
        said = f"not shown: {question.text} (line {findings.place(question.span).line})"
        for name in concerned:
            stopped[name].append(said)
    return {name: replace(each, creation_stopped=tuple(stopped[name])) for name, each in resources.items()}


def _transition(
    transition: stated.Transition,
    machine: stated.Machine,
    resource: Resource,
    vocabulary: Vocabulary,
    findings: Findings,
) -> Transition | None:
    scope = vocabulary.scope(resource.name)
    guards = tuple(
        Guard(holds, None if each.code is None else each.code.text, findings.place(each.that.span))
        for each in value_of(transition.check) or ()
        if (holds := condition(each.that, scope, findings)) is not None
    )
    sets = tuple(check_sets(transition.sets, resource, vocabulary, findings))
    check_made_with(dict(sets), transition.sets, resource, TRANSITION, vocabulary, findings)
    origin, to = value_of(transition.origin), value_of(transition.to)
    if origin is None or to is None:
        return None
    place = findings.place(transition.span)
    stated_after = value_of(transition.after)
    after: int | Typed | None = stated_after if isinstance(stated_after, int) else None
    if isinstance(stated_after, Expression):
        after = time_of_row(stated_after, resource.name, (Timestamp(), Duration()), vocabulary, findings)
    origins, plain = tuple(each.text for each in origin), said(machine) | said(transition)
    return Transition(transition.name, origins, to.text, place, guards, sets, after, said=plain)


def check_sets(
    fact: Fact[tuple[Assignment, ...]] | None,
    resource: Resource,
    vocabulary: Vocabulary,
    findings: Findings,
    request: Object | None = None,
) -> Iterator[tuple[str, Typed]]:
    """`sets: {field: expression}`, of a transition or an endpoint, which reads its own `request`."""
    own = {} if request is None else {"request": request}
    for each in value_of(fact) or ():
        field = resource.fields.get(each.name)
        expected = None if field is None else optional(field.type)
        value = typed(each.value, vocabulary.scope(resource.name, **own), expected, findings)
        if value is not None and field is not None:
            check_given(resource.name, field, value, each.value.span, findings)
            yield each.name, value


def odd_states(findings: Findings) -> None:
    """States that are never reached, and transitions that nothing takes."""
    taken = {
        (action.verb, action.subject)
        for endpoint in findings.survey.endpoints
        for action in value_of(endpoint.does) or ()
    } | {(effect.verb, effect.subject) for effect in stated_effects(findings)}
    endpoints = findings.contract.endpoints.endpoints
    any_may_be = are_open(findings) or isinstance(endpoints, Gap | Proposal)
    any_may_be = any_may_be or any(is_open(endpoint.does) for endpoint in value_of(endpoints) or ())
    for name, fact in findings.survey.contract.machines.items():
        if (machine := value_of(fact)) is not None:
            _odd(name, machine, None if any_may_be else taken, findings)


def _odd(resource: str, machine: stated.Machine, taken: set[tuple[str, str | None]] | None, findings: Findings) -> None:
    transitions = value_of(machine.transitions) or ()
    states, initial = value_of(machine.states), value_of(machine.initial)
    known = all(isinstance(each.origin, Shown) and isinstance(each.to, Shown) for each in transitions)
    if states is None or initial is None or not known:
        return
    if initial.text not in {state.text for state in states}:
        return  # that it is none has been said where names are resolved
    moves = [
        (origin.text, to.text)
        for each in transitions
        if (to := value_of(each.to)) is not None
        for origin in value_of(each.origin) or ()
    ]
    reached = {initial.text}
    while more := {to for origin, to in moves if origin in reached} - reached:
        reached |= more
    # What is wrong with several states is one thing to mend: it is told once, each with its place.
    never = [state for state in states if state.text not in reached]
    if never:
        findings.say(
            UNREACHABLE_STATE,
            f"no row of `{resource}` is ever {_either(never)}",
            *(Label(state.span, "no transition leads here") for state in never),
            Label(initial.span, "rows begin here"),
        )
    unused = [
        each
        for each in transitions
        if taken is not None and (each.name, resource) not in taken and isinstance(each.after, StatedNone | None)
    ]
    if unused:
        names = " and ".join(f"`{each.name}`" for each in unused)
        what = "the transition" if len(unused) == 1 else "the transitions"
        findings.say(
            UNUSED_TRANSITION,
            f"nothing takes {what} {names} of `{resource}`",
            *(Label(each.span, "no endpoint does this") for each in unused),
        )


def _either(states: Sequence[Name]) -> str:
    return " or ".join(f"`{state.text}`" for state in states)


# ── Transitions that the service takes ───────────────────────────────────────────────────────────────────────────────


def check_timers(resources: Mapping[str, Resource], events: Events, model: Model, findings: Findings) -> None:
    for name, transition in findings.transitions:
        resource = resources.get(name)
        if resource is None or not isinstance(transition.after, Shown):
            continue
        reached = [(each, findings.span(each)) for each in _reached(transition.name, resource, resources, findings)]
        reached += _told(transition, resource, events, findings)
        reading = ((root, span) for each, span in reached for root in sorted(roots(each, model) & OF_REQUESTS))
        for root, span in dict.fromkeys(reading):
            findings.say(
                TIMER_WITHOUT_REQUEST,
                f"the transition `{transition.name}` of `{name}` reads `{root}`, and is taken without a request",
                Label(span, f"reads `{root}`"),
                Label(transition.after.span, "taken by the service itself"),
            )


def _reached(
    transition: str, resource: Resource, resources: Mapping[str, Resource], findings: Findings
) -> Iterator[Typed]:
    """Each expression that is evaluated when the service takes a transition, also for the rows that change with it. The
    effects of transitions never lead back."""
    taken = None if resource.machine is None else resource.machine.transitions.get(transition)
    if taken is None:
        return
    yield from (guard.that for guard in taken.guards)
    yield from dict(taken.sets).values()
    yield from _made(resource, taken.sets)
    for effect in taken.also:
        yield from (each for each in (effect.where, effect.each) if each is not None)
        yield from dict(effect.sets).values()
    invariants = value_of(findings.survey.graph.resources[resource.name].check) or ()
    if len(invariants) == len(resource.invariants):
        yield from (each.that for each in resource.invariants)
    for effect in taken.also:
        other = resources[effect.resource]
        if other.machine is not None and effect.verb in other.machine.transitions:
            yield from _reached(effect.verb, other, resources, findings)
        elif not kind_of(effect.verb).removes:
            yield from _made(other, effect.sets, creates=kind_of(effect.verb).makes)


def _made(resource: Resource, sets: Sequence[tuple[str, Typed]], creates: bool = False) -> Iterator[Typed]:
    """What the contract gives the fields that are not set."""
    for field in resource.fields.values():
        made = (field.on_create if creates else None) or field.on_change
        if made is not None and field.name not in dict(sets):
            yield made


def _told(
    transition: stated.Transition, resource: Resource, events: Events, findings: Findings
) -> Iterator[tuple[Typed, Span]]:
    """The payloads of the events that arise upon a transition, and the conditions under which they do."""
    stated_kinds = {each.name: each for each in value_of(findings.contract.events.kinds) or ()}
    for kind in events.kinds:
        payload = stated_kinds[kind.name].payload
        for cause in kind.causes:
            if (cause.verb, cause.resource) != (transition.name, resource.name):
                continue
            if isinstance(payload, Shown):
                yield from ((each, payload.span) for each in expressions_of(cause.payload))
            if cause.when is not None:
                yield cause.when, findings.span(cause.when)
