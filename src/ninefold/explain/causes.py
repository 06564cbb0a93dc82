"""What makes the service refuse a request: each cause with the fact that it comes from, in the order of the steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ninefold.contract.authentication import Every
from ninefold.contract.endpoints import Endpoint, PathName, reads_content, shows_content
from ninefold.contract.expression import Expression
from ninefold.contract.fact import Shown, StatedNone, value_of
from ninefold.contract.known_by import compared, stored_of_path
from ninefold.contract.reach import names_in
from ninefold.contract.survey import actions, is_transition, signs_out_caller
from ninefold.diagnostics.source import Span
from ninefold.explain import writes
from ninefold.explain.authentication import CHALLENGES, PASSWORDS, SIGNED, is_signed
from ninefold.explain.cases import CASES
from ninefold.explain.chosen import CHOSEN
from ninefold.explain.grounds import Grounds
from ninefold.explain.limits import applying
from ninefold.explain.quantities import duration, size
from ninefold.explain.requests import BESIDE_FIELDS, ENDED, FORMS, GRANTED, GRANTS, PATHS, given
from ninefold.language.limits import narrowed
from ninefold.language.shapes import FORM
from ninefold.language.verbs import GRANT, kind_of
from ninefold.questions.conditions import may_be_gone, may_be_in_any_state


@dataclass(frozen=True)
class Refusal:
    """What makes the service refuse a request: the condition, the code that is stated for this alone, and in words
    what the request or the rows are like. `span` None: no fact says so, but a meaning. `after`: how many operations of
    the endpoint are done before."""

    condition: str
    subject: str | None
    words: str
    span: Span | None
    meanings: tuple[int, ...] = ()
    code: str | None = None
    after: int = 0


def of_any(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    limits, versioning = g.contract.limits, g.contract.versioning
    if isinstance(versioning.scheme, Shown):
        default = versioning.default
        none = "" if isinstance(default, Shown) else ", or none"
        if isinstance(default, Shown) and isinstance(default.value, Expression):
            none = ", or none, and what the default gives is no version"
        words = f"the request names a version that there is not{none}"
        yield Refusal("unknown version", None, words, versioning.scheme.span)
    for version in value_of(versioning.versions) or ():
        if isinstance(version.retired, Shown):
            words = f"the request names the version `{version.name}`, after {version.retired.value}"
            yield Refusal("retired version", None, words, version.retired.span)
    for rate in applying(g, endpoint):
        words = f"there are more requests than the rate `{rate.name}` allows"
        yield Refusal("rate limited", None, words, rate.span, (25, 26))
    words = "there is too much to do, the database cannot be written, or the service is stopping"
    yield Refusal("unavailable", None, words, None, (29,))
    named = {each.who.text for each in g.survey.admitted(endpoint)}
    for scheme in g.survey.schemes:
        if is_signed(scheme) and named != {"anyone"}:
            words = f"a token comes along, and the keys of the issuer of `{scheme.name}` cannot be had"
            yield Refusal("unavailable", None, words, scheme.span, (SIGNED,))
    times = value_of(limits.time_outs)
    if times is not None and isinstance(times.request, Shown):
        yield Refusal("timed out", None, f"it takes longer than {duration(times.request.value)}", times.request.span)
    yield Refusal("internal", None, "the service itself fails", None)


def of_callers(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    line = g.survey.permission(endpoint)
    if line is None:
        return
    at = line.endpoint.span
    admitted = g.survey.admitted(endpoint)
    named = {each.who.text for each in admitted}
    others = [each for each in g.survey.schemes if each.name not in named]
    if {"anyone"} < named:
        yield Refusal("unauthenticated", None, "a credential comes along that no scheme accepts", at, (8, CHALLENGES))
    elif named - {"anyone"}:
        words = "no credential comes along, or one that no scheme accepts"
        yield Refusal("unauthenticated", None, words, at, (8, CHALLENGES))
    for scheme in g.survey.schemes if named - {"anyone"} else ():
        if g.codes.narrowest(endpoint, "unauthenticated", scheme.name) is not None:
            words = f"a credential comes along where `{scheme.name}` looks for one, and is not good"
            yield Refusal("unauthenticated", scheme.name, words, scheme.span, (8, CHALLENGES))
    first = g.acted_on(endpoint)
    for other in others if named and "anyone" not in named else ():
        words = f"the caller is known by `{other.name}`, which line {g.line(at)} does not admit"
        yield Refusal("forbidden", first, words, other.span, (8,))
    for each in admitted:
        condition = value_of(each.condition)
        if isinstance(condition, Expression):
            row = first if first in set(names_in(condition.ast)) else None
            words = f"the caller is known by `{each.who.text}`, and `{condition.text}` does not hold"
            yield Refusal("forbidden", row or first, words, each.who.span, (9,))
    if any(signs_out_caller(endpoint, action) for action in actions(endpoint)):
        words = "the row that the credential belongs to has gone since it was looked up"
        yield Refusal("unauthenticated", first, words, endpoint.span, (ENDED,))
    if any(action.verb == GRANT for action in actions(endpoint)):
        words = f"there is no such `{first}`, or the secret is not its secret, or none comes along"
        yield Refusal("sign in refused", first, words, endpoint.span, (GRANTS,))
        words = "`scope` asks for one that the row may not have"
        yield Refusal("invalid", "scope", words, endpoint.span, (GRANTS, GRANTED))
        words = "`grant_type` is not `client_credentials`"
        yield Refusal("invalid", "grant_type", words, endpoint.span, (GRANTS,))
        words = "the client says in two ways who it is"
        yield Refusal("invalid", None, words, endpoint.span, (GRANTS,))
    if any(action.verb == "sign in" for action in actions(endpoint)):
        words = f"there is no such `{first}`, or the password is not its password"
        yield Refusal("sign in refused", first, words, endpoint.span, (PASSWORDS,))


def of_cases(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    case = endpoint.case
    if case is None or case.has_rest or case.by is None:
        return
    if case.member is not None:
        yield Refusal("invalid", None, f"`/{case.member}` is the name of no case", case.by.span, (CASES,))
    else:
        yield Refusal("forbidden", g.acted_on(endpoint), "the request is of no case", case.by.span, (CASES,))


def of_content(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    requests = g.contract.endpoints.requests_of(endpoint)
    responses = g.contract.endpoints.response_media_type
    if shows_content(endpoint):
        stated = value_of(responses)
        words = f"`Accept` does not admit {'the media type of responses' if stated is None else stated.text}"
        yield Refusal("not acceptable", None, words, endpoint.span if responses is None else responses.span)
    if streams(endpoint):
        yield Refusal("not acceptable", None, "`Accept` does not admit text/event-stream", endpoint.span, (35,))
    if endpoint.body is None or not reads_content(endpoint, requests.unknown_members):
        return
    at = endpoint.body.span
    limit = g.contract.limits.body_size
    if isinstance(limit, Shown):
        yield Refusal("too large", None, f"the body is larger than {size(limit.value)}", limit.span)
    media_types = requests.media_types
    stated_types = [each.text for each in value_of(media_types) or ()]
    if isinstance(media_types, Shown) and isinstance(endpoint.body, Shown):
        patch = value_of(endpoint.patch)
        kind = "json-patch" if patch is not None and patch.text == "json-patch" else "merge-patch"
        also = "" if patch is None else f" nor application/{kind}+json"
        words = f"the Content-Type is not {' nor '.join(stated_types)}{also}"
        yield Refusal("unsupported media type", None, words, media_types.span, (19, 7) if also else (19,))
    elif isinstance(media_types, Shown):
        words = f"a body comes along whose Content-Type is not {' nor '.join(stated_types)}"
        yield Refusal("unsupported media type", None, words, media_types.span, (18,))
    forms = [each for each in stated_types if each.casefold().startswith(FORM)]
    if len(forms) < len(stated_types) or not stated_types:
        yield Refusal("malformed", None, "the body is not JSON, or is empty", at, (19,))
    if forms:
        yield Refusal("malformed", None, "the body is no form in UTF-8", at, (FORMS,))
    grants = any(action.verb == GRANT for action in actions(endpoint))
    members = [] if grants else given(g, endpoint)
    for each in members:
        field = g.fields(each.resource).get(each.field)
        if field is not None:
            subject = g.codes.narrowest(endpoint, "invalid", f"{each.resource}.{each.field}")
            words = f"`{'/'.join(('', *each.pointer))}` is not as the rules of `{each.resource}.{each.field}` say"
            yield Refusal("invalid", subject, words, field.span, (3, 13))
            if isinstance(field.immutable, Shown) and writes.changes(endpoint):
                words = f"`{'/'.join(('', *each.pointer))}` is given, and cannot change"
                yield Refusal("invalid", subject, words, field.immutable.span)
        elif each.beside:
            words = f"`/{each.field}` is not as the shared type says"
            yield Refusal("invalid", None, words, each.span, (BESIDE_FIELDS,))
    own = g.resource(g.acted_on(endpoint))
    if own is not None and writes.is_whole(endpoint):
        named = {each.field for each in members}
        for name in value_of(own.required) or ():
            field = g.fields(own.name).get(name.text)
            if name.text in named and field is not None and field.on_create is None:
                subject = g.codes.narrowest(endpoint, "invalid", f"{own.name}.{name.text}")
                yield Refusal("invalid", subject, f"`{name.text}` is not given, and is required", name.span)
    if isinstance(requests.unknown_members, Shown) and requests.unknown_members.value.text == "refused":
        meanings = (18,) if isinstance(endpoint.body, StatedNone) else ()
        words = "the body has a member that no fact names"
        yield Refusal("invalid", None, words, requests.unknown_members.span, meanings)


def streams(endpoint: Endpoint) -> bool:
    return any(action.verb == "stream events" for action in actions(endpoint))


def of_parameters(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    requests = g.contract.endpoints.requests_of(endpoint)
    for kind, fact in (("parameter", endpoint.query), ("header", endpoint.request_headers)):
        for each in value_of(fact) or ():
            words = f"the {kind} `{each.name}` is not as its rules say"
            code = None if each.otherwise is None else each.otherwise.text
            yield Refusal("invalid", None, words, each.span, (3,), code)
    own = g.acted_on(endpoint)
    if own is not None and "ensure" in writes.verbs(endpoint):
        for name, span in stored_of_path(endpoint, own):
            words = f"the `{name}` in the path is not as the rules of `{own}.{name}` say"
            yield Refusal("invalid", None, words, span, (3, 41))
    delivery = value_of(g.contract.events.delivery)
    stream = None if delivery is None else value_of(delivery.stream)
    if streams(endpoint) and stream is not None and isinstance(stream.resume, Shown):
        words = (
            f"the header `{stream.resume.value.text}` is no `id` of an event that this caller was told of here, or one "
        )
        words += "behind which events are not kept any more"
        yield Refusal("invalid", None, words, stream.resume.span, (35,))
    for filter_ in value_of(endpoint.filters) or ():
        words = f"the parameter `{filter_.name}` is not of the type that its filter compares"
        yield Refusal("invalid", None, words, filter_.span, (5,))
    for choice in (value_of(endpoint.projection), value_of(endpoint.expand)):
        if choice is not None and isinstance(choice.parameter, Shown):
            named = choice.parameter.value.text
            words = f"the parameter `{named}` names something that is not offered, or something twice"
            yield Refusal("invalid", None, words, choice.parameter.span, (CHOSEN,))
    sorts = value_of(endpoint.sorts)
    if sorts is not None and isinstance(sorts.parameter, Shown):
        words = f"the parameter `{sorts.parameter.value.text}` names an order that is not offered"
        yield Refusal("invalid", None, words, sorts.parameter.span)
    if any(action.verb == "list" for action in actions(endpoint)):
        yield from _of_pages(g, endpoint)
    unknown = requests.unknown_parameters
    if isinstance(unknown, Shown) and unknown.value.text == "refused":
        yield Refusal("invalid", None, "there is a query parameter that no fact names", unknown.span)
    if isinstance(endpoint.idempotency_key, Shown):
        at = endpoint.idempotency_key.span
        yield Refusal("idempotency mismatch", None, "the key came before, with another request", at, (28,))
        yield Refusal("idempotency in progress", None, "the first request with that key is not answered yet", at, (28,))
        missing = "does not come along, or " if endpoint.idempotency_key.value.text == "required" else ""
        yield Refusal("invalid", None, f"the header `Idempotency-Key` {missing}is no key", at, (28,))


def _of_pages(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    """What is wrong with the parameters that the list goes by; its own `pages` wins over part 8, key by key."""
    shared = g.contract.limits.pages
    own, pages = value_of(endpoint.pages or shared), value_of(shared)
    if own is None:
        return
    pages = own if pages is None else narrowed(own, pages)

    def said(name: str) -> Shown[Any] | None:
        found = getattr(pages, name)
        return found if isinstance(found, Shown) else None

    by, largest = said("by"), said("largest")
    if by is not None and by.value.text == "none":
        return
    most = "upwards" if largest is None else f"to {largest.value}"
    wanted = {"size": f"a whole number from 1 {most}", **({} if by is None else _REACHED.get(by.value.text, {}))}
    for name, words in wanted.items():
        if (parameter := said(name)) is not None:
            words = f"the parameter `{parameter.value.text}` is not {words}"
            yield Refusal("invalid", None, words, parameter.span, (5,))


_REACHED: Final[Mapping[str, Mapping[str, str]]] = {
    "cursor": {"next": "a cursor that the service made for this list"},
    "offset": {"start": "a whole number from 0 upwards"},
    "page": {"number": "a whole number from 1 upwards", "index": "a whole number from 0 upwards"},
}
"""By how pages are reached: what the parameter that says which one has to be."""


def of_rows(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    """Rows that are not there, are not seen, or are not what the request takes them for."""
    unseen = g.contract.authentication.unseen_rows
    for resource, span in _sought(g, endpoint):
        hidden = value_of(unseen) if _ruled(g, endpoint, resource) else None
        also = ", or the caller does not see it" if hidden is not None and hidden.text == "missing" else ""
        words = f"the `{resource}` that the request names is not there{also}"
        yield Refusal("missing", resource, words, span, (6,))
        if hidden is not None and hidden.text == "forbidden":
            yield Refusal("forbidden", resource, f"the caller does not see the `{resource}`", hidden.span)
        machine = g.survey.machine(resource)
        if machine is not None and isinstance(machine.gone, Shown) and may_be_gone(g.survey, endpoint, resource):
            words = f"the state of the `{resource}` is one of those that are gone"
            yield Refusal("gone", resource, words, machine.gone.span, (31,))
    done = writes.verbs(endpoint)
    first = g.acted_on(endpoint)
    if first is not None and any(kind_of(verb).outcomes for verb in done):
        yield from _of_a_row_that_may_be_there(g, endpoint, first, done)
    for number, action in enumerate(actions(endpoint)):
        each = g.survey.transition(action) if is_transition(action) else None
        if each is None:
            continue
        origin = each.origin.span if each.origin is not None else each.span
        names = " or ".join(f"`{name.text}`" for name in value_of(each.origin) or ())
        if may_be_in_any_state(endpoint, action):
            words = f"the state of the `{first}` is not {names or 'known'}"
            yield Refusal("illegal transition", first, words, origin, after=number)
        if isinstance(each.when, Shown):
            code = None if (named := value_of(each.otherwise)) is None else named.text
            words = f"`{each.when.value.text}` does not hold, which guards the transition `{each.name}`"
            yield Refusal("guard", first, words, each.when.span, (9, 10), code, after=number)
    for guard in value_of(endpoint.guards) or ():
        words = f"`{guard.when.text}` does not hold"
        code_name = None if guard.otherwise is None else guard.otherwise.text
        yield Refusal("guard", first, words, guard.when.span, (9, 10), code_name)
    if isinstance(endpoint.validators, Shown):
        words = "`If-Match` names other entity tags than that of what GET shows now"
        yield Refusal("stale", first, words, endpoint.validators.span, (20,))


def _of_a_row_that_may_be_there(
    g: Grounds, endpoint: Endpoint, resource: str, done: frozenset[str]
) -> Iterator[Refusal]:
    """What refuses `ensure` and `remove` where the row is there."""
    unseen = g.contract.authentication.unseen_rows
    hidden = value_of(unseen) if _ruled(g, endpoint, resource) else None
    if hidden is not None and (hidden.text == "forbidden" or "ensure" in done):
        yield Refusal(hidden.text, resource, f"the `{resource}` is there, and the caller does not see it", hidden.span)
    machine = g.survey.machine(resource)
    if machine is not None and isinstance(machine.gone, Shown):
        words = f"the state of the `{resource}` is one of those that are gone"
        yield Refusal("gone", resource, words, machine.gone.span, (31,))


def _sought(g: Grounds, endpoint: Endpoint) -> Iterator[tuple[str, Span]]:
    """The resources of which a row has to be there, with what names it."""
    first = g.acted_on(endpoint)
    found: dict[str, Span] = {}
    for segment in endpoint.segments:
        if isinstance(segment, PathName):
            at = first
            for name in segment.names[:-1]:
                field = g.fields(at).get(name)
                target = value_of(field.refers_to) if field is not None else None
                at = target.text if target is not None else at
                if at is not None:
                    found.setdefault(at, segment.span)
    # What follows acts on the same row.
    on_one = any(kind_of(action.verb).row == "named" for action in actions(endpoint)[:1])
    if first is not None and on_one and not endpoint.of_all_rows:
        names = [each.span for each in endpoint.segments if isinstance(each, PathName)]
        row = endpoint.row.span if isinstance(endpoint.row, Shown) else endpoint.span
        found.setdefault(first, names[-1] if names else row)
    yield from found.items()


def of_paths(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    """Texts in the path that are not as `path` says."""
    for each in value_of(endpoint.path) or ():
        words = f"`{{{each.name}}}` is not as its schema says"
        code = None if each.otherwise is None else each.otherwise.text
        yield Refusal("missing" if code is None else "invalid", g.acted_on(endpoint), words, each.span, (PATHS,), code)


def _ruled(g: Grounds, endpoint: Endpoint, resource: str) -> bool:
    """Whether some caller of an endpoint does not see every row of a resource."""
    rules = [g.survey.row_rule(resource, each.who.text) for each in g.survey.admitted(endpoint)]
    return any(not isinstance(each, Every) and not isinstance(value_of(each), Every) for each in rules)


def of_writes(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    """What other rows say against what is to be stored, or to be deleted."""
    own, last = g.resource(g.acted_on(endpoint)), max(len(actions(endpoint)) - 1, 0)
    for reference in writes.references(g, endpoint):
        if reference.given:
            words = f"`{reference.subject}` refers to no `{reference.target}` that the caller sees"
            yield Refusal("invalid", reference.subject, words, reference.span, (16,))
        else:
            words = f"the `{reference.target}` that `{reference.subject}` is given is not there any more"
            yield Refusal("conflict", reference.subject, words, reference.span)
    for key in writes.keys(g, endpoint):
        words = f"another row has the same {' and '.join(f'`{name}`' for name in key.fields)}"
        yield Refusal("conflict", key.subject, words, key.span, (3,))
    for each in writes.referring(g, endpoint):
        if each.word == "refuse":
            words = f"a row refers to it by `{each.subject}`"
            yield Refusal("conflict", g.acted_on(endpoint), words, each.span, (24,))
    if own is not None and writes.gives_values(endpoint):
        for invariant in value_of(own.invariants) or ():
            words = f"`{invariant.when.text}` would not hold of the row as it becomes"
            code = None if invariant.otherwise is None else invariant.otherwise.text
            yield Refusal("invariant", own.name, words, invariant.when.span, (9, 10), code, after=last)
    patch = value_of(endpoint.patch)
    if own is not None and patch is not None and patch.text == "json-patch" and isinstance(endpoint.patch, Shown):
        words = f"an edit needs something of the `{own.name}` that is not there"
        yield Refusal("conflict", own.name, words, endpoint.patch.span)
        words = f"a `test` of the patch finds another value in the `{own.name}`"
        yield Refusal("different", own.name, words, endpoint.patch.span)
    for resource, invariant in g.survey.upheld_by(endpoint):
        words = f"`{invariant.when.text}` would not hold any more of a `{resource}` that it is asked of again"
        code = None if invariant.otherwise is None else invariant.otherwise.text
        yield Refusal("invariant", resource, words, invariant.when.span, (10,), code, after=last)
    if own is not None and "ensure" in writes.verbs(endpoint) and compared(g.survey, endpoint, own.name):
        words = f"the `{own.name}` is there, with other values than those that the request gives"
        yield Refusal("different", own.name, words, endpoint.span)
