"""Part 4: what is done, put together of what has been checked of an endpoint; and several operations on one row, in one
transaction: which verbs may stand together, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypedDict

from ninefold.checked.bodies import BodyLeaf, BodyMember
from ninefold.checked.contents import Response
from ninefold.checked.endpoints import Call
from ninefold.checked.lists import title
from ninefold.checked.operations import (
    Compute,
    Create,
    Delete,
    Ensure,
    Filter,
    List,
    Mutation,
    Operation,
    Pages,
    Read,
    Remove,
    Segment,
    SignIn,
    SignOut,
    Sorts,
    Stream,
    Takes,
    Update,
)
from ninefold.checked.resources import Effect, Guard, Resource, Transition
from ninefold.checks.bodies import body_constants
from ninefold.checks.body_types import whole_body
from ninefold.checks.credentials import check_tokens_of_effects, check_told
from ninefold.checks.findings import Findings
from ninefold.checks.lists import check_all_rows
from ninefold.checks.parameters import check_declared
from ninefold.checks.responses import (
    check_deleted,
    links_pages,
    mentions_total,
    reads_beyond_row,
    shows_what_is_cleared,
)
from ninefold.checks.selections import Selection, check_selection
from ninefold.checks.showing import Showing
from ninefold.diagnostics.codes import NOT_AMONG_SEVERAL, NOT_TAKEN_AFTER, ROWS_OF_SEVERAL
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.language import endpoints as stated
from ninefold.language.actions import Action
from ninefold.language.endpoints import Ends
from ninefold.language.fact import Name, Shown, text_of, value_of
from ninefold.language.states import Machine
from ninefold.language.verbs import KINDS, Verb, kind_of
from ninefold.plan.events import EVENT, TOLD
from ninefold.values import Object as ObjectType
from ninefold.values import Row, Type


@dataclass(frozen=True)
class Doing:
    """What an endpoint does: its first operation, as a verb has it, and the transitions that are taken after it."""

    endpoint: stated.Endpoint
    action: Action
    kind: Verb
    resource: Resource | None
    transition: Transition | None
    further: tuple[Transition, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        return () if self.resource is None else (self.resource.name,)

    @property
    def narrowed(self) -> Mapping[str, Type | None]:
        """What `where` may read beside the request: by its name, what it narrows."""
        return {EVENT: Row(resource=TOLD)} if self.kind.streams else {name: Row(resource=name) for name in self.rows}

    @property
    def makes(self) -> bool:
        return self.kind.makes and not (self.kind.may_make and "created" not in self.endpoint.outcomes)

    @property
    def is_list(self) -> bool:
        return self.kind.is_of_all and self.resource is not None


def doing_of(endpoint: stated.Endpoint, resources: Mapping[str, Resource]) -> Doing | None:
    actions = value_of(endpoint.does)
    if not actions:
        return None
    kind, resource = kind_of(actions[0].verb), resources.get(actions[0].resource or "")
    machine = resource.machine if kind.moves and resource is not None else None
    transition = None if machine is None else machine.transitions.get(actions[0].verb)
    follows = further(actions, resource)
    if follows is None or (kind.moves and transition is None) or (resource is None and kind.row != "none"):
        return None
    return Doing(endpoint, actions[0], kind, resource, transition, follows)


@dataclass(frozen=True)
class Given:
    """What a request and the contract give. `complete`: nothing of it is open or wrong."""

    segments: tuple[Segment, ...] | None
    body: tuple[BodyLeaf, ...] | None
    members: tuple[BodyMember, ...] | None
    request: ObjectType | None
    call: Call | None
    sets: tuple[tuple[str, Typed], ...]
    known_by: tuple[str, ...]
    issues: str | None
    ends: Ends | None
    complete: bool


@dataclass(frozen=True)
class Chosen:
    """Which rows an endpoint is about, as far as the path does not say it."""

    where: Typed | None
    guards: tuple[Guard, ...]
    filters: tuple[Filter, ...]
    sorts: Sorts | None
    pages: Pages | None


class Common(TypedDict):
    """What operations have in common."""

    key: str
    place: Place
    kind: Verb
    resource: str | None
    response: Response
    segments: tuple[Segment, ...]
    where: Typed | None
    guards: tuple[Guard, ...]
    validator: bool
    errors: Mapping[str, str]
    takes: Takes


def takes_of(
    endpoint: stated.Endpoint,
    resource: Resource | None,
    body: tuple[BodyLeaf, ...] | None,
    members: tuple[BodyMember, ...],
    filters: tuple[Filter, ...],
    sorts: Sorts | None,
    findings: Findings,
) -> Takes:
    """What of a request is declared. `filters`: what narrows, with the type of what each gives."""
    types = {each.name: each.type for each in filters}
    offered = () if sorts is None else sorts.offered
    orders = {} if resource is None else {title(each, resource): each.keys for each in offered}
    return Takes(
        path=tuple(check_declared(endpoint.path, "path", findings)),
        query=tuple(check_declared(endpoint.query, "query", findings, types, orders)),
        headers=tuple(check_declared(endpoint.request_headers, "header", findings)),
        body=body,
        members=tuple(members),
        whole=whole_body(endpoint, resource, findings),
        constants=() if resource is None else body_constants(endpoint, findings),
    )


def tokens_of(doing: Doing, given: Given, showing: Showing) -> Collection[str]:
    """The fields of the row whose tokens the endpoint makes, or its body gives: these are `issued`. All, where it is
    open what is given, and those of which it is open what makes them. The secret of a subscription is not stored, and
    comes with the row."""
    resource = doing.resource
    if resource is None:
        return ()
    tokens = [each for each in resource.fields.values() if each.secret == "token"]
    if given.body is None or not given.complete:
        return [each.name for each in tokens]
    taken = (each for each in (doing.transition, *doing.further) if each is not None)
    made = {each.field for each in given.body}
    made |= {name for sets in (given.sets, *(each.sets for each in taken)) for name, _ in sets}
    made |= resource.made_on_change(made, ()).keys()
    made |= {each.name for each in tokens if each.on_change or (doing.makes and (each.on_create or not each.stored))}
    return [each.name for each in tokens if each.name in made or showing.may_be_made(resource.name, each.name)]


def operation_of(
    doing: Doing,
    given: Given,
    rows: Chosen,
    ends: tuple[Response, ...],
    also: tuple[Effect, ...],
    showing: Showing,
) -> Operation | None:
    """What is done, once all of it is known; None where what is shown, or done to all rows, is wrong."""
    endpoint, kind, resource, findings = doing.endpoint, doing.kind, doing.resource, showing.findings
    response, segments, sets = ends[0], given.segments, dict(given.sets)
    selection = check_selection(endpoint, kind.name, resource, response, showing)
    if selection is None or segments is None:
        return None
    if resource is not None and doing.action.all:
        if not check_all_rows(endpoint, kind, resource, given.body, sets, findings):
            return None
    check_told(endpoint, given.issues, response, findings)
    if resource is not None:
        check_tokens_of_effects(endpoint, resource, response, showing)
    if kind.removes and not kind.may_be_absent and resource is not None and not doing.action.all:
        check_deleted(endpoint, response, resource, showing.vocabulary, findings)
    common: Common = {
        "key": endpoint.key,
        "place": findings.place(endpoint.span),
        "kind": kind,
        "resource": None if resource is None else resource.name,
        "response": selection.response,
        "segments": segments,
        "where": rows.where,
        "guards": rows.guards,
        "validator": isinstance(endpoint.etag, Shown),
        "errors": {condition_.text: code.text for condition_, code in value_of(endpoint.errors) or ()},
        "takes": takes_of(endpoint, resource, given.body, given.members or (), rows.filters, rows.sorts, findings),
    }
    if kind.writes:
        return _changes(common, doing, given, also, ends, rows.filters if doing.action.all else None)
    digested = kind.reads_one and (
        endpoint.case is not None  # the same revision is shown in several ways
        or reads_beyond_row(response, doing.rows, showing.vocabulary)
        or shows_what_is_cleared(response, resource)
    )
    return _shows(common, selection, digested, rows)


def _shows(common: Common, selection: Selection, digested: bool, rows: Chosen) -> Read | List | Compute | Stream:
    """What an endpoint does that changes nothing."""
    kind = common["kind"]
    if kind.reads_one:
        return Read(**common, digested=digested, projection=selection.projection, expansion=selection.expansion)
    if rows.sorts is not None and rows.pages is not None:
        return List(
            **common,
            filters=rows.filters,
            sorts=rows.sorts,
            pages=rows.pages,
            total=mentions_total(common["response"]),
            linked=links_pages(common["response"]),
            projection=selection.projection,
            expansion=selection.expansion,
        )
    if kind.streams:
        return Stream(**common, filters=rows.filters)
    if kind.acts_on in ("nothing", "a function"):
        return Compute(**common)
    raise NotImplementedError(NO_OPERATION.format(kind.name))


def _changes(
    common: Common,
    doing: Doing,
    given: Given,
    also: tuple[Effect, ...],
    ends: tuple[Response, ...],
    of_all: tuple[Filter, ...] | None,
) -> Mutation:
    """What an endpoint does that changes something; of what it may say, each verb takes what it can have. `of_all`: the
    filters, where it does so to all rows."""
    kind, sets, further = common["kind"], given.sets, doing.further
    if kind.changes:
        return Update(
            **common,
            also=also,
            patch=text_of(doing.endpoint.patch),  # type: ignore[arg-type]
            transition=doing.transition,
            sets=sets,
            issues=given.issues,
            ends=given.ends,
            further=further,
            of_all=of_all,
        )
    known = given.known_by
    if kind.may_be_absent:
        stated = (each for each in kind.outcomes if each in doing.endpoint.outcomes)
        outcomes = dict(zip(stated, ends, strict=True))
        if kind.removes:
            return Remove(**common, also=also, outcomes=outcomes, known_by=known)
        return Ensure(**common, also=also, sets=sets, outcomes=outcomes, known_by=known, further=further)
    if kind.makes:
        return Create(**common, also=also, sets=sets, issues=given.issues, further=further)
    if kind.removes:
        return Delete(**common, also=also, of_all=of_all)
    if kind.row == "caller's":
        return SignOut(**common, also=also, ends=given.ends)
    if kind.row == "found":
        return SignIn(**common, also=also, sets=sets, issues=given.issues, ends=given.ends, further=further)
    raise NotImplementedError(NO_OPERATION.format(kind.name))


NO_OPERATION = "no operation of checked/operations.py is what the verb `{}` does"


# ── Several operations ───────────────────────────────────────────────────────────────────────────────────────────────


def one_after_another(findings: Findings) -> None:
    """Says of lists of operations that cannot be done one after another with one row."""
    said = set[tuple[Action, ...]]()
    for endpoint in findings.survey.endpoints:
        actions = value_of(endpoint.does) or ()
        if len(actions) > 1 and actions not in said:  # what stands beside cases is said once
            said.add(actions)
            if _stand_together(endpoint, actions, findings):
                _follow(actions, findings.survey.contract.machine(actions[0].subject or ""), findings)


def _stand_together(endpoint: stated.Endpoint, actions: Sequence[Action], findings: Findings) -> bool:
    """Whether the verbs may be done with one row, each in its place."""
    of_all = next((each for each in actions if each.all), None)
    if of_all is not None:
        message = f"`{of_all.written}` does not stand among several operations"
        instead = "what happens to other rows is an effect, whose `where` says which: `also: [{does: …, where: …}]`"
        findings.say(NOT_AMONG_SEVERAL, message, Label(of_all.span, "acts on many rows"), help=(instead,))
        return False
    alone = next((each for each in actions if each.verb in KINDS and not KINDS[each.verb].is_first), None)
    if alone is not None:
        why, instead = KINDS[alone.verb].by_itself
        message = f"`{alone.written}` does not stand among several operations"
        findings.say(NOT_AMONG_SEVERAL, message, Label(alone.span, why), help=(instead,))
        return False
    first, *rest = actions
    other = next((each for each in rest if each.subject != first.subject), None)
    if other is not None:
        findings.say(
            ROWS_OF_SEVERAL,
            f"the operations of `{endpoint.key}` act on more than one row",
            Label(first.span, f"acts on a row of `{first.subject}`"),
            Label(other.span, f"acts on a row of `{other.subject}`"),
            help=(f"what happens to other rows is an effect: `also: [{_effect(other)}]`",),
        )
        return False
    late = next((each for each in rest if kind_of(each.verb).is_first), None)
    if late is not None:
        message = f"`{late.written}` is not the first of several operations"
        in_order = [late, *(each for each in actions if each is not late)]
        help = f"write it first: `does: [{', '.join(each.written for each in in_order)}]`"
        if kind_of(first.verb).is_first:
            help = f"what `{first.written}` gives to the row is all that the request gives"
        findings.say(NOT_AMONG_SEVERAL, message, Label(late.span, "takes what the request gives"), help=(help,))
        return False
    return True


def _follow(actions: Sequence[Action], machine: Machine | None, findings: Findings) -> None:
    """Each transition leaves a state in which what comes before it may leave the row."""
    if machine is None:
        return
    transitions = {each.name: each for each in value_of(machine.transitions) or ()}
    at = value_of(machine.initial) if kind_of(actions[0].verb).makes else None
    before = actions[0]
    for action in actions:
        if action.verb in KINDS:
            continue
        taken = transitions.get(action.verb)
        origins = None if taken is None else value_of(taken.origin)
        if at is not None and origins is not None and at.text not in {each.text for each in origins}:
            _never_taken(action, before, at, origins, findings)
            return
        at, before = None if taken is None else value_of(taken.to), action


def _never_taken(action: Action, before: Action, at: Name, origins: Sequence[Name], findings: Findings) -> None:
    findings.say(
        NOT_TAKEN_AFTER,
        f"`{action.written}` can never follow `{before.written}`",
        Label(action.span, f"is taken from {' or '.join(f'`{each.text}`' for each in origins)}"),
        Label(before.span, f"the row is `{at.text}` then"),
    )


def further(actions: Sequence[Action], resource: Resource | None) -> tuple[Transition, ...] | None:
    """The transitions that are taken after the first operation; None: one of them is open or wrong."""
    machine = None if resource is None else resource.machine
    found = [None if machine is None else machine.transitions.get(each.verb) for each in actions[1:]]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None


def _effect(action: Action) -> str:
    """An action as an effect would be written."""
    if kind_of(action.verb).makes:
        return f"{{does: create {action.subject}, sets: {{…}}}}"
    verb = action.verb if action.verb not in KINDS or kind_of(action.verb).as_effect else "update"
    return f"{{does: {verb} {action.subject}, where: {action.subject} == …}}"
