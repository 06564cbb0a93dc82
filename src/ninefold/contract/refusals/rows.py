"""Rows that are not there, are not seen, or are not what the request takes them for; and what other rows, and the rules
of the row itself, say against what is to be stored or deleted."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.integrity import always_gives, may_break, upheld_by
from ninefold.contract.survey import Survey, actions, signs_out_caller
from ninefold.contract.writes import (
    Change,
    acted_on,
    changed_rows,
    compared,
    keys,
    of_effect,
    references,
    referring,
    verbs,
)
from ninefold.diagnostics.source import Span
from ninefold.language.actions import Action
from ninefold.language.authentication import Every
from ninefold.language.check import Check
from ninefold.language.conditions import CHECK, Step
from ninefold.language.effects import Effect
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Shown, StatedNone, value_of
from ninefold.language.routes import PathName
from ninefold.language.states import Machine, Transition
from ninefold.language.verbs import kind_of
from ninefold.plan.events import WEBSOCKET
from ninefold.trace.refusal import Refusal, told


def of_rows(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    """Rows that are not there, are not seen, or are not what the request takes them for."""
    unseen = survey.contract.authentication.unseen_rows
    for resource, span in _sought(survey, endpoint):
        hidden = value_of(unseen) if is_ruled(survey, endpoint, resource) else None
        is_hidden = hidden is not None and hidden.text == "not found"
        if not _is_always_there(survey, endpoint, resource):
            also = ", or the caller does not see it" if is_hidden else ""
            words = f"the `{resource}` that the request names is not there{also}"
            yield told("not found", Step.JUDGED, span, words, "paths", resource=resource)
        elif is_hidden:
            words = f"the caller does not see the `{resource}`"
            yield told("not found", Step.JUDGED, span, words, "paths", resource=resource)
        if hidden is not None and hidden.text == "forbidden":
            words = f"the caller does not see the `{resource}`"
            yield told("forbidden", Step.JUDGED, hidden.span, words, resource=resource)
        machine = survey.contract.machine(resource)
        if machine is not None and isinstance(machine.gone, Shown) and may_be_gone(survey, endpoint, resource):
            words = f"the state of the `{resource}` is one of those that are gone"
            yield told("gone", Step.JUDGED, machine.gone.span, words, "gone rows", resource=resource)
    done = verbs(endpoint)
    first = acted_on(endpoint)
    if first is not None and any(kind_of(verb).may_be_absent for verb in done):
        yield from _of_a_row_that_may_be_there(survey, endpoint, first, done)
    for number, action in enumerate(actions(endpoint)):
        each = survey.transition(action) if action.is_transition else None
        if each is None:
            continue
        origin = each.origin.span if each.origin is not None else each.span
        names, way = " or ".join(f"`{name.text}`" for name in value_of(each.origin) or ()), action.verb
        if may_be_in_any_state(endpoint, action) and is_from_some(survey.contract.machine(action.resource or ""), each):
            words = f"the state of the `{first}` is not {names or 'known'}"
            yield told("illegal transition", Step.JUDGED, origin, words, resource=first, transition=way, after=number)
    for guard in value_of(endpoint.check) or ():
        yield _check(guard, Step.JUDGED, first)
    for number, action in enumerate(actions(endpoint)):
        each = survey.transition(action) if action.is_transition else None
        for guard in (value_of(each.check) or ()) if each is not None else ():
            yield _check(guard, Step.JUDGED, first, each, number)
    conditional = endpoint.etag.span if isinstance(endpoint.etag, Shown) else None
    own = next((each for each in actions(endpoint) if not each.calls), None)
    kind = None if own is None or own.all else kind_of(own.verb)
    if kind is not None and (kind.is_conditional or (not kind.writes and _is_conditional(survey, endpoint))):
        words = "`If-Match` names other entity tags than that of what GET shows now"
        words += ", or `If-None-Match` names that one" if kind.writes else ""
        if conditional is None:
            words = "`If-Match` names an entity tag, and there is none"
            words += ", or `If-None-Match` is `*`" if kind.writes else ""
        yield told("precondition failed", Step.JUDGED, conditional, words, "entity tags", resource=first)


def ways_of_streams(survey: Survey) -> tuple[str, ...]:
    """How a stream may be had."""
    delivery = value_of(survey.contract.events.delivery)
    stated = None if delivery is None else value_of(delivery.stream)
    return tuple(each.text for each in stated or ())


def _is_conditional(survey: Survey, endpoint: Endpoint) -> bool:
    """Whether what it shows, without a change, is a representation (RFC 9110 13.2.1): GET shows one with success, and
    so does what has an entity tag. What goes on over WebSocket is none."""
    shows = endpoint.method == "GET" or isinstance(endpoint.etag, Shown)
    if endpoint.streams and ways_of_streams(survey) == (WEBSOCKET,):
        return False
    ends = value_of(endpoint.responses) or ()
    return shows and not endpoint.is_refused and any(200 <= each.status < 300 for each in ends)


def _check(
    guard: Check, step: Step, resource: str | None, transition: Transition | None = None, after: int = 0
) -> Refusal:
    """A check that does not hold; of a transition, if one is given."""
    words = f"`{guard.that.text}` does not hold"
    words += "" if transition is None else f", a check of the transition `{transition.name}`"
    return _of_check(guard, step, words, resource, after)


def _of_a_row_that_may_be_there(
    survey: Survey, endpoint: Endpoint, resource: str, done: frozenset[str]
) -> Iterator[Refusal]:
    """What refuses `put`, and `delete` where there may be none, by whether the row is there."""
    makes = any(kind_of(verb).may_make for verb in done)
    if makes and "created" not in endpoint.outcomes and not _is_always_there(survey, endpoint, resource):
        words = f"the `{resource}` that the request names is not there"
        yield told("not found", Step.JUDGED, endpoint.span, words, resource=resource)
    if makes and endpoint.outcomes == {"created"}:
        words = f"the `{resource}` is there already"
        yield told("conflict", Step.JUDGED, endpoint.span, words, resource=resource)
    unseen = survey.contract.authentication.unseen_rows
    hidden = value_of(unseen) if is_ruled(survey, endpoint, resource) else None
    if hidden is not None and (hidden.text == "forbidden" or any(kind_of(verb).may_make for verb in done)):
        words = f"the `{resource}` is there, and the caller does not see it"
        yield told(hidden.text, Step.JUDGED, hidden.span, words, resource=resource)
    machine = survey.contract.machine(resource)
    if machine is not None and isinstance(machine.gone, Shown):
        words = f"the state of the `{resource}` is one of those that are gone"
        yield told("gone", Step.JUDGED, machine.gone.span, words, "gone rows", resource=resource)


def _is_always_there(survey: Survey, endpoint: Endpoint, resource: str) -> bool:
    """Whether it is the only row that there is, and nothing says which one is meant."""
    is_named = endpoint.where is not None or any(isinstance(each, PathName) for each in endpoint.segments)
    return survey.graph.is_one_row(resource) and not is_named


def _sought(survey: Survey, endpoint: Endpoint) -> Iterator[tuple[str, Span]]:
    """The resources of which a row has to be there, with what names it."""
    first = acted_on(endpoint)
    found: dict[str, Span] = {}
    named = [each for each in endpoint.segments if isinstance(each, PathName)]
    for segment in named:
        for resource in through(survey, first, segment):
            found.setdefault(resource, segment.span)
    where = endpoint.where.span if isinstance(endpoint.where, Shown) else endpoint.span
    row = named[-1].span if named else where
    for action in actions(endpoint)[:1]:  # what follows acts on the same row
        own = action.resource
        signs_out = kind_of(action.verb).row == "caller's" and not signs_out_caller(endpoint, action)
        on_one = kind_of(action.verb).row == "named" and not action.all
        if own is not None and (on_one or signs_out):
            found.setdefault(own, row)
    yield from found.items()


def through(survey: Survey, first: str | None, segment: PathName) -> Iterator[str]:
    """The resources through whose rows a name in a path leads on its way."""
    at = first
    for name in survey.led(first, segment)[:-1]:
        field = survey.graph.fields.get(at or "", {}).get(name)
        target = None if field is None else value_of(field.references)
        if target is None:
            return
        at = target.text
        yield at


def named_row(survey: Survey, endpoint: Endpoint, segment: PathName) -> str | None:
    """The resource of whose rows a name in a path has a value."""
    first = acted_on(endpoint)
    return next(iter(reversed(tuple(through(survey, first, segment)))), first)


def is_ruled(survey: Survey, endpoint: Endpoint, resource: str) -> bool:
    """Whether some caller of an endpoint does not see every row of a resource."""
    for each in survey.admitted(endpoint):
        rule = survey.row_rule(resource, each.who.text)
        seen = value_of(rule)
        if isinstance(rule, StatedNone) or not (seen is None or isinstance(seen, Every)):
            return True
    return False


def may_be_gone(survey: Survey, endpoint: Endpoint, resource: str) -> bool:
    """Whether a row that is sought may be in a state of `gone`, from which the endpoint does not bring it back."""
    machine = survey.contract.machine(resource)
    gone = {state.text for state in (value_of(machine.gone) if machine is not None else None) or ()}
    for action in actions(endpoint):
        transition = survey.transition(action) if action.subject == resource else None
        gone -= {state.text for state in (value_of(transition.origin) if transition is not None else None) or ()}
    return bool(gone)


def may_be_in_any_state(endpoint: Endpoint, action: Action) -> bool:
    """Whether nothing says in which state a row is when an endpoint takes a transition of it: neither that it is new,
    nor another transition."""
    before = actions(endpoint)[: actions(endpoint).index(action)]
    return not before or not (before[-1].is_transition or kind_of(before[-1].verb).makes)


def is_from_some(machine: Machine | None, transition: Transition) -> bool:
    """Whether there is a state that a transition does not leave, as far as it is shown."""
    states, origins = value_of(machine.states) if machine is not None else None, value_of(transition.origin)
    return states is None or origins is None or not {each.text for each in states} <= {each.text for each in origins}


def of_writes(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    """What refuses the rows that an endpoint writes, and those that change with them."""
    written, last = tuple(changed_rows(survey, endpoint)), max(len(actions(endpoint)) - 1, 0)
    for change in written:
        step = Step.DONE if change.after else Step.JUDGED
        yield from _of_change(survey, change, step, last)
    given = frozenset((each.resource.name, name) for each in written for name in each.body if each.inserts)
    own = acted_on(endpoint)
    deletes = any(
        kind_of(each.verb).removes and each.resource != survey.graph.subscription for each in actions(endpoint)
    )
    for each in referring(survey, survey.graph.falling_with(own)) if deletes and own is not None else ():
        if each.word == "restrict":
            words = f"a row refers to it by `{each.subject}`"
            yield told("conflict", Step.JUDGED, each.span, words, "cascades", resource=own)
    edits = any(kind_of(each.verb).patches for each in actions(endpoint))
    if edits and endpoint.is_edited and endpoint.patch is not None:
        words = f"an edit needs something of the `{own}` that is not there"
        yield told("conflict", Step.BODY, endpoint.patch.span, words, resource=own)
        words = f"a `test` of the patch finds another value in the `{own}`"
        yield told("different", Step.BODY, endpoint.patch.span, words, resource=own)
    for resource, invariant in upheld_by(survey, endpoint):
        words = f"`{invariant.that.text}` would not hold any more of a `{resource}` that it is asked of again"
        yield _broken(resource, invariant, words, last)
    if own is not None and any(kind_of(each.verb).compares for each in actions(endpoint)):
        if "unchanged" in endpoint.outcomes and compared(survey, endpoint, own):
            words = f"the `{own}` is there, with other values than those that the request gives"
            yield told("different", Step.JUDGED, endpoint.span, words, resource=own)
    for effect, acting in survey.effects(endpoint).items():
        yield from _of_effect(survey, effect, acting, given, last)


def _broken(resource: str, invariant: Check, words: str, after: int) -> Refusal:
    return _of_check(invariant, Step.DONE, words, resource, after, become=True)


def _of_check(
    check: Check, step: Step, words: str, resource: str | None, after: int = 0, become: bool = False
) -> Refusal:
    code, at = None if check.code is None else check.code.text, check.that.span
    meanings = ("truth", "before and after")
    return told(CHECK, step, at, words, *meanings, resource=resource, code=code, after=after, become=become)


def _of_change(
    survey: Survey, change: Change, step: Step, last: int, given: frozenset[tuple[str, str]] = frozenset()
) -> Iterator[Refusal]:
    own, after = change.resource, change.after
    for reference in references(survey, change):
        at = reference.span
        if reference.given:
            words = f"`{own.name}.{reference.field}` refers to no `{reference.target}` that the caller sees"
            yield told("invalid", step, at, words, "references", resource=own.name, field=reference.field, after=after)
        else:
            words = f"the `{reference.target}` that `{own.name}.{reference.field}` is given is not there any more"
            yield told("conflict", step, at, words, resource=own.name, field=reference.field, after=after)
    for key in keys(survey, change):
        together = ", also one that changes with it," if change.several and not change.inserts else ""
        words = f"another row{together} has the same {' and '.join(f'`{name}`' for name in key.fields)}"
        alone = key.fields[0] if len(key.fields) == 1 else None
        yield told("conflict", step, key.span, words, "values", resource=own.name, field=alone, after=after)
    for invariant in value_of(own.check) or ():
        yield _broken(own.name, invariant, f"`{invariant.that.text}` would not hold of the row as it becomes", last)
    if may_break(survey, change, given):
        words = "what a field is given cannot be made, or is not as the field says"
        yield told(CHECK, step, own.span, words, "who gives a value", resource=own.name, after=after, become=True)


def _is_of_one(survey: Survey, effect: Effect) -> bool:
    """Whether an effect is of one row, which may be gone; of all of which something holds, those are left out."""
    own = survey.graph.resources.get(effect.subject)
    return (
        not kind_of(effect.verb).makes
        and own is not None
        and (not value_of(own.primary_key) or effect.is_of_one(own.keys, survey.graph.same(own.name)))
    )


def _of_effect(
    survey: Survey, effect: Effect, acting: str, given: frozenset[tuple[str, str]], last: int
) -> Iterator[Refusal]:
    """What may refuse a change of another row upon one of a resource, and with it the whole. `given`: what the request
    gives the row that is made before, each field with its resource."""
    resource, action, at = effect.subject, effect.does, effect.span
    machine, transition = survey.contract.machine(resource), survey.transition(action)
    if _is_of_one(survey, effect) and machine is not None:
        origins = value_of(transition.origin) if transition is not None else None
        if {state.text for state in value_of(machine.gone) or ()} - {state.text for state in origins or ()}:
            words = f"the state of the `{resource}` is one of those that are gone"
            yield told("gone", Step.DONE, at, words, "gone rows", resource=resource)
    if action.is_transition and (transition is None or is_from_some(machine, transition)):
        words = f"the `{resource}` is in none of the states from which `{effect.verb}` leads"
        yield told("illegal transition", Step.DONE, at, words, resource=resource, transition=effect.verb)
    for guard in (value_of(transition.check) or ()) if transition is not None else ():
        yield _check(guard, Step.DONE, resource, transition)
    for each in referring(survey, survey.graph.falling_with(resource)) if kind_of(effect.verb).removes else ():
        if each.word == "restrict":
            words = f"a row refers to the `{resource}` by `{each.subject}`"
            yield told("conflict", Step.DONE, each.span, words, "cascades", resource=resource)
    change = of_effect(survey, effect, acting)
    if change is not None:
        yield from _of_change(survey, change, Step.DONE, last, given)
        needed = {each.text for each in value_of(change.resource.required) or ()}
        for name in change.sets:
            if name in needed and not always_gives(survey, change, change.sets[name].ast):
                words = f"`{resource}.{name}` has to have a value, and is given none"
                yield told("invalid", Step.DONE, at, words, "who gives a value", resource=resource, field=name)
