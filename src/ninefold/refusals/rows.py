"""Rows that are not there, are not seen, or are not what the request takes them for."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.bodies import acted_on
from ninefold.contract.endpoints import Endpoint, PathName
from ninefold.contract.survey import Survey, actions, signs_out_caller
from ninefold.contract.writes import verbs
from ninefold.diagnostics.source import Span
from ninefold.language.actions import Action
from ninefold.language.authentication import Every
from ninefold.language.conditions import Step
from ninefold.language.fact import Shown, StatedNone, value_of
from ninefold.language.verbs import kind_of
from ninefold.refusals.refusal import Refusal


def of_rows(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    """Rows that are not there, are not seen, or are not what the request takes them for."""
    unseen = survey.contract.authentication.unseen_rows
    for resource, span in _sought(survey, endpoint):
        hidden = value_of(unseen) if _ruled(survey, endpoint, resource) else None
        also = ", or the caller does not see it" if hidden is not None and hidden.text == "missing" else ""
        words = f"the `{resource}` that the request names is not there{also}"
        yield Refusal("missing", Step.JUDGED, resource, fact=span, words=words, meanings=(6,))
        if hidden is not None and hidden.text == "forbidden":
            words = f"the caller does not see the `{resource}`"
            yield Refusal("forbidden", Step.JUDGED, resource, fact=hidden.span, words=words)
        machine = survey.machine(resource)
        if machine is not None and isinstance(machine.gone, Shown) and may_be_gone(survey, endpoint, resource):
            words = f"the state of the `{resource}` is one of those that are gone"
            yield Refusal("gone", Step.JUDGED, resource, fact=machine.gone.span, words=words, meanings=(31,))
    done = verbs(endpoint)
    first = acted_on(endpoint)
    if first is not None and any(kind_of(verb).outcomes for verb in done):
        yield from _of_a_row_that_may_be_there(survey, endpoint, first, done)
    for number, action in enumerate(actions(endpoint)):
        each = survey.transition(action) if action.is_transition else None
        if each is None:
            continue
        origin = each.origin.span if each.origin is not None else each.span
        names = " or ".join(f"`{name.text}`" for name in value_of(each.origin) or ())
        if may_be_in_any_state(endpoint, action):
            words = f"the state of the `{first}` is not {names or 'known'}"
            yield Refusal("illegal transition", Step.JUDGED, first, fact=origin, words=words, after=number)
        if isinstance(each.when, Shown):
            code = None if (named := value_of(each.otherwise)) is None else named.text
            words = f"`{each.when.value.text}` does not hold, which guards the transition `{each.name}`"
            yield Refusal(
                "guard", Step.JUDGED, first, code=code, fact=each.when.span, words=words, meanings=(9, 10), after=number
            )
    for guard in value_of(endpoint.guards) or ():
        words = f"`{guard.when.text}` does not hold"
        code_name = None if guard.otherwise is None else guard.otherwise.text
        yield Refusal("guard", Step.JUDGED, first, code=code_name, fact=guard.when.span, words=words, meanings=(9, 10))
    if isinstance(endpoint.validators, Shown):
        words = "`If-Match` names other entity tags than that of what GET shows now"
        yield Refusal("stale", Step.JUDGED, first, fact=endpoint.validators.span, words=words, meanings=(20,))


def _of_a_row_that_may_be_there(
    survey: Survey, endpoint: Endpoint, resource: str, done: frozenset[str]
) -> Iterator[Refusal]:
    """What refuses `ensure` and `remove` where the row is there."""
    unseen = survey.contract.authentication.unseen_rows
    hidden = value_of(unseen) if _ruled(survey, endpoint, resource) else None
    if hidden is not None and (hidden.text == "forbidden" or "ensure" in done):
        words = f"the `{resource}` is there, and the caller does not see it"
        yield Refusal(hidden.text, Step.JUDGED, resource, fact=hidden.span, words=words)
    machine = survey.machine(resource)
    if machine is not None and isinstance(machine.gone, Shown):
        words = f"the state of the `{resource}` is one of those that are gone"
        yield Refusal("gone", Step.JUDGED, resource, fact=machine.gone.span, words=words, meanings=(31,))


def _sought(survey: Survey, endpoint: Endpoint) -> Iterator[tuple[str, Span]]:
    """The resources of which a row has to be there, with what names it."""
    first = acted_on(endpoint)
    found: dict[str, Span] = {}
    named = [each for each in endpoint.segments if isinstance(each, PathName)]
    for segment in named:
        for resource in through(survey, first, segment):
            found.setdefault(resource, segment.span)
    row = endpoint.row.span if isinstance(endpoint.row, Shown) else named[-1].span if named else endpoint.span
    for action in actions(endpoint)[:1]:  # what follows acts on the same row
        own = action.resource
        signs_out = action.verb == "sign out" and not signs_out_caller(endpoint, action)
        on_one = kind_of(action.verb).row == "named" and not action.all
        if own is not None and (on_one or signs_out):
            found.setdefault(own, row)
    yield from found.items()


def through(survey: Survey, first: str | None, segment: PathName) -> Iterator[str]:
    """The resources through whose rows a name in a path leads on its way."""
    at, names = first, segment.names
    if names[0] == first and names[0] not in survey.graph.fields.get(first or "", {}):
        names = names[1:]
    for name in names[:-1]:
        field = survey.graph.fields.get(at or "", {}).get(name)
        target = None if field is None else value_of(field.refers_to)
        if target is None:
            return
        at = target.text
        yield at


def named_row(survey: Survey, endpoint: Endpoint, segment: PathName) -> str | None:
    """The resource of whose rows a name in a path has a value."""
    first = acted_on(endpoint)
    return next(iter(reversed(tuple(through(survey, first, segment)))), first)


def _ruled(survey: Survey, endpoint: Endpoint, resource: str) -> bool:
    """Whether some caller of an endpoint does not see every row of a resource."""
    for each in survey.admitted(endpoint):
        rule = survey.row_rule(resource, each.who.text)
        seen = value_of(rule)
        if isinstance(rule, StatedNone) or not (seen is None or isinstance(seen, Every)):
            return True
    return False


def may_be_gone(survey: Survey, endpoint: Endpoint, resource: str) -> bool:
    """Whether a row that is sought may be in a state of `gone`, from which the endpoint does not bring it back."""
    machine = survey.machine(resource)
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
