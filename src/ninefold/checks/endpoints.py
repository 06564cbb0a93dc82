"""Part 4: each endpoint, served with plain values, or stopped with the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from ninefold.checked.endpoints import Endpoint, Events, Stopped
from ninefold.checked.lists import Way, ways
from ninefold.checked.operations import Filter, Pages, PathName, PathValue, Sorts
from ninefold.checked.resources import Effect, Guard, Resource
from ninefold.checks.addressing import check_addressing, known_by, of_one_row
from ninefold.checks.assignments import check_made_with
from ninefold.checks.authentication import admissions, of_list
from ninefold.checks.bodies import check_body, check_members, check_required, check_set_beside_path
from ninefold.checks.body_types import body_members, check_type_of_body, other_members
from ninefold.checks.calls import check_call, check_case, result_type
from ninefold.checks.credentials import check_ends, check_issues
from ninefold.checks.effects import check_effects
from ninefold.checks.errors import check_own_shape
from ninefold.checks.findings import Findings, condition
from ninefold.checks.lists import check_filters, check_pages, check_parameters
from ninefold.checks.model import Vocabulary, request_type
from ninefold.checks.operations import Chosen, Doing, Given, doing_of, one_after_another, operation_of, tokens_of
from ninefold.checks.orders import check_sorts
from ninefold.checks.parameters import check_form, check_own_requests, check_sent
from ninefold.checks.paths import check_path
from ninefold.checks.responses import check_responses
from ninefold.checks.showing import Showing
from ninefold.checks.sign_in import check_grant, check_sign_in
from ninefold.checks.states import check_sets
from ninefold.contract.questions.events import about_built_in
from ninefold.diagnostics.codes import GIVEN_VALUE, NEEDS_WHAT_IS_NONE, NOT_A_BODY, NOT_IN_FORCE, OF_EXPRESSIONS
from ninefold.diagnostics.diagnostic import Label, has_errors
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.rows import BEFORE, before
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Typed
from ninefold.language import endpoints as stated
from ninefold.language import routes
from ninefold.language.declaration import said
from ninefold.language.fact import Gap, StatedNone, value_of
from ninefold.language.question import OpenQuestion
from ninefold.language.verbs import VERBS, kind_of
from ninefold.syntax.nodes import Node
from ninefold.values import Text, Type

KEPT = frozenset((*OF_EXPRESSIONS, GIVEN_VALUE, NOT_A_BODY, NOT_IN_FORCE))
"""What is said of an endpoint that a gap blocks."""

STOPS = "the endpoint answers 501"


def check_endpoints(
    open_questions: tuple[OpenQuestion, ...],
    resources: Mapping[str, Resource],
    vocabulary: Vocabulary,
    events: Events,
    findings: Findings,
) -> tuple[tuple[Endpoint, ...], tuple[Stopped, ...]]:
    for question in open_questions:
        for key in question.blocks:
            findings.stop(key, f"not shown: {question.text}", question.span)
    _check_events(open_questions, events, findings)
    one_after_another(findings)
    # Who may call, and how large a page is, say nothing of what an endpoint names: all of that is checked without.
    obscured = {key for question in open_questions if question.question.part not in (5, 8) for key in question.blocks}
    served, stopped = [], []
    for endpoint in findings.survey.endpoints:
        check_sent(endpoint, findings)
        if endpoint.key in obscured:
            # Of these only what is wrong in expressions is kept: what else seems wrong may only be what is not shown.
            own = findings.apart()
            _endpoint(endpoint, resources, vocabulary, own)
            findings.diagnostics += [each for each in own.diagnostics if each.code in KEPT]
            found = None
        else:
            found = _endpoint(endpoint, resources, vocabulary, findings)
        if found is not None and _begins_nowhere(found, resources):
            found = None
        reasons = tuple(dict.fromkeys(findings.stops.get(endpoint.key, ())))
        if found is not None and not reasons:
            served.append(found)
        else:
            if not reasons:
                _needs_what_is_none(endpoint, findings)
            stopped.append(
                Stopped(
                    key=endpoint.key,
                    method=endpoint.method,
                    segments=tuple(
                        each.text if isinstance(each, routes.Literal) else PathValue("", Text(), "", each.after)
                        for each in endpoint.segments
                    ),
                    place=findings.place(endpoint.span),
                    reasons=reasons or (f"it reads what is not shown (line {findings.place(endpoint.span).line})",),
                )
            )
    # An endpoint of which one case is not served is not.
    once = {each.key: each for each in reversed(stopped)}
    return tuple(each for each in served if each.key not in once), tuple(reversed(once.values()))


def _given(doing: Doing, plain: Vocabulary, showing: Showing) -> Given:
    """`plain`: what expressions may name before a function is called."""
    endpoint, kind, resource, findings = doing.endpoint, doing.kind, doing.resource, showing.findings
    segments = check_path(endpoint, resource, showing.resources, findings, kind.may_be_absent)
    if resource is not None and segments is not None:
        check_addressing(endpoint, kind, resource, segments, findings)
    members = body_members(endpoint, resource, findings)
    request = request_type(endpoint, findings.schemas, members, other_members(endpoint, findings))
    body = None if resource is None else check_body(endpoint, resource, findings)
    call = check_call(endpoint, resource, body or (), members, plain, findings)
    sets: tuple[tuple[str, Typed], ...] = ()
    known: tuple[str, ...] | None = ()
    if resource is not None:
        sets = tuple(check_sets(endpoint.sets, resource, showing.vocabulary, findings, request))
        check_set_beside_path(endpoint, resource, findings)
        own = {leaf.field for leaf in body or ()}
        asked = {
            each.through[0]: endpoint.span
            for each in segments or ()
            if isinstance(each, PathName) and each.asks_row(showing.resources)
        }
        check_made_with(
            dict(sets), endpoint.sets, resource, kind, showing.vocabulary, findings, own, endpoint.of_all_rows, asked
        )
        if doing.makes and segments is not None:
            check_required(endpoint, resource, body, segments, findings)
        if kind.may_be_absent and segments is not None:
            known = known_by(endpoint, kind, resource, segments, body or (), dict(sets), findings)
    issues = check_issues(endpoint, kind.name, resource, findings)
    ends = check_ends(endpoint, kind, resource, findings)
    complete = check_form(endpoint, resource, body, members or (), findings) and known is not None
    if resource is not None and kind.grants and segments is not None:
        body = check_grant(endpoint, resource, body, segments, findings)
        complete = body is not None and complete
    elif resource is not None and kind.row == "found" and segments is not None:
        complete = check_sign_in(endpoint, resource, body, segments, findings) and complete
    complete = complete and segments is not None and (endpoint.call is None or call is not None)
    return Given(segments, body, members, request, call, sets, known or (), issues, ends, complete)


def _page(doing: Doing, plain: Vocabulary, findings: Findings) -> tuple[tuple[Filter, ...], Sorts | None, Pages | None]:
    """What a request says of the rows of a page."""
    endpoint, resource = doing.endpoint, doing.resource
    shows_page = resource is not None and (doing.is_list or doing.action.all)
    filters = check_filters(endpoint, doing.narrowed, plain, findings) if shows_page or doing.kind.streams else ()
    sorts = check_sorts(endpoint, resource, findings) if doing.is_list and resource is not None else None
    pages = check_pages(endpoint, findings) if doing.is_list else None
    if shows_page or doing.kind.reads_one:
        check_parameters(endpoint, pages, findings)
    return filters, sorts, pages


def _endpoint(
    endpoint: stated.Endpoint, resources: Mapping[str, Resource], plain: Vocabulary, findings: Findings
) -> Endpoint | None:
    """The endpoint as it would be served; None if something of it is open, wrong or not built, which has been
    said. Everything that is stated is checked all the same."""
    for what, span in _not_built(endpoint):
        _stop(endpoint, what, span, findings)
    doing = doing_of(endpoint, resources)
    if doing is None:
        return None
    showing = Showing(resources, replace(plain, result=result_type(endpoint, findings)), findings)
    resource, verb, given = doing.resource, doing.kind.name, _given(doing, plain, showing)
    scope = plain.scope(**{**doing.narrowed, "request": given.request})
    where = None if (stated_where := value_of(endpoint.where)) is None else condition(stated_where, scope, findings)
    if where is not None and resource is not None and not (doing.is_list or doing.action.all):
        where = of_one_row(where, endpoint, given.segments or (), resource, findings)
    filters, sorts, pages = _page(doing, plain, findings)
    known = ways(given.segments or (), resources)
    telling = replace(showing, tokens=tokens_of(doing, given, showing))
    shown_as = VERBS["list"] if doing.action.all else doing.kind
    ends = check_responses(endpoint, shown_as, resource, known, telling)
    more: dict[str, Type | None] = {"request": given.request}
    if resource is not None and doing.kind.is_of_what_becomes:
        more[BEFORE] = before(resource.name, maybe=doing.kind.makes)
    judging = plain.scope(*doing.rows, **more)
    guards = tuple(_guards(endpoint, judging, resource if doing.is_list else None, known, findings))
    also: tuple[Effect, ...] | None = ()
    if resource is not None:
        also = check_effects(endpoint.also, resource, resources, showing.vocabulary, given.request, findings)
    check_type_of_body(endpoint, findings)
    check_members(endpoint, resource, given.members, findings)
    if not (doing.kind.effects or doing.further) and also is not None:
        also = ()  # that it says nothing there has been said
    acted_on = None if resource is None else resource.name
    admitted = admissions(endpoint, acted_on, verb, known, plain, findings)
    case = check_case(endpoint, resource, plain, findings)
    if (endpoint.case is not None and case is None) or also is None or ends is None or not given.complete:
        return None
    if doing.is_list and (pages is None or sorts is None):
        return None
    chosen = Chosen(where, guards, filters, sorts, pages)
    operation = operation_of(doing, given, chosen, ends, also, showing)
    if operation is None:
        return None
    return Endpoint(
        method=endpoint.method,
        operation=operation,
        admissions=admitted,
        said=said(endpoint),
        requests=check_own_requests(endpoint, findings.contract),
        error_shape=check_own_shape(endpoint, showing),
        case=case,
        call=given.call,
    )


def _check_events(open_questions: tuple[OpenQuestion, ...], events: Events, findings: Findings) -> None:
    """Events are streamed where it is stated, and all shown, how that is done; and nobody subscribes to none."""
    no_kinds = isinstance(findings.contract.events.kinds, StatedNone)
    open_keys = {key for question in open_questions for key in question.blocks}
    about = frozenset(about_built_in(findings.survey))
    for endpoint in findings.survey.endpoints:
        about_events = endpoint.streams or endpoint.key in about
        needs = (about_events and no_kinds) or (endpoint.streams and events.stream is None)
        if needs and endpoint.key not in open_keys:
            _needs_what_is_none(endpoint, findings)
            findings.stop(endpoint.key, "it needs what is `none`", endpoint.span)


def _begins_nowhere(found: Endpoint, resources: Mapping[str, Resource]) -> bool:
    """Whether it makes rows of which nobody knows the state."""
    resource = resources.get(found.resource or "")
    machine = None if resource is None else resource.machine
    return found.kind.makes and machine is not None and machine.initial is None


def _needs_what_is_none(endpoint: stated.Endpoint, findings: Findings) -> None:
    """Nothing that it needs is open, and it cannot be served: something is stated not to be there. Where something else
    is wrong, or of a resource nothing is known, that may be why."""
    if has_errors(findings.diagnostics) or findings.unknown or _is_unread(endpoint):
        return
    own, others = (
        tuple(stated_none(endpoint)),
        stated_none((findings.contract.resources, findings.contract.states, findings.contract.events)),
    )
    findings.say(
        NEEDS_WHAT_IS_NONE,
        f"`{endpoint.key}` needs something that is stated to be `none`",
        Label(endpoint.span, "cannot be served without it"),
        *(Label(span, "none") for span in own or others),
    )


def _is_unread(facts: object) -> bool:
    """Whether something among these facts could not be read, and has been told of: it has become a gap that no question
    asks for."""
    if isinstance(facts, tuple):
        return any(map(_is_unread, facts))
    if not is_dataclass(facts) or isinstance(facts, Node):
        return isinstance(facts, Gap)
    return isinstance(facts, Gap) or any(_is_unread(getattr(facts, field.name)) for field in fields(facts))


def stated_none(facts: object) -> Iterator[Span]:
    """Where `none` is stated among some facts."""
    if isinstance(facts, StatedNone):
        yield facts.span
    elif isinstance(facts, tuple):
        for each in facts:
            yield from stated_none(each)
    elif is_dataclass(facts) and not isinstance(facts, Node):
        for field in fields(facts):
            yield from stated_none(getattr(facts, field.name))


def _stop(endpoint: stated.Endpoint, what: str, span: Span, findings: Findings) -> None:
    """Something of an endpoint is not built, and so the endpoint is not served."""
    findings.left_for_later(f"{what} of `{endpoint.key}`", STOPS, span)
    findings.stop(endpoint.key, f"not in force in this build: {what}", span)


def _not_built(endpoint: stated.Endpoint) -> Iterator[tuple[str, Span]]:
    """What this endpoint states and this build does not do."""
    actions = value_of(endpoint.does) or ()
    if endpoint.case is not None and endpoint.streams:
        yield "`cases` of a stream", endpoint.case.span
    if endpoint.case is not None and any(kind_of(action.verb).grants for action in actions):
        yield "`cases` of a grant", endpoint.case.span


def _guards(
    endpoint: stated.Endpoint, scope: Scope, listed: Resource | None, known: tuple[Way, ...], findings: Findings
) -> Iterator[Guard]:
    for each in value_of(endpoint.check) or ():
        holds = condition(each.that, scope, findings)
        if holds is not None and listed is not None:
            meant = "which rows are listed is said by `where`"
            holds = of_list(holds, each.that, endpoint.key, listed.name, known, findings, meant)
        if holds is not None:
            code = None if each.code is None else each.code.text
            yield Guard(holds, code, findings.place(each.that.span))
