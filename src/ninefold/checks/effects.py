"""Parts 3 and 4: other rows that change in the same transaction, by way of transitions to the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.checked.resources import Effect, Field, Resource
from ninefold.checks.addressing import with_values
from ninefold.checks.assignments import check_made_with
from ninefold.checks.constants import check_given
from ninefold.checks.effects_of_effects import deleted_by, without_an_end
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.contract.effects import as_wanted, each_alone, known_by
from ninefold.diagnostics.codes import (
    EACH_OF_NO_ARRAY,
    EFFECT_ON_NO_ROW,
    EFFECT_ON_THIS,
    NEVER_GIVEN,
    NOT_ANOTHER_ROW,
    NOT_READ_IN_EFFECT,
    NOT_SET,
    PUT_OF_NO_ROW,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.ast import Name, held_equal, named_by, reads_row
from ninefold.expressions.check import check
from ninefold.expressions.reads import needs_database
from ninefold.expressions.rows import BEFORE, before
from ninefold.expressions.scope import Scope, stored_as
from ninefold.expressions.tree import Typed, free_variables
from ninefold.language import effects as stated
from ninefold.language import resources as declared
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Gap, Proposal, Shown, value_of
from ninefold.language.verbs import kind_of
from ninefold.sql.expressions import sql_problem
from ninefold.values import Anything, Array, Boolean, Object, Row, Type, optional, required

THIS, EACH = "this", "each"
"""What effects read besides: the row acted on, and the item of a new row."""


def effects_of_transitions(
    resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
) -> dict[str, Resource]:
    """The resources with what else their transitions do, once all of these are known."""
    written = _written(findings)
    found, waiting = dict(resources), dict(written)
    while True:
        # A transition of which an effect is open or wrong is none, and neither is one that takes it.
        open_ones = []
        checked: dict[tuple[str, str], tuple[Effect, ...]] = {}
        for (name, transition), then in waiting.items():
            resource = found.get(name)
            if resource is None or resource.machine is None or transition not in resource.machine.transitions:
                continue
            own = findings.apart()
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
    return _with_an_end(found, written, findings)


def _with(resource: Resource, transition: str, effects: tuple[Effect, ...] | None) -> Resource:
    """A resource one of whose transitions has these effects; None: it does not have that transition."""
    machine = resource.machine
    assert machine is not None
    transitions = dict(machine.transitions)
    taken = transitions.pop(transition)
    if effects is not None:
        transitions[transition] = replace(taken, also=effects)
    return replace(resource, machine=replace(machine, transitions=transitions))


def _written(findings: Findings) -> dict[tuple[str, str], Fact[tuple[stated.Effect, ...]]]:
    return {(name, each.name): each.also for name, each in findings.transitions if each.also is not None}


def stated_effects(findings: Findings) -> Iterator[stated.Effect]:
    """Every effect that a contract states, of endpoints and of transitions."""
    for then in (*(each.also for each in findings.survey.endpoints), *_written(findings).values()):
        yield from each_alone(value_of(then) or (), findings.survey.graph.resources)


def are_open(findings: Findings) -> bool:
    """Whether some effect is not shown: it may be any."""
    facts = (*(each.also for each in findings.survey.endpoints), *_written(findings).values())
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
    graph, found = findings.survey.graph, list[Effect | None]()
    for stated_one in value_of(fact) or ():
        if not _can_be_done(stated_one, graph.resources, findings):
            found.append(None)  # what else is wrong with the others is told
            continue
        # What makes a row is looked at first: of the same fault that is told once.
        alone = tuple(each_alone((stated_one,), graph.resources))
        made: list[Effect | None] = []
        for each in reversed(alone):
            if None not in made:
                made.append(_effect(each, acting, resources, vocabulary, request, findings))
        found += reversed(made)
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
    if effect.does.is_transition:
        transition = None if resource.machine is None else resource.machine.transitions.get(effect.verb)
        if transition is None:
            return None
    taken = deleted_by(effect, _written(findings)) if transition is not None else ()
    falls = kind_of(effect.verb).removes and _falls_with(acting, resource, resources)
    if falls or any(name == acting.name or _falls_with(acting, resources[name], resources) for name in taken):
        message = f"an effect of an operation on `{acting.name}` acts on `{resource.name}`"
        findings.say(NOT_ANOTHER_ROW, message, Label(effect.does.span, "may take the row acted on with it"))
        return None
    if not (_says_which(effect, resource, findings) and _reads_what_it_may(effect, acting, resource, findings)):
        return None
    inserts = kind_of(effect.verb).makes
    more: dict[str, Type | None] = {"request": request, THIS: Row(resource=acting.name)}
    if resource.name != acting.name:
        more[BEFORE] = before(acting.name, maybe=True)
    where, each, item = None, None, None
    if effect.each is not None:
        each = _items(effect.each, vocabulary.scope(**more), findings)
        if each is None:
            return None
        item = each.type.items if isinstance(each.type, Array) else None
    rows = () if inserts else (resource.name,)
    if effect.where is not None:
        where = _given(effect.where, vocabulary.scope(*rows, **more, **{EACH: item}), Boolean(), rows, findings)
        if where is None:
            return None
    scope = vocabulary.scope(resource.name, **more, **{EACH: item})
    sets = tuple(_sets(effect, resource, scope, findings))
    if len(sets) != len(effect.sets):
        return None
    if inserts and not _is_complete(effect, resource, dict(sets), findings):
        return None
    key = None if effect.where is None else _named_by(effect.where, resource, findings)
    of_one = key is not None or not resource.primary_key
    is_of_several = effect.each is not None or not (inserts or of_one)
    stated_sets = Shown(effect.sets, effect.span)
    check_made_with(dict(sets), stated_sets, resource, kind_of(effect.verb), vocabulary, findings, (), is_of_several)
    if where is not None and effect.where is not None:
        where = findings.stands(with_values(where, key or (), resource), effect.where.span)
    unless = None
    if each is not None and not inserts and (same := as_wanted(effect)) is not None:
        unless = _given(same, scope, Boolean(), rows, findings)
        if unless is None:
            return None
    place = findings.place(effect.span)
    return Effect(effect.verb, resource.name, place, where, of_one, each, sets, unless, key or ())


def _named_by(where: Expression, resource: Resource, findings: Findings) -> tuple[str, ...] | None:
    return named_by(where.ast, resource.name, resource.keys_of_one, findings.survey.graph.same(resource.name))


def _can_be_done(effect: stated.Effect, resources: Mapping[str, declared.Resource], findings: Findings) -> bool:
    """Whether an effect that may make a row says which one it is, and only what makes rows is done for `each` item."""
    own, done = resources.get(effect.subject), f"`{effect.does.written}`"
    if own is not None and effect.each is not None and not kind_of(effect.verb).makes:
        label = Label(effect.each.span, "the rows are there already")
        findings.say(EFFECT_ON_NO_ROW, f"`each` says nothing of {done}", label)
        return False
    if own is None or not kind_of(effect.verb).may_make:
        return True
    if not known_by(effect, own):
        key = " and ".join(f"`{name.text}`" for name in value_of(own.primary_key) or ())
        help = (
            (f"`sets` gives {key}, by which a row is known",)
            if key
            else ("`update` changes the one row that there is",)
        )
        message, label = f"{done} does not say which row", Label(effect.does.span, "is known by no field of `sets`")
        findings.say(PUT_OF_NO_ROW, message, label, help=help)
        return False
    return True


def _says_which(effect: stated.Effect, resource: Resource, findings: Findings) -> bool:
    """Whether it says which row, or which rows, it is about."""
    inserts, done = kind_of(effect.verb).makes, f"`{effect.does.written}`"
    if effect.where is None and resource.primary_key and not inserts:
        name = resource.name
        help = (f"all rows of which something holds: `where: …`; one row: `where: {name} == this.…`",)
        findings.say(EFFECT_ON_NO_ROW, f"{done} does not say which row", Label(effect.span, "no `where`"), help=help)
        return False
    for held, value in held_equal(effect.where.ast, resource.name) if effect.where is not None else ():
        if effect.where is not None and not held and isinstance(value, Name) and value.name == THIS:
            help = ("what becomes of that row, `sets` says, or a transition in `does`",)
            message, label = f"{done} is of the row acted on", Label(effect.where.span, "is that row")
            findings.say(EFFECT_ON_THIS, message, label, help=help)
            return False
    return True


def _reads_what_it_may(effect: stated.Effect, acting: Resource, resource: Resource, findings: Findings) -> bool:
    """Whether no resource's name stands for a row but that of the row which changes."""
    inserts = kind_of(effect.verb).makes
    for called, read in (*((None, each) for each in effect.reads), *((each.name, each.value) for each in effect.sets)):
        own = {resource.name} if called is not None or not inserts else set[str]()
        for name in (acting.name, resource.name):
            if name not in own and reads_row(read.ast, name):
                why = "the row acted on is `this`" if name == acting.name else "there is no such row yet"
                message = f"`{name}` is no row that an effect on `{resource.name}` reads here"
                findings.say(NOT_READ_IN_EFFECT, message, Label(read.span, why))
                return False
    return True


