"""What refuses a request for itself: its path, who calls, and what it carries."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from ninefold.contract.integrity import is_constant
from ninefold.contract.reach import names_in
from ninefold.contract.refusals.rows import named_row, ways_of_streams
from ninefold.contract.survey import Survey, actions, signs_out_caller
from ninefold.contract.writes import acted_on, changes, given, is_whole, stored_of_path
from ninefold.diagnostics.source import Span
from ninefold.language.amounts import size
from ninefold.language.authentication import ANYONE
from ninefold.language.conditions import CHECK, CONDITIONS, Step, of_parameter
from ninefold.language.endpoints import Endpoint, reads_content, shows_content
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Name, Shown, StatedNone, text_of, value_of
from ninefold.language.functions import Function
from ninefold.language.limits import narrowed, reached
from ninefold.language.requests import Requests
from ninefold.language.routes import PathName
from ninefold.language.shapes import FORM
from ninefold.language.verbs import kind_of
from ninefold.plan.events import RESUME, RESUMED_BY, WEBSOCKET
from ninefold.trace.refusal import Refusal, told


def is_computed(default: Fact[Name | Expression] | None) -> bool:
    """Whether it is worked out from the request which version one asks for that names none."""
    return isinstance(default, Shown) and isinstance(default.value, Expression)


def of_callers(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    line = survey.permission(endpoint)
    if line is None:
        return
    at, first = line.endpoint.span, acted_on(endpoint)
    admitted = survey.admitted(endpoint)
    named = {each.who.text for each in admitted}
    nobody = survey.admits_nobody(endpoint)
    if nobody or named - {ANYONE}:
        words = "a credential comes along that no scheme accepts"
        if ANYONE not in named:
            words = "no credential comes along, or one that no scheme accepts"
        yield told("unauthenticated", Step.CALLER, at, words, "credentials", "challenges")
        for scheme in survey.schemes:
            words = f"a credential comes along where `{scheme.name}` looks for one, and is not good"
            meanings = ("credentials", "challenges")
            yield told("unauthenticated", Step.CALLER, scheme.span, words, *meanings, scheme=scheme.name)
    others = [each for each in survey.schemes if each.name not in named]
    for other in others if nobody or (named and ANYONE not in named) else ():
        where = survey.contract.line(at)
        words = f"the caller is known by `{other.name}`, which line {where} does not admit"
        yield told("forbidden", Step.CALLER, other.span, words, "credentials", resource=first)
    for each in admitted:
        condition = value_of(each.condition)
        if isinstance(condition, Expression):
            words = f"the caller is known by `{each.who.text}`, and `{condition.text}` does not hold"
            step = Step.JUDGED if first in set(names_in(condition.ast)) else Step.PARAMETERS
            yield told("forbidden", step, each.who.span, words, "truth", resource=first)
    yield from _of_credentials(endpoint, first)


def _of_credentials(endpoint: Endpoint, first: str | None) -> Iterator[Refusal]:
    """What refuses a request that issues or ends credentials."""
    at, kinds = endpoint.span, [kind_of(action.verb) for action in actions(endpoint)]
    if any(signs_out_caller(endpoint, action) for action in actions(endpoint)):
        words = "the row that the credential belongs to has gone since it was looked up"
        yield told("unauthenticated", Step.JUDGED, at, words, "ended credentials", scheme=first)
    if any(each.grants for each in kinds):
        words = f"there is no such `{first}`, or the secret is not its secret, or none comes along"
        yield told("sign in refused", Step.JUDGED, at, words, "granted tokens", resource=first)
        words = "`scope` asks for one that the row may not have"
        yield told("invalid", Step.JUDGED, at, words, "granted tokens", "granted scopes", member="scope")
        words = "`grant_type` is not `client_credentials`"
        yield told("invalid", Step.BODY, at, words, "granted tokens", member="grant_type")
        words = "the client says in two ways who it is"
        yield told("invalid", Step.BODY, at, words, "granted tokens")
    elif any(each.row == "found" for each in kinds):
        words = f"there is no such `{first}`, or the password is not its password"
        yield told("sign in refused", Step.JUDGED, at, words, "passwords", resource=first)


def of_path(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    """Texts in the path that no row can have, or that are not as `path` says."""
    for segment in endpoint.segments:
        if isinstance(segment, PathName):
            words = f"`{{{'.'.join(segment.names)}}}` is no value that a row can have"
            resource = named_row(survey, endpoint, segment)
            yield told("not found", Step.PATH, segment.span, words, "paths", resource=resource)
    for each in value_of(endpoint.path) or ():
        words = f"`{{{each.name}}}` is not as its schema says"
        resource = acted_on(endpoint)
        yield told("not found", Step.PARAMETERS, each.span, words, "values in paths", resource=resource)
        yield told("not found", Step.PARAMETERS, each.span, words, "values in paths", path=each.name)


def of_case_chosen(endpoint: Endpoint) -> Iterator[Refusal]:
    case = endpoint.case
    if case is None or case.has_rest or case.by is None:
        return
    if case.member is not None:
        words = f"`/{case.member}` is the name of no case"
        yield told("invalid", Step.BODY, case.by.span, words, "cases")
    else:
        words = "the request is of no case"
        yield told("forbidden", Step.PARAMETERS, case.by.span, words, "cases", resource=acted_on(endpoint))


def of_content(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    requests = survey.contract.endpoints.requests_of(endpoint)
    responses = survey.contract.endpoints.produces
    if shows_content(endpoint):
        stated = value_of(responses)
        words = f"`Accept` does not admit {'the media type of responses' if stated is None else stated.text}"
        yield told("not acceptable", Step.ACCEPT, endpoint.span if responses is None else responses.span, words)
    if endpoint.streams and ways_of_streams(survey) != (WEBSOCKET,):
        words = "`Accept` does not admit text/event-stream"
        yield told("not acceptable", Step.ACCEPT, endpoint.span, words, "streams")
    if endpoint.body is None or not reads_content(endpoint, requests.unknown_members):
        return
    if not (isinstance(endpoint.body, StatedNone) and acted_on(endpoint) is None):
        yield from _of_media_types(survey, endpoint, requests, endpoint.body.span)
        yield from _of_members(survey, endpoint, requests, endpoint.body.span)


def of_the_table(of: str, but: Collection[str], at: Span | None = None) -> Iterator[Refusal]:
    """The conditions that arise of anything that is so, in the words of the table, but for those that have others."""
    for each in CONDITIONS:
        if each.of == of and each.name not in but:
            yield told(each.name, each.steps[0], at, each.words, *each.meanings)


def _of_media_types(survey: Survey, endpoint: Endpoint, requests: Requests, at: Span) -> Iterator[Refusal]:
    """A body that is not read at all."""
    limit = survey.contract.limits.body_size
    if isinstance(limit, Shown):
        yield told("too large", Step.BODY, limit.span, f"the body is larger than {size(limit.value)}")
    else:
        yield told("too large", Step.BODY, None, "the body is longer than a body may be where no size is stated")
    media_types = requests.media_types
    stated_types = [each.text for each in value_of(media_types) or ()]
    if isinstance(media_types, Shown) and isinstance(endpoint.body, Shown):
        patch = value_of(endpoint.patch)
        kind = "json-patch" if patch is not None and patch.text == "json-patch" else "merge-patch"
        also = "" if patch is None else f" nor application/{kind}+json"
        words = f"the Content-Type is not {' nor '.join(stated_types)}{also}"
        yield told(
            "unsupported media type",
            Step.BODY,
            media_types.span,
            words,
            "bodies",
            *(("merge patches",) if also else ()),
        )
    elif isinstance(media_types, Shown):
        words = f"a body comes along whose Content-Type is not {' nor '.join(stated_types)}"
        yield told("unsupported media type", Step.BODY, media_types.span, words, "bodies")
    forms = [each for each in stated_types if each.casefold().startswith(FORM)]
    if len(forms) < len(stated_types) or not stated_types:
        yield told("malformed", Step.BODY, at, "the body is not JSON, or is empty", "bodies")
    if forms:
        yield told("malformed", Step.BODY, at, "the body is no form in UTF-8", "forms")
    yield from of_the_table("a body", ("too large", "malformed"), at)


def _of_members(survey: Survey, endpoint: Endpoint, requests: Requests, at: Span) -> Iterator[Refusal]:
    """What is wrong with the values that a body gives: with a field of the row that the endpoint acts on it is of that
    field, and otherwise of the row."""
    grants = any(kind_of(action.verb).grants for action in actions(endpoint))
    members, row = () if grants else given(survey, endpoint), None if grants else acted_on(endpoint)
    unknown = requests.unknown_members
    are_refused = isinstance(unknown, Shown) and unknown.value.text == "refused"
    if isinstance(endpoint.body, Shown) and not (are_refused and members):
        words = "the body is not as is stated of it"
        yield told("invalid", Step.BODY, at, words, "values", resource=row)
    for each in members:
        field = survey.graph.fields.get(each.resource or "", {}).get(each.field)
        if field is not None:
            of_row = each.field if each.resource == row else None
            words = f"`{'/'.join(('', *each.pointer))}` is not as the rules of `{each.resource}.{each.field}` say"
            yield told("invalid", Step.BODY, field.span, words, "values", resource=row, field=of_row)
            if isinstance(field.immutable, Shown) and changes(endpoint):
                words = f"`{'/'.join(('', *each.pointer))}` is given, and cannot change"
                yield told("invalid", Step.BODY, field.immutable.span, words, resource=row, field=of_row)
        elif each.beside:
            words = f"`/{each.field}` is not as the shared type says"
            yield told("invalid", Step.BODY, each.span, words, "members beside fields", resource=row)
        elif each.resource == row == survey.graph.subscription:
            words = f"`{'/'.join(('', *each.pointer))}` is no value of `{row}.{each.field}`"
            yield told("invalid", Step.BODY, each.span, words, "values", resource=row, field=each.field)
    own = survey.graph.resources.get(acted_on(endpoint) or "")
    if own is not None and is_whole(endpoint):
        named = {each.field for each in members}
        for name in value_of(own.required) or ():
            field = survey.graph.fields.get(own.name or "", {}).get(name.text)
            if name.text in named and field is not None and field.on_create is None:
                words = f"`{name.text}` is not given, and is required"
                yield told("invalid", Step.BODY, name.span, words, resource=own.name, field=name.text)
    if isinstance(unknown, Shown) and are_refused:
        meanings = ("bodies",) if isinstance(endpoint.body, StatedNone) else ()
        words = "the body has a member that no fact names"
        yield told("invalid", Step.BODY, unknown.span, words, *meanings, resource=row)


def _opens_to_all(survey: Survey) -> bool:
    """Whether a page of any origin may open a WebSocket."""
    stated = value_of(survey.contract.endpoints.cors)
    schemes = value_of(survey.contract.authentication.schemes) or ()
    by_cookie = any(text_of(each.location) == "cookie" for each in schemes)
    origins = None if stated is None else stated.origins
    return isinstance(origins, Shown) and isinstance(origins.value, Name) and not by_cookie


_WRONG: Final = {
    "": ("is not as its rules say", ("values",)),
    "where": ("is not of the type that its predicate compares, or not as its rules say", ("pages and filters",)),
    "sorts": ("names an order that is not offered, or of several that have a field twice", ()),
    "reverses": ("is not as its rules say", ("values",)),
    "selects": ("names something that is not offered, or something twice", ("choices",)),
    "expands": ("names something that is not offered, or something twice", ("choices",)),
}
"""What is wrong with a parameter that is refused, by what it does."""


def of_parameters(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    requests = survey.contract.endpoints.requests_of(endpoint)
    for kind, place, fact in (("parameter", "query", endpoint.query), ("header", "header", endpoint.request_headers)):
        for each in value_of(fact) or ():
            why, meanings = _WRONG[each.effects[0] if each.effects else ""]
            named = of_parameter("invalid", place, each.origin or each.name)
            words = f"the {kind} `{each.name}` {why}"
            yield Refusal("invalid", Step.PARAMETERS, named, None, (), each.span, words, meanings)
    own = acted_on(endpoint)
    if own is not None and "created" in endpoint.outcomes:
        for name, span in stored_of_path(survey, endpoint, own):
            words = f"the `{name}` in the path is not as the rules of `{own}.{name}` say"
            yield told("invalid", Step.PATH, span, words, "values", "rows that may be there")
            field = survey.graph.fields.get(own, {}).get(name)
            target = None if field is None else value_of(field.references)
            if target is not None:
                words = f"the `{name}` in the path refers to no `{target.text}` that the caller sees"
                yield told("invalid", Step.JUDGED, span, words, "references")
    delivery = value_of(survey.contract.events.delivery)
    if endpoint.streams and delivery is not None and isinstance(delivery.stream, Shown):
        words = f"the header `{RESUME}`, or the parameter `{RESUMED_BY}`, is no `id` of an event that this caller was "
        words += "told of here, or one behind which events are not kept any more"
        yield told("invalid", Step.PARAMETERS, delivery.stream.span, words, "streams")
    if endpoint.streams and WEBSOCKET in ways_of_streams(survey) and not _opens_to_all(survey):
        words = "a WebSocket is opened by a page whose `Origin` is not stated"
        stated = survey.contract.endpoints.cors
        span = stated.span if isinstance(stated, Shown) else endpoint.span
        yield told("forbidden", Step.PARAMETERS, span, words, "events over WebSocket")
    if endpoint.lists:
        yield from _of_pages(survey, endpoint)
    unknown = requests.unknown_parameters
    if isinstance(unknown, Shown) and unknown.value.text == "refused":
        words = "there is a query parameter that no fact names"
        yield told("invalid", Step.PARAMETERS, unknown.span, words)
    if isinstance(endpoint.idempotency_key, Shown):
        at = endpoint.idempotency_key.span
        words = "the key came before, with another request"
        yield told("idempotency mismatch", Step.JUDGED, at, words, "idempotency keys")
        words = "the first request with that key is not answered yet"
        yield told("idempotency in progress", Step.JUDGED, at, words, "idempotency keys")
        missing = "does not come along, or " if endpoint.idempotency_key.value.text == "required" else ""
        words = f"the header `Idempotency-Key` {missing}is no key"
        yield told("invalid", Step.PARAMETERS, at, words, "idempotency keys")


def of_arguments(endpoint: Endpoint, function: Function) -> Iterator[Refusal]:
    """What a function is called with that it does not take."""
    for one in value_of(endpoint.called_with) or ():
        if is_constant(one.value.ast):
            continue  # it is held to what the function takes before anything is served
        words = f"what `{function.name}` is called with as `{one.name}` cannot be made, or is not as it takes it"
        condition = "invalid" if "request" in names_in(one.value.ast) else CHECK
        yield told(condition, Step.DONE, one.span, words, "functions")


def _of_pages(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    """What is wrong with the parameters that the list goes by; its own `pages` wins over part 8, key by key."""
    shared = survey.contract.limits.pages
    own, pages = value_of(endpoint.pages or shared), value_of(shared)
    if own is None:
        return
    pages = own if pages is None else narrowed(own, pages)

    def said(name: str) -> Shown[Any] | None:
        found = getattr(pages, name)
        return found if isinstance(found, Shown) else None

    by = reached(pages)
    if by == "none":
        return
    minimum, maximum, first = said("minimum"), said("maximum"), said("first")
    most = "upwards" if maximum is None else f"to {maximum.value}"
    bounds = "" if value_of(pages.clamps) else f" from {1 if minimum is None else minimum.value} {most}"
    wanted = {"size": f"a whole number{bounds}"}
    if by == "cursor":
        wanted["at"] = "a cursor that the service made for this list"
    elif by:
        wanted["at"] = f"a whole number from {0 if first is None else first.value} upwards"
    for name, words in wanted.items():
        if (parameter := said(name)) is not None:
            words = f"the parameter `{parameter.value.text}` is not {words}"
            yield told("invalid", Step.PARAMETERS, parameter.span, words, "pages and filters")
