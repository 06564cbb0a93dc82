"""Parts 3 and 4: other rows that change in the same transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ninefold.checked.resources import Effect, Field, Resource
from ninefold.checks.codes import EFFECT_IN_A_CIRCLE, EFFECT_ON_NO_ROW, NEVER_GIVEN, NOT_ANOTHER_ROW, NOT_SET
from ninefold.checks.findings import Findings, typed
from ninefold.checks.given import check_given
from ninefold.checks.made import check_made_with
from ninefold.checks.model import Vocabulary
from ninefold.contract import effects as stated
from ninefold.contract.expression import Expression
from ninefold.contract.fact import Fact, Gap, Proposal, Shown, value_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.reads import needs_database
from ninefold.expressions.scope import Scope
from ninefold.expressions.to_sql import sql_problem
from ninefold.expressions.tree import Typed
from ninefold.values import Object, Row, Type, optional

ON_ITS_OWN = frozenset({"create", "update", "delete"})
"""What an effect does to a row, where it takes no transition."""


WITH_EFFECTS = frozenset({"create", "update", "replace", "delete", "ensure"})
"""The verbs that change other rows with the one that they act on; a transition does too."""


def effects_of_transitions(
    resources: Mapping[str, Resource], contract: Contract, vocabulary: Vocabulary, findings: Findings
) -> dict[str, Resource]:
    """The resources with what else their transitions do, once all of these are known."""
    written = _written(contract)
    found, waiting = dict(resources), dict(written)
    while True:
        # A transition of which an effect is open or wrong is none, and neither is one that takes it.
        open_ones = []
        checked: dict[tuple[str, str], tuple[Effect, ...]] = {}
        for (name, transition), then in waiting.items():
            resource = found.get(name)
            if resource is None or resource.machine is None or transition not in resource.machine.transitions:
                continue
            own = replace(findings, diagnostics=[])
            effects = check_effects(then, resource, found, vocabulary, vocabulary.request, own)
            if effects is None:
                findings.diagnostics += own.diagnostics
                open_ones.append((name, transition))
            else:
                checked[name, transition] = effects
        for name, transition in open_ones:
            del waiting[name, transition]
            found[name] = _with(found[name], transition, None)
        if not open_ones:
            break
    for (name, transition), effects in checked.items():
        found[name] = _with(found[name], transition, effects)
    return _without_circles(found, written, findings)


def _with(resource: Resource, transition: str, effects: tuple[Effect, ...] | None) -> Resource:
    """A resource one of whose transitions has these effects; None: it does not have that transition."""
    machine = resource.machine
    assert machine is not None
    transitions = dict(machine.transitions)
    taken = transitions.pop(transition)
    if effects is not None:
        transitions[transition] = replace(taken, then=effects)
    return replace(resource, machine=replace(machine, transitions=transitions))


def _written(contract: Contract) -> dict[tuple[str, str], Fact[tuple[stated.Effect, ...]]]:
    found = {}
    for each in value_of(contract.states.machines) or ():
        machine = value_of(each.machine)
        for transition in (None if machine is None else value_of(machine.transitions)) or ():
            if transition.then is not None:
                found[each.resource.text, transition.name] = transition.then
    return found


def stated_effects(contract: Contract) -> Iterator[stated.Effect]:
    """Every effect that a contract states, of endpoints and of transitions."""
    for endpoint in value_of(contract.endpoints.endpoints) or ():
        yield from value_of(endpoint.then) or ()
    for then in _written(contract).values():
        yield from value_of(then) or ()


def are_open(contract: Contract) -> bool:
    """Whether some effect is not shown: it may be any."""
    facts = (*(each.then for each in value_of(contract.endpoints.endpoints) or ()), *_written(contract).values())
    return any(isinstance(each, Gap | Proposal) for each in facts)


def check_effects(
    fact: Fact[tuple[stated.Effect, ...]] | None,
    acting: Resource,
    resources: Mapping[str, Resource],
    vocabulary: Vocabulary,
    request: Object | None,
    findings: Findings,
) -> tuple[Effect, ...] | None:
    """None: something of them is open or wrong."""
    if isinstance(fact, Gap | Proposal):
        return None
    found = [_effect(each, acting, resources, vocabulary, request, findings) for each in value_of(fact) or ()]
    complete = tuple(each for each in found if each is not None)
    return complete if len(complete) == len(found) else None


def _effect(
    effect: stated.Effect,
    acting: Resource,
    resources: Mapping[str, Resource],
    vocabulary: Vocabulary,
    request: Object | None,
    findings: Findings,
) -> Effect | None:
    resource = resources.get(effect.subject)
    transition = None
    if resource is None:
        return None
    if effect.verb not in ON_ITS_OWN:
        transition = None if resource.machine is None else resource.machine.transitions.get(effect.verb)
        if transition is None:
            return None
    if resource.name == acting.name or (effect.verb == "delete" and _falls_with(acting, resource, resources)):
        why = "is the row acted on" if resource.name == acting.name else "may take the row acted on with it"
        message = f"an effect of an operation on `{acting.name}` acts on `{resource.name}`"
        findings.say(NOT_ANOTHER_ROW, message, Label(effect.named, why))
        return None
    if (effect.row is not None) == (effect.verb == "create" or not resource.identifier):
        message = f"`{effect.verb} {resource.name}` does not say which row"
        label = Label(effect.span, "`row` is not stated")
        if effect.row is not None:
            message = f"`row` says nothing of `{effect.verb} {resource.name}`"
            label = Label(effect.row.span, "there is a new row" if effect.verb == "create" else "there is one row")
        findings.say(EFFECT_ON_NO_ROW, message, label)
        return None
    row = None
    if effect.row is not None:
        scope = vocabulary.scope(acting.name, request=request)
        row = _given(effect.row, scope, optional(Row(resource=resource.name)), (), findings)
        if row is None:
            return None
    scope = vocabulary.scope(acting.name, resource.name, request=request)
    sets = tuple(_sets(effect, resource, scope, findings))
    if len(sets) != len(effect.sets):
        return None
    inserts = effect.verb == "create"
    check_made_with(dict(sets), Shown(effect.sets, effect.span), resource, inserts, vocabulary, findings)
    if inserts and not _is_complete(effect, resource, dict(sets), findings):
        return None
    return Effect(effect.verb, resource.name, findings.place(effect.span), row, sets)


def _given(
    expression: Expression, scope: Scope, expected: Type, rows: tuple[str, ...], findings: Findings
) -> Typed | None:
    """What an effect reads. Of the rows in scope only `rows` are tables of its statement: the row acted on is known by
    then, and what leads on from it is looked up."""
    found = typed(expression, scope, expected, findings, in_sql=False)
    if found is None or not needs_database(found, rows, scope.model):
        return found
    problem = sql_problem(found, rows, model=scope.model)
    if problem is None:
        return found
    findings.say(problem.code, problem.message, Label(expression.span, problem.label), help=problem.help)
    return None


def _sets(effect: stated.Effect, resource: Resource, scope: Scope, findings: Findings) -> Iterator[tuple[str, Typed]]:
    for each in effect.sets:
        field = resource.fields.get(each.name)
        if field is None:
            continue
        why = _not_set(field, effect, resource)
        if why is not None:
            findings.say(NOT_SET, f"no effect gives `{resource.name}.{field.name}` a value", Label(each.span, why))
            continue
        value = _given(each.value, scope, optional(field.type), (resource.name,), findings)
        if value is not None:
            check_given(resource.name, field, value, each.value.span, findings)
            yield each.name, value


def _not_set(field: Field, effect: stated.Effect, resource: Resource) -> str | None:
    if effect.verb == "delete":
        return "the row is deleted"
    if field.computed is not None:
        return "is computed"
    if field.serial:
        return "is a number that the service gives"
    if field.secret is not None:
        return "is a secret"
    if resource.machine is not None and resource.machine.field == field.name:
        return "is the state, which moves by transitions alone"
    return None


def _is_complete(effect: stated.Effect, resource: Resource, sets: Mapping[str, Typed], findings: Findings) -> bool:
    """Whether a new row has everything that it needs."""
    complete = True
    for field in resource.fields.values():
        made = field.on_create is not None or field.on_change is not None or field.serial or field.computed is not None
        is_state = resource.machine is not None and resource.machine.field == field.name
        if (field.required or not field.type.nullable) and not (made or is_state or field.name in sets):
            message = f"`{resource.name}.{field.name}` is required, and the effect has nothing to give it"
            help = f"add `{field.name}` to its `sets`"
            findings.say(NEVER_GIVEN, message, Label(effect.span, "creates one without it"), help=(help,))
            complete = False
    if resource.machine is not None and resource.machine.initial is None:
        message = f"the initial state of `{resource.name}` is `none`"
        findings.say(NEVER_GIVEN, message, Label(effect.span, "creates one without a state"))
        complete = False
    return complete


def _without_circles(
    resources: dict[str, Resource],
    written: Mapping[tuple[str, str], Fact[tuple[stated.Effect, ...]]],
    findings: Findings,
) -> dict[str, Resource]:
    """Says of a transition that its own effects lead back to, and leaves these out."""
    leads = {
        key: {(each.subject, each.verb) for each in value_of(then) or ()} & written.keys()
        for key, then in written.items()
    }
    found = dict(resources)
    told: set[tuple[str, str]] = set()
    for key, then in written.items():
        reached: set[tuple[str, str]] = set()
        ahead = set(leads[key])
        while ahead:
            reached |= ahead
            ahead = {further for one in ahead for further in leads[one]} - reached
        if key not in reached:
            continue
        resource, transition = key
        if isinstance(then, Shown) and key not in told:
            told |= reached
            message = f"the effects of `{transition} {resource}` lead back to it"
            findings.say(EFFECT_IN_A_CIRCLE, message, Label(then.span, "has no end"))
        machine = found[resource].machine if resource in found else None
        if machine is not None and transition in machine.transitions:
            found[resource] = _with(found[resource], transition, None)
    return found


def _falls_with(acting: Resource, deleted: Resource, resources: Mapping[str, Resource]) -> bool:
    """Whether a row may be deleted by a cascade with one of another resource."""
    reached, ahead = {deleted.name}, [deleted.name]
    while ahead:
        target = ahead.pop()
        more = {
            each.name
            for each in resources.values()
            for field in each.fields.values()
            if field.refers_to == target and field.on_delete == "cascade"
        } - reached
        reached |= more
        ahead += more
    return acting.name in reached