def _is_open(typed: Typed, scope: Scope) -> bool:
    """Whether it is read of a body that is a gap, and may be anything."""
    request = scope.variables.get("request")
    body = request.members.get("body") if isinstance(request, Object) and request.members is not None else None
    return "request" in free_variables(typed) and isinstance(body, Object) and not body.members


def _items(expression: Expression, scope: Scope, findings: Findings) -> Typed | None:
    """The items that rows are made of: of the request, or of the row acted on."""
    found = typed(expression, scope, None, findings, in_sql=False)
    if found is None:
        return None
    if not isinstance(found.type, Array):
        if isinstance(found.type, Anything) and _is_open(found, scope):
            return None
        message = f"`{expression.text}` is no array"
        findings.say(EACH_OF_NO_ARRAY, message, Label(expression.span, "has no items"))
        return None
    if isinstance(found.type.items, Anything):
        message = f"the items of `{expression.text}` are of no one type"
        findings.say(EACH_OF_NO_ARRAY, message, Label(expression.span, "nothing says what they are, or they differ"))
        return None
    if needs_database(found, (), scope.model) or isinstance(found.type.items, Row):
        message = f"`{expression.text}` is read from the database"
        findings.say(EACH_OF_NO_ARRAY, message, Label(expression.span, "its items are rows, or made of rows"))
        return None
    return found


