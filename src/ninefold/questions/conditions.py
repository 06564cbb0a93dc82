"""Which conditions can arise in a contract, worked out from what it states: no list is written down twice."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.authentication import Every
from ninefold.contract.effects import Effect
from ninefold.contract.endpoints import Action, Endpoint, PathName, reads_content, shows_content
from ninefold.contract.expression import Expression
from ninefold.contract.fact import Shown, value_of
from ninefold.contract.given import may_break
from ninefold.contract.known_by import compared, known_by, stored_of_path
from ninefold.contract.reach import names_in
from ninefold.contract.resources import Field
from ninefold.contract.survey import SUBSCRIPTION, Survey, actions, as_action, is_transition, signs_out_caller, subject
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.ast import Invocation
from ninefold.expressions.functions import NEVER_TWICE
from ninefold.language.conditions import STATUSES
from ninefold.language.verbs import GRANT, kind_of
from ninefold.vocabulary.endpoints import CONDITIONS_OF_GRANTS


@dataclass(frozen=True, slots=True)
class Arising:
    """A condition of the closed list that can arise at an endpoint (at any, where it is `None`), about a resource
    (`order`), a field (`user.email`) or nothing in particular."""

    condition: str
    about: str | None = None
    endpoint: str | None = None

    @property
    def text(self) -> str:
        return f"{self.condition} {self.about}" if self.about else self.condition


def arising(survey: Survey) -> tuple[Arising, ...]:
    """All conditions that can arise, in the order of the closed list. `precondition required` is among them
    nowhere: no contract can state yet that a request must carry a condition."""
    found = [*_of_any_request(survey)]
    for endpoint in survey.endpoints:
        found += (Arising(name, about, endpoint.key) for name, about in _at(survey, endpoint))
    order = tuple(STATUSES)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: order.index(each.condition)))


def _of_any_request(survey: Survey) -> Iterator[Arising]:
    if not survey.endpoints:
        return
    limits, versioning = survey.contract.limits, survey.contract.versioning
    for name in ("no such path", "method not allowed", "unavailable", "internal"):
        yield Arising(name)
    if isinstance(versioning.scheme, Shown):
        yield Arising("unknown version")
    if any(isinstance(version.retired, Shown) for version in value_of(versioning.versions) or ()):
        yield Arising("retired version")
    if value_of(limits.rates):
        yield Arising("rate limited")
    if (time_outs := value_of(limits.time_outs)) is not None and isinstance(time_outs.request, Shown):
        yield Arising("timed out")


def may_be_of_no_case(endpoint: Endpoint) -> bool:
    """Whether a request may be of none of an endpoint's cases, where it is not its body that chooses one. (Then it is
    `invalid`, as any body may be.)"""
    case = endpoint.case
    return case is not None and not case.has_rest and case.member is None


def _at(survey: Survey, endpoint: Endpoint) -> Iterator[tuple[str, str | None]]:
    yield from _of_callers(survey, endpoint)
    yield from _of_reading(survey, endpoint)
    if may_be_of_no_case(endpoint):
        yield "forbidden", _first(endpoint)
    for resource in _sought(survey, endpoint):
        yield "missing", resource
        if may_be_gone(survey, endpoint, resource):
            yield "gone", resource
    for parameter in value_of(endpoint.path) or ():
        yield "missing" if parameter.otherwise is None else "invalid", _first(endpoint)
    for guard in value_of(endpoint.guards) or ():
        if guard.otherwise is None:
            yield "guard", _first(endpoint)
    if isinstance(endpoint.validators, Shown):
        yield "stale", _first(endpoint)
    for resource, invariant in survey.upheld_by(endpoint):
        if invariant.otherwise is None:
            yield "invariant", resource
    for action in actions(endpoint):
        if (resource_of := subject(action)) is not None:
            yield from _of_action(survey, endpoint, action, resource_of)
    for effect in survey.effects(endpoint):
        yield from _of_effect(survey, effect)


def may_be_gone(survey: Survey, endpoint: Endpoint, resource: str) -> bool:
    """Whether a row that is sought may be in a state of `gone`, from which the endpoint does not bring it back."""
    machine = survey.machine(resource)
    gone = {state.text for state in (value_of(machine.gone) if machine is not None else None) or ()}
    for action in actions(endpoint):
        transition = survey.transition(action) if action.subject == resource else None
        gone -= {state.text for state in (value_of(transition.origin) if transition is not None else None) or ()}
    return bool(gone)


def _of_callers(survey: Survey, endpoint: Endpoint) -> Iterator[tuple[str, str | None]]:
    admitted = survey.admitted(endpoint)
    named = {admission.who.text for admission in admitted}
    if named - {"anyone"}:
        yield "unauthenticated", None
    if named and "anyone" not in named and {scheme.name for scheme in survey.schemes} - named:
        yield "forbidden", None  # a good credential of a scheme that the endpoint does not admit
    for admission in admitted:
        if isinstance(condition := value_of(admission.condition), Expression):
            first = _first(endpoint)
            yield "forbidden", first if first in set(names_in(condition.ast)) else None
    unseen = value_of(survey.contract.authentication.unseen_rows)
    if unseen is not None and unseen.text == "forbidden":
        for resource in _sought(survey, endpoint):
            if _may_be_unseen(survey, endpoint, resource):
                yield "forbidden", resource


def _of_reading(survey: Survey, endpoint: Endpoint) -> Iterator[tuple[str, str | None]]:
    requests = survey.contract.endpoints.requests_of(endpoint)
    members, unknown = requests.unknown_members, value_of(requests.unknown_parameters)
    refused = unknown is not None and unknown.text == "refused"
    verbs = {action.verb for action in actions(endpoint)}
    if reads_content(endpoint, members):
        yield from (("unsupported media type", None), ("malformed", None), ("invalid", None))
        if isinstance(survey.contract.limits.body_size, Shown):
            yield "too large", None
    parameters = (
        endpoint.query,
        endpoint.request_headers,
        endpoint.filters,
        endpoint.idempotency_key,
        endpoint.projection,
        endpoint.expand,
    )
    if "list" in verbs or any(isinstance(fact, Shown) for fact in parameters) or refused:
        yield "invalid", None
    first = _first(endpoint)
    if "ensure" in verbs and first is not None and stored_of_path(endpoint, first):
        yield "invalid", None
    if shows_content(endpoint) or "stream events" in verbs:
        yield "not acceptable", None
    if "stream events" in verbs and _resumed(survey):
        yield "invalid", None
    if isinstance(endpoint.idempotency_key, Shown):
        yield from (("idempotency mismatch", None), ("idempotency in progress", None))
    if "sign in" in verbs:
        yield "sign in refused", None
    if GRANT in verbs:
        yield from (("sign in refused", first), *(("invalid", each) for each in CONDITIONS_OF_GRANTS))


def _resumed(survey: Survey) -> bool:
    """Whether a stream takes a position, which may be none that it gave."""
    delivery = value_of(survey.contract.events.delivery)
    stream = value_of(delivery.stream) if delivery is not None else None
    return stream is not None and isinstance(stream.resume, Shown)


def _sought(survey: Survey, endpoint: Endpoint) -> Iterator[str]:
    """The resources of which an endpoint looks for a row that may not be there: those that its path names go
    through, and the one that it acts on."""
    first = _first(endpoint)
    for segment in endpoint.segments:
        at = first
        for name in segment.names if isinstance(segment, PathName) else ():
            field = survey.graph.fields.get(at or "", {}).get(name)
            target = value_of(field.refers_to) if field is not None else None
            if target is None:
                break
            at = target.text
            yield at
    for action in actions(endpoint)[:1]:  # what follows acts on the same row
        resource = subject(action)
        signs_out = action.verb == "sign out" and not signs_out_caller(endpoint, action)
        on_one = kind_of(action.verb).row == "named" and not action.all
        if resource is not None and (on_one or signs_out):
            yield resource


def _may_be_unseen(survey: Survey, endpoint: Endpoint, resource: str) -> bool:
    """Whether some caller of an endpoint does not see every row of a resource."""
    rules = (value_of(survey.row_rule(resource, each.who.text)) for each in survey.admitted(endpoint))
    return any(rule is not None and not isinstance(rule, Every) for rule in rules)


def _of_action(survey: Survey, endpoint: Endpoint, action: Action, resource: str) -> Iterator[tuple[str, str | None]]:
    machine, transition = survey.machine(resource), survey.transition(action)
    if machine is not None and isinstance(machine.gone, Shown) and kind_of(action.verb).outcomes:
        yield "gone", resource
    unseen = value_of(survey.contract.authentication.unseen_rows)
    if kind_of(action.verb).outcomes and unseen is not None and _may_be_unseen(survey, endpoint, resource):
        if unseen.text == "forbidden" or action.verb == "ensure":
            yield unseen.text, resource
    if is_transition(action) and may_be_in_any_state(endpoint, action):
        yield "illegal transition", resource
    if transition is not None and isinstance(transition.when, Shown) and not isinstance(transition.otherwise, Shown):
        yield "guard", resource
    if kind_of(action.verb).gives_values:
        own = survey.graph.resources.get(resource)
        invariants = value_of(own.invariants) if own is not None else None
        for invariant in invariants or ():
            if invariant.otherwise is None:
                yield "invariant", resource
        sets = _set_by(survey, endpoint, action)
        body = frozenset(name for owner, name in survey.body_fields(endpoint) if owner == resource)
        if may_break(survey, resource, sets, kind_of(action.verb).makes, body):
            yield "invariant", resource
        yield from (("conflict", about) for about in _conflicts(survey, endpoint, action, resource))
    patch = value_of(endpoint.patch)
    if action.verb == "update" and patch is not None and patch.text == "json-patch":
        yield from (("different", resource), ("conflict", resource))
    if action.verb == "ensure" and compared(survey, endpoint, resource):
        yield "different", resource
    if kind_of(action.verb).removes and resource != SUBSCRIPTION and _may_be_refused(survey, endpoint):
        yield "conflict", resource


def _set_by(survey: Survey, endpoint: Endpoint, action: Action) -> dict[str, Expression]:
    """What `sets` of the endpoint, and of the transition that it takes, give."""
    transition = survey.transition(action)
    own = value_of(endpoint.sets) if actions(endpoint)[0] == action else None
    taken = value_of(transition.sets) if transition is not None else None
    return {each.name: each.value for each in (*(own or ()), *(taken or ()))}


def may_be_in_any_state(endpoint: Endpoint, action: Action) -> bool:
    """Whether nothing says in which state a row is when an endpoint takes a transition of it: neither that it is new,
    nor another transition."""
    before = actions(endpoint)[: actions(endpoint).index(action)]
    return not before or not (is_transition(before[-1]) or kind_of(before[-1].verb).makes)


def _of_effect(survey: Survey, effect: Effect) -> Iterator[tuple[str, str | None]]:
    """What may refuse a change of another row, and with it the whole."""
    resource, action = effect.subject, as_action(effect)
    machine, transition = survey.machine(resource), survey.transition(action)
    if effect.verb != "create" and machine is not None:
        origins = value_of(transition.origin) if transition is not None else None
        if {state.text for state in value_of(machine.gone) or ()} - {state.text for state in origins or ()}:
            yield "gone", resource
    if is_transition(action):
        yield "illegal transition", resource
    if transition is not None and isinstance(transition.when, Shown) and not isinstance(transition.otherwise, Shown):
        yield "guard", resource
    if effect.verb == "delete":
        if survey.refusing & survey.falling_with(resource):
            yield "conflict", resource
        return
    own = survey.graph.resources.get(resource)
    for invariant in (value_of(own.invariants) if own is not None else None) or ():
        if invariant.otherwise is None:
            yield "invariant", resource
    sets = {each.name: each.value for each in effect.sets}
    sets |= {each.name: each.value for each in (value_of(transition.sets) if transition is not None else None) or ()}
    if may_break(survey, resource, sets, effect.verb == "create"):
        yield "invariant", resource
    given = {each.name for each in effect.sets}
    given |= {each.name for each in (value_of(transition.sets) if transition is not None else None) or ()}
    yield from (("conflict", about) for about in _taken(survey, resource, given, effect.verb == "create", ()))
    if any(name in survey.graph.fields.get(resource, {}) for name in given):
        yield "invalid", None  # a required value that cannot be made


def _may_be_refused(survey: Survey, endpoint: Endpoint) -> bool:
    """Whether rows that refer to what is deleted forbid it."""
    return bool(survey.deleted_by(endpoint) & survey.refusing)


def _conflicts(survey: Survey, endpoint: Endpoint, action: Action, resource: str) -> Iterator[str]:
    """What another row may have already: unique fields (`user.email`), and lists of them or the identifier
    (`user`)."""
    meant = known_by(survey, endpoint, resource) if action.verb == "ensure" else ()
    yield from _taken(survey, resource, _given(survey, endpoint, resource), kind_of(action.verb).makes, meant)


def _taken(survey: Survey, resource: str, given: set[str], inserts: bool, meant: tuple[str, ...]) -> Iterator[str]:
    """The same, by the fields to which a write gives values; `meant`: those by which it knows its row."""
    fields = survey.graph.fields.get(resource, {})
    identifier = _identifier(survey, resource)

    def may_be_taken(field: Field) -> bool:
        return field.name in given or (inserts and field.on_create is not None and not _is_new(field))

    written = {name for name, field in fields.items() if may_be_taken(field)}
    written |= {name for name, field in fields.items() if field.on_change is not None}
    written |= {
        name for name, field in fields.items()
        if not inserts and given & {each.text for each in value_of(field.again_on) or ()}
    }  # fmt: skip
    for name, field in fields.items():
        if value_of(field.unique) and name in written and meant != (name,):
            yield f"{resource}.{name}"
    if inserts and identifier and identifier != meant and set(identifier) <= written:
        yield f"{resource}.{identifier[0]}" if len(identifier) == 1 else resource
    own = survey.graph.resources.get(resource)
    for together in (value_of(own.unique) or ()) if own is not None else ():
        names = tuple(each.text for each in together)
        if names != meant and set(names) & written:
            yield resource


def _is_new(field: Field) -> bool:
    made = value_of(field.on_create)
    return made is not None and isinstance(made.ast, Invocation) and made.ast.function in NEVER_TWICE


def _given(survey: Survey, endpoint: Endpoint, resource: str) -> set[str]:
    """The fields of a resource to which an endpoint gives values: by its body, its `sets`, those of a transition,
    or, where it creates, its path."""
    given = {name for owner, name in survey.body_fields(endpoint) if owner == resource}
    given |= {assignment.name for assignment in value_of(endpoint.sets) or ()}
    for action in actions(endpoint):
        transition = survey.transition(action)
        if action.subject == resource and transition is not None:
            given |= {assignment.name for assignment in value_of(transition.sets) or ()}
        if action.subject == resource and kind_of(action.verb).makes:
            named = (segment.names for segment in endpoint.segments if isinstance(segment, PathName))
            given |= {names[1] if names[0] == resource and len(names) > 1 else names[0] for names in named}
    return given


def _identifier(survey: Survey, resource: str) -> tuple[str, ...]:
    own = survey.graph.resources.get(resource)
    return tuple(name.text for name in value_of(own.identifier) or ()) if own is not None else ()


def _first(endpoint: Endpoint) -> str | None:
    return next((resource for action in actions(endpoint) if (resource := subject(action))), None)