def _given(
    expression: Expression, scope: Scope, expected: Type, rows: tuple[str, ...], findings: Findings
) -> Typed | None:
    """What an effect reads. Of the rows in scope only `rows` are tables of its statement: the row acted on is known by
    then, and what leads on from it is looked up."""
    found = typed(expression, scope, expected, findings, in_sql=False)
    if found is None or not needs_database(found, rows, scope.model):
        return found
    return findings.in_sql(found, sql_problem(found, rows, model=scope.model), expression.span)


def _sets(effect: stated.Effect, resource: Resource, scope: Scope, findings: Findings) -> Iterator[tuple[str, Typed]]:
    for each in effect.sets:
        field = resource.fields.get(each.name)
        if field is None:
            continue
        why = _not_set(field, effect, resource)
        if why is not None:
            findings.say(NOT_SET, f"no effect gives `{resource.name}.{field.name}` a value", Label(each.span, why))
            continue
        expected = optional(field.type)
        if isinstance(field.type, Row):
            expected = _known_by(each.value, scope, field.type)
        value = _given(each.value, scope, expected, (resource.name,), findings)
        if value is not None:
            check_given(resource.name, field, value, each.value.span, findings)
            yield each.name, value


def _known_by(expression: Expression, scope: Scope, row: Row) -> Type:
    """What a reference is given by: a row, or what the one field of its primary key holds; that such a row is there is
    asked by the statement."""
    found = check(expression.ast, scope).typed
    key = stored_as(row, scope.model)
    return optional(key if found is not None and required(found.type) == required(key) else row)


def _not_set(field: Field, effect: stated.Effect, resource: Resource) -> str | None:
    if kind_of(effect.verb).removes:
        return "the row is deleted"
    return resource.made_otherwise(field, secret="is a secret")


def _is_complete(effect: stated.Effect, resource: Resource, sets: Mapping[str, Typed], findings: Findings) -> bool:
    """Whether a new row has everything that it needs."""
    if resource.log:
        return True  # nobody writes it, which has been said
    complete = True
    for field in resource.fields.values():
        made = field.is_made or resource.is_state(field.name) or field.name in sets
        if (field.required or not field.type.nullable) and not made:
            message = f"`{resource.name}.{field.name}` is required, and the effect has nothing to give it"
            help = f"add `{field.name}` to its `sets`"
            findings.say(NEVER_GIVEN, message, Label(effect.span, "creates one without it"), help=(help,))
            complete = False
    if resource.machine is not None and resource.machine.initial is None:
        message = f"the initial state of `{resource.name}` is `none`"
        findings.say(NEVER_GIVEN, message, Label(effect.span, "creates one without a state"))
        complete = False
    return complete


def _with_an_end(
    resources: dict[str, Resource],
    written: Mapping[tuple[str, str], Fact[tuple[stated.Effect, ...]]],
    findings: Findings,
) -> dict[str, Resource]:
    """Without the effects of transitions that have no end, or too many of them."""
    found = dict(resources)
    for resource, transition in without_an_end(written, findings):
        machine = found[resource].machine if resource in found else None
        if machine is not None and transition in machine.transitions:
            found[resource] = _with(found[resource], transition, None)
    return found


def _falls_with(acting: Resource, deleted: Resource, resources: Mapping[str, Resource]) -> bool:
    """Whether a row may be deleted by a cascade with another one."""
    reached, ahead = set[str](), [deleted.name]
    while ahead:
        target = ahead.pop()
        more = {
            each.name
            for each in resources.values()
            for field in each.fields.values()
            if field.references == target and field.on_delete == "cascade"
        } - reached
        reached |= more
        ahead += more
    return acting.name in reached
